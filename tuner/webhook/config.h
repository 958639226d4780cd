/* config.h - webhooks.json in the data folder: which events are sent where.
 *
 * Only the admin names addresses, in this file. A spec may name webhooks, so
 * that fewer of them get its study's events. One thread. */
#ifndef HT_TUNER_WEBHOOK_CONFIG_H
#define HT_TUNER_WEBHOOK_CONFIG_H

#include <stdbool.h>
#include <stddef.h>

#include "proto/base/arena.h"
#include "proto/base/error.h"
#include "proto/job/job.h"
#include "proto/job/notify.h"
#include "tuner/webhook/chat.h"

/* One entry of webhooks.json; texts are in the arena of the rules. */
struct webhook {
    const char *name; /* unique; where none is given the host of the URL */
    const char *url;
    const char *host;    /* of the URL, the rest of which may be a secret */
    const char *secret;  /* key of the signature, NULL: not signed */
    const char *studies; /* a pattern of names (* and ?) */
    unsigned on;         /* bits 1 << enum notify_event */
    bool named;          /* only for studies whose spec names it */
    enum webhook_format format;
    bool local; /* may be http, and on this or a private network */
};

struct webhook_rules {
    size_t n;
    const struct webhook *items;
};

/* Reads the text of the file in `folder`, and the files of secrets that it
 * names, into the arena.
 * HT_INVALID  it is not as described in docs/operations.md; names the place */
enum ht_status webhook_rules_read(struct arena *arena, const char *folder,
                                  const char *text, struct webhook_rules *rules,
                                  struct ht_error *err);

/* Whether the webhook gets that event of the study with that name: both the
 * webhook and `notify` of the study's spec have to allow it. */
bool webhook_wants(const struct webhook *webhook, const struct notify *notify,
                   enum notify_event event, const char *study);

/* Checks a webhook's URL: https, or http where `local`; neither user nor
 * password. *host is copied into the arena.
 * HT_INVALID with the reason. */
enum ht_status webhook_url_check(struct arena *arena, const char *url,
                                 bool local, const char **host,
                                 struct ht_error *err);

/* A secret of the admin's, in the arena: the text of that file, which lies in
 * `folder` unless the path begins with "/", without its line end.
 * HT_INVALID    it is empty, long, a link, or open to others
 * HT_NOT_FOUND  there is none; HT_IO: it cannot be read */
enum ht_status webhook_secret_read(struct arena *arena, const char *folder,
                                   const char *path, const char **secret,
                                   struct ht_error *err);

struct webhook_config {  /* what is in force: read-only outside */
    const char *folder;  /* borrowed */
    struct arena *arena; /* of the rules */
    struct webhook_rules rules;
    struct ht_error wrong; /* why the file is not in force; HT_OK: it is */
    bool missing;          /* at the last look */
};

/* No rules are in force before the first webhook_config_look(); fini() frees
 * them. */
void webhook_config_init(struct webhook_config *config, const char *folder);
void webhook_config_fini(struct webhook_config *config);

/* Reads the file and its files of secrets again, and logs what is new. A
 * faulty file leaves the earlier rules in force; one that is missing at two
 * looks in a row means that there are no webhooks. True: the rules have
 * changed, and pointers into the earlier ones are no longer valid. */
bool webhook_config_look(struct webhook_config *config);

#endif
