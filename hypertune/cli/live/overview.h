/* overview.h - the state of a server at one moment: its studies, its
 * runners, and the trials that run on them. */
#ifndef HT_HYPERTUNE_CLI_LIVE_OVERVIEW_H
#define HT_HYPERTUNE_CLI_LIVE_OVERVIEW_H

#include "hypertune/cli/frame/cli.h"

struct overview_trial {
    const char *name; /* "study/7"; that of a custom job alone */
    const char *runner;
    const char *metric, *step; /* newest report, "" before the first */
    double value;
    int64_t start_ms; /* wall, 0: not yet */
};

struct overview {
    const struct node *server, *runners; /* as the server describes them */
    int64_t asked_ms; /* wall, when this was the state of things */
    size_t n_studies, n_trials;
    struct cli_study *studies;     /* the newest first, without their specs */
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

/* Slots of the runners of a list that are online, and how many are busy.
 * Runners of one machine share its slots: the most that one of them has counts.
 */
int64_t overview_slots(const struct node *runners, int64_t *busy);

#endif
