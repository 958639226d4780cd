#include "tuner/http/pieces.h"

#include <string.h>

#include <microhttpd.h>

#include "tuner/http/call.h"
#include "tuner/http/reply.h"

enum { BLOCK_BYTES = 16384 };

/* Called by the library whenever the connection takes more. */
static ssize_t produce(void *context, uint64_t position, char *buffer,
                       size_t room)
{
    struct call *call = context;
    struct request *req = call->req;
    (void)position;
    if (!call_is_answered(call) || req->status != HT_OK)
        return MHD_CONTENT_READER_END_WITH_ERROR;
    if (call->sent == req->reply.len) {
        if (!req->more)
            return MHD_CONTENT_READER_END_OF_STREAM;
        text_clear(&req->reply);
        call->sent = 0;
        struct ht_error stopping;
        return call_post(call, &stopping) == HT_OK
                   ? 0
                   : MHD_CONTENT_READER_END_WITH_ERROR;
    }
    if (call->sent == 0)
        peers_enter(call->http->peers, call->peer, PEER_ANSWER);
    const size_t left = req->reply.len - call->sent;
    const size_t n = left < room ? left : room;
    memcpy(buffer, req->reply.data + call->sent, n);
    call->sent += n;
    return (ssize_t)n;
}

bool pieces_begin(struct call *call, bool close)
{
    struct MHD_Response *response = MHD_create_response_from_callback(
        MHD_SIZE_UNKNOWN, BLOCK_BYTES, produce, call, NULL);
    const struct http_reply reply = {.code = MHD_HTTP_OK, .close = close};
    if (response == NULL)
        return false;
    if (call->is_head)
        http_fit_head(response);
    return http_queue_response(call->connection, &reply, response);
}
