/* shared.h - what the token of one study sees of it: what was searched and
 * found. What its spec runs, environments, folders, machines, logs and the
 * names of other studies are not for everyone who has a link. */
#ifndef HT_TUNER_READ_SHARED_H
#define HT_TUNER_READ_SHARED_H

#include <cjson/cJSON.h>

#include "tuner/db/rows.h"

/* Removes all other members, where the scope has one study alone. */
void shared_job(const struct study_scope *scope, cJSON *job);
void shared_trial(const struct study_scope *scope, cJSON *trial);

#endif
