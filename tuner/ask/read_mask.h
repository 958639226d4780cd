/* read_mask.h - the `readMask` of requests: which members of a resource are to
 * be shown. */
#ifndef HT_TUNER_ASK_READ_MASK_H
#define HT_TUNER_ASK_READ_MASK_H

#include <cjson/cJSON.h>

#include "proto/base/arena.h"
#include "proto/base/error.h"
#include "proto/base/strings.h"
#include "tuner/ask/resource_members.h"

/* "name,display_name,studySpec.metrics": paths with commas between them, in
 * snake_case or camelCase. `text` NULL, blank or "*" gives none: all is shown.
 * `type` is the resource's. A path through a list is one through each of its
 * items, and may say so with a star, "trials.*.id"; behind a map stands one of
 * its keys.
 * HT_INVALID  a path is none of the resource, or there are too many */
enum ht_status read_mask_read(struct arena *arena, const char *text,
                              const struct message *type, struct strings *mask,
                              struct ht_error *err);

/* Removes what the mask does not name. */
void read_mask_apply(const struct strings *mask, cJSON *resource);

#endif
