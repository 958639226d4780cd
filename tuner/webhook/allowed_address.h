/* allowed_address.h - which addresses a webhook may go to. */
#ifndef HT_TUNER_WEBHOOK_ALLOWED_ADDRESS_H
#define HT_TUNER_WEBHOOK_ALLOWED_ADDRESS_H

#include <stdbool.h>
#include <sys/socket.h>

#include "proto/base/arena.h"
#include "proto/base/error.h"

/* An address of the public network: not of this machine or network, not of
 * many, not one that stands for another which is not public. */
bool webhook_target_is_public(const struct sockaddr *address);

/* https, or http where `local`; a host; neither user nor password.
 * HT_INVALID with the reason. */
enum ht_status webhook_target_check(const char *url, bool local,
                                    struct ht_error *err);

/* The host that a checked URL names, in the arena. The rest of the URL may be
 * a secret. */
const char *webhook_target_host(struct arena *arena, const char *url);

#endif
