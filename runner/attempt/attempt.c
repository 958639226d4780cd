#include "runner/attempt/attempt.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "proto/base/clock.h"
#include "proto/base/file_tree.h"
#include "proto/base/log.h"
#include "runner/attempt/checkpoints.h"
#include "runner/attempt/outputs.h"
#include "runner/attempt/prepare.h"
#include "runner/base/credentials.h"
#include "runner/base/disk.h"
#include "runner/base/json.h"
#include "runner/reports/record_queue.h"
#include "runner/reports/records.h"
#include "runner/reports/results_file.h"
#include "runner/transfer/trees.h"

enum {
    N_LOGS = sizeof((struct attempt_replica *)0)->logs / sizeof(struct log_ship)
};

enum { EVIDENCE_REPLICAS = 16 }; /* in "evidence", the master first */

static const char default_file[] = "/tmp/hypertune/output.metrics";

/* Marks in the attempt's folder. */
static const char mark_started[] = "started";
static const char mark_ended[] = "ended";

/* On the machine that the code is from, its folder is used itself. */
static bool needs_tree(const struct site *site, const struct engine *engine,
                       const struct order *order)
{
    return order->code.tree != NULL && order->project != NULL &&
           !engine->images &&
           (site->far || site->machine == NULL ||
            strcmp(site->machine, order->code.machine) != 0);
}

struct attempt *attempt_new(const struct site *site,
                            const struct engine *engine, struct trees *trees,
                            struct order *order)
{
    static const char *const streams[N_LOGS] = {"stdout", "stderr",
                                                FOLDER_RUNNER_STREAM};
    const char *credentials = credentials_path(order->arena, site, &order->key);
    struct attempt *attempt = ht_xcalloc(1, sizeof *attempt);
    attempt->engine = engine;
    attempt->order = order;
    attempt->watch = -1;
    if (trees != NULL && needs_tree(site, engine, order)) {
        order_copy_from(
            order, trees_folder(order->arena, site->state, order->code.tree));
        trees_want(trees, order->project, order->code.tree);
        attempt->trees = trees;
    }
    attempt->began_ms = clock_monotonic_ms();
    attempt->folder = prepare_attempt_folder(order->arena, site, &order->key);
    attempt->place = (struct engine_place){
        .site = site,
        .order = order,
        .placement = &attempt->placement,
        .folder = attempt->folder,
        .folder_ids = arena_alloc(order->arena, order->n_replicas,
                                  sizeof *attempt->place.folder_ids),
    };
    attempt->replicas =
        arena_alloc(order->arena, order->n_replicas, sizeof *attempt->replicas);
    for (size_t i = 0; i < order->n_replicas; i++) {
        struct attempt_replica *replica = &attempt->replicas[i];
        replica->name = order->replicas[i].name;
        replica->folder = prepare_replica_folder(order->arena, attempt->folder,
                                                 &order->replicas[i]);
        replica->records = records_new(order, i, replica->folder, &site->guest);
        for (size_t k = 0; k < N_LOGS; k++)
            log_ship_init(&replica->logs[k], order, replica->folder, streams[k],
                          credentials);
        replica->usage = (struct usage_file){.folder = replica->folder};
        replica->watch = -1;
    }
    /* What was chosen before a restart is in use, adopted or not. */
    (void)placement_read(attempt->folder, order, &attempt->placement, NULL);
    return attempt;
}

void attempt_free(struct attempt *attempt)
{
    if (attempt == NULL)
        return;
    for (size_t i = 0; i < attempt->order->n_replicas; i++) {
        records_free(attempt->replicas[i].records);
        for (int k = 0; k < N_LOGS; k++)
            log_ship_fini(&attempt->replicas[i].logs[k]);
    }
    placement_release(&attempt->placement);
    free(attempt->bringing.below);
    free(attempt->named.below);
    if (attempt->trees != NULL)
        trees_leave(attempt->trees, attempt->order->code.tree);
    order_free(attempt->order);
    free(attempt);
}

/* There was no start to report. */
static void end_early(struct attempt *attempt)
{
    attempt->engine->remove(&attempt->place);
    attempt->started_confirmed = true;
    attempt->facts_confirmed = true;
    attempt->ended = true;
    attempt->waits = attempt->fetching = false;
    attempt->ending = (struct ending){.ended_ms = clock_wall_ms()};
}

static void end_unstarted(struct attempt *attempt, const struct ht_error *err)
{
    const bool impossible = err->status == HT_PRECONDITION;
    end_early(attempt);
    attempt->ending.impossible = impossible;
    folder_end(&attempt->ending, impossible ? OUTCOME_FAILED : OUTCOME_LOST,
               "%s%s",
               impossible ? "" : "the runner could not start it: ", err->text);
    log_event(LOG_ERROR, "attempt.unstarted", "name=%s reason=\"%s\"",
              attempt->order->name, err->text);
}

static enum ht_status place(struct attempt *attempt,
                            const struct gpu_rooms *rooms, struct ht_error *err)
{
    if (attempt->placement.n > 0)
        return HT_OK;
    const enum ht_status status =
        placement_choose(attempt->place.site, attempt->order, rooms,
                         attempt->engine->address, &attempt->placement, err);
    if (status != HT_OK)
        return status;
    return placement_write(attempt->folder, attempt->order, &attempt->placement,
                           err);
}

/* See records_begin(). */
static enum ht_status begin_records(struct attempt *attempt, bool anew,
                                    struct ht_error *err)
{
    enum ht_status status = HT_OK;
    for (size_t i = 0; status == HT_OK && i < attempt->order->n_replicas; i++)
        status = records_begin(attempt->replicas[i].records, attempt->folder,
                               anew, err);
    return status;
}

/* Once the checkpoint that it continues from is here. */
static void start(struct attempt *attempt, bool anew, const char *event)
{
    struct ht_error err;
    if (checkpoints_lacks_its_own(attempt)) {
        attempt->waits = attempt->fetching = true;
        return;
    }
    enum ht_status status = begin_records(attempt, anew, &err);
    if (status == HT_OK)
        status = attempt->engine->start(&attempt->place, &err);
    if (status != HT_OK)
        end_unstarted(attempt, &err);
    else
        log_event(LOG_INFO, event, "name=%s", attempt->order->name);
    attempt->begun = status == HT_OK;
    if (attempt->begun && anew)
        checkpoints_log_start(attempt);
}

static void look_for_checkpoint(struct attempt *attempt)
{
    struct ht_error err;
    const enum ht_status status = checkpoints_fetch(attempt, &err);
    if (attempt->fetching)
        return;
    attempt->waits = false;
    if (status == HT_OK)
        start(attempt, true, "attempt.started");
    else
        end_unstarted(attempt, &err);
}

/* Starts it once its tree is there. */
static void look_for_tree(struct attempt *attempt)
{
    struct ht_error err;
    const enum trees_state state =
        trees_look(attempt->trees, attempt->order->code.tree, &err);
    attempt->waits = state == TREES_PENDING;
    if (state == TREES_FAILED) {
        ht_wrap(&err, HT_UNAVAILABLE, "its code");
        end_unstarted(attempt, &err);
    } else if (state == TREES_READY) {
        start(attempt, true, "attempt.started");
    }
}

/* Replicas that may have begun have no need of the tree. */
static void begin(struct attempt *attempt, bool anew, const char *event)
{
    if (attempt->trees == NULL || !anew) {
        start(attempt, anew, event);
        return;
    }
    look_for_tree(attempt);
    if (attempt->waits)
        log_event(LOG_INFO, "attempt.waits", "name=%s tree=%s",
                  attempt->order->name, attempt->order->code.tree);
}

void attempt_start(struct attempt *attempt, const struct gpu_rooms *rooms)
{
    struct ht_error err, why;
    attempt->accepted = true;
    folder_reclaim(attempt->place.site->state, attempt->folder);
    file_tree_remove(attempt->folder, NULL,
                     NULL); /* of an earlier database's attempt */
    const enum ht_status clean =
        outputs_begin(attempt->place.site, attempt->order, &why);
    enum ht_status status =
        prepare_lease(attempt->folder, attempt->order, &err);
    if (status == HT_OK && clean != HT_OK)
        status = ht_fail(&err, clean, "%s", why.text);
    if (status == HT_OK)
        status = place(attempt, rooms, &err);
    if (status == HT_OK)
        begin(attempt, true, "attempt.started");
    else
        end_unstarted(attempt, &err);
}

void attempt_refuse(struct attempt *attempt, const char *reason)
{
    struct ht_error err;
    attempt->accepted = true;
    if (prepare_lease(attempt->folder, attempt->order, &err) == HT_OK)
        ht_fail(&err, HT_UNAVAILABLE, "%s", reason);
    end_unstarted(attempt, &err);
}

bool attempt_disturbs(const struct attempt *attempt,
                      const struct attempt *other)
{
    return !other->collected &&
           results_file_is_same(records_file(attempt->replicas[0].records),
                                records_file(other->replicas[0].records));
}

void attempt_adopt(struct attempt *attempt, const struct gpu_rooms *rooms)
{
    struct ht_error err;
    attempt->accepted = true;
    attempt->started_confirmed = disk_has(attempt->folder, mark_started);
    attempt->facts_confirmed = attempt->started_confirmed;
    attempt->ended_confirmed = disk_has(attempt->folder, mark_ended);
    attempt->wants_checkpoint = true; /* what the server said is not known */
    const bool anew = !prepare_is_complete(attempt->order, attempt->folder);
    if (place(attempt, rooms, &err) == HT_OK)
        begin(attempt, anew, "attempt.adopted");
    else
        end_unstarted(attempt, &err);
}

void attempt_remove(struct attempt *attempt)
{
    checkpoints_forget(attempt);
    attempt->engine->remove(&attempt->place);
    prepare_remove(attempt->place.site, &attempt->order->key);
}

void attempt_stop(struct attempt *attempt, const struct stop_order *order)
{
    if (attempt->waits) {
        checkpoints_forget(attempt);
        end_early(attempt);
        folder_end(&attempt->ending, OUTCOME_STOPPED, "%s", order->reason);
    } else if (!attempt->ended) {
        attempt->engine->stop(&attempt->place, order);
    }
}

/* A trainer that exits by itself has completed its last line. */
static bool was_killed(const struct ending *ending)
{
    return ending->outcome != OUTCOME_SUCCEEDED &&
           (!ending->has_exit || ending->exit > 128);
}

static void note_end(struct attempt *attempt)
{
    attempt->ended = true;
    for (size_t i = 0;
         was_killed(&attempt->ending) && i < attempt->order->n_replicas; i++)
        records_cut(attempt->replicas[i].records);
    log_event(LOG_INFO, "attempt.ended", "name=%s outcome=%s reason=\"%s\"",
              attempt->order->name,
              folder_outcome_name(attempt->ending.outcome),
              attempt->ending.reason);
    /* Before the end is sent, so that a fetch right after it finds no folder
     * that will be gone. */
    outputs_remove_empty(attempt->place.site, &attempt->order->key);
}

static uint64_t count_skipped(const struct attempt *attempt)
{
    uint64_t n = 0;
    for (size_t i = 0; i < attempt->order->n_replicas; i++)
        n += records_skipped(attempt->replicas[i].records);
    return n;
}

/* Files in a folder that is no longer the replica's are not its. */
static bool collect(struct attempt *attempt, size_t i, int64_t next_beat,
                    bool final)
{
    struct attempt_replica *replica = &attempt->replicas[i];
    if (folder_fault(&attempt->place.folder_ids[i], replica->folder) == NULL)
        return records_collect(replica->records, next_beat, final);
    for (size_t k = 0; k < N_LOGS; k++)
        replica->logs[k].done = true;
    return false;
}

bool attempt_tick(struct attempt *attempt, int64_t next_beat)
{
    if (!attempt->accepted || attempt->collected)
        return false;
    if (attempt->fetching)
        look_for_checkpoint(attempt);
    else if (attempt->waits)
        look_for_tree(attempt);
    if (attempt->waits)
        return false;
    if (!attempt->ended &&
        attempt->engine->poll(&attempt->place, &attempt->ending) ==
            ENGINE_ENDED)
        note_end(attempt);
    /* Checked before reading: a file is complete when read after the end. */
    const bool final = attempt->ended;
    bool more = false;
    for (size_t i = 0; i < attempt->order->n_replicas; i++)
        more |= collect(attempt, i, next_beat, final);
    checkpoints_collect(attempt);
    attempt->collected = final && !more;
    if (attempt->collected && count_skipped(attempt) > 0)
        log_event(LOG_WARN, "records.skipped", "name=%s lines=%llu",
                  attempt->order->name,
                  (unsigned long long)count_skipped(attempt));
    return more;
}

bool attempt_is_started(const struct attempt *attempt)
{
    return !attempt->waits && attempt->engine->is_started(&attempt->place);
}

void attempt_mark_started(struct attempt *attempt)
{
    attempt->started_confirmed = true;
    (void)disk_mark(attempt->folder, mark_started, NULL);
}

void attempt_mark_ended(struct attempt *attempt)
{
    attempt->ended_confirmed = true;
    (void)disk_mark(attempt->folder, mark_ended, NULL);
}

bool attempt_has_queue(const struct attempt *attempt)
{
    for (size_t i = 0; i < attempt->order->n_replicas; i++) {
        if (records_queue(attempt->replicas[i].records)->n > 0)
            return true;
    }
    return false;
}

bool attempt_is_shipped(const struct attempt *attempt)
{
    if (!attempt->collected || attempt_has_queue(attempt))
        return false;
    for (size_t i = 0; i < attempt->order->n_replicas; i++) {
        for (size_t k = 0; k < N_LOGS; k++) {
            if (!attempt->replicas[i].logs[k].done)
                return false;
        }
    }
    return true;
}

/* Where cloudml-hypertune writes when no variable names a file. */
static bool has_default_file(const struct attempt *attempt)
{
    struct stat status;
    return attempt->order->replicas[0].image == NULL &&
           lstat(default_file, &status) == 0 && S_ISREG(status.st_mode) &&
           (int64_t)status.st_mtim.tv_sec * 1000 + 999 >=
               attempt->ending.started_ms &&
           (int64_t)status.st_mtim.tv_sec * 1000 <= attempt->ending.ended_ms;
}

void attempt_evidence_text(const struct attempt *attempt, struct text *out)
{
    const struct order *order = attempt->order;
    const struct records *master = attempt->replicas[0].records;
    if (order->metrics.n == 0 || attempt->ending.started_ms == 0 ||
        records_are_whole(master))
        return;
    json_open(out, "evidence");
    json_open_list(out, "names");
    for (size_t i = 0; i < order->n_replicas && i < EVIDENCE_REPLICAS; i++)
        records_names_text(attempt->replicas[i].records, out);
    json_close_list(out);
    records_hints_text(master, out);
    if (has_default_file(attempt))
        json_put_string(out, "elsewhere", default_file);
    json_close(out);
}
