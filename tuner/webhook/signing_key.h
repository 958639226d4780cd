/* signing_key.h - the key of a webhook's signature, in a file of its own. */
#ifndef HT_TUNER_WEBHOOK_SIGNING_KEY_H
#define HT_TUNER_WEBHOOK_SIGNING_KEY_H

#include "proto/base/arena.h"
#include "proto/base/error.h"

/* The file's text without the line end behind it, in the arena. A path that
 * does not begin with / counts from `folder`. The file must be a regular one,
 * ours or root's, and nobody else's to read; links are not followed.
 * HT_INVALID  it is not so, or cannot be read; the text says why */
enum ht_status webhook_secret_read(struct arena *arena, const char *folder,
                                   const char *path, const char **secret,
                                   struct ht_error *err);

#endif
