/* rules.h - who is told of what: the admin's file webhooks.json.
 *
 * No client can name an address: the server sends to those of this file and
 * to nobody else. A spec may name webhooks, and so tell fewer of its study. */
#ifndef HT_TUNER_WEBHOOK_RULES_H
#define HT_TUNER_WEBHOOK_RULES_H

#include <stdbool.h>
#include <stddef.h>

#include "proto/base/arena.h"
#include "proto/base/error.h"
#include "proto/job/job.h"
#include "proto/job/notify.h"

struct webhook {
    const char *name; /* unique; where none is given the host of the URL */
    const char *url;
    const char *secret;  /* key of the signature, NULL: not signed */
    const char *studies; /* a pattern of names (* and ?) */
    unsigned on;         /* bits 1 << enum notify_event */
    bool named;          /* tells only of studies whose spec names it */
    bool local;          /* may be http, and on this or a private network */
};

struct webhook_rules {
    size_t n;
    const struct webhook *items;
};

/* Reads the text of the file, which stands in `folder`, and the files of
 * secrets that it names, into the arena.
 * HT_INVALID  it is not as described in docs/operations.md; says where */
enum ht_status webhook_rules_read(struct arena *arena, const char *folder,
                                  const char *text, struct webhook_rules *rules,
                                  struct ht_error *err);

/* Whether the webhook tells of that event of the study with that name, whose
 * spec says `notify`: both have to let it through. */
bool webhook_wants(const struct webhook *webhook, const struct notify *notify,
                   enum notify_event event, const char *study);

#endif
