#include "tuner/wire/runner_online.h"

#include <stdio.h>
#include <string.h>

#include "proto/base/log.h"
#include "tuner/core/core.h"
#include "tuner/db/write.h"
#include "tuner/study/trial.h"

struct presence {
    char id[HT_MAX_NAME + 1];
    bool online;
    int64_t slots; /* negative: as before */
};

static void apply_presence(struct core *core, const void *data)
{
    const struct presence *presence = data;
    struct live_runner *runner =
        live_find_runner(core_live(core), presence->id);
    if (runner == NULL)
        return;
    runner->online = presence->online;
    if (presence->slots >= 0)
        runner->slots = presence->slots;
}

/* "no runner is connected" and "6 of 8 wait: 2 slots" may have changed. */
static void apply_stale(struct core *core, const void *data)
{
    struct live_study *study = NULL;
    (void)data;
    while ((study = live_next_study(core_live(core), study)) != NULL)
        study->stale = true;
}

void runner_online_note(struct core *core, const struct live_runner *runner,
                        bool online, int64_t slots)
{
    struct presence presence = {.online = online, .slots = slots};
    memcpy(presence.id, runner->id, sizeof presence.id);
    core_defer(core, apply_presence, &presence, sizeof presence);
    core_defer(core, apply_stale, NULL, 0);
}

static void apply_rules(struct core *core, const void *data)
{
    const char *id = data;
    const char *engine = id + strlen(id) + 1;
    struct live_runner *runner = live_find_runner(core_live(core), id);
    if (runner == NULL)
        return;
    snprintf(runner->engine, sizeof runner->engine, "%s", engine);
    live_set_rules(runner, engine + strlen(engine) + 1);
}

void runner_online_note_rules(struct core *core,
                              const struct live_runner *runner,
                              const char *engine, const char *rules)
{
    struct text data = {0}; /* strings with a NUL behind each */
    text_append(&data, runner->id, strlen(runner->id) + 1);
    text_append(&data, engine, strlen(engine) + 1);
    text_append(&data, rules, strlen(rules) + 1);
    core_defer(core, apply_rules, data.data, data.len);
    text_free(&data);
}

/* No row has it, so there is no COMMIT to wait for. */
void runner_online_note_gpus(struct core *core, struct live_runner *runner,
                             int64_t gpus)
{
    if (runner->gpus == gpus)
        return;
    runner->gpus = gpus;
    core_defer(core, apply_stale, NULL, 0);
}

enum ht_status runner_online_see(struct core *core, struct live_runner *runner,
                                 struct ht_error *err)
{
    const struct core_options *options = core_options_of(core);
    runner->seen_ms = core_now_ms(core);
    if (options->on_seen != NULL)
        options->on_seen(options->context, runner->id, core_wall_ms(core));
    if (runner->online)
        return HT_OK;
    runner_online_note(core, runner, true, -1);
    return db_runner_set_online(core_db(core), runner->id, true,
                                core_wall_ms(core), err);
}

enum ht_status runner_online_lose(struct core *core, struct arena *arena,
                                  const struct attempt_row *attempt,
                                  const char *reason, struct ht_error *err)
{
    const struct trial_name name = {attempt->study, attempt->trial, attempt->n};
    struct trial_pair pair;
    const enum ht_status status =
        trial_find(core, arena, &name, attempt->runner, &pair, err);
    return status == HT_OK ? trial_lost(core, arena, &pair, reason, err)
                           : status;
}

/* --- start and tick --- */

enum ht_status runner_online_recover(struct core *core, struct ht_error *err)
{
    struct arena *arena = arena_new();
    struct runner_list list = {0};
    const enum ht_status status =
        db_runner_list(core_db(core), arena, &list, err);
    for (size_t i = 0; i < list.n; i++) {
        struct live_runner *runner =
            live_runner(core_live(core), list.rows[i].id, list.rows[i].boot);
        runner->online = list.rows[i].online;
        runner->slots = list.rows[i].slots;
        runner->drain = list.rows[i].drain;
        snprintf(runner->engine, sizeof runner->engine, "%s",
                 list.rows[i].engine);
        live_set_rules(runner, list.rows[i].rules);
        runner->seen_ms = core_now_ms(core);
    }
    arena_free(arena);
    return status;
}

static bool is_silent(struct core *core, const struct live_runner *runner)
{
    return runner->online && core_now_ms(core) - runner->seen_ms >=
                                 core_options_of(core)->lost_after_ms;
}

static enum ht_status give_up(struct core *core, struct arena *arena,
                              struct live_runner *runner, struct ht_error *err)
{
    const char *reason =
        arena_printf(arena, "runner %s was silent for %lld s", runner->id,
                     (long long)((core_now_ms(core) - runner->seen_ms) / 1000));
    struct attempt_list open;
    enum ht_status status =
        db_attempt_open(core_db(core), arena, runner->id, &open, err);
    for (size_t i = 0; status == HT_OK && i < open.n; i++)
        status = runner_online_lose(core, arena, &open.rows[i], reason, err);
    if (status == HT_OK)
        status = db_runner_set_online(core_db(core), runner->id, false,
                                      core_wall_ms(core), err);
    if (status != HT_OK)
        return status;
    log_event(LOG_WARN, "runner.lost", "runner=%s", runner->id);
    runner_online_note(core, runner, false, -1);
    return HT_OK;
}

static void wake_retries(struct core *core)
{
    struct live_trial *trial = NULL;
    while ((trial = live_next_trial(core_live(core), trial)) != NULL) {
        if (trial->retry_at_ms == 0 || trial->retry_at_ms > core_now_ms(core))
            continue;
        trial->retry_at_ms = 0;
        core_wake(core, CORE_POLLS, 0);
    }
}

enum ht_status runner_online_tick(struct core *core, struct ht_error *err)
{
    struct arena *arena = arena_new();
    enum ht_status status = HT_OK;
    for (struct live_runner *runner = live_runners(core_live(core));
         status == HT_OK && runner != NULL; runner = runner->next)
        if (is_silent(core, runner))
            status = give_up(core, arena, runner, err);
    arena_free(arena);
    wake_retries(core);
    return status;
}

int64_t runner_online_deadline(struct core *core)
{
    int64_t next = LIVE_NEVER;
    const int64_t silence_ms = core_options_of(core)->lost_after_ms;
    for (const struct live_runner *runner = live_runners(core_live(core));
         runner != NULL; runner = runner->next)
        if (runner->online && runner->seen_ms + silence_ms < next)
            next = runner->seen_ms + silence_ms;
    const struct live_trial *trial = NULL;
    while ((trial = live_next_trial(core_live(core), trial)) != NULL)
        if (trial->retry_at_ms > 0 && trial->retry_at_ms < next)
            next = trial->retry_at_ms;
    return next;
}
