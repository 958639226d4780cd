#include "hypertune/cli/spec/since.h"

#include <string.h>

#include "proto/base/words.h"

/* Visits the events after a revision, oldest first. */
static enum ht_status each_event(struct cli *cli, const char *study,
                                 int64_t since, cli_visitor *visit,
                                 void *context, struct ht_error *err)
{
    const struct node *root;
    size_t n = 1;
    while (n > 0) {
        const enum ht_status status = cli_get(
            cli,
            cli_study_path(cli, study, "/events?since=%lld", (long long)since),
            &root, err);
        if (status != HT_OK)
            return status;
        n = 0;
        NODE_EACH (event, node_first(root, "events")) {
            since = node_get_int(event, "revision", since);
            if (!visit(event, context))
                return HT_OK;
            n++;
        }
    }
    return HT_OK;
}

/* A change of the space deletes, in its transaction, what has not started. */
static bool count_withdrawn(const struct node *event, void *context)
{
    long long *n = context;
    const char *kind = node_get_string(event, "kind", "");
    if (strcmp(kind, "study.changed") == 0)
        *n = 0;
    else if (*n >= 0 && strcmp(kind, "trial.deleted") == 0)
        ++*n;
    else if (*n >= 0)
        return false;
    return true;
}

enum ht_status cli_since_withdrawn(struct cli *cli,
                                   const struct cli_study *study,
                                   int64_t revision, long long *n,
                                   struct ht_error *err)
{
    long long deleted = -1; /* the change itself has not come yet */
    const enum ht_status status =
        each_event(cli, study->id, revision, count_withdrawn, &deleted, err);
    if (status == HT_OK)
        *n = deleted > 0 ? deleted : 0;
    return status;
}

/* Differences that changes since then explain: one bit for each of the first
 * lines. */
struct search {
    struct words lines; /* "trials: 14 -> " of each */
    size_t found;       /* bits */
};

static bool search_event(const struct node *event, void *context)
{
    struct search *search = context;
    const char *reason = node_get_string(event, "reason", "");
    if (strcmp(node_get_string(event, "kind", ""), "study.changed") == 0)
        for (size_t i = 0; i < search->lines.n; i++) {
            const char *at = strstr(reason, search->lines.items[i]);
            if (at != NULL && (at == reason || at[-1] == '\n'))
                search->found |= (size_t)1 << i;
        }
    return true;
}

/* The lines "trials: 16 -> 14" as searched for; false when any is no count.
 * *kept takes "trials 16, not 14". */
static bool read_lines(struct cli *cli, const char *differences,
                       struct search *search, struct text *kept)
{
    char *rest = arena_strdup(cli->arena, differences), *line;
    while ((line = strsep(&rest, "\n")) != NULL && line[0] != '\0') {
        char *arrow = strstr(line, " -> "), *colon = strstr(line, ": ");
        if (arrow == NULL || colon == NULL || colon > arrow)
            return false;
        *arrow = *colon = '\0';
        if (!words_has("trials parallel maxFailed", line))
            return false;
        text_printf(kept, "%s%s %s, not %s", kept->len > 0 ? "; " : "", line,
                    colon + 2, arrow + 4);
        words_add(cli->arena, &search->lines,
                  arena_printf(cli->arena, "%s: %s -> ", line, arrow + 4));
    }
    return true;
}

bool cli_since_explains(struct cli *cli, const struct cli_study *study,
                        const char *differences)
{
    struct search search = {0};
    struct text kept = {0};
    const struct cli_settings *set = &cli->set;
    const bool asked = set->trials != CLI_UNSET || set->parallel != CLI_UNSET ||
                       set->max_failed != CLI_UNSET;
    bool explained =
        !asked && read_lines(cli, differences, &search, &kept) &&
        each_event(cli, study->id, 0, search_event, &search, NULL) == HT_OK &&
        search.found + 1 == (size_t)1 << search.lines.n;
    if (explained)
        cli_say(cli, "study %s keeps what it was set to: %s", study->name,
                text_string(&kept));
    text_free(&kept);
    return explained;
}
