/* tracker.h - what a tracker does with a study: MLflow and TensorBoard each
 * have one struct of these functions, and mirror.h calls them. */
#ifndef HT_TUNER_TRACKER_TRACKER_H
#define HT_TUNER_TRACKER_TRACKER_H

#include "tuner/db/db.h"
#include "tuner/tracker/ledger.h"

/* A study as it is shown; valid during one call. */
struct tracked_study {
    struct arena *arena;
    struct db *ledger;
    const char *server_id;
    struct study_row row;
    struct job *job;
    const char *home;
    struct trial_row best; /* id 0: none */
    struct ledger_run run; /* the study's own */
};

struct tracked_trial {
    struct arena *arena;
    const struct trial_row *row;     /* NULL: it was deleted */
    struct ledger_run run;           /* the trial's */
    struct measurement_list records; /* of its master or client, all */
};

/* All of it on the tracker's thread. HT_UNAVAILABLE: nothing can be done for
 * any study now; other failures are of this study. What was done before a
 * failure is in the ledger. */
struct tracker {
    const char *file; /* the ledger's name in the data folder */
    /* Where the study is shown, in the arena; NULL: nowhere. */
    const char *(*home)(void *self, struct arena *arena,
                        const struct study_row *study, const struct job *job);
    /* Before its trials. */
    enum ht_status (*begin)(void *self, struct tracked_study *study,
                            struct ht_error *err);
    enum ht_status (*trial)(void *self, struct tracked_study *study,
                            struct tracked_trial *trial, struct ht_error *err);
    /* When all trials are up to date. */
    enum ht_status (*finish)(void *self, struct tracked_study *study,
                             struct ht_error *err);
    /* The study was deleted, or is shown elsewhere; the ledger still has it. */
    enum ht_status (*forget)(void *self, struct db *ledger, int64_t study,
                             struct ht_error *err);
};

#endif
