/* read_mask.h - the `readMask` of requests: the members to show. */
#ifndef HT_TUNER_ASK_READ_MASK_H
#define HT_TUNER_ASK_READ_MASK_H

#include <cjson/cJSON.h>

#include "proto/base/arena.h"
#include "proto/base/error.h"
#include "proto/base/text.h"
#include "tuner/ask/resource_members.h"

/* "name,display_name,studySpec.metrics": paths with commas between them, in
 * snake_case or camelCase. `text` NULL, blank or "*" gives none: all is shown.
 * `type` is the resource's. A path through a list is one through each of its
 * items, and may have a star there, "trials.*.id"; a map is followed by one of
 * its keys.
 * HT_INVALID  the resource has no such path, or there are too many */
enum ht_status read_mask_read(struct arena *arena, const char *text,
                              const struct message *type, struct strings *mask,
                              struct ht_error *err);

/* Removes what the mask does not name. */
void read_mask_apply(const struct strings *mask, cJSON *resource);

#endif
