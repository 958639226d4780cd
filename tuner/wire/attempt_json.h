/* attempt_json.h - the ATTEMPT of proto/README.md section 4: all that a runner
 * needs to start one attempt. */
#ifndef HT_TUNER_WIRE_ATTEMPT_JSON_H
#define HT_TUNER_WIRE_ATTEMPT_JSON_H

#include <cjson/cJSON.h>
#include <stdbool.h>

#include "proto/base/error.h"

/* Everything that goes into the lease of an attempt; borrowed for the call. */
struct lease_facts {
    struct arena *arena;
    const char *server_id;
    const char *report_url; /* NULL: no address to report to */
    const char *token;
    const struct machine_types *machines;
    const struct runner_rules *rules; /* of the runner that it is for */
    const struct study_row *study;
    const struct job *job;
    const struct trial_pair *pair;
    bool begun; /* an earlier attempt of the trial has run */
    const struct trial_checkpoint *resume; /* it continues from; NULL: none */
    const struct strings *gpus; /* names, one item for each replica; or NULL */
};

/* The caller owns *out.
 * HT_CORRUPT  the stored parameters do not fit the space */
enum ht_status attempt_json(const struct lease_facts *facts, cJSON **out,
                            struct ht_error *err);

#endif
