#include "tuner/core/core.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/clock.h"
#include "proto/base/token.h"
#include "tuner/base/meter.h"
#include "tuner/core/database.h"
#include "tuner/core/internal.h"
#include "tuner/core/live.h"
#include "tuner/db/checkpoint.h"
#include "tuner/db/db.h"

/* --- what handlers see --- */

struct db *core_db(struct core *core)
{
    return core->db;
}

int64_t core_now_ms(const struct core *core)
{
    return core->now_ms;
}

int64_t core_wall_ms(const struct core *core)
{
    return core->wall_ms;
}

const struct core_options *core_options_of(const struct core *core)
{
    return &core->options;
}

const char *core_path(const struct core *core)
{
    return core->path;
}

const char *core_report_url(const struct core *core)
{
    return core->report_url;
}

struct live *core_live(struct core *core)
{
    return core->live;
}

enum ht_status core_job(struct core *core, int64_t study,
                        const struct job **job, struct ht_error *err)
{
    *job = live_find_job(core->live, study);
    if (*job != NULL)
        return HT_OK;
    struct study_row row;
    struct arena *arena = arena_new();
    enum ht_status status = db_study_get(core->db, arena, study, &row, err);
    if (status == HT_OK)
        status = live_job(core->live, &row, job, err);
    arena_free(arena);
    return status;
}

void *core_part(struct core *core, enum core_part_id id)
{
    return core->parts[id];
}

const char *core_actor(const struct core *core)
{
    return core->actor;
}

void core_act_for(struct core *core, const char *actor)
{
    core->actor = actor;
}

int64_t core_transaction_number(const struct core *core)
{
    return core->transaction_number;
}

bool core_is_here(const struct core *core)
{
    return pthread_equal(core->thread, pthread_self()) != 0;
}

const char *core_server_id(const struct core *core)
{
    return core->server_id;
}

void core_defer(struct core *core, core_deferred *apply, const void *data,
                size_t size)
{
    transaction_add_step(&core->transaction, apply, data, size);
}

void core_touch(struct core *core, int64_t study)
{
    transaction_add_touched(&core->transaction, study);
}

void core_note_revision(struct core *core, int64_t study, int64_t revision)
{
    transaction_add_revision(&core->transaction, study, revision);
}

void core_wake(struct core *core, enum core_held held, int64_t study)
{
    transaction_add_wake(&core->transaction, (held & CORE_POLLS) != 0,
                         (held & CORE_CLIENTS) != 0 ? study : 0);
}

bool core_is_busy(struct core *core)
{
    return atomic_load(&core->busy);
}

/* --- life --- */

static enum ht_status choose_server_id(struct core *core, struct ht_error *err)
{
    struct arena *arena = arena_new();
    const char *stored = NULL;
    enum ht_status status =
        db_meta_get(core->db, arena, "server_id", &stored, err);
    const char *given = core->options.server_id;
    if (status == HT_OK && given == NULL)
        given = stored;
    if (status == HT_OK && given != NULL)
        snprintf(core->server_id, sizeof core->server_id, "%s", given);
    if (status == HT_OK && given == NULL) {
        char token[TOKEN_TEXT_BYTES];
        token_make(token, (SERVER_ID_BYTES - 1) / 2);
        memcpy(core->server_id, token, SERVER_ID_BYTES);
    }
    if (status == HT_OK && (stored == NULL || strcmp(stored, given) != 0))
        status = db_meta_set(core->db, "server_id", core->server_id, err);
    arena_free(arena);
    return status;
}

static void release(struct core *core)
{
    for (size_t i = CORE_PARTS; i-- > 0;)
        if (core->options.parts[i].stop != NULL)
            core->options.parts[i].stop(core->parts[i]);
    checkpoint_stop(core->checkpoint);
    if (core->db != NULL && core->mark_fd >= 0)
        database_empty_log(core);
    database_close(core);
    live_free(core->live);
    transaction_fini(&core->transaction);
    pthread_cond_destroy(&core->wake);
    pthread_mutex_destroy(&core->lock);
    free(core->path);
    free(core->data_dir);
    free(core->runner_token);
    free(core->report_url);
    free(core);
}

static struct core *make(const struct core_options *options)
{
    struct core *core = ht_xcalloc(1, sizeof *core);
    struct text path = {0};
    text_printf(&path, "%s/hypertune.db", options->data_dir);
    core->path = path.data;
    core->data_dir = ht_xstrdup(options->data_dir);
    core->runner_token = ht_xstrdup(options->runner_token);
    core->options = *options;
    core->actor = CORE_ACTOR;
    core->mark_fd = -1;
    core->options.data_dir = core->data_dir;
    core->options.runner_token = core->runner_token;
    core->live = live_new();
    transaction_init(&core->transaction);
    request_queue_init(&core->queue);
    request_queue_init(&core->held);
    request_queue_init(&core->done);
    pthread_mutex_init(&core->lock, NULL);
    clock_cond_init(&core->wake);
    return core;
}

static enum ht_status prepare(struct core *core, struct ht_error *err)
{
    if (!failpoint_arm(&core->failpoint, core->options.fail))
        return ht_fail(err, HT_INVALID, "failpoint %s is not name:n",
                       core->options.fail);
    enum ht_status status = database_open(core, err);
    if (status == HT_OK)
        status = choose_server_id(core, err);
    if (status == HT_OK)
        status = database_mark(core, err);
    if (status == HT_OK)
        status = checkpoint_start(core->path, &core->checkpoint, err);
    core_look_at_clocks(core);
    core->quiet_since_ms = core->now_ms;
    for (size_t i = 0; status == HT_OK && i < CORE_PARTS; i++)
        if (core->options.parts[i].start != NULL)
            status = core->options.parts[i].start(core, &core->parts[i], err);
    if (status == HT_OK)
        core_update_busy(core);
    return status;
}

enum ht_status core_start(const struct core_options *options, struct core **out,
                          struct ht_error *err)
{
    struct core *core = make(options);
    enum ht_status status = prepare(core, err);
    if (status == HT_OK) {
        const int code = pthread_create(&core->thread, NULL, core_run, core);
        if (code != 0)
            status = ht_fail_errno(err, code, "cannot start the core thread");
    }
    if (status != HT_OK) {
        release(core);
        return status;
    }
    *out = core;
    return HT_OK;
}

void core_stop(struct core *core)
{
    if (core == NULL)
        return;
    pthread_mutex_lock(&core->lock);
    core->stopping = true;
    pthread_cond_signal(&core->wake);
    pthread_mutex_unlock(&core->lock);
    pthread_join(core->thread, NULL);
    release(core);
}

void core_stop_holding(struct core *core)
{
    pthread_mutex_lock(&core->lock);
    atomic_store(&core->no_holding, true);
    pthread_cond_signal(&core->wake);
    pthread_mutex_unlock(&core->lock);
}

void core_drop_abandoned(struct core *core)
{
    pthread_mutex_lock(&core->lock);
    atomic_store(&core->some_abandoned, true);
    pthread_cond_signal(&core->wake);
    pthread_mutex_unlock(&core->lock);
}

void core_post(struct core *core, struct request *req)
{
    pthread_mutex_lock(&core->lock);
    const bool stopping = core->stopping;
    if (!stopping) {
        meter_add(METER_CORE_POSTED, 1);
        request_queue_push(&core->queue, req);
        pthread_cond_signal(&core->wake);
    }
    pthread_mutex_unlock(&core->lock);
    if (!stopping)
        return;
    struct ht_error err;
    ht_fail(&err, HT_UNAVAILABLE, "the server is stopping");
    core_refuse(req, &err);
    req->answer(req);
}

void core_set_report_url(struct core *core, const char *url)
{
    pthread_mutex_lock(&core->lock);
    free(core->report_url);
    core->report_url = ht_xstrdup(url);
    pthread_mutex_unlock(&core->lock);
}
