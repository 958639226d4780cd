/* overview.h - the state of a server at one moment: its studies, its
 * runners, and the trials that run on them. */
#ifndef HT_HYPERTUNE_CLI_LIVE_OVERVIEW_H
#define HT_HYPERTUNE_CLI_LIVE_OVERVIEW_H

#include "hypertune/cli/frame/cli.h"

struct overview_study {
    const char *name, *id, *kind, *state, *reason;
    const char *outcome;    /* the state, and how many failed if most did */
    const char *metric;     /* objective, "" for none */
    const char *best_trial; /* NULL: none yet */
    const char *front;      /* how many are as good, "" for one goal */
    double best;            /* NaN: none yet */
    long long ended, limit; /* trials; limit 0: none */
    long long running, waiting, failed;
    int64_t create_ms; /* wall */
    int64_t left_ms;   /* -1: unknown */
};

struct overview_trial {
    const char *name; /* "study/7"; that of a custom job alone */
    const char *runner;
    const char *metric, *step; /* newest report, "" before the first */
    double value;
    int64_t start_ms; /* wall, 0: not yet */
};

struct overview_runner {
    const char *id, *engine, *host, *state;
    int64_t slots, busy;
    bool online;
};

struct overview {
    const char *version, *read_only; /* reason, "" while changes are taken */
    int64_t uptime_ms, database_bytes, disk_free, disk_total;
    int64_t asked_ms; /* wall, when this was the state of things */
    size_t n_studies, n_runners, n_trials;
    struct overview_study *studies; /* the newest first */
    struct overview_runner *runners;
    struct overview_trial *trials; /* by study */
};

/* Asks for all of it; texts and lists are in the current cli->arena. */
enum ht_status overview_get(struct cli *cli, struct overview *overview,
                            struct ht_error *err);

/* Orders of studies, by name: "state" has running ones first and is the
 * default.
 */
extern const char *const overview_orders[]; /* ended by NULL */
void overview_sort(struct overview *overview, const char *order, bool reversed);

/* Slots of the runners that are there, and how many of them are busy. */
int64_t overview_slots(const struct overview *overview, int64_t *busy);

#endif
