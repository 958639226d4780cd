#include "hypertune/cli/live/overview.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "hypertune/cli/frame/runners.h"
#include "hypertune/cli/study/trial.h"
#include "proto/base/clock.h"

enum { STUDIES_A_PAGE = 100 };

struct collector {
    struct overview *overview;
    struct arena *arena; /* what is gathered stays here */
    const struct overview_study *study;
};

static const char *keep(const struct collector *collector, const char *text)
{
    return arena_strdup(collector->arena, text);
}

/* ---- studies ---- */

static bool take_study(const struct node *job, void *context)
{
    struct collector *collector = context;
    struct overview *overview = collector->overview;
    struct cli_study study;
    struct text outcome = {0};
    cli_study_read(job, &study);
    cli_study_outcome(&study, &outcome);
    const struct node *best = node_find(study.status, "best");
    overview->studies =
        arena_grow(collector->arena, overview->studies, overview->n_studies,
                   sizeof *overview->studies);
    overview->studies[overview->n_studies++] = (struct overview_study){
        .name = keep(collector, study.name),
        .id = keep(collector, study.id),
        .kind = study.home->kind_name,
        .state = keep(collector, study.state),
        .outcome = keep(collector, outcome.data),
        .reason = keep(collector, node_get_string(study.status, "reason", "")),
        .metric = keep(collector, study.metric),
        .best_trial = best ? keep(collector, cli_trial_id(best)) : NULL,
        .front = cli_study_has_front(&study)
                     ? arena_printf(collector->arena, " of %zu",
                                    cli_study_front(&study))
                     : "",
        .best = node_get_double(node_find(best, "hypertune"), "objective", NAN),
        .ended = cli_study_ended(&study),
        .limit = cli_study_limit(&study),
        .running = cli_study_running(&study),
        .waiting = cli_study_count(&study, "requested"),
        .failed = cli_study_count(&study, "failed"),
        .create_ms = node_get_int(study.status, "createTimeMs", 0),
        .left_ms = cli_study_left_ms(&study, overview->asked_ms)};
    text_free(&outcome);
    return true;
}

/* ---- runners and what runs on them ---- */

static bool take_runner(const struct node *runner, void *context)
{
    struct collector *collector = context;
    struct overview *overview = collector->overview;
    const char *state = node_get_string(runner, "state", "");
    overview->runners =
        arena_grow(collector->arena, overview->runners, overview->n_runners,
                   sizeof *overview->runners);
    overview->runners[overview->n_runners++] = (struct overview_runner){
        .id = keep(collector, node_get_string(runner, "runner", "")),
        .engine = keep(collector, node_get_string(runner, "engine", "")),
        .host = keep(collector, node_get_string(runner, "host", "")),
        .state = keep(collector, state),
        .slots = node_get_int(runner, "slots", 0),
        .busy = node_get_int(runner, "busy", 0),
        .online = strcmp(state, "ONLINE") == 0};
    return true;
}

/* The objective's newest value, of a job without one any metric's. */
static void take_latest(const struct collector *collector,
                        const struct node *latest, struct overview_trial *trial)
{
    const struct node *metrics = node_find(latest, "metrics");
    const struct node *shown = node_find(metrics, collector->study->metric);
    if (shown == NULL && metrics != NULL)
        shown = metrics->first;
    if (shown == NULL)
        return;
    trial->metric = keep(collector, shown->key);
    trial->step = keep(collector, cli_scalar(node_find(latest, "step")));
    node_double(shown, &trial->value);
}

static bool take_trial(const struct node *resource, void *context)
{
    struct collector *collector = context;
    struct overview *overview = collector->overview;
    const struct overview_study *study = collector->study;
    const struct node *ours = node_find(resource, "hypertune");
    struct overview_trial trial = {
        .name = strcmp(study->kind, "custom job") == 0
                    ? study->name
                    : arena_printf(collector->arena, "%s/%s", study->name,
                                   cli_trial_id(resource)),
        .runner = keep(collector, node_get_string(ours, "runner", "")),
        .metric = "",
        .step = "",
        .value = NAN,
        .start_ms = node_get_int(ours, "startTimeMs", 0)};
    take_latest(collector, node_find(ours, "latest"), &trial);
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
        collector->study = &overview->studies[i];
        if (collector->study->running == 0 ||
            strcmp(collector->study->kind, "study") == 0)
            continue;
        struct cli_pages pages = {
            .path = arena_printf(
                cli->arena,
                CLI_OURS "/%s/trials?filter=state%%3D%%22ACTIVE%%22%%20OR%%20"
                         "state%%3D%%22STOPPING%%22",
                collector->study->id),
            .key = "trials"};
        enum ht_status status =
            cli_pages_each(cli, &pages, take_trial, collector, err);
        /* It may have been deleted since it was listed. */
        if (status != HT_OK && status != HT_NOT_FOUND)
            return status;
    }
    return HT_OK;
}

/* ---- all of it ---- */

static enum ht_status get_server(struct cli *cli, struct overview *overview,
                                 struct ht_error *err)
{
    const struct node *answer;
    enum ht_status status = cli_get(cli, "/hypertune/v1/server", &answer, err);
    if (status != HT_OK)
        return status;
    const struct node *disk = node_find(answer, "disk");
    overview->version = node_get_string(answer, "version", "");
    overview->read_only = node_get_string(answer, "readOnlyReason", "");
    overview->uptime_ms = node_get_int(answer, "uptimeMs", 0);
    overview->database_bytes = node_get_int(answer, "databaseBytes", 0);
    overview->disk_free = node_get_int(disk, "freeBytes", 0);
    overview->disk_total = node_get_int(disk, "totalBytes", 0);
    return HT_OK;
}

enum ht_status overview_get(struct cli *cli, struct overview *overview,
                            struct ht_error *err)
{
    const struct cli_pages pages = {
        .path = CLI_OURS, .key = "studies", .size = STUDIES_A_PAGE};
    struct overview made = {.asked_ms = clock_wall_ms()};
    struct collector collector = {.overview = &made, .arena = cli->arena};
    enum ht_status status = get_server(cli, &made, err);
    if (status == HT_OK)
        status = cli_pages_each(cli, &pages, take_study, &collector, err);
    if (status == HT_OK)
        status = cli_runners_each(cli, take_runner, &collector, err);
    if (status == HT_OK)
        status = get_trials(cli, &collector, err);
    if (status == HT_OK)
        *overview = made;
    return status;
}

int64_t overview_slots(const struct overview *overview, int64_t *busy)
{
    int64_t slots = 0;
    *busy = 0;
    for (size_t i = 0; i < overview->n_runners; i++) {
        if (!overview->runners[i].online)
            continue;
        slots += overview->runners[i].slots;
        *busy += overview->runners[i].busy;
    }
    return slots;
}

/* ---- orders ---- */

/* What a study is ordered by, the least first. */
typedef int64_t study_key(const struct overview_study *study);

static int64_t rank_key(const struct overview_study *study)
{
    int64_t rank = 0;
    while (cli_study_states[rank] != NULL &&
           strcmp(cli_study_states[rank], study->state) != 0)
        rank++;
    return rank;
}

static int64_t trials_key(const struct overview_study *study)
{
    return -study->ended;
}

static int64_t running_key(const struct overview_study *study)
{
    return -study->running;
}

static int64_t failed_key(const struct overview_study *study)
{
    return -study->failed;
}

/* What ends next first; what has no estimate last. */
static int64_t left_key(const struct overview_study *study)
{
    return study->left_ms < 0 ? INT64_MAX : study->left_ms;
}

/* The newest first; ids grow, times may be equal. */
static int64_t age_key(const struct overview_study *study)
{
    return -strtoll(study->id, NULL, 10);
}

const char *const overview_orders[] = {"state",  "name", "trials", "running",
                                       "failed", "left", "age",    NULL};
static study_key *const keys[] = {rank_key,   NULL, /* the name itself */
                                  trials_key, running_key, failed_key,
                                  left_key,   age_key};

static int compare(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

static int compare_studies(const void *a, const void *b, void *context)
{
    study_key *const *key = context;
    const struct overview_study *x = a, *y = b;
    const int order =
        *key == NULL ? strcmp(x->name, y->name) : compare((*key)(x), (*key)(y));
    return order != 0 ? order : compare(age_key(x), age_key(y));
}

void overview_sort(struct overview *overview, const char *order, bool reversed)
{
    size_t n = overview->n_studies, at = 0;
    while (strcmp(overview_orders[at], order) != 0)
        at++;
    study_key *key = keys[at];
    if (n > 0)
        qsort_r(overview->studies, n, sizeof *overview->studies,
                compare_studies, &key);
    for (size_t i = 0; reversed && i < n / 2; i++) {
        struct overview_study other = overview->studies[i];
        overview->studies[i] = overview->studies[n - 1 - i];
        overview->studies[n - 1 - i] = other;
    }
}
