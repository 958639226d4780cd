#include "tuner/webhook/given_up.h"

#include <stdio.h>

#include "proto/base/limits.h"
#include "tuner/base/log.h"
#include "tuner/core/core.h"
#include "tuner/study/move.h"
#include "tuner/webhook/allowed_address.h"

struct obituary {
    int64_t study;
    char reason[HT_MAX_REASON];
};

static enum ht_status handle_loss(struct core *core, struct request *req,
                                  struct ht_error *err)
{
    const struct obituary *dead = req->owner;
    struct event_row event = {.study = dead->study,
                              .kind = "study.warned",
                              .from = "",
                              .to = "",
                              .reason = dead->reason,
                              .data = ""};
    text_puts(&req->reply, "{}");
    return move_event(core, &event, err);
}

/* A URL may hold a secret: only its host is shown. */
void webhook_loss_announce(struct core *core, const struct webhook *webhook,
                           const struct receiver *receiver,
                           const struct loss *loss)
{
    struct request *req = request_new();
    struct obituary *dead = arena_alloc(req->arena, 1, sizeof *dead);
    dead->study = loss->study;
    snprintf(dead->reason, sizeof dead->reason,
             "webhook %.128s gave up %lld letter%s to %.128s after %lld "
             "attempt%s: %s",
             webhook->name, (long long)loss->letters,
             loss->letters == 1 ? "" : "s",
             webhook_target_host(req->arena, webhook->url),
             (long long)receiver->failures, receiver->failures == 1 ? "" : "s",
             receiver->why);
    log_event(LOG_WARN, "webhook.dead", "study=%lld reason=\"%s\"",
              (long long)loss->study, dead->reason);
    req->owner = dead;
    req->handle = handle_loss;
    req->answer = request_free;
    core_post(core, req);
}
