/* webhooks.h - the thread that sends events of studies to the admin's webhooks.
 *
 * It reads the admin's file (config.h), stores deliveries of events
 * (event_reader.h) in webhooks.db (outbox.h), so that none is lost, and sends
 * them (http_post.h) to all webhooks at once: a slow one delays no other. The
 * core does not wait for it. */
#ifndef HT_TUNER_WEBHOOK_WEBHOOKS_H
#define HT_TUNER_WEBHOOK_WEBHOOKS_H

#include <stdint.h>

#include "proto/base/error.h"

struct core;
struct webhook_board;
struct webhooks;

/* Before the core, which notes revisions, and any other thread. */
struct webhooks *webhooks_new(void);
/* `folder` holds webhooks.json, webhooks.db and hypertune.db; it is copied.
 * `http` is our address, for links, and borrowed. Nothing is opened or sent
 * before there is a webhooks.json; its changes are noticed. Afterwards its
 * webhooks are on the board. */
enum ht_status webhooks_start(struct webhooks *webhooks, const char *folder,
                              const char *http, struct core *core,
                              struct ht_error *err);
void webhooks_stop(struct webhooks *webhooks); /* at once */
void webhooks_free(struct webhooks *webhooks); /* accepts NULL */

/* A study has a new revision or was deleted. Any thread. */
void webhooks_note(struct webhooks *webhooks, int64_t study);

/* Valid as long as the webhooks. */
struct webhook_board *webhooks_board(struct webhooks *webhooks);

#endif
