/* aip_samples.h - jobs of the AI Platform form as users bring them along, from
 * tests/specs/aip. */
#ifndef HT_TESTS_LIB_AIP_SAMPLES_H
#define HT_TESTS_LIB_AIP_SAMPLES_H

#include "proto/doc/json.h"
#include "proto/job/job.h"

#define AIP_SAMPLES "tests/specs/aip"

/* The job that a text is in; NULL with the diagnosis. */
struct job *aip_read_text(struct arena *arena, const char *text,
                          struct diag *diag);

/* The text of a sample. */
const char *aip_read_sample(struct arena *arena, const char *name);

/* The job of a sample, which has to be valid. */
struct job *aip_sample(struct arena *arena, const char *name,
                       struct diag *diag);

/* A JSON tree as a document. */
const struct node *aip_parse(struct arena *arena, cJSON *tree,
                             struct diag *diag);

#endif
