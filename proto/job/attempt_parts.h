/* attempt_parts.h - the members of an ATTEMPT (proto/README.md section 4) that
 * the job and the values of one trial decide.
 *
 * The server adds to them what an attempt has of its own: its token, addresses,
 * files. `hypertune check -o kubernetes` has the rest from them alone. */
#ifndef HT_PROTO_JOB_ATTEMPT_PARTS_H
#define HT_PROTO_JOB_ATTEMPT_PARTS_H

#include <cjson/cJSON.h>

#include "proto/job/job.h"
#include "proto/job/machine_type.h"

struct attempt_trial { /* borrowed by each call */
    struct arena *arena;
    const struct job *job;
    const struct value *point;
    int64_t seed; /* of command_line() */
};

/* Adds the times, the container's options, volumes, secrets, the section
 * kubernetes, and the rest of what is the same for all replicas. */
void attempt_add_surroundings(const struct attempt_trial *trial,
                              cJSON *attempt);

/* Adds to one replica of the pool its type, index, image and words. */
void attempt_add_replica(const struct attempt_trial *trial,
                         const struct pool *pool, int index, cJSON *replica);
/* ... and what it gets of a machine; see machine_type_needs(). */
void attempt_add_needs(const struct pool *pool,
                       const struct machine_type *needs, cJSON *replica);

/* The two forms of lists in an ATTEMPT: texts, also where there are none, and
 * pairs of name and value, which are added to the array. */
void attempt_add_strings(cJSON *object, const char *key,
                         const struct strings *strings);
void attempt_push_pairs(cJSON *array, const struct pairs *pairs);

#endif
