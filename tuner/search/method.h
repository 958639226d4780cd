/* method.h - the algorithm of a job, and its setting. */
#ifndef HT_TUNER_SEARCH_METHOD_H
#define HT_TUNER_SEARCH_METHOD_H

#include "algorithms/base/algorithm.h"
#include "proto/job/job.h"

/* The named one when it is built in, otherwise the server's default. */
const struct algorithm *search_method(const struct job *job);

/* Writes that choice into the job. A study is stored with it, so that a newer
 * server with another default continues its search unchanged. */
void search_method_resolve(struct job *job);

/* By the name that the API shows ("RANDOM_SEARCH") or that specs have
 * ("random"); NULL: there is none. */
const struct algorithm *search_method_by_name(const char *name);

/* The setting of its searches; borrows the job's space. */
struct setting search_setting(const struct job *job, uint64_t seed);

/* Whether the method can search the space: better a refusal now than a study
 * that never gets a trial. HT_INVALID when it cannot. */
enum ht_status search_method_check(const struct job *job, struct ht_error *err);

#endif
