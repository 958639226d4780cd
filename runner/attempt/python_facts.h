/* python_facts.h - the version of the Python that a process runs in, and of its
 * frameworks, from that Python in the background (probe.h).
 *
 * Only the packages' metadata is read; no framework is imported. */
#ifndef HT_RUNNER_ATTEMPT_PYTHON_FACTS_H
#define HT_RUNNER_ATTEMPT_PYTHON_FACTS_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/arena.h"
#include "proto/base/text.h"
#include "runner/attempt/probe.h"
#include "runner/base/order.h"
#include "runner/base/site.h"

/* Texts are in the arena. */
struct python_facts {
    bool known;            /* false: it has not answered yet */
    const char *version;   /* "3.11.2"; NULL: the command starts no Python, or
                              that gave no answer in five seconds */
    const char *program;   /* its file */
    struct pairs packages; /* name and version of each installed one */
};

/* Of the program that the replica's command begins with, in its environment. */
struct python_facts python_facts_ask(struct probes *probes, struct arena *arena,
                                     const struct site *site,
                                     const struct order *order,
                                     const struct replica_order *replica,
                                     int64_t now_ms);

#endif
