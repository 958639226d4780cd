/* machine_types.h - the machines that names of machine types mean.
 *
 * Jobs written for Google's services ask for machines by name. Here the name is
 * only a limit: it limits a container to that machine's cores and memory as far
 * as the runner's machine has them, and its GPUs are asked for unless the job
 * counts them itself. An admin adds or changes types in DATA/machines.json:
 *
 *     {"n1-standard-4": {"cpus": 2, "memory": "8Gi"},
 *      "office": {"cpus": 16, "memory": "64Gi", "gpus": 1}}
 *
 * One thread. */
#ifndef HT_TUNER_RUNNERS_MACHINE_TYPES_H
#define HT_TUNER_RUNNERS_MACHINE_TYPES_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/job/machine_type.h"

struct core;
struct live;
struct machine_types;

/* The file need not exist. */
struct machine_types *machine_types_new(const char *data_dir);
void machine_types_free(struct machine_types *machines); /* accepts NULL */

/* Reads the file again when it has changed; looks at most once a second. Faults
 * are logged, and the last good content stays in force. */
void machine_types_refresh(struct machine_types *machines, int64_t now_ms);
/* Those of the core, refreshed. Core thread. */
const struct machine_types *machine_types_now(struct core *core);

/* False when the type is unknown. `machines` NULL: only what Google
 * documents, on any thread. */
bool machine_types_find(const struct machine_types *machines, const char *name,
                        struct machine_type *machine);

/* The needs of each replica of the pool: by the pool, else the job, else its
 * machine type. */
struct machine_type machine_types_needs(const struct machine_types *machines,
                                        const struct job *job,
                                        const struct pool *pool);

/* --- GPUs --- */

/* Of one attempt: all replicas together. */
int64_t machine_types_gpus_needed(struct core *core, const struct job *job);

#endif
