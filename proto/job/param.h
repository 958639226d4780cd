/* param.h - one parameter of a spec between being read and being good.
 *
 * Both spec forms collect where each thing was said; what holds for a
 * parameter is then checked once, here. */
#ifndef HT_PROTO_JOB_PARAM_H
#define HT_PROTO_JOB_PARAM_H

#include <stdbool.h>

#include "proto/doc/field.h"
#include "proto/space/space.h"

struct param_draft {
    struct place at;      /* the whole parameter */
    struct place name_at; /* its name, where that is a member of its own */
    /* What was said about it; path is always set, node NULL when silent. */
    struct place min, max, step, scale, fallback, values;
    bool google; /* Vertex's rules: an absent bound is 0, min == max is fine */
    struct param param; /* name and type are set by the form's reader */
};

/* Fills draft->param. Every fault goes to the diagnostics; false on any. */
bool param_finish(const struct field_reader *reader, struct param_draft *draft);

/* Native names of types and scales, by enumerator; for writers. */
const char *param_type_name(enum param_type type);
const char *param_scale_name(enum param_scale scale);

extern const struct field_choice param_types[];         /* native */
extern const struct field_choice param_scales[];        /* native */
extern const struct field_choice param_google_scales[]; /* Vertex */

#endif
