/* webhooks.h - the thread that tells others what happens to studies.
 *
 * It looks at the admin's file (config_file.h), makes letters of events
 * (event_reader.h) and delivers them (delivery.h). Between the two
 * stands webhooks.db (outbox.h), so that nothing is lost; the core neither
 * knows nor waits for any of it. */
#ifndef HT_TUNER_WEBHOOK_WEBHOOKS_H
#define HT_TUNER_WEBHOOK_WEBHOOKS_H

#include <stdint.h>

#include "proto/base/error.h"

struct core;
struct webhook_board;
struct webhooks;

struct webhooks_options {
    const char *folder; /* with webhooks.json, webhooks.db, hypertune.db */
    const char *http;   /* our address, for links; borrowed */
    struct core *core;  /* keeps the event that letters were given up */
};

/* Before the core, which tells of revisions, and any other thread. */
struct webhooks *webhooks_new(void);
/* Nothing is opened, and nothing is sent, before there is a file
 * webhooks.json; changes of it are noticed. What it says now is on the board
 * afterwards. The folder is copied. */
enum ht_status webhooks_start(struct webhooks *webhooks,
                              const struct webhooks_options *options,
                              struct ht_error *err);
void webhooks_stop(struct webhooks *webhooks); /* at once */
void webhooks_free(struct webhooks *webhooks); /* accepts NULL */

/* A study has a new revision, or is gone. Any thread. */
void webhooks_note(struct webhooks *webhooks, int64_t study);

/* Lives as long as the webhooks. */
struct webhook_board *webhooks_board(struct webhooks *webhooks);

#endif
