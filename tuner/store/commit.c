/* commit.c - the store's part on the core's thread: the row of a tree, and the
 * end of what nothing uses. */

#include "tuner/store/store.h"

#include <stdlib.h>

#include "proto/doc/json.h"
#include "tuner/core/core.h"
#include "tuner/db/trees.h"
#include "tuner/store/state.h"

enum {
    GRACE_MS = 3600 * 1000, /* between a tree's coming and its first use */
    TICK_MS = 10000,
    SWEEP_MS = 3600 * 1000 /* for what came and became no tree */
};

enum ht_status store_commit_tree(struct core *core, struct request *req,
                                 struct ht_error *err)
{
    const struct transfer *transfer = req->transfer;
    const struct tree_row row = {.project = transfer->project->name,
                                 .tree = transfer->tree,
                                 .bytes = transfer->tree_bytes,
                                 .files = transfer->tree_files,
                                 .created_ms = core_wall_ms(core)};
    const enum ht_status status = db_tree_save(core_db(core), &row, err);
    if (status != HT_OK)
        return status;
    cJSON *object = cJSON_CreateObject();
    json_add_string(object, "tree", row.tree);
    json_add_int(object, "bytes", row.bytes);
    json_add_int(object, "files", row.files);
    json_print(object, &req->reply);
    return HT_OK;
}

/* --- the part of the core --- */

struct looking {
    int64_t next_ms, sweep_ms; /* monotonic */
};

enum ht_status store_part_start(struct core *core, void **data,
                                struct ht_error *err)
{
    struct looking *looking = ht_xcalloc(1, sizeof *looking);
    (void)err;
    looking->next_ms = core_now_ms(core) + TICK_MS;
    looking->sweep_ms = core_now_ms(core) + SWEEP_MS;
    *data = looking;
    return HT_OK;
}

void store_part_stop(void *data)
{
    free(data);
}

static void sweep(struct core *core, const void *data)
{
    (void)data;
    store_sweep_soon(core_options_of(core)->store);
}

enum ht_status store_tick(struct core *core, struct ht_error *err)
{
    struct looking *looking = core_part(core, CORE_STORE);
    const int64_t now_ms = core_now_ms(core);
    int64_t n = 0;
    if (core_options_of(core)->store == NULL || now_ms < looking->next_ms)
        return HT_OK;
    looking->next_ms = now_ms + TICK_MS;
    const enum ht_status status =
        db_tree_expire(core_db(core), core_wall_ms(core), GRACE_MS, &n, err);
    const bool skipped =
        atomic_load(&core_options_of(core)->store->sweep_skipped);
    if (status == HT_OK && (n > 0 || skipped || now_ms >= looking->sweep_ms)) {
        looking->sweep_ms = now_ms + SWEEP_MS;
        core_defer(core, sweep, NULL, 0);
    }
    return status;
}

int64_t store_deadline(struct core *core)
{
    const struct looking *looking = core_part(core, CORE_STORE);
    return core_options_of(core)->store != NULL ? looking->next_ms : INT64_MAX;
}
