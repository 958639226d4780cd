/* open_suggest.h - values for a trial of a study with an open space, from the
 * search. */
#ifndef HT_TUNER_API_OPEN_SUGGEST_H
#define HT_TUNER_API_OPEN_SUGGEST_H

#include "tuner/core/request.h"

/* Body: {"search": what is searched (tuner/search/asked_space.h), "parameters":
 * values of it that are given}. The study's space widens to hold what is
 * searched, and the trial gets a value of each parameter there. One that has
 * them stays as it is; so does one for which no untried point is left. Replies
 * with the trial, perhaps once the search has answered. */
request_handler open_trial_suggest;

#endif
