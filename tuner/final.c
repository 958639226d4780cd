#include "tuner/final.h"

#include <math.h>
#include <string.h>

#include "proto/node.h"
#include "proto/text.h"
#include "tuner/db_write.h"
#include "tuner/memory.h"
#include "tuner/reason.h"
#include "tuner/trial.h"

enum {
    LOOKED_AT = 100, /* records read for the names that did come */
    NAMES_SHOWN = 8
};

struct names {
    size_t n;
    const char *items[NAMES_SHOWN];
};

static void add_names(struct arena *arena, const char *metrics,
                      struct names *names)
{
    struct diag diag;
    diag_init(&diag, arena, "metrics", metrics, strlen(metrics));
    const struct node *map =
        node_read_json(arena, metrics, strlen(metrics), &diag);
    for (const struct node *item = map == NULL ? NULL : map->first;
         item != NULL && names->n < NAMES_SHOWN; item = item->next) {
        size_t i = 0;
        while (i < names->n && strcmp(names->items[i], item->key) != 0)
            i++;
        if (i == names->n)
            names->items[names->n++] = item->key;
    }
}

/* "ended without reporting accuracy; saw: acc, loss" */
static enum ht_status why_missing(struct core *core, struct arena *arena,
                                  struct deciding *now, struct ht_error *err)
{
    const struct attempt_row *attempt = &now->pair->attempt;
    struct measurement_list list;
    const enum ht_status status =
        db_measurement_list(core_db(core), arena, attempt->study,
                            attempt->trial, LOOKED_AT, &list, err);
    if (status != HT_OK)
        return status;
    struct names names = {0};
    for (size_t i = 0; i < list.n; i++)
        add_names(arena, list.rows[i].metrics, &names);
    const char *text = arena_printf(arena, "ended without reporting %s",
                                    now->job->metrics[0].name);
    for (size_t i = 0; i < names.n; i++)
        text = arena_printf(arena, "%s%s%s", text, i == 0 ? "; saw: " : ", ",
                            names.items[i]);
    now->final.why = reason_cut(arena, text);
    return HT_OK;
}

static enum ht_status choose(struct core *core, struct arena *arena,
                             struct deciding *now, struct ht_error *err)
{
    struct attempt_scores scores;
    const enum ht_status status =
        db_scores_get(core_db(core), arena, &now->pair->attempt, &scores, err);
    if (status != HT_OK)
        return status;
    if (!scores.has_last)
        return why_missing(core, arena, now, err);
    if (now->job->selection == SELECT_BEST && scores.has_best) {
        now->final = (struct final){.found = true,
                                    .objective = scores.best_objective,
                                    .step = scores.best_step,
                                    .metrics = scores.best_metrics};
        return HT_OK;
    }
    if (isfinite(scores.last_objective)) {
        now->final = (struct final){.found = true,
                                    .objective = scores.last_objective,
                                    .step = scores.last_step,
                                    .metrics = scores.last_metrics};
        return HT_OK;
    }
    char value[TEXT_DOUBLE_BYTES];
    now->final.why =
        arena_printf(arena, "%s was %s at step %lld", now->job->metrics[0].name,
                     text_of_double(value, scores.last_objective),
                     (long long)scores.last_step);
    return HT_OK;
}

enum ht_status final_prepare(struct core *core, struct arena *arena,
                             struct deciding *now, struct ht_error *err)
{
    enum ht_status status = db_study_get(
        core_db(core), arena, now->pair->trial.study, &now->study, err);
    if (status == HT_OK)
        status = memory_job(core_memory(core), &now->study, &now->job, err);
    if (status != HT_OK || now->job->n_metrics == 0)
        return status;
    return choose(core, arena, now, err);
}
