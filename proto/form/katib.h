/* katib.h - what the parts of Katib's form share: the places of an Experiment's
 * fields. */
#ifndef HT_PROTO_FORM_KATIB_H
#define HT_PROTO_FORM_KATIB_H

#include "proto/form/foreign.h"

struct katib {
    struct field_reader reader;
    struct arena *arena;
    struct place name, namespace, spec;
    int minimize; /* of enum katib_goal */
    struct place goal_type, goal, metric, additional, strategies;
    struct place algorithm, algorithm_settings;
    struct place trials, parallel, max_failed;
    struct place parameters, early, early_settings;
    struct place collector, file, format, filters;
    struct place trial_parameters, trial_spec, primary;
    struct grown native, space;
    struct strings args; /* of the image's own entry point */
};

/* Puts what the trial template runs. */
void katib_put_trial(struct katib *katib);
/* Puts how metrics are collected. */
void katib_put_metrics(struct katib *katib);

#endif
