#include "tuner/parts.h"

#include "algorithms/base/algorithm.h"
#include "tuner/api/operation.h"
#include "tuner/api/sessions.h"
#include "tuner/api/tokens.h"
#include "tuner/core/audit.h"
#include "tuner/core/core.h"
#include "tuner/core/disk_guard.h"
#include "tuner/core/worker.h"
#include "tuner/runners/machine_types.h"
#include "tuner/search/search_worker.h"
#include "tuner/search/stop_worker.h"
#include "tuner/store/store.h"
#include "tuner/study/early_stop.h"
#include "tuner/study/fetches.h"
#include "tuner/study/living_attempts.h"
#include "tuner/study/measured.h"
#include "tuner/study/restored.h"
#include "tuner/study/settle.h"
#include "tuner/study/silence.h"
#include "tuner/wire/runner_online.h"

static enum ht_status start_machine_types(struct core *core, void **data,
                                          struct ht_error *err)
{
    (void)err;
    *data = machine_types_new(core_options_of(core)->data_dir);
    return HT_OK;
}

static void stop_machine_types(void *data)
{
    machine_types_free(data);
}

static enum ht_status start_operations(struct core *core, void **data,
                                       struct ht_error *err)
{
    (void)core;
    (void)err;
    *data = operation_table_new();
    return HT_OK;
}

static void stop_operations(void *data)
{
    operation_table_free(data);
}

static enum ht_status start_worker(const struct worker_role *role,
                                   const struct worker_receiver *receiver,
                                   struct core *core, void **data,
                                   struct ht_error *err)
{
    struct worker *worker;
    const enum ht_status status =
        worker_start(role, receiver, core, core_path(core), &worker, err);
    if (status == HT_OK)
        *data = worker;
    return status;
}

static void stop_worker(void *data)
{
    worker_stop(data);
}

static enum ht_status start_search(struct core *core, void **data,
                                   struct ht_error *err)
{
    algorithm_init();
    return start_worker(&search_role, &study_suggestions_receiver, core, data,
                        err);
}

static enum ht_status start_stop_worker(struct core *core, void **data,
                                        struct ht_error *err)
{
    return start_worker(&stop_worker_role, &early_stop_receiver, core, data,
                        err);
}

static enum ht_status start_studies(struct core *core, void **data,
                                    struct ht_error *err)
{
    (void)data;
    const enum ht_status status = restored_fence(core, err);
    return status == HT_OK ? study_recover(core, err) : status;
}

static enum ht_status start_runners(struct core *core, void **data,
                                    struct ht_error *err)
{
    (void)data;
    return runner_online_recover(core, err);
}

static enum ht_status start_tokens(struct core *core, void **data,
                                   struct ht_error *err)
{
    (void)data;
    const enum ht_status status = token_recover(core, err);
    return status == HT_OK ? session_recover(core, err) : status;
}

const struct core_part server_parts[CORE_PARTS] = {
    [CORE_MACHINE_TYPES] = {.start = start_machine_types,
                            .stop = stop_machine_types},
    [CORE_OPERATIONS] = {.start = start_operations, .stop = stop_operations},
    [CORE_SEARCH] = {.start = start_search, .stop = stop_worker},
    [CORE_STOP_WORKER] = {.start = start_stop_worker, .stop = stop_worker},
    [CORE_STUDIES] = {.start = start_studies,
                      .tick = study_tick,
                      .deadline = study_deadline,
                      .settle = study_settle},
    [CORE_RUNNERS] = {.start = start_runners,
                      .tick = runner_online_tick,
                      .deadline = runner_online_deadline},
    [CORE_MEASURED] = {.tick = measured_tick, .deadline = measured_deadline},
    [CORE_SILENCE] = {.start = silence_start,
                      .stop = silence_stop,
                      .tick = silence_tick,
                      .deadline = silence_deadline},
    [CORE_LIVING] = {.start = living_attempts_start,
                     .stop = living_attempts_stop},
    [CORE_AUDIT] = {.start = audit_start,
                    .stop = audit_stop,
                    .tick = audit_tick,
                    .deadline = audit_deadline},
    [CORE_TOKENS] = {.start = start_tokens},
    [CORE_DISK] = {.start = disk_guard_start,
                   .stop = disk_guard_stop,
                   .tick = disk_guard_tick,
                   .deadline = disk_guard_deadline},
    [CORE_STORE] = {.start = store_part_start,
                    .stop = store_part_stop,
                    .tick = store_tick,
                    .deadline = store_deadline},
    [CORE_FETCHES] = {.start = fetches_start, .stop = fetches_stop},
};
