/* machine_type.h - the machines that Google's names of machine types mean, and
 * what a replica needs by them. */
#ifndef HT_PROTO_JOB_MACHINE_TYPE_H
#define HT_PROTO_JOB_MACHINE_TYPE_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/job/job.h"

/* What one replica needs, or a machine has. */
struct machine_type {
    double cpus;    /* 0: no limit */
    int64_t memory; /* bytes, 0: no limit */
    int64_t gpus;
};

/* False when Google documents none of that name. */
bool machine_type_find(const char *name, struct machine_type *type);

/* The needs of each replica of the pool: by the pool, else the job, else the
 * type of its machine; NULL: not known. */
struct machine_type machine_type_needs(const struct job *job,
                                       const struct pool *pool,
                                       const struct machine_type *type);

#endif
