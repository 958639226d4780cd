/* trial_fill.h - a trial of which a person chose a part of the point: the
 * study's search chooses the rest, as it would for a client that gives a
 * context. Core thread. */
#ifndef HT_TUNER_API_TRIAL_FILL_H
#define HT_TUNER_API_TRIAL_FILL_H

#include <stdbool.h>

#include "proto/base/error.h"
#include "tuner/api/vizier.h"

/* As trial_create(), of call->trial, whose point the search completes by the
 * context, an untried one. Until it has, the request is held and *created is
 * false.
 * HT_INVALID       no point with these values satisfies the constraints
 * HT_PRECONDITION  all of them were tried
 * HT_UNAVAILABLE, HT_TIMEOUT  the search has failed, or takes too long */
enum ht_status trial_fill(struct vizier_call *call, const char *context,
                          bool *created, struct ht_error *err);

#endif
