/* fleet.h - what admins say of runners and projects: drain, resume, shares and
 * quotas. Core thread. */
#ifndef HT_TUNER_API_FLEET_H
#define HT_TUNER_API_FLEET_H

#include "tuner/core/request.h"

/* The runner gets no more trials; with {"move": true} trials that run there are
 * stopped and start again elsewhere, where another runner may run them.
 * HT_NOT_FOUND  there is no such runner */
request_handler runner_drain;
/* It gets trials again. */
request_handler runner_resume;

/* Projects with their shares, quotas and use. */
request_handler project_list, project_show;
/* Changes what the body has: share, slots, gpus; 0 is no limit.
 * HT_INVALID  a number is out of range */
request_handler project_set;

#endif
