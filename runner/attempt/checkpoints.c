#include "runner/attempt/checkpoints.h"

#include <stdlib.h>
#include <string.h>

#include "proto/base/clock.h"
#include "proto/base/log.h"
#include "runner/attempt/outputs.h"
#include "runner/attempt/prepare.h"
#include "runner/base/disk.h"
#include "runner/base/safe_path.h"
#include "runner/reports/records.h"

/* For the last checkpoint, while the trial's end waits for it. */
enum { SETTLE_MS = 60 * 60 * 1000 };

/* In the attempt's folder: its checkpoint is here. */
static const char mark_resumed[] = "resumed";
static const char folder_name[] = "checkpoints"; /* of output_folders */

static bool travel(const struct attempt *attempt)
{
    return attempt->transfers != NULL && !attempt->place.site->far &&
           attempt->order->output_dir == NULL &&
           attempt->order->project != NULL;
}

static struct transfers_place place_of(const struct attempt *attempt,
                                       struct arena *arena)
{
    const struct order *order = attempt->order;
    return (struct transfers_place){
        .key = order->key,
        .project = order->project,
        .checkpoints = arena_printf(
            arena, "%s/%s",
            outputs_trial_folder(arena, attempt->place.site, &order->key),
            folder_name),
        .scratch = arena_printf(arena, "%s/transfer", attempt->folder)};
}

/* --- before it begins --- */

bool checkpoints_lacks_its_own(const struct attempt *attempt)
{
    return travel(attempt) && attempt->order->resume != NULL &&
           !disk_has(attempt->folder, mark_resumed);
}

enum ht_status checkpoints_fetch(struct attempt *attempt, struct ht_error *err)
{
    struct arena *arena = arena_new();
    struct ht_error why;
    const struct transfers_place place = place_of(attempt, arena);
    const enum transfers_state state = transfers_fetch(
        attempt->transfers, &place, attempt->order->resume, &why);
    enum ht_status status = HT_OK;
    attempt->fetching = state == TRANSFERS_WORKING;
    if (state == TRANSFERS_DONE)
        status = disk_mark(attempt->folder, mark_resumed, err);
    else if (state == TRANSFERS_FAILED)
        status = ht_fail(err, HT_UNAVAILABLE, "its checkpoint: %s", why.text);
    arena_free(arena);
    return status;
}

void checkpoints_log_start(const struct attempt *attempt)
{
    const struct order *order = attempt->order;
    if (order->resume == NULL || !travel(attempt))
        return;
    if (order->resume_step >= 0)
        folder_log_line(attempt->replicas[0].folder,
                        "continues from the checkpoint of attempt %lld at step "
                        "%lld",
                        (long long)order->resume_attempt,
                        (long long)order->resume_step);
    else
        folder_log_line(attempt->replicas[0].folder,
                        "continues from the last checkpoint of attempt %lld",
                        (long long)order->resume_attempt);
}

/* --- while it runs --- */

/* The path below the checkpoints, without "." and empty parts; NULL: it is
 * elsewhere. */
static const char *find_below(struct arena *arena, const char *checkpoints,
                              const char *path)
{
    if (path[0] == '/') {
        const char *rest = safe_path_rest(checkpoints, path);
        if (rest == NULL)
            rest = safe_path_rest(CONTAINER_OUTPUT "/checkpoints", path);
        if (rest == NULL)
            return NULL;
        path = rest;
    }
    struct text below = {0};
    while (*path != '\0') {
        const size_t len = strcspn(path, "/");
        if (len > 1 || (len == 1 && path[0] != '.')) {
            text_puts(&below, below.len > 0 ? "/" : "");
            text_append(&below, path, len);
        }
        path += len + (path[len] == '/');
    }
    return text_take(&below, arena);
}

static void want(struct attempt_checkpoint *named, const char *below,
                 int64_t step)
{
    free(named->below);
    *named = (struct attempt_checkpoint){ht_xstrdup(below), step};
}

static void send_named(struct attempt *attempt,
                       const struct records_checkpoint *named)
{
    struct arena *arena = arena_new();
    const struct transfers_place place = place_of(attempt, arena);
    const char *below = find_below(arena, place.checkpoints, named->path);
    if (below != NULL && attempt->engine->bring == NULL)
        transfers_send(attempt->transfers, &place, below, named->step, false);
    else if (below != NULL)
        want(&attempt->named, below, named->step);
    arena_free(arena);
}

static void send_brought(struct attempt *attempt)
{
    struct arena *arena = arena_new();
    const struct transfers_place place = place_of(attempt, arena);
    transfers_send(attempt->transfers, &place, attempt->bringing.below,
                   attempt->bringing.step, false);
    arena_free(arena);
}

/* One after the other; the newest of the ones that wait. */
static void bring(struct attempt *attempt)
{
    struct ht_error err;
    struct attempt_checkpoint *bringing = &attempt->bringing;
    if (bringing->below == NULL) {
        *bringing = attempt->named;
        attempt->named = (struct attempt_checkpoint){.below = NULL};
    }
    if (bringing->below == NULL)
        return;
    const enum engine_bringing state =
        attempt->engine->bring(&attempt->place, bringing->below, &err);
    if (state == ENGINE_BRINGING ||
        (state == ENGINE_NOT_BROUGHT && err.status == HT_UNAVAILABLE))
        return;
    if (state == ENGINE_BROUGHT)
        send_brought(attempt);
    else
        folder_log_line(attempt->replicas[0].folder,
                        "a checkpoint does not come: %s", err.text);
    free(bringing->below);
    bringing->below = NULL;
}

/* An engine that brings them does it for the first replica. */
void checkpoints_collect(struct attempt *attempt)
{
    struct records_checkpoint named;
    const bool brings = attempt->engine->bring != NULL;
    for (size_t i = 0; i < attempt->order->n_replicas; i++)
        if (records_take_checkpoint(attempt->replicas[i].records, &named) &&
            travel(attempt) && !attempt->asked_last && (i == 0 || !brings))
            send_named(attempt, &named);
    if (brings && !attempt->ended)
        bring(attempt);
}

/* --- at its end --- */

static void send_last(struct attempt *attempt)
{
    struct arena *arena = arena_new();
    const struct transfers_place place = place_of(attempt, arena);
    transfers_send(attempt->transfers, &place, "", -1, true);
    if (!attempt->asked_last)
        attempt->settle_until = clock_monotonic_ms() + SETTLE_MS;
    attempt->asked_last = true;
    arena_free(arena);
}

bool checkpoints_are_settled(struct attempt *attempt)
{
    /* What lies in the folder of one that never began is not its own. */
    if (!travel(attempt) || !attempt->wants_checkpoint || !attempt->begun)
        return true;
    if (!attempt->asked_last)
        send_last(attempt);
    const enum transfers_work work =
        transfers_look(attempt->transfers, &attempt->order->key);
    if (work == TRANSFERS_IDLE)
        return true;
    const bool late = clock_monotonic_ms() >= attempt->settle_until;
    if (!late && work == TRANSFERS_BUSY)
        return false;
    if (!late && !attempt->asked_again) { /* the server may have been away */
        send_last(attempt);
        attempt->asked_again = true;
        return false;
    }
    log_event(LOG_WARN, "checkpoint.left", "name=%s reason=\"%s\"",
              attempt->order->name,
              late ? "it takes too long" : "nothing of it gets through");
    folder_log_line(attempt->replicas[0].folder,
                    "its last checkpoint could not be sent to the server");
    checkpoints_forget(attempt);
    return true;
}

/* A file's time is compared with that of a file which the runner wrote before
 * the trainer began, since both are of a file system, not of this clock. */
bool checkpoints_has_saved(const struct attempt *attempt)
{
    if (travel(attempt) || !attempt->begun)
        return false;
    struct arena *arena = arena_new();
    const char *here = outputs_here(arena, attempt->place.site, attempt->order);
    const int64_t began_ms = prepare_lease_ms(attempt->folder);
    const bool saved = here != NULL && began_ms > 0 &&
                       disk_newest_ms(arena_printf(arena, "%s/%s", here,
                                                   folder_name)) > began_ms;
    arena_free(arena);
    return saved;
}

/* --- the server --- */

bool checkpoints_has_sent(const struct attempt *attempt,
                          struct transfers_sent *sent)
{
    return travel(attempt) &&
           transfers_has_sent(attempt->transfers, &attempt->order->key, sent);
}

void checkpoints_confirm(const struct attempt *attempt,
                         const struct transfers_sent *sent)
{
    if (travel(attempt))
        transfers_confirm(attempt->transfers, &attempt->order->key, sent);
}

void checkpoints_forget(const struct attempt *attempt)
{
    if (travel(attempt))
        transfers_forget(attempt->transfers, &attempt->order->key);
}
