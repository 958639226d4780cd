/* git_commit.h - the git commit of folders and what differs from it, from git
 * in the background (probe.h). */
#ifndef HT_RUNNER_ATTEMPT_GIT_COMMIT_H
#define HT_RUNNER_ATTEMPT_GIT_COMMIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/base/arena.h"
#include "runner/attempt/probe.h"

/* Texts are in the arena. */
struct git_commit_answer {
    bool known;          /* false: git has not answered yet */
    const char *commit;  /* NULL: no work tree of git */
    const char *branch;  /* NULL: none */
    bool dirty;          /* something differs from the commit */
    const char *changes; /* "" when nothing does: the diff, then the names, not
                            the contents, of files that git does not track */
    size_t len;          /* bytes of it */
    bool more;           /* it is longer: too much to read */
};

/* The commit of the folder as it was at `since_ms` or later (monotonic); runs
 * git unless there is such an answer. One that takes longer than two seconds
 * counts as none. */
struct git_commit_answer git_commit_ask(struct probes *probes,
                                        struct arena *arena, const char *folder,
                                        int64_t since_ms, int64_t now_ms);

#endif
