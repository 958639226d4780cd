/* backups.h - `POST /hypertune/v1/backups`: a backup at once. */
#ifndef HT_TUNER_API_BACKUPS_H
#define HT_TUNER_API_BACKUPS_H

#include "tuner/core/request.h"

/* For admins. Answers with the number of the request, which is done when
 * `backups` of GET /hypertune/v1/server has answered it.
 *
 * HT_INVALID   "to" is no absolute path of a folder
 * HT_CONFLICT  one is being made */
request_handler backup_create;

#endif
