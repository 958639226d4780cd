/* ml_units.h - what a job would have consumed at AI Platform Training, in the
 * units of its price list.
 *
 * A unit cost 0.49 dollars an hour in America. It makes jobs comparable on any
 * machines: the hours that their replicas ran, by the machine type and the
 * accelerators that the job asks for. */
#ifndef HT_TUNER_VIEW_ML_UNITS_H
#define HT_TUNER_VIEW_ML_UNITS_H

#include <stdint.h>

#include "proto/job/job.h"

/* Of one hour of one attempt: all replicas of all pools. */
double ml_units_per_hour(const struct job *job);

/* Of attempts that ran so long altogether, to four digits as the price list
 * has them. */
double ml_units(const struct job *job, int64_t ran_ms);

#endif
