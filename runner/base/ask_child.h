/* ask_child.h - one question to another program: its input, all of its output,
 * and an end within a time, whatever the program does. */
#ifndef HT_RUNNER_BASE_ASK_CHILD_H
#define HT_RUNNER_BASE_ASK_CHILD_H

#include <stddef.h>
#include <stdint.h>

#include "proto/base/text.h"

struct child_question {
    const char *const *argv; /* ends with NULL; argv[0] is looked up in PATH */
    const char *const *env;  /* the same; NULL: the runner's */
    const char *input;       /* what it reads at stdin; NULL: nothing */
    size_t most;             /* bytes of its stdout; more is a failure */
    int64_t deadline_ms;     /* monotonic; then it is killed, and what it has
                                started in its process group */
};

struct child_answer {
    int status;         /* as waitpid() has it; killed: it was too slow, or
                           said too much */
    struct text output; /* it may have secrets: the caller wipes it */
    struct text errors; /* the beginning of its stderr; the caller frees it */
};

/* Returns 0, or the errno of the step that failed, and then there is no answer.
 * Blocks; for any thread. */
int child_ask(const struct child_question *question,
              struct child_answer *answer);

#endif
