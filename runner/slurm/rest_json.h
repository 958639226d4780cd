/* rest_json.h - what slurmrestd answers, in any version. Pure. */
#ifndef HT_RUNNER_SLURM_REST_JSON_H
#define HT_RUNNER_SLURM_REST_JSON_H

#include <stdint.h>

#include "proto/base/arena.h"
#include "proto/base/error.h"
#include "proto/doc/node.h"
#include "runner/slurm/slurm.h"

/* HT_OK for a code of success without errors[] and without warnings[] about
 * fields that it did not understand; else in Slurm's words:
 * HT_NOT_FOUND     there is no such job, or none that is left
 * HT_PRECONDITION  refused
 * HT_UNAVAILABLE   slurmrestd or slurmctld cannot say, or they refuse us */
enum ht_status rest_check(struct arena *arena, long code,
                          const struct node *answer, struct ht_error *err);
/* Of DELETE /jobs, whose code is of success whatever became of each job: HT_OK
 * when every one was ended, is gone, or is not in the state that was asked for;
 * HT_PRECONDITION. */
enum ht_status rest_check_kill(struct arena *arena, const struct node *answer,
                               struct ht_error *err);
/* The job that a submission made, 0: none. Some that fail have made one. */
int64_t rest_job_id(const struct node *answer);

/* The highest version that the paths of an OpenAPI document have and we know,
 * 0: none. */
int rest_find_version(const struct node *openapi);

/* Whose jobs are listed. */
struct rest_user {
    const char *name; /* NULL: the one with this id */
    int64_t id;
};
/* Of GET /jobs. When Slurm cuts a long list of waiting elements off
 * ("1,3,..."), the last row of the array has `cut`. */
void rest_rows(struct arena *arena, const struct node *answer,
               const char *prefix, const struct rest_user *user,
               struct slurm_rows *rows);
/* Of GET /partitions and GET /reservations. */
void rest_limits(struct arena *arena, const struct node *partitions,
                 const struct node *reservations, struct slurm_limits *limits);

#endif
