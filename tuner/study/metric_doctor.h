/* metric_doctor.h - explains to people why a trial has no objective: what was
 * reported instead, where, and what may help. */
#ifndef HT_TUNER_STUDY_METRIC_DOCTOR_H
#define HT_TUNER_STUDY_METRIC_DOCTOR_H

#include "proto/base/arena.h"
#include "tuner/db/db.h"

/* What is known of an attempt that did not report a metric. */
struct metric_symptoms {
    const struct job *job;
    const char *metric; /* that was not reported */
    const char *master; /* the replica whose reports count */
    struct measurement_list
        records;                 /* some that were reported, by any replica */
    const struct node *evidence; /* the runner's, see proto/README.md section 4;
                                    or NULL */
};

struct metric_diagnosis { /* in the arena */
    const char *reason;   /* "ended without reporting accuracy; saw: acuracy;
                             acuracy (output.metrics, line 3) may be meant" */
    const char *json;     /* the same with all that was seen: "doctor" of an
                             attempt, docs/http.md */
};

struct metric_diagnosis
metric_doctor_examine(struct arena *arena,
                      const struct metric_symptoms *symptoms);

#endif
