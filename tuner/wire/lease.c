#include "tuner/wire/lease.h"

#include "proto/doc/json.h"
#include "tuner/core/core.h"
#include "tuner/core/disk_guard.h"
#include "tuner/study/fetches.h"
#include "tuner/wire/envelope.h"
#include "tuner/wire/lease_poll.h"
#include "tuner/wire/lease_slots.h"
#include "tuner/wire/lease_stops.h"
#include "tuner/wire/runner_online.h"

enum { MOST_GPUS = 1024 /* of one runner */ };

static enum ht_status give_new(struct lease_poll *poll, int64_t free_slots,
                               struct ht_error *err)
{
    if (free_slots == 0)
        return HT_OK;
    const enum ht_status read = lease_read_fleet(poll, free_slots, err);
    if (read != HT_OK || poll->at == PLACEMENT_NONE)
        return read;
    for (int64_t i = 0; i < free_slots && !poll->full; i++) {
        struct trial_pair pair;
        bool found;
        enum ht_status status = lease_next(poll, &pair.trial, &found, err);
        if (status != HT_OK || !found)
            return status;
        status = lease_give(poll, &pair, err);
        if (status != HT_OK)
            return status;
    }
    return HT_OK;
}

/* --- the message --- */

/* `slots` NULL: the runner has a fixed number. */
static enum ht_status give_attempts(struct lease_poll *poll,
                                    struct lease_slots *slots,
                                    int64_t free_slots, struct ht_error *err)
{
    bool again = false;
    const enum ht_status status = lease_give_again(poll, &again, err);
    if (status != HT_OK || again || disk_guard_check(poll->core, NULL) != HT_OK)
        return status;
    return slots != NULL ? lease_slots_give(slots, err)
                         : give_new(poll, free_slots, err);
}

static enum ht_status fill(struct lease_poll *poll, cJSON *answer,
                           int64_t free_slots, struct ht_error *err)
{
    struct lease_slots slots;
    const bool elastic = poll->runner->rules.elastic;
    enum ht_status status =
        elastic ? lease_slots_read(&slots, poll, err) : HT_OK;
    if (status == HT_OK)
        status = give_attempts(poll, elastic ? &slots : NULL, free_slots, err);
    if (status == HT_OK)
        status = lease_add_stops(poll->core, poll->arena, poll->runner, true,
                                 poll->stops, err);
    if (status != HT_OK)
        return status;
    fetches_add_wanted(poll->core, poll->runner, true, poll->fetches);
    if (elastic)
        lease_slots_want(&slots, json_add_array(answer, "wanted"), &poll->news);
    return HT_OK;
}

static bool may_wait(struct lease_poll *poll)
{
    if (poll->news || cJSON_GetArraySize(poll->attempts) +
                              cJSON_GetArraySize(poll->stops) +
                              cJSON_GetArraySize(poll->fetches) >
                          0)
        return false;
    struct request *req = poll->req;
    if (req->held_until_ms == 0)
        req->held_until_ms =
            core_now_ms(poll->core) + core_options_of(poll->core)->hold_ms;
    return req->held_until_ms > core_now_ms(poll->core);
}

static enum ht_status answer_poll(struct lease_poll *poll, int64_t free_slots,
                                  struct ht_error *err)
{
    cJSON *answer = wire_ok(poll->req);
    poll->attempts = json_add_array(answer, "attempts");
    poll->stops = json_add_array(answer, "stop");
    poll->fetches = json_add_array(answer, "fetch");
    const enum ht_status status = fill(poll, answer, free_slots, err);
    if (status != HT_OK || may_wait(poll)) {
        cJSON_Delete(answer);
        return status;
    }
    poll->req->held_until_ms = 0;
    wire_reply(poll->req, answer);
    return HT_OK;
}

enum ht_status lease_handle(struct core *core, struct request *req,
                            struct live_runner *runner, struct ht_error *err)
{
    const int64_t free_slots = node_get_int(req->body, "free", 0);
    if (free_slots < 0)
        return ht_fail(err, HT_INVALID, "free must not be negative");
    const int64_t gpus = node_get_int(req->body, "gpus", 0);
    if (gpus < 0 || gpus > MOST_GPUS)
        return ht_fail(err, HT_INVALID, "gpus must be from 0 to %d", MOST_GPUS);
    runner_online_note_gpus(core, runner, gpus);
    struct lease_poll poll = {.core = core,
                              .db = core_db(core),
                              .arena = arena_new(),
                              .req = req,
                              .runner = runner,
                              .id = node_get_int(req->body, "id", 0),
                              .at = PLACEMENT_NONE,
                              .choice = {.study = PLACEMENT_NONE}};
    const enum ht_status status = answer_poll(&poll, free_slots, err);
    arena_free(poll.arena);
    return status;
}
