#include "tuner/http/reply.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

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
                     const struct diag *diag, const struct strings *missing)
{
    cJSON *object = cJSON_CreateObject();
    cJSON *error = json_add_object(object, "error");
    json_add_int(error, "code", ht_status_http(err->status));
    json_add_string(error, "message", err->text);
    json_add_string(error, "status", ht_status_rpc(err->status));
    if (diag != NULL && diag->errors > 0)
        add_violations(error, diag);
    if (missing != NULL) {
        cJSON *names = json_add_array(object, "missing");
        for (size_t i = 0; i < missing->n; i++)
            json_push_string(names, missing->items[i]);
    }
    json_print(object, out);
}

/* A browser saves a foreign file, and runs nothing of it as if it were ours,
 * also where it is opened by its address (RFC 6266). */
static bool add_file_headers(struct MHD_Response *response, const char *name)
{
    struct text value = {0};
    text_puts(&value, "attachment; filename=\"");
    for (const char *at = name; *at != '\0'; at++)
        text_append(&value,
                    isalnum((unsigned char)*at) || strchr("-_.", *at) != NULL
                        ? at
                        : "_",
                    1);
    text_puts(&value, "\"; filename*=UTF-8''");
    for (const char *at = name; *at != '\0'; at++) {
        const bool unseen = (unsigned char)*at < ' ' || *at == 0x7f;
        const unsigned char byte = unseen ? '_' : (unsigned char)*at;
        const bool plain = isalnum(byte) || strchr("-_.", byte) != NULL;
        text_printf(&value, plain ? "%c" : "%%%02X", byte);
    }
    const bool added =
        MHD_add_response_header(response, "Content-Disposition", value.data) ==
            MHD_YES &&
        MHD_add_response_header(response, "Content-Security-Policy",
                                "default-src 'none'; sandbox") == MHD_YES &&
        MHD_add_response_header(response, "Cross-Origin-Resource-Policy",
                                "same-origin") == MHD_YES;
    text_free(&value);
    return added;
}

/* False when there is no memory for one of them. */
static bool add_headers(struct MHD_Response *response,
                        const struct http_reply *reply)
{
    const bool later = reply->code == MHD_HTTP_SERVICE_UNAVAILABLE ||
                       reply->code == MHD_HTTP_TOO_MANY_REQUESTS;
    const char *const headers[][2] = {
        {"Content-Type",
         reply->type != NULL ? reply->type : "application/json"},
        {"Cache-Control", "no-store"},
        {"X-Content-Type-Options", "nosniff"},
        {"Allow", reply->allow},
        {"Set-Cookie", reply->cookie},
        {"Content-Range", reply->range},
        {"Connection", reply->close ? "close" : NULL},
        {"WWW-Authenticate",
         reply->code == MHD_HTTP_UNAUTHORIZED ? "Bearer" : NULL},
        {"Retry-After", later ? "1" : NULL}};
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++)
        if (headers[i][1] != NULL &&
            MHD_add_response_header(response, headers[i][0], headers[i][1]) !=
                MHD_YES)
            return false;
    return reply->name == NULL || add_file_headers(response, reply->name);
}

static struct MHD_Response *exhausted;

bool http_prepare_exhausted(void)
{
    static char body[] =
        "{\"error\":{\"code\":503,\"message\":\"" MEMORY_REFUSAL
        "; what was asked for may have been carried out\","
        "\"status\":\"UNAVAILABLE\"}}\n";
    if (exhausted != NULL)
        return true;
    exhausted = MHD_create_response_from_buffer(sizeof body - 1, body,
                                                MHD_RESPMEM_PERSISTENT);
    return exhausted != NULL &&
           add_headers(exhausted, &(struct http_reply){
                                      .code = MHD_HTTP_SERVICE_UNAVAILABLE,
                                      .close = true});
}

bool http_queue_exhausted(struct MHD_Connection *connection)
{
    return MHD_queue_response(connection, MHD_HTTP_SERVICE_UNAVAILABLE,
                              exhausted) == MHD_YES;
}

bool http_queue(struct MHD_Connection *connection,
                const struct http_reply *reply, struct text *body)
{
    text_puts(body, "\n");
    struct MHD_Response *response = MHD_create_response_from_buffer(
        body->len, body->data, MHD_RESPMEM_MUST_FREE);
    if (response == NULL)
        return http_queue_exhausted(connection);
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
    const bool queued =
        add_headers(response, reply)
            ? MHD_queue_response(connection, (unsigned)reply->code, response) ==
                  MHD_YES
            : http_queue_exhausted(connection);
    MHD_destroy_response(response);
    return queued;
}
