/* mlflow.h - shows a study in MLflow: a run for the study, one below it for
 * each trial, with parameters, measurements and states. */
#ifndef HT_TUNER_TRACKER_MLFLOW_H
#define HT_TUNER_TRACKER_MLFLOW_H

#include "tuner/tracker/mlflow_call.h"
#include "tuner/tracker/tracker.h"

struct mlflow { /* what mlflow_tracker works on */
    struct mlflow_server server;
    char *experiment, *experiment_id; /* the last one found; NULL: none */
};

extern const struct tracker mlflow_tracker;

#endif
