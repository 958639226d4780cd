/* read_mask.h - the `readMask` of requests: which members of a resource are to
 * be shown. */
#ifndef HT_TUNER_READ_MASK_H
#define HT_TUNER_READ_MASK_H

#include <cjson/cJSON.h>

#include "proto/arena.h"
#include "proto/error.h"
#include "proto/job.h"

/* "name,display_name,studySpec.metrics": paths with commas between them, in
 * snake_case or camelCase. `text` NULL, blank or "*" gives none: all is shown.
 * `members`, ended by NULL, are those of the resource; behind one with members
 * of its own stands a dot: "studySpec.".
 * HT_INVALID  a path is empty, has strange characters or begins with no such
 *             member, or there are too many */
enum ht_status read_mask_read(struct arena *arena, const char *text,
                              const char *const members[], struct strings *mask,
                              struct ht_error *err);

/* Removes what the mask does not name. A path through a list is one through
 * each of its items. */
void read_mask_apply(const struct strings *mask, cJSON *resource);

#endif
