#include "runner/attempt/attempt.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "proto/base/clock.h"
#include "runner/attempt/outputs.h"
#include "runner/attempt/prepare.h"
#include "runner/base/credentials.h"
#include "runner/base/disk.h"
#include "runner/base/json.h"
#include "runner/base/log.h"

enum {
    N_LOGS = sizeof((struct attempt_replica *)0)->logs / sizeof(struct log_ship)
};

enum { TOLD_REPLICAS = 16 }; /* in the evidence, the master first */

static const char default_file[] = "/tmp/hypertune/output.metrics";

/* Marks in the attempt's folder. */
static const char mark_started[] = "started";
static const char mark_ended[] = "ended";

struct attempt *attempt_new(const struct site *site,
                            const struct engine *engine, struct order *order)
{
    static const char *const streams[N_LOGS] = {"stdout", "stderr",
                                                RUNNER_STREAM};
    const char *credentials = credentials_path(order->arena, site, &order->key);
    struct attempt *run = ht_xcalloc(1, sizeof *run);
    run->engine = engine;
    run->order = order;
    run->watch = -1;
    run->folder = prepare_attempt_folder(order->arena, site, &order->key);
    run->place = (struct engine_place){
        .site = site,
        .order = order,
        .placement = &run->placement,
        .folder = run->folder,
        .homes = arena_alloc(order->arena, order->n_replicas,
                             sizeof *run->place.homes),
    };
    run->replicas =
        arena_alloc(order->arena, order->n_replicas, sizeof *run->replicas);
    for (size_t i = 0; i < order->n_replicas; i++) {
        struct attempt_replica *replica = &run->replicas[i];
        replica->name = order->replicas[i].name;
        replica->folder = prepare_replica_folder(order->arena, run->folder,
                                                 &order->replicas[i]);
        replica->records = records_new(order, i, replica->folder);
        for (size_t k = 0; k < N_LOGS; k++)
            log_ship_init(&replica->logs[k], order, replica->folder, streams[k],
                          credentials);
        replica->watch = -1;
    }
    /* What an earlier life chose is in use, whether we adopt it or not. */
    (void)placement_read(run->folder, order, &run->placement, NULL);
    return run;
}

void attempt_free(struct attempt *run)
{
    if (run == NULL)
        return;
    for (size_t i = 0; i < run->order->n_replicas; i++) {
        records_free(run->replicas[i].records);
        for (int k = 0; k < N_LOGS; k++)
            log_ship_fini(&run->replicas[i].logs[k]);
    }
    placement_release(&run->placement);
    order_free(run->order);
    free(run);
}

static void end_unstarted(struct attempt *run, const struct ht_error *err)
{
    const bool impossible = err->status == HT_PRECONDITION;
    run->engine->remove(&run->place);
    run->told_started = true; /* there is nothing to tell about a start */
    run->told_facts = true;
    run->ended = true;
    run->ending = (struct ending){
        .outcome = impossible ? OUTCOME_FAILED : OUTCOME_LOST,
        .ended_ms = clock_wall_ms(),
        .impossible = impossible,
    };
    (void)snprintf(
        run->ending.reason, sizeof run->ending.reason, "%s%s",
        impossible ? "" : "the runner could not start it: ", err->text);
    runner_log(RUNNER_ERROR, "attempt.unstarted", "name=%s reason=\"%s\"",
               run->order->name, err->text);
}

static enum ht_status place(struct attempt *run,
                            const struct strings *free_gpus,
                            struct ht_error *err)
{
    if (run->placement.n > 0)
        return HT_OK;
    const enum ht_status status =
        placement_choose(run->place.site, run->order, free_gpus,
                         run->engine->address, &run->placement, err);
    if (status != HT_OK)
        return status;
    return placement_write(run->folder, run->order, &run->placement, err);
}

/* Before anything starts, or after it was there: see records_begin(). */
static enum ht_status begin_records(struct attempt *run, bool anew,
                                    struct ht_error *err)
{
    enum ht_status status = HT_OK;
    for (size_t i = 0; status == HT_OK && i < run->order->n_replicas; i++)
        status =
            records_begin(run->replicas[i].records, run->folder, anew, err);
    return status;
}

static void end_or_go_on(struct attempt *run, enum ht_status status,
                         const struct ht_error *err, const char *event)
{
    if (status != HT_OK)
        end_unstarted(run, err);
    else
        runner_log(RUNNER_INFO, event, "name=%s", run->order->name);
}

void attempt_start(struct attempt *run, const struct strings *free_gpus)
{
    struct ht_error err, why;
    run->accepted = true;
    folder_home_reclaim(run->place.site->state, run->folder);
    disk_remove_tree(run->folder); /* of an earlier database's attempt */
    const enum ht_status clean =
        outputs_begin(run->place.site, run->order, &why);
    enum ht_status status = prepare_lease(run->folder, run->order, &err);
    if (status == HT_OK && clean != HT_OK)
        status = ht_fail(&err, clean, "%s", why.text);
    if (status == HT_OK)
        status = place(run, free_gpus, &err);
    if (status == HT_OK)
        status = begin_records(run, true, &err);
    if (status == HT_OK)
        status = run->engine->start(&run->place, &err);
    end_or_go_on(run, status, &err, "attempt.started");
}

void attempt_refuse(struct attempt *run, const char *reason)
{
    struct ht_error err;
    run->accepted = true;
    if (prepare_lease(run->folder, run->order, &err) == HT_OK)
        ht_fail(&err, HT_UNAVAILABLE, "%s", reason);
    end_unstarted(run, &err);
}

bool attempt_disturbs(const struct attempt *run, const struct attempt *other)
{
    return !other->collected &&
           results_file_is_same(records_file(run->replicas[0].records),
                                records_file(other->replicas[0].records));
}

void attempt_adopt(struct attempt *run, const struct strings *free_gpus)
{
    struct ht_error err;
    run->accepted = true;
    run->told_started = disk_has(run->folder, mark_started);
    run->told_facts = run->told_started;
    run->told_ended = disk_has(run->folder, mark_ended);
    const bool anew = !prepare_is_complete(run->order, run->folder);
    enum ht_status status = begin_records(run, anew, &err);
    if (status == HT_OK)
        status = place(run, free_gpus, &err);
    if (status == HT_OK)
        status = run->engine->adopt(&run->place, &err);
    end_or_go_on(run, status, &err, "attempt.adopted");
}

void attempt_remove(struct attempt *run)
{
    run->engine->remove(&run->place);
    prepare_remove(run->place.site, &run->order->key);
}

void attempt_stop(struct attempt *run, const struct stop_order *order)
{
    if (!run->ended)
        run->engine->stop(&run->place, order);
}

/* A trainer that ends by itself has written its last line to the end. */
static bool was_killed(const struct ending *ending)
{
    return ending->outcome != OUTCOME_SUCCEEDED &&
           (!ending->has_exit || ending->exit > 128);
}

static void note_end(struct attempt *run)
{
    run->ended = true;
    for (size_t i = 0; was_killed(&run->ending) && i < run->order->n_replicas;
         i++)
        records_cut(run->replicas[i].records);
    runner_log(RUNNER_INFO, "attempt.ended", "name=%s outcome=%s reason=\"%s\"",
               run->order->name, folder_outcome_name(run->ending.outcome),
               run->ending.reason);
}

static uint64_t count_skipped(const struct attempt *run)
{
    uint64_t n = 0;
    for (size_t i = 0; i < run->order->n_replicas; i++)
        n += records_skipped(run->replicas[i].records);
    return n;
}

/* What lies in a folder that is not the replica's any more is not its. */
static bool collect(struct attempt *run, size_t i, int64_t next_beat,
                    bool final)
{
    struct attempt_replica *replica = &run->replicas[i];
    if (folder_home_lost(&run->place.homes[i], replica->folder) == NULL)
        return records_collect(replica->records, next_beat, final);
    for (size_t k = 0; k < N_LOGS; k++)
        replica->logs[k].done = true;
    return false;
}

bool attempt_tick(struct attempt *run, int64_t next_beat)
{
    if (!run->accepted || run->collected)
        return false;
    if (!run->ended &&
        run->engine->poll(&run->place, &run->ending) == ENGINE_ENDED)
        note_end(run);
    /* Asked before reading: a file read after the end is read whole. */
    const bool final = run->ended;
    bool more = false;
    for (size_t i = 0; i < run->order->n_replicas; i++)
        more |= collect(run, i, next_beat, final);
    run->collected = final && !more;
    if (run->collected && count_skipped(run) > 0)
        runner_log(RUNNER_WARN, "records.skipped", "name=%s lines=%llu",
                   run->order->name, (unsigned long long)count_skipped(run));
    return more;
}

bool attempt_is_started(const struct attempt *run)
{
    return run->engine->is_started(&run->place);
}

void attempt_mark_started(struct attempt *run)
{
    run->told_started = true;
    (void)disk_mark(run->folder, mark_started, NULL);
}

void attempt_mark_ended(struct attempt *run)
{
    run->told_ended = true;
    (void)disk_mark(run->folder, mark_ended, NULL);
}

bool attempt_has_queue(const struct attempt *run)
{
    for (size_t i = 0; i < run->order->n_replicas; i++) {
        if (records_queue(run->replicas[i].records)->n > 0)
            return true;
    }
    return false;
}

bool attempt_is_shipped(const struct attempt *run)
{
    if (!run->collected || attempt_has_queue(run))
        return false;
    for (size_t i = 0; i < run->order->n_replicas; i++) {
        for (size_t k = 0; k < N_LOGS; k++) {
            if (!run->replicas[i].logs[k].done)
                return false;
        }
    }
    return true;
}

/* Where cloudml-hypertune writes when no variable names a file. */
static bool has_default_file(const struct attempt *run)
{
    struct stat status;
    return run->order->replicas[0].image == NULL &&
           lstat(default_file, &status) == 0 && S_ISREG(status.st_mode) &&
           (int64_t)status.st_mtim.tv_sec * 1000 + 999 >=
               run->ending.started_ms &&
           (int64_t)status.st_mtim.tv_sec * 1000 <= run->ending.ended_ms;
}

void attempt_evidence_text(const struct attempt *run, struct text *out)
{
    const struct order *order = run->order;
    const struct records *master = run->replicas[0].records;
    if (order->metrics.n == 0 || run->ending.started_ms == 0 ||
        records_are_whole(master))
        return;
    json_open(out, "evidence");
    json_open_list(out, "names");
    for (size_t i = 0; i < order->n_replicas && i < TOLD_REPLICAS; i++)
        records_names_text(run->replicas[i].records, out);
    json_close_list(out);
    records_hints_text(master, out);
    if (has_default_file(run))
        json_put_string(out, "elsewhere", default_file);
    json_close(out);
}
