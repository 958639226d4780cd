/* webhook_rules.h - who is told of what: the admin's file webhooks.json.
 *
 * No client can name an address: the server sends to those of this file and
 * to nobody else. */
#ifndef HT_TUNER_WEBHOOK_RULES_H
#define HT_TUNER_WEBHOOK_RULES_H

#include <stdbool.h>
#include <stddef.h>

#include "proto/arena.h"
#include "proto/error.h"

enum webhook_event {
    WEBHOOK_STUDY_ENDED,
    WEBHOOK_STUDY_PAUSED,
    WEBHOOK_TRIAL_ENDED,
    WEBHOOK_TRIAL_FAILED,
    WEBHOOK_BEST_IMPROVED,
    WEBHOOK_EVENTS
};
extern const char *const webhook_event_names[WEBHOOK_EVENTS];

struct webhook {
    const char *url;
    const char *secret;  /* key of the signature, NULL: not signed */
    const char *studies; /* a pattern of names (* and ?) */
    unsigned on;         /* bits 1 << enum webhook_event */
    bool local;          /* may be http, and on this or a private network */
};

struct webhook_rules {
    size_t n;
    const struct webhook *items;
};

/* Reads the text of the file into the arena.
 * HT_INVALID  it is not as described in docs/operations.md; says where */
enum ht_status webhook_rules_read(struct arena *arena, const char *text,
                                  struct webhook_rules *rules,
                                  struct ht_error *err);

bool webhook_wants(const struct webhook *webhook, enum webhook_event event,
                   const char *study);

#endif
