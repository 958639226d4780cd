/* git_commit.h - the git commit that folders stand at, asked of git beside the
 * runner's own work.
 *
 * One thread; nothing here waits. An answer is good for a few seconds, so that
 * the trials of a study ask once. */
#ifndef HT_RUNNER_ATTEMPT_GIT_COMMIT_H
#define HT_RUNNER_ATTEMPT_GIT_COMMIT_H

#include <stdbool.h>
#include <stdint.h>

struct git_commit;

struct git_commit *git_commit_new(void);
void git_commit_free(struct git_commit *commit); /* accepts NULL */

struct git_commit_answer {
    bool known;         /* false: git is still at it */
    const char *commit; /* NULL: no work tree of git; borrowed until the next
                           call */
    bool dirty;         /* something differs from the commit */
};

/* The commit of the folder, asking git unless it was asked lately. An answer
 * comes within two seconds of the first question, or counts as none. */
struct git_commit_answer git_commit_ask(struct git_commit *commit,
                                        const char *folder, int64_t now_ms);
/* Monotonic time to ask again about what is not known yet; INT64_MAX: all is.
 */
int64_t git_commit_wake_at(const struct git_commit *commit, int64_t now_ms);

#endif
