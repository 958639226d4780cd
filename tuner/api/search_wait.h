/* search_wait.h - a request that is held until the search has one point for it.
 *
 * Core thread. */
#ifndef HT_TUNER_API_SEARCH_WAIT_H
#define HT_TUNER_API_SEARCH_WAIT_H

#include "proto/base/error.h"
#include "tuner/api/method.h"
#include "tuner/study/suggestion_stock.h"

/* The claim to a point of that context, based on the results that existed when
 * the request came, not when a held request is tried again. It uses req->kept.
 * `context` is borrowed. */
struct suggestion_claim search_wait_claim(struct method_call *call,
                                          const char *context);
/* Holds the request; then the caller asks the search.
 * HT_UNAVAILABLE  the search of the study has just failed
 * HT_TIMEOUT      it was held as long as clients wait; `late` is what the
 *                 client reads */
enum ht_status search_wait_hold(struct method_call *call, const char *late,
                                struct ht_error *err);

#endif
