#include "tuner/http/reply.h"

#include <stdlib.h>

#include <microhttpd.h>

#include "proto/doc/json.h"

static void add_violations(cJSON *error, const struct diag *diag)
{
    cJSON *detail = json_push_object(json_add_array(error, "details"));
    json_add_string(detail, "@type",
                    "type.googleapis.com/google.rpc.BadRequest");
    cJSON *violations = json_add_array(detail, "fieldViolations");
    for (const struct diag_item *item = diag->first; item != NULL;
         item = item->next) {
        if (item->kind != DIAG_ERROR)
            continue;
        struct text description = {0};
        text_puts(&description, item->text);
        if (item->hint != NULL)
            text_printf(&description, "; %s", item->hint);
        cJSON *violation = json_push_object(violations);
        json_add_string(violation, "field", item->path ? item->path : "");
        json_add_string(violation, "description", description.data);
        text_free(&description);
    }
}

void http_error_text(struct text *out, const struct ht_error *err,
                     const struct diag *diag)
{
    cJSON *object = cJSON_CreateObject();
    cJSON *error = json_add_object(object, "error");
    json_add_int(error, "code", ht_status_http(err->status));
    json_add_string(error, "message", err->text);
    json_add_string(error, "status", ht_status_rpc(err->status));
    if (diag != NULL && diag->errors > 0)
        add_violations(error, diag);
    json_print(object, out);
}

bool http_queue(struct MHD_Connection *connection,
                const struct http_reply *reply, struct text *body)
{
    text_puts(body, "\n");
    struct MHD_Response *response = MHD_create_response_from_buffer(
        body->len, body->data, MHD_RESPMEM_MUST_FREE);
    if (response == NULL)
        return false;
    *body = (struct text){0};
    return http_queue_response(connection, reply, response);
}

void http_fit_head(struct MHD_Response *response)
{
    MHD_set_response_options(response, MHD_RF_HTTP_1_0_COMPATIBLE_STRICT,
                             MHD_RO_END);
}

bool http_queue_response(struct MHD_Connection *connection,
                         const struct http_reply *reply,
                         struct MHD_Response *response)
{
    MHD_add_response_header(response, "Content-Type",
                            reply->type != NULL ? reply->type
                                                : "application/json");
    MHD_add_response_header(response, "Cache-Control", "no-store");
    MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
    if (reply->allow != NULL)
        MHD_add_response_header(response, "Allow", reply->allow);
    if (reply->cookie != NULL)
        MHD_add_response_header(response, "Set-Cookie", reply->cookie);
    if (reply->close)
        MHD_add_response_header(response, "Connection", "close");
    if (reply->code == MHD_HTTP_UNAUTHORIZED)
        MHD_add_response_header(response, "WWW-Authenticate", "Bearer");
    if (reply->code == MHD_HTTP_SERVICE_UNAVAILABLE ||
        reply->code == MHD_HTTP_TOO_MANY_REQUESTS)
        MHD_add_response_header(response, "Retry-After", "1");
    enum MHD_Result queued =
        MHD_queue_response(connection, (unsigned)reply->code, response);
    MHD_destroy_response(response);
    return queued == MHD_YES;
}
