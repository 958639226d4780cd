/* hydra_sweep.h - the sweeps of Hydra's overrides, such as
 * tag(log, interval(1e-5, 1)). */
#ifndef HT_PROTO_FORM_HYDRA_SWEEP_H
#define HT_PROTO_FORM_HYDRA_SWEEP_H

#include "proto/form/foreign.h"

enum hydra_value { HYDRA_SWEPT, HYDRA_FIXED, HYDRA_BAD };

/* Puts the parameter that the text at a place sweeps: choice(a, b), a,b,
 * range(1, 5, step=2), interval(0, 1), each within int(), float(), str(),
 * tag(), sort() or shuffle(). HYDRA_FIXED: it is one value, and nothing was
 * put. Of a grid the end of a range is left out. */
enum hydra_value hydra_sweep(const struct field_reader *reader, struct place at,
                             const char *name, bool grid, struct grown *space);

#endif
