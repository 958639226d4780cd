/* tracker_board.h - the trackers of this server, MLflow and TensorBoard, and
 * how far behind they are.
 *
 * Each tracker's thread writes its row, any thread reads. No row has a key or
 * a password. */
#ifndef HT_TUNER_BASE_TRACKER_BOARD_H
#define HT_TUNER_BASE_TRACKER_BOARD_H

#include <cjson/cJSON.h>

#include "proto/base/error.h"
#include "proto/doc/diag.h"
#include "proto/job/job.h"

struct tracker_board;

enum tracker_name { TRACKER_MLFLOW, TRACKER_TENSORBOARD, TRACKERS };

const char *tracker_name(enum tracker_name name); /* "mlflow" */

enum { TRACKER_PLACE_BYTES = 1024 };
struct tracker_row {
    char place[TRACKER_PLACE_BYTES]; /* its URL or folder; "": there is none */
    int64_t behind;    /* studies with something that it does not have yet */
    int64_t failures;  /* attempts in a row */
    int64_t taken_ms;  /* the last success, wall clock; 0: never */
    int64_t failed_ms; /* the last failure; 0: never */
    struct ht_error failure; /* the last one */
};

struct tracker_board *tracker_board_new(void);        /* without places */
void tracker_board_free(struct tracker_board *board); /* accepts NULL */

void tracker_board_set(struct tracker_board *board, enum tracker_name name,
                       const struct tracker_row *row);
struct tracker_row tracker_board_get(struct tracker_board *board,
                                     enum tracker_name name);

/* Adds "trackers", those that have a place. */
void tracker_board_write(struct tracker_board *board, cJSON *object);

/* Checks `trackers` of a job: this server has to have an MLflow if the job
 * names an experiment. `at` begins the path, such as "hypertune."; a board of
 * NULL has nothing. */
void tracker_board_check(struct tracker_board *board, const struct job *job,
                         const char *at, struct diag *errors);

#endif
