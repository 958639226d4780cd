/* element.h - the files by which an element of a batch job and the runner
 * communicate, in the batch's folder on the shared file system.
 *
 * BATCH/ (mode 0700) has a folder for each element, named by its index, made
 * by the element. In it, each written as a whole by a rename:
 *   element.json  who it is: job, host, when it began, its limit
 *   ask.N         the element waits for its N-th trial, N from 1
 *   answer.N      the runner's: the folder of an attempt's replica, or the end
 *   address.N.I   of replica I in turn N, see addresses.h
 *   ended.LAUNCH  the first task of this launch has ended: so do the others
 * and BATCH/patience.json is what the runner knows about waiting.
 *
 * An element that has got a trial runs hypertune-shim's work in that folder
 * and asks again, N + 1, while its time and its count allow: then every replica
 * of turn N has ended, and one without exit.json will get none. One that Slurm
 * launches again continues with the turn after the last that was answered, and
 * the launch before takes no other. The runner learns from the cluster's
 * listing alone that an element has ended. Nothing here relies on inotify: the
 * writer is on another machine. */
#ifndef HT_RUNNER_ELEMENT_ELEMENT_H
#define HT_RUNNER_ELEMENT_ELEMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/arena.h"
#include "proto/base/error.h"
#include "runner/base/order.h"

/* The variable by which the batch script names its launch, for all tasks. */
#define ELEMENT_LAUNCH "HYPERTUNE_LAUNCH"

/* element.json. */
struct element {
    int64_t job;        /* SLURM_ARRAY_JOB_ID; of a heterogeneous job its id */
    int index;          /* SLURM_ARRAY_TASK_ID; of a heterogeneous job 0 */
    int turn;           /* the first one since it began */
    const char *launch; /* ELEMENT_LAUNCH, "" when unset */
    const char *host;
    const char *nodes; /* SLURM_JOB_NODELIST */
    const char *gpus;  /* CUDA_VISIBLE_DEVICES, "" when unset */
    int64_t began_ms;  /* wall clock of the node */
    int64_t end_ms;    /* its limit, wall clock; 0: Slurm did not say */
};

/* answer.N */
struct element_answer {
    bool end;                /* no trial: the element ends */
    const char *folder;      /* absolute, of the attempt: its replicas' folders
                                have launch.json */
    int64_t limit_ms;        /* wall clock: when Slurm ends the element, as the
                                runner knows it; 0: not known */
    int64_t grace_ms;        /* before limit_ms the trainer is stopped */
    struct order_way report; /* for the node */
};

/* patience.json; 0: the default holds. */
struct element_patience {
    int64_t answer_ms;    /* without an answer for so long an element ends; 10
                             minutes */
    int64_t kill_wait_ms; /* Slurm's KillWait: SIGTERM to SIGKILL; 5 s, less
                             than on most clusters */
    int64_t limit_ms;     /* of the job from its start, as it was submitted; 0:
                             not known */
};

/* Reasons of exit.json, with the outcome `lost`: the attempt was stopped, and
 * another one continues from its checkpoint. */
extern const char element_before_limit[];
extern const char element_with_job[];

/* Each writer keeps what was there when it fails: HT_IO. Readers return
 * HT_NOT_FOUND when the file is absent, HT_CORRUPT when it is damaged. Texts
 * are in the arena. `folder`: of the element. */
enum ht_status element_write(const char *folder, const struct element *element,
                             struct ht_error *err);
enum ht_status element_read(struct arena *arena, const char *folder,
                            struct element *element, struct ht_error *err);
enum ht_status element_ask(const char *folder, int turn, struct ht_error *err);
/* The highest turn asked; 0: none yet. *answered: it has its answer.
 * HT_NOT_FOUND: there is no such folder. */
enum ht_status element_asked(const char *folder, int *turn, bool *answered,
                             struct ht_error *err);
enum ht_status element_answer_write(const char *folder, int turn,
                                    const struct element_answer *answer,
                                    struct ht_error *err);
enum ht_status element_answer_read(struct arena *arena, const char *folder,
                                   int turn, struct element_answer *answer,
                                   struct ht_error *err);
/* `batch`: BATCH. Reading gives the defaults where there is no such file. */
enum ht_status element_patience_write(const char *batch,
                                      const struct element_patience *patience,
                                      struct ht_error *err);
struct element_patience element_patience_read(const char *batch);

#endif
