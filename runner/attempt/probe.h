/* probe.h - other programs that are asked in the background, each a child with
 * an answer on its stdout.
 *
 * What is asked may be a trial's own program, so it runs as a guest, like the
 * trial (runner/base/guest.h). One thread; nothing here waits. Trials share an
 * answer that is new enough for each of them. The supervisor reaps the
 * children. */
#ifndef HT_RUNNER_ATTEMPT_PROBE_H
#define HT_RUNNER_ATTEMPT_PROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runner/base/site.h"

struct probes;

/* Starts nothing before the first question. `site` has to last as long. */
struct probes *probes_new(const struct site *site);
void probes_free(struct probes *probes); /* accepts NULL; ends the children */

struct probe_question {
    const char *key;         /* equal questions share an answer */
    const char *const *argv; /* ends with NULL; argv[0] is looked up in PATH */
    const char *const *env;  /* the same; NULL: PATH, and what trials inherit */
    int64_t since_ms;    /* monotonic: an answer to an earlier question is not
                            valid */
    int64_t patience_ms; /* after that there is no answer */
    size_t most;         /* bytes that are kept; more are not read */
};

struct probe_answer {
    bool known;         /* false: it has not answered yet */
    bool more;          /* it printed more than was kept */
    bool failed;        /* it was too late, or could not be read */
    const char *output; /* NUL-terminated, "" without an answer; borrowed until
                           the next question */
    size_t len;
};

/* The newest answer; runs the program unless there is a valid one. */
struct probe_answer probe_ask(struct probes *probes,
                              const struct probe_question *question,
                              int64_t now_ms);
/* Monotonic time to ask again for answers that are not known yet; INT64_MAX:
 * all are known. */
int64_t probes_wake_at(const struct probes *probes, int64_t now_ms);

#endif
