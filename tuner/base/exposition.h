/* exposition.h - Prometheus' text format 0.0.4: families of samples. */
#ifndef HT_TUNER_BASE_EXPOSITION_H
#define HT_TUNER_BASE_EXPOSITION_H

#include <stddef.h>

#include "proto/base/text.h"

struct sample_label {
    const char *name, *value; /* the value is foreign text */
};

/* Begins a family: "counter", "gauge" or "histogram". Its samples follow
 * before the next one begins. */
void exposition_family(struct text *out, const char *name, const char *type,
                       const char *help);
/* One sample with its n labels. */
void exposition_sample(struct text *out, const char *name, size_t n,
                       const struct sample_label labels[], double value);
/* A family of one sample without labels. */
void exposition_single(struct text *out, const char *name, const char *type,
                       const char *help, double value);

#endif
