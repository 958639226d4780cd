#include "hypertune/cli/live/overview.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "hypertune/cli/frame/runners.h"
#include "hypertune/cli/study/trial.h"
#include "proto/base/clock.h"

enum { STUDIES_A_PAGE = 100 };

/* All that is shown of a study: a server may have thousands of them. */
static const char study_members[] =
    "name,maxTrialCount,studySpec.metrics,studySpec.studyStoppingConfig,"
    "hypertuneStatus.name,hypertuneStatus.kind,hypertuneStatus.state,"
    "hypertuneStatus.reason,hypertuneStatus.counts,hypertuneStatus.failures,"
    "hypertuneStatus.silent,"
    "hypertuneStatus.createTimeMs,hypertuneStatus.startTimeMs,"
    "hypertuneStatus.endTimeMs,hypertuneStatus.optimal,"
    "hypertuneStatus.best.id,hypertuneStatus.best.hypertune.objective";

struct collector {
    struct overview *overview;
    struct arena *arena; /* what is gathered stays here */
    const struct cli_study *study;
};

static bool take_study(const struct node *job, void *context)
{
    const struct collector *collector = context;
    struct overview *overview = collector->overview;
    overview->studies =
        arena_grow(collector->arena, overview->studies, overview->n_studies,
                   sizeof *overview->studies);
    cli_study_read(job, &overview->studies[overview->n_studies++]);
    return true;
}

/* Of a job without an objective any metric is shown. */
static bool take_trial(const struct node *resource, void *context)
{
    const struct collector *collector = context;
    struct overview *overview = collector->overview;
    const struct cli_study *study = collector->study;
    const struct node *ours = node_find(resource, "hypertune");
    const struct node *latest = node_find(ours, "latest");
    const struct node *shown =
        node_find(node_find(latest, "metrics"), study->metric);
    struct overview_trial trial = {
        .name = study->home->kind == JOB_CUSTOM
                    ? study->name
                    : arena_printf(collector->arena, "%s/%s", study->name,
                                   cli_trial_id(resource)),
        .runner = node_get_string(ours, "runner", ""),
        .metric = "",
        .step = cli_scalar(node_find(latest, "step")),
        .value = NAN,
        .start_ms = node_get_int(ours, "startTimeMs", 0)};
    shown = shown != NULL ? shown : node_first(latest, "metrics");
    if (shown != NULL) {
        trial.metric = shown->key;
        node_double(shown, &trial.value);
    }
    overview->trials = arena_grow(collector->arena, overview->trials,
                                  overview->n_trials, sizeof *overview->trials);
    overview->trials[overview->n_trials++] = trial;
    return true;
}

/* What clients evaluate runs on no runner. */
static enum ht_status get_trials(struct cli *cli, struct collector *collector,
                                 struct ht_error *err)
{
    const struct overview *overview = collector->overview;
    for (size_t i = 0; i < overview->n_studies; i++) {
        const struct cli_study *study = &overview->studies[i];
        if (cli_study_running(study) == 0 || study->home->kind == JOB_STUDY)
            continue;
        const struct cli_pages pages = {
            .path =
                cli_query(cli, cli_study_path(cli, study->id, "/trials"),
                          "filter", "state=\"ACTIVE\" OR state=\"STOPPING\""),
            .key = "trials",
            .keep = true};
        collector->study = study;
        enum ht_status status =
            cli_pages_each(cli, &pages, take_trial, collector, err);
        /* It may have been deleted since it was listed. */
        if (status != HT_OK && status != HT_NOT_FOUND)
            return status;
    }
    return HT_OK;
}

enum ht_status overview_get(struct cli *cli, struct overview *overview,
                            struct ht_error *err)
{
    const struct cli_pages pages = {
        .path = cli_query(cli, CLI_OURS, "readMask", study_members),
        .key = "studies",
        .size = STUDIES_A_PAGE,
        .keep = true};
    const struct node *answer;
    struct overview made = {.asked_ms = clock_wall_ms()};
    struct collector collector = {.overview = &made, .arena = cli->arena};
    enum ht_status status =
        cli_get(cli, "/hypertune/v1/server", &made.server, err);
    if (status == HT_OK)
        status = cli_pages_each(cli, &pages, take_study, &collector, err);
    if (status == HT_OK)
        status = cli_get(cli, "/hypertune/v1/runners", &answer, err);
    if (status != HT_OK)
        return status;
    made.runners = node_find(answer, "runners");
    status = get_trials(cli, &collector, err);
    if (status == HT_OK)
        *overview = made;
    return status;
}

static const char *machine_of(const struct node *runner)
{
    return node_get_string(node_find(runner, "rules"), "machine", "");
}

/* By how much a runner has more slots than those before it on its machine. */
static int64_t more_slots(const struct node *runners, const struct node *runner)
{
    const char *machine = machine_of(runner);
    int64_t most = 0;
    NODE_EACH (other, node_items(runners)) {
        if (other == runner)
            break;
        const int64_t slots = node_get_int(other, "slots", 0);
        if (slots > most && cli_runners_is_online(other) &&
            machine[0] != '\0' && strcmp(machine_of(other), machine) == 0)
            most = slots;
    }
    const int64_t own = node_get_int(runner, "slots", 0);
    return own > most ? own - most : 0;
}

int64_t overview_slots(const struct node *runners, int64_t *busy)
{
    int64_t slots = 0;
    *busy = 0;
    NODE_EACH (runner, node_items(runners)) {
        if (!cli_runners_is_online(runner))
            continue;
        slots += more_slots(runners, runner);
        *busy += node_get_int(runner, "busy", 0);
    }
    return slots;
}

/* ---- orders ---- */

enum order { BY_STATE, BY_NAME, BY_TRIALS, BY_RUNNING, BY_FAILED, BY_LEFT };

/* In the order of the enumeration; the last one is what equal ones have. */
const char *const overview_orders[] = {"state",  "name", "trials", "running",
                                       "failed", "left", "age",    NULL};

static int64_t rank_of(const char *state)
{
    int64_t rank = 0;
    while (cli_study_states[rank] != NULL &&
           strcmp(cli_study_states[rank], state) != 0)
        rank++;
    return rank;
}

struct sorting {
    size_t order;
    int64_t now_ms;
};

/* What a study is ordered by but its name, the least first. */
static int64_t key_of(const struct cli_study *study,
                      const struct sorting *sorting)
{
    int64_t left;
    switch (sorting->order) {
    case BY_STATE:
        return rank_of(study->state);
    case BY_TRIALS:
        return -cli_study_ended(study);
    case BY_RUNNING:
        return -cli_study_running(study);
    case BY_FAILED:
        return -cli_study_count(study, "failed");
    case BY_LEFT: /* the next to end first, those without an estimate last */
        left = cli_study_left_ms(study, sorting->now_ms);
        return left < 0 ? INT64_MAX : left;
    default:
        return 0;
    }
}

/* Of equal ones the newest first; ids grow, times may be equal. */
static int compare_studies(const void *a, const void *b, void *context)
{
    const struct sorting *sorting = context;
    const struct cli_study *x = a, *y = b;
    const int64_t left = key_of(x, sorting), right = key_of(y, sorting);
    int order = (left > right) - (left < right);
    if (sorting->order == BY_NAME)
        order = strcmp(x->name, y->name);
    const long long older = strtoll(x->id, NULL, 10);
    const long long newer = strtoll(y->id, NULL, 10);
    return order != 0 ? order : (older < newer) - (older > newer);
}

void overview_sort(struct overview *overview, const char *order, bool reversed)
{
    const size_t n = overview->n_studies;
    struct sorting sorting = {.now_ms = overview->asked_ms};
    while (strcmp(overview_orders[sorting.order], order) != 0)
        sorting.order++;
    if (n > 0)
        qsort_r(overview->studies, n, sizeof *overview->studies,
                compare_studies, &sorting);
    for (size_t i = 0; reversed && i < n / 2; i++) {
        struct cli_study other = overview->studies[i];
        overview->studies[i] = overview->studies[n - 1 - i];
        overview->studies[n - 1 - i] = other;
    }
}
