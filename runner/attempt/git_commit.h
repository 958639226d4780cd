/* git_commit.h - the git commit of folders, from git as a child in the
 * background.
 *
 * One thread; nothing here waits. An answer is valid for some seconds, so that
 * the trials of a study share it. */
#ifndef HT_RUNNER_ATTEMPT_GIT_COMMIT_H
#define HT_RUNNER_ATTEMPT_GIT_COMMIT_H

#include <stdbool.h>
#include <stdint.h>

struct git_commit;

/* Starts no git before the first question. */
struct git_commit *git_commit_new(void);
void git_commit_free(struct git_commit *commit); /* accepts NULL */

struct git_commit_answer {
    bool known;         /* false: git has not answered yet */
    const char *commit; /* NULL: no work tree of git; borrowed until the next
                           call */
    bool dirty;         /* something differs from the commit */
};

/* The commit of the folder; runs git unless there is a valid answer. An answer
 * that takes longer than two seconds counts as none. */
struct git_commit_answer git_commit_ask(struct git_commit *commit,
                                        const char *folder, int64_t now_ms);
/* Monotonic time to ask again for answers that are not known yet; INT64_MAX:
 * all are known. */
int64_t git_commit_wake_at(const struct git_commit *commit, int64_t now_ms);

#endif
