/* usage.h - what a project used lately, in slot-seconds. Pure.
 *
 * Use counts for half after ten trials' time. That is long enough for a slot
 * that projects take in turns, one trial each; and it is short enough that a
 * project which comes after a pause does not get everything for long. */
#ifndef HT_TUNER_PLACEMENT_USAGE_H
#define HT_TUNER_PLACEMENT_USAGE_H

/* After so many seconds use counts for half; at least ten minutes. */
double placement_half_life(double trial_s);

/* The part of a use that counts after so many seconds. */
double placement_decay(double seconds, double half_life);

/* What a trial of this weight that has run for so many seconds, until now,
 * counts for. */
double placement_use(double weight, double seconds, double half_life);

#endif
