/* aip.h - AI Platform Training's jobs: creation and labels. They are cancelled
 * as all others are.
 *
 * An AI Platform job is a study like any other, found by its id over all
 * locations of its project. The request_handlers are what the HTTP routes
 * name; they reply with the Job as tuner/view/aip.h renders it. */
#ifndef HT_TUNER_API_AIP_H
#define HT_TUNER_API_AIP_H

#include "tuner/core/request.h"

request_handler aip_create; /* body: a Job */
request_handler aip_patch;  /* body: {"labels", "etag"}, ?updateMask=labels */

#endif
