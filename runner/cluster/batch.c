#include "runner/cluster/batch.h"

#include <stdlib.h>
#include <string.h>

#include "proto/base/file_tree.h"
#include "proto/base/text.h"
#include "proto/doc/json.h"
#include "runner/base/disk.h"
#include "runner/base/json.h"
#include "runner/element/element.h"

static const char batch_file[] = "batch.json";

enum { MOST_ELEMENTS = 1000000 };

const char *batch_root(struct arena *arena, const char *state)
{
    return arena_printf(arena, "%s/batches", state);
}

const char *batch_element(const struct batch *batch, struct arena *arena,
                          int element)
{
    return arena_printf(arena, "%s/%d", batch->folder, element);
}

int batch_first(const struct batch *batch, int element)
{
    return slurm_is_heterogeneous(&batch->need) ? SLURM_WHOLE : element;
}

const char *batch_element_id(const struct batch *batch, struct arena *arena,
                             int element)
{
    const long long job = batch->job;
    return batch_first(batch, element) == SLURM_WHOLE
               ? arena_printf(arena, "%lld", job)
               : arena_printf(arena, "%lld_%d", job, element);
}

static enum ht_status write_batch(const struct batch *batch, int64_t job,
                                  struct ht_error *err)
{
    struct text out = {0};
    json_open(&out, NULL);
    json_put_int(&out, "study", batch->study);
    json_put_int(&out, "job", job);
    json_put_int(&out, "elements", batch->n);
    json_put_string(&out, "hash", batch->hash);
    json_put_raw(&out, "need", batch->text);
    json_close(&out);
    const enum ht_status status =
        disk_write(batch->folder, batch_file, out.data, out.len, 0600, err);
    text_free(&out);
    return status;
}

/* Texts are copied; the arena is the batch's from now on. */
static enum ht_status fill(struct arena *arena, const char *state,
                           const struct batch_model *model,
                           struct batch **batch, struct ht_error *err)
{
    struct batch *made = arena_alloc(arena, 1, sizeof *made);
    struct slurm_need need;
    const char *text = arena_strdup(arena, model->text);
    const struct node *map = json_read_map(arena, text, strlen(text));
    if (map == NULL)
        return ht_fail(err, HT_INVALID, "the need of study %lld is no object",
                       (long long)model->study);
    const enum ht_status status = slurm_need_read(arena, map, &need, err);
    if (status != HT_OK)
        return status;
    const int n = slurm_is_heterogeneous(&need) ? 1 : model->n;
    *made = (struct batch){
        .arena = arena,
        .name = arena_strdup(arena, model->name),
        .folder =
            arena_printf(arena, "%s/%s", batch_root(arena, state), model->name),
        .study = model->study,
        .job = model->job,
        .hash = arena_strdup(arena, model->hash),
        .text = text,
        .need = need,
        .n = n,
        .slots = arena_alloc(arena, (size_t)n, sizeof *made->slots),
    };
    for (int i = 0; i < made->n; i++) {
        struct slot *slot = &made->slots[i];
        slot->state = SLURM_PENDING;
        slot->reason = slot->nodes = "";
        slot->exit = slot->signal = -1;
    }
    *batch = made;
    return HT_OK;
}

enum ht_status batch_make(const char *state, const struct batch_model *model,
                          struct batch **batch, struct ht_error *err)
{
    struct arena *arena = arena_new();
    struct batch *made = NULL;
    enum ht_status status = fill(arena, state, model, &made, err);
    if (status == HT_OK)
        status = disk_make_folder(made->folder, err);
    if (status == HT_OK)
        status = write_batch(made, 0, err);
    if (status == HT_OK)
        *batch = made;
    else
        arena_free(arena);
    return status;
}

static enum ht_status read_batch(struct arena *arena, const char *state,
                                 const char *name, struct batch **batch,
                                 struct ht_error *err)
{
    const struct node *map = NULL;
    const char *folder =
        arena_printf(arena, "%s/%s", batch_root(arena, state), name);
    const enum ht_status status =
        disk_read_json(arena, folder, batch_file, &map, err);
    if (status != HT_OK)
        return status;
    const int64_t n = node_get_int(map, "elements", 0);
    const struct node *of = node_find(map, "need");
    const struct batch_model model = {
        .name = name,
        .study = node_get_int(map, "study", 0),
        .job = node_get_int(map, "job", 0),
        .hash = node_get_string(map, "hash", ""),
        .text = of != NULL ? json_text(arena, json_of_node(of)) : "",
        .n = (int)n,
    };
    if (model.study <= 0 || n <= 0 || n > MOST_ELEMENTS)
        return ht_fail(err, HT_CORRUPT, "%s/%s is damaged", folder, batch_file);
    return fill(arena, state, &model, batch, err) == HT_OK ? HT_OK : HT_CORRUPT;
}

enum ht_status batch_read(const char *state, const char *name,
                          struct batch **batch, struct ht_error *err)
{
    struct arena *arena = arena_new();
    struct batch *read = NULL;
    const enum ht_status status = read_batch(arena, state, name, &read, err);
    if (status == HT_OK)
        *batch = read;
    else
        arena_free(arena);
    return status;
}

void batch_free(struct batch *batch)
{
    if (batch != NULL)
        arena_free(batch->arena);
}

enum ht_status batch_know(struct batch *batch, int64_t job,
                          struct ht_error *err)
{
    batch->job = job;
    batch->unknown_at = 0;
    return write_batch(batch, job, err);
}

void batch_give_up(struct batch *batch, int64_t now_ms)
{
    batch->unknown_at = 0;
    for (int i = 0; i < batch->n; i++) {
        struct slot *slot = &batch->slots[i];
        slot->gone = slot->settled = true;
        slot->gone_at = now_ms;
    }
}

void batch_remove(const struct batch *batch)
{
    file_tree_remove(batch->folder, batch_file, NULL);
}

void batch_clear(const char *state, const char *name)
{
    struct arena *arena = arena_new();
    (void)file_tree_remove(
        arena_printf(arena, "%s/%s", batch_root(arena, state), name),
        batch_file, NULL);
    arena_free(arena);
}

/* ---- what is known of the elements ---- */

void batch_look(struct batch *batch, int element)
{
    struct arena *arena = arena_new();
    struct slot *slot = &batch->slots[element];
    int turn = 0;
    bool answered = false;
    if (element_asked(batch_element(batch, arena, element), &turn, &answered,
                      NULL) == HT_OK &&
        turn >= slot->turn) {
        slot->turn = turn;
        slot->asks = turn > 0 && !answered;
    }
    arena_free(arena);
}

static bool is_in_queue(enum slurm_state state)
{
    return state == SLURM_PENDING || state == SLURM_RUNNING ||
           state == SLURM_HELD || state == SLURM_REQUEUED;
}

/* One that a person holds before it began still waits. */
static bool has_ended(const struct slot *slot, enum slurm_state state)
{
    switch (state) {
    case SLURM_PENDING:
    case SLURM_RUNNING:
    case SLURM_ENDING:
    case SLURM_UNKNOWN:
        return false;
    case SLURM_HELD:
        return slot->turn > 0;
    case SLURM_COMPLETED:
    case SLURM_FAILED:
    case SLURM_CANCELLED:
    case SLURM_TIMEOUT:
    case SLURM_DEADLINE:
    case SLURM_OUT_OF_MEMORY:
    case SLURM_NODE_FAIL:
    case SLURM_PREEMPTED:
    case SLURM_REQUEUED:
        return true;
    }
    return false;
}

struct slurm_end batch_end(const struct batch *batch, struct arena *arena,
                           int element)
{
    const struct slot *slot = &batch->slots[element];
    const struct slurm_row row = {
        .job = batch->job,
        .first = element,
        .last = element,
        .name = batch->name,
        .state = slot->state,
        .reason = slot->reason,
        .nodes = slot->nodes,
        .exit = slot->exit,
        .signal = slot->signal,
    };
    return slurm_end_of(arena, slot->vanished ? NULL : &row, slot->turn > 0);
}

/* Rows are noted at each listing: texts that stay are not copied again. */
static void keep_text(struct batch *batch, const char **text, const char *value)
{
    if (strcmp(*text, value) != 0)
        *text = arena_strdup(batch->arena, value);
}

void batch_note(struct batch *batch, const struct slurm_row *row)
{
    for (int i = row->first < 0 ? 0 : row->first;
         i <= row->last && i < batch->n; i++) {
        struct slot *slot = &batch->slots[i];
        if (slot->gone) {
            slot->lingers = is_in_queue(row->state);
            continue;
        }
        slot->listed = true;
        slot->missed = 0;
        slot->state = row->state;
        slot->gone = has_ended(slot, row->state);
        slot->lingers = slot->gone && is_in_queue(row->state);
        slot->exit = row->exit;
        slot->signal = row->signal;
        keep_text(batch, &slot->reason, row->reason);
        if (row->nodes[0] != '\0')
            keep_text(batch, &slot->nodes, row->nodes);
        if (row->end_ms > 0 && !slot->gone)
            slot->end_ms = row->end_ms;
    }
}
