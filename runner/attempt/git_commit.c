#include "runner/attempt/git_commit.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "proto/base/arena.h"
#include "runner/base/child.h"

enum {
    PATIENCE_MS = 2000,
    FRESH_MS = 5000, /* an answer holds */
    LOOK_MS = 20,    /* between reads of git's output */
    MOST_FOLDERS = 8,
    COMMIT_BYTES = 65, /* SHA-256 in hex */
    HEAD_BYTES = 4096  /* of the output: the commit comes first */
};

struct question {
    char *folder; /* NULL: the place is free */
    int fd;       /* git's output, -1: it is complete */
    pid_t git;
    int64_t asked_ms;
    char head[HEAD_BYTES];
    size_t len;
    char commit[COMMIT_BYTES]; /* "": none */
    bool dirty;
};

struct git_commit {
    struct question questions[MOST_FOLDERS];
};

struct git_commit *git_commit_new(void)
{
    struct git_commit *commit = ht_xcalloc(1, sizeof *commit);
    for (size_t i = 0; i < MOST_FOLDERS; i++)
        commit->questions[i].fd = -1;
    return commit;
}

/* The supervisor reaps git with the other children. */
static void stop_git(struct question *question)
{
    if (question->fd < 0)
        return;
    close(question->fd);
    question->fd = -1;
    kill(question->git, SIGKILL);
}

static void forget(struct question *question)
{
    stop_git(question);
    free(question->folder);
    *question = (struct question){.fd = -1};
}

void git_commit_free(struct git_commit *commit)
{
    for (size_t i = 0; commit != NULL && i < MOST_FOLDERS; i++)
        forget(&commit->questions[i]);
    free(commit);
}

/* ---- running git ---- */

/* Runs no program that the folder's configuration names, and takes no lock. */
static int spawn_git(const char *folder, int out, pid_t *pid)
{
    const char *const argv[] = {"git",      "--no-optional-locks",
                                "-c",       "core.fsmonitor=false",
                                "-C",       folder,
                                "status",   "--porcelain=v2",
                                "--branch", NULL};
    const struct child git = {.argv = argv, .input = -1, .output = out};
    return child_start(&git, pid);
}

static void begin(struct question *question, const char *folder, int64_t now_ms)
{
    int ends[2];
    forget(question);
    question->folder = ht_xstrdup(folder);
    question->asked_ms = now_ms;
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0)
        return;
    if (spawn_git(folder, ends[1], &question->git) == 0)
        question->fd = ends[0];
    else
        close(ends[0]);
    close(ends[1]);
}

/* "# branch.oid COMMIT", other lines with '#', then one for each change. */
static void read_head(struct question *question)
{
    static const char mark[] = "# branch.oid ";
    enum { MARK = sizeof mark - 1 };
    question->head[question->len] = '\0';
    for (char *line = question->head, *next; *line != '\0'; line = next) {
        const size_t len = strcspn(line, "\n");
        next = line + len + (line[len] == '\n');
        const size_t digits = strncmp(line, mark, MARK) == 0
                                  ? strspn(line + MARK, "0123456789abcdef")
                                  : 0;
        if (digits >= 40 && digits < COMMIT_BYTES && MARK + digits == len)
            (void)snprintf(question->commit, COMMIT_BYTES, "%.*s", (int)digits,
                           line + MARK);
        question->dirty = question->dirty || line[0] != '#';
    }
}

/* The rest behind HEAD_BYTES is not needed: it can only have more changes. */
static void read_output(struct question *question, int64_t now_ms)
{
    if (question->fd < 0)
        return;
    ssize_t n = 1;
    while (n > 0 && question->len < HEAD_BYTES - 1) {
        n = read(question->fd, question->head + question->len,
                 HEAD_BYTES - 1 - question->len);
        question->len += n > 0 ? (size_t)n : 0;
    }
    const bool whole = n == 0 || question->len == HEAD_BYTES - 1;
    const bool late = now_ms - question->asked_ms >= PATIENCE_MS;
    if (whole)
        read_head(question);
    if (n == 0) { /* git has exited, its pid may be reused */
        close(question->fd);
        question->fd = -1;
    } else if (whole || late || errno != EAGAIN) {
        stop_git(question);
    }
}

/* ---- answers ---- */

static struct question *find(struct git_commit *commit, const char *folder)
{
    struct question *oldest = &commit->questions[0];
    for (size_t i = 0; i < MOST_FOLDERS; i++) {
        struct question *question = &commit->questions[i];
        if (question->folder != NULL && strcmp(question->folder, folder) == 0)
            return question;
        if (question->folder == NULL || question->asked_ms < oldest->asked_ms)
            oldest = question;
    }
    return oldest;
}

struct git_commit_answer git_commit_ask(struct git_commit *commit,
                                        const char *folder, int64_t now_ms)
{
    struct question *question = find(commit, folder);
    if (question->folder == NULL || strcmp(question->folder, folder) != 0 ||
        (question->fd < 0 && now_ms - question->asked_ms >= FRESH_MS))
        begin(question, folder, now_ms);
    read_output(question, now_ms);
    return (struct git_commit_answer){
        .known = question->fd < 0,
        .commit = question->commit[0] != '\0' ? question->commit : NULL,
        .dirty = question->dirty,
    };
}

int64_t git_commit_wake_at(const struct git_commit *commit, int64_t now_ms)
{
    for (size_t i = 0; i < MOST_FOLDERS; i++) {
        if (commit->questions[i].fd >= 0)
            return now_ms + LOOK_MS;
    }
    return INT64_MAX;
}
