/* cluster.h - the Slurm cluster that the runner's options name: its way, its
 * defaults, and a look at what it allows. */
#ifndef HT_RUNNER_CLUSTER_CLUSTER_H
#define HT_RUNNER_CLUSTER_CLUSTER_H

#include "proto/base/arena.h"
#include "proto/base/error.h"
#include "proto/base/text.h"
#include "proto/job/slurm.h"
#include "runner/base/site.h"
#include "runner/slurm/slurm.h"

/* As slurm_open(); the caller closes it. */
enum ht_status cluster_open(const struct site *site, struct slurm **slurm,
                            struct ht_error *err);

/* Those of --slurm-defaults, or none; in the arena.
 * HT_INVALID  the file cannot be read, or has something wrong */
enum ht_status cluster_defaults(const struct site *site, struct arena *arena,
                                struct job_slurm *defaults,
                                struct ht_error *err);

/* Asks the cluster what it allows, and appends one line of JSON:
 * {"way":"commands","version":"22.05.8","maxArraySize":1001,"killWaitMs":2000,
 *  "partitions":[{"name":"main","default":true,"up":true,"defaultMs":0,
 *                 "mostMs":0}],
 *  "reservations":["night"]}
 * as struct slurm_limits has them. Where that fails the line ends with
 * "error", the reason in words, and "status", its name of google.rpc.Code.
 *
 * `test`: NULL, or {"elements":20,"need":{as of slurm_need_write()}}: the batch
 * job for it is tried, not submitted. Then the line has "test", Slurm's words,
 * or an error as of slurm_test() and slurm_batch(). */
void cluster_look(const struct site *site, const char *test, struct text *out);

#endif
