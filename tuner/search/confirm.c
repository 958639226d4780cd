#include "tuner/search/confirm.h"

#include <math.h>
#include <string.h>

#include "algorithms/insight/confirm.h"
#include "proto/doc/json.h"
#include "tuner/db/ranking.h"

/* --- reading --- */

static enum ht_status find_trial(struct db *db, struct arena *arena,
                                 int64_t study, struct finalist *finalist,
                                 struct ht_error *err)
{
    struct trial_row *row = arena_alloc(arena, 1, sizeof *row);
    const enum ht_status status =
        db_trial_get(db, arena, study, finalist->trial, row, err);
    if (status == HT_NOT_FOUND)
        return HT_OK;
    if (status == HT_OK)
        finalist->found = row;
    return status;
}

enum ht_status confirm_read(struct db *db, struct arena *arena, int64_t study,
                            struct finalist_list *list, struct ht_error *err)
{
    struct trial_list rows;
    enum ht_status status = db_confirm_list(db, arena, study, &rows, err);
    if (status != HT_OK)
        return status;
    struct finalist_list read = {
        .items = arena_alloc(arena, rows.n + 1, sizeof *read.items)};
    for (size_t i = 0; status == HT_OK && i < rows.n; i++) {
        const struct trial_row *row = &rows.rows[i];
        struct finalist *last = &read.items[read.n - (read.n > 0)];
        if (read.n > 0 && last->trial == row->confirms) {
            last->n++;
            continue;
        }
        struct finalist *own = &read.items[read.n++];
        *own = (struct finalist){
            .trial = row->confirms, .params = row->params, .n = 1, .runs = row};
        status = find_trial(db, arena, study, own, err);
    }
    if (status == HT_OK)
        *list = read;
    return status;
}

bool confirm_counts(const struct finalist *finalist,
                    const struct trial_row *run)
{
    if (!run->has_objective)
        return false;
    return run->state == TRIAL_SUCCEEDED ||
           (run->state == TRIAL_STOPPED && finalist->found != NULL &&
            finalist->found->state == TRIAL_STOPPED);
}

/* --- ranking --- */

struct confirm_ranking {
    size_t n_open; /* confirmations that have not ended */
    struct confirm_runs *runs;
    struct confirm_standing *standings;
    size_t *order; /* the best first */
};

static struct confirm_runs
results_of(struct arena *arena, const struct finalist *finalist, bool maximize)
{
    double *values = arena_alloc(arena, finalist->n + 1, sizeof *values);
    size_t n = 0;
    for (size_t i = 0; i < finalist->n; i++) {
        const struct trial_row *run = &finalist->runs[i];
        if (confirm_counts(finalist, run))
            values[n++] = maximize ? run->objective : -run->objective;
    }
    return (struct confirm_runs){n, values};
}

static size_t count_open(const struct finalist *finalist)
{
    size_t n = 0;
    for (size_t i = 0; i < finalist->n; i++)
        n += !db_trial_state_is_final(finalist->runs[i].state);
    return n;
}

static struct confirm_ranking
rank(struct arena *arena, const struct finalist_list *list, bool maximize)
{
    struct confirm_ranking ranking = {
        .runs = arena_alloc(arena, list->n, sizeof *ranking.runs),
        .standings = arena_alloc(arena, list->n, sizeof *ranking.standings),
        .order = arena_alloc(arena, list->n, sizeof *ranking.order)};
    for (size_t i = 0; i < list->n; i++) {
        ranking.runs[i] = results_of(arena, &list->items[i], maximize);
        ranking.n_open += count_open(&list->items[i]);
    }
    confirm_judge(list->n, ranking.runs, ranking.standings);
    confirm_rank(list->n, ranking.standings, ranking.order);
    return ranking;
}

/* --- showing --- */

static void add_figure(cJSON *object, const char *key, double value)
{
    if (!isnan(value))
        json_add_double(object, key, value);
}

/* Minimised metrics are negated for the comparison, so low is high. */
static void add_standing(cJSON *item, const struct confirm_standing *standing,
                         bool maximize)
{
    const double sign = maximize ? 1 : -1;
    add_figure(item, "mean", sign * standing->mean);
    add_figure(item, "sd", standing->sd);
    add_figure(item, "low", maximize ? standing->low : -standing->high);
    add_figure(item, "high", maximize ? standing->high : -standing->low);
    add_figure(item, "probability", standing->chance);
}

static void add_runs(cJSON *item, const struct finalist *finalist)
{
    cJSON *array = json_add_array(item, "confirmations");
    for (size_t i = 0; i < finalist->n; i++) {
        const struct trial_row *run = &finalist->runs[i];
        cJSON *shown = json_push_object(array);
        json_add_int_text(shown, "trial", run->id);
        json_add_int(shown, "replicate", run->replicate);
        json_add_string(shown, "state", db_trial_state_name(run->state));
        if (confirm_counts(finalist, run))
            json_add_double(shown, "value", run->objective);
    }
}

static void add_finalist(cJSON *array, const struct finalist *finalist,
                         const struct confirm_standing *standing, size_t n,
                         bool maximize)
{
    const size_t open = count_open(finalist);
    cJSON *item = json_push_object(array);
    json_add_int_text(item, "trial", finalist->trial);
    if (finalist->found != NULL && finalist->found->has_objective)
        json_add_double(item, "found", finalist->found->objective);
    json_add_int(item, "n", (int64_t)n);
    json_add_int(item, "open", (int64_t)open);
    json_add_int(item, "lost", (int64_t)(finalist->n - open - n));
    add_standing(item, standing, maximize);
    cJSON_AddItemToObject(item, "params", cJSON_CreateRaw(finalist->params));
    add_runs(item, finalist);
}

static cJSON *show(struct arena *arena, const struct metric_goal *goal,
                   const struct finalist_list *list)
{
    const struct confirm_ranking ranking = rank(arena, list, goal->maximize);
    const size_t first = ranking.order[0];
    cJSON *object = cJSON_CreateObject();
    json_add_string(object, "metric", goal->name);
    json_add_string(object, "goal", goal->maximize ? "MAXIMIZE" : "MINIMIZE");
    json_add_int(object, "open", (int64_t)ranking.n_open);
    if (ranking.runs[first].n > 0) {
        json_add_int_text(object, "take", list->items[first].trial);
        json_add_bool(object, "sure",
                      ranking.standings[first].chance >= CONFIRM_SURE);
    }
    cJSON *array = json_add_array(object, "finalists");
    for (size_t i = 0; i < list->n; i++) {
        const size_t at = ranking.order[i];
        add_finalist(array, &list->items[at], &ranking.standings[at],
                     ranking.runs[at].n, goal->maximize);
    }
    return object;
}

enum ht_status confirm_view(struct db *db, struct arena *arena,
                            const struct study_row *study,
                            const struct job *job, cJSON **out,
                            struct ht_error *err)
{
    struct finalist_list list = {0};
    enum ht_status status = HT_OK;
    if (study->confirmations > 0)
        status = confirm_read(db, arena, study->id, &list, err);
    if (status != HT_OK)
        return status;
    if (list.n == 0)
        return ht_fail(err, HT_NOT_FOUND,
                       "nothing of study \"%.128s\" was confirmed",
                       study->name);
    *out = show(arena, &job->metrics[0], &list);
    return HT_OK;
}
