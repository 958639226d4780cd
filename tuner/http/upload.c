#include "tuner/http/upload.h"

#include <pthread.h>

#include "tuner/core/request.h"
#include "tuner/http/call.h"
#include "tuner/http/route.h"
#include "tuner/http/state.h"

bool upload_is_wanted(const struct call *call)
{
    return call->refusal.status == HT_OK && call->route != NULL &&
           call->route->takes > 0;
}

/* While EXPIRED its piece belongs to the store. */
static void read_further(struct call *call)
{
    struct http *http = call->http;
    if (call->req->status != HT_OK)
        call->refusal = call->req->err;
    pthread_mutex_lock(&http->lock);
    call->phase = CALL_READING;
    http->n_unfinished--;
    pthread_cond_broadcast(&http->changed);
    pthread_mutex_unlock(&http->lock);
    peers_enter(http->peers, call->peer, PEER_BODY);
}

void upload_resume(struct call *call)
{
    if (call->route == NULL || call->route->takes == 0 || call->finishing ||
        call->phase == CALL_READING)
        return;
    if (call_is_answered(call))
        read_further(call);
    else if (call->refusal.status == HT_OK)
        ht_fail(&call->refusal, HT_TIMEOUT, "the store had no answer in time");
}

/* What is left of `len` comes again when the call is resumed. */
static void post(struct call *call, store_handler *step, size_t *len)
{
    struct ht_error err;
    call->step = step;
    if (call_post(call, &err) == HT_OK)
        return;
    call->refusal = err;
    *len = 0;
}

bool upload_take(struct call *call, const char *data, size_t *len)
{
    struct transfer *transfer = call->req->transfer;
    if (call->received + *len > (size_t)call_most_body(call)) {
        (void)call_refuse_size(call, &call->refusal);
        call->received += *len;
        *len = 0;
        return true;
    }
    if (transfer == NULL) {
        if (!store_admit(call->http->options.store, call->req)) {
            post(call, store_begin, len);
            return true;
        }
        transfer = call->req->transfer;
    }
    const size_t n = transfer_take(transfer, data, *len);
    call->received += n;
    *len -= n;
    if (*len > 0) /* it is full, and this is not its end */
        post(call, store_write, len);
    return true;
}
