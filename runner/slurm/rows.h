/* rows.h - the rows that squeue prints and that slurmrestd answers with. */
#ifndef HT_RUNNER_SLURM_ROWS_H
#define HT_RUNNER_SLURM_ROWS_H

#include "proto/doc/node.h"
#include "runner/slurm/slurm.h"

#define ROWS_FORMAT                                                            \
    "ArrayJobID:14|,ArrayTaskID:14|,State:24|,Reason:40|,NodeList:200|,"       \
    "EndTime:20|,exit_code:12|,RestartCnt:12|,Name:128"

/* The rows of squeue's output whose name begins with the prefix; other lines,
 * such as warnings, and jobs that are no arrays are left out. */
void rows_read(struct arena *arena, const char *output, const char *prefix,
               struct slurm_rows *rows);
/* The same of an answer of slurmrestd, of any of its versions, which lists the
 * jobs of all users: those of `user`. */
void rows_read_json(struct arena *arena, const struct node *answer,
                    const char *prefix, const char *user,
                    struct slurm_rows *rows);

/* A number, plain or as {set, infinite, number}: the fallback where it is
 * absent or not set, -1 where it is infinite. */
int64_t rows_number(const struct node *node, int64_t fallback);

#endif
