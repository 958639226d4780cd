#include "tuner/read/walk.h"

#include "proto/doc/json.h"
#include "tuner/ask/filter.h"
#include "tuner/view/view.h"

/* `state` is all that can be asked for: by our own names, of which FAILED
 * stands for all that hypertuneStatus.counts.failed counts. */
static size_t look_up(void *item, const char *field, const char *key,
                      const char *values[FILTER_VALUES])
{
    const struct trial_row *trial = item;
    size_t n = 0;
    (void)field;
    (void)key;
    values[n++] = db_trial_state_name(trial->state);
    if (db_trial_state_is_failed(trial->state))
        values[n++] = db_trial_state_name(TRIAL_FAILED);
    return n;
}

/* Google's own list shows Vertex's states, so they are found there, too. */
static size_t look_up_vertex(void *item, const char *field, const char *key,
                             const char *values[FILTER_VALUES])
{
    const struct trial_row *trial = item;
    const size_t n = look_up(item, field, key, values);
    values[n] = db_trial_state_vertex(trial->state);
    return n + 1;
}

static enum ht_status view_vertex(const struct trial_walk *walk,
                                  struct arena *arena,
                                  const struct trial_row *trial, cJSON **out,
                                  struct ht_error *err)
{
    return view_trial(walk->reader->db, arena, &walk->study, walk->job, trial,
                      false, out, err);
}

static enum ht_status write_trial(struct trial_walk *walk, struct arena *arena,
                                  const struct trial_row *trial,
                                  struct ht_error *err)
{
    trial_viewer *view = walk->view != NULL ? walk->view : view_vertex;
    cJSON *item;
    const enum ht_status status = view(walk, arena, trial, &item, err);
    if (status != HT_OK)
        return status;
    if (walk->continues || walk->written > 0)
        text_puts(&walk->req->reply, ",");
    json_print(item, &walk->req->reply);
    walk->written++;
    return HT_OK;
}

/* One batch of rows behind walk->last; *left: there may be another. */
static enum ht_status walk_batch(struct trial_walk *walk, struct arena *arena,
                                 bool *left, struct ht_error *err)
{
    enum { BATCH = 100 };
    struct trial_list list;
    filter_lookup *find =
        walk->req->scope.project == NULL ? look_up : look_up_vertex;
    enum ht_status status = db_trial_list(
        walk->reader->db, arena, walk->study.id, walk->last, BATCH, &list, err);
    if (status != HT_OK)
        return status;
    for (size_t i = 0; i < list.n; i++) {
        if (walk->written == walk->page.size || reader_is_late(walk->reader))
            return HT_OK;
        if (filter_allows(walk->filter, find, &list.rows[i]))
            status = write_trial(walk, arena, &list.rows[i], err);
        if (status != HT_OK)
            return status;
        walk->last = list.rows[i].id;
    }
    *left = list.n == BATCH;
    return HT_OK;
}

enum ht_status walk_trials(struct trial_walk *walk, bool *more,
                           struct ht_error *err)
{
    struct arena *arena = arena_new();
    enum ht_status status = HT_OK;
    bool left = true;
    walk->last = walk->page.token;
    while (status == HT_OK && left && walk->written < walk->page.size &&
           !reader_is_late(walk->reader)) {
        status = walk_batch(walk, arena, &left, err);
        arena_reset(arena);
    }
    arena_free(arena);
    if (status == HT_OK)
        *more = left;
    return status;
}
