/* aip.h - AI Platform Training's jobs: creation and labels. They are cancelled
 * as all others are.
 *
 * An AI Platform job is a study like any other, found by its id over all
 * locations of its project. The request_handlers are what the HTTP routes
 * name; they reply with the Job as tuner/view/aip.h renders it. */
#ifndef HT_TUNER_API_AIP_H
#define HT_TUNER_API_AIP_H

#include <stdint.h>

#include "proto/base/error.h"
#include "tuner/core/request.h"

/* aip_create.c; body: a Job */
request_handler aip_create;
/* Settles the study and replies with its Job. */
enum ht_status aip_reply(struct core *core, struct request *req, int64_t id,
                         struct ht_error *err);

/* aip_change.c; body: {"labels", "etag"}, ?updateMask=labels */
request_handler aip_patch;

#endif
