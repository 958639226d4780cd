/* webhooks.h - the thread that tells others what happens to studies.
 *
 * It follows the log of events, which is there anyway, from where it stopped
 * (webhooks.db), so that the core neither knows nor waits for it. Every event
 * is told at least once; who does not take it is asked again for a day. */
#ifndef HT_TUNER_WEBHOOKS_H
#define HT_TUNER_WEBHOOKS_H

#include <stdint.h>

#include "proto/error.h"

struct core;
struct webhooks;

struct webhooks_options {
    const char *folder; /* with webhooks.json, webhooks.db, hypertune.db */
    const char *http;   /* our address, for links */
    struct core *core;  /* keeps the event that one was given up */
};

/* Before the core, which tells of revisions. */
struct webhooks *webhooks_new(void);
/* Nothing is opened, and nothing is sent, before there is a file
 * webhooks.json; changes of it are noticed. The options are copied. */
enum ht_status webhooks_start(struct webhooks *webhooks,
                              const struct webhooks_options *options,
                              struct ht_error *err);
void webhooks_stop(struct webhooks *webhooks); /* within a second or so */
void webhooks_free(struct webhooks *webhooks); /* accepts NULL */

/* A study has a new revision. Any thread. */
void webhooks_note(struct webhooks *webhooks, int64_t study);

/* Milliseconds until the next attempt after `tries` that failed: 1 s, doubled
 * each time up to an hour, and up to half of it more by `random`. Negative:
 * `age_ms` is a day or more, it is given up. */
int64_t webhooks_pause(int64_t tries, int64_t age_ms, uint64_t random);

#endif
