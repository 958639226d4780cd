#include "runner/attempt/git_commit.h"

#include <string.h>

#include "proto/base/text.h"

enum {
    PATIENCE_MS = 5000,
    COMMIT_LEAST = 40,       /* SHA-1 in hex */
    COMMIT_MOST = 64,        /* SHA-256 */
    MOST_STATUS = 64 * 1024, /* what is behind it can only be more changes */
    MOST_DIFF = 4 << 20
};

/* Runs no program that the folder's configuration names, and takes no lock. */
#define GIT "git", "--no-optional-locks", "-c", "core.fsmonitor=false", "-C"

struct git_place {
    const char *folder;
    int64_t since_ms;
};

static struct probe_answer ask(struct probes *probes, struct arena *arena,
                               const struct git_place *place, bool diff,
                               int64_t now_ms)
{
    const char *const status[] = {
        GIT, place->folder, "status", "--porcelain=v2", "--branch", NULL};
    const char *const changes[] = {GIT,
                                   place->folder,
                                   "diff",
                                   "--no-color",
                                   "--no-ext-diff",
                                   "--no-textconv",
                                   "--src-prefix=a/",
                                   "--dst-prefix=b/",
                                   "HEAD",
                                   "--",
                                   ".",
                                   NULL};
    const struct probe_question question = {
        .key = arena_printf(arena, "git %s %s", diff ? "diff" : "status",
                            place->folder),
        .argv = diff ? changes : status,
        .since_ms = place->since_ms,
        .patience_ms = PATIENCE_MS,
        .most = diff ? MOST_DIFF : MOST_STATUS};
    return probe_ask(probes, &question, now_ms);
}

/* What follows the mark at the beginning of a line; NULL: another line. */
static const char *after(const char *line, const char *mark)
{
    const size_t len = strlen(mark);
    return strncmp(line, mark, len) == 0 ? line + len : NULL;
}

/* "# branch.oid COMMIT", "# branch.head NAME", then a line for each change, "?
 * NAME" for a file that is not tracked. */
static void read_status(struct arena *arena, const char *output,
                        struct git_commit_answer *answer, struct text *names)
{
    const char *next;
    for (const char *line = output; *line != '\0'; line = next) {
        const size_t len = strcspn(line, "\n");
        next = line + len + (line[len] == '\n');
        const char *text = arena_strndup(arena, line, len);
        const char *commit = after(text, "# branch.oid ");
        const char *branch = after(text, "# branch.head ");
        const char *name = after(text, "? ");
        const size_t digits =
            commit != NULL ? strspn(commit, "0123456789abcdef") : 0;
        if (digits >= COMMIT_LEAST && digits <= COMMIT_MOST &&
            commit[digits] == '\0')
            answer->commit = commit;
        if (branch != NULL && branch[0] != '(')
            answer->branch = branch;
        if (name != NULL)
            text_printf(names, "? %s\n", name);
        answer->dirty = answer->dirty || text[0] != '#';
    }
}

struct git_commit_answer git_commit_ask(struct probes *probes,
                                        struct arena *arena, const char *folder,
                                        int64_t since_ms, int64_t now_ms)
{
    const struct git_place place = {folder, since_ms};
    struct git_commit_answer answer = {.changes = ""};
    struct text names = {0};
    struct probe_answer status = ask(probes, arena, &place, false, now_ms);
    answer.known = status.known;
    if (status.known)
        read_status(arena, arena_strndup(arena, status.output, status.len),
                    &answer, &names);
    if (answer.commit != NULL && answer.dirty) {
        const struct probe_answer diff =
            ask(probes, arena, &place, true, now_ms);
        struct text changes = {0};
        /* A part of them would look like all. */
        if (!diff.failed) {
            text_append(&changes, diff.output, diff.len);
            text_append(&changes, text_string(&names), names.len);
        }
        answer.known = diff.known;
        answer.more = diff.more || status.more;
        answer.len = changes.len;
        answer.changes = text_take(&changes, arena);
    }
    text_free(&names);
    return answer;
}
