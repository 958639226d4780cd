#include "tuner/http/dashboard.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <microhttpd.h>

/* Only our own files and scripts, and not inside a frame of another page. */
static const struct {
    const char *name, *value;
} headers[] = {
    {"Content-Security-Policy",
     "default-src 'none'; script-src 'self'; style-src 'self'; "
     "img-src 'self' data:; connect-src 'self'; base-uri 'none'; "
     "form-action 'none'; frame-ancestors 'none'"},
    {"Cache-Control", "no-cache"},
    {"Cross-Origin-Opener-Policy", "same-origin"},
    {"Cross-Origin-Resource-Policy", "same-origin"},
    {"Referrer-Policy", "no-referrer"},
    {"Vary", "Accept-Encoding"},
    {"X-Content-Type-Options", "nosniff"},
};

static const struct dashboard_file *find(const char *name)
{
    for (size_t i = 0; i < page_count; i++)
        if (strcmp(pages[i].name, name) == 0)
            return &pages[i];
    return NULL;
}

static const char *header(struct MHD_Connection *connection, const char *name)
{
    const char *value =
        MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
    return value == NULL ? "" : value;
}

static struct MHD_Response *make_response(const struct dashboard_file *page,
                                          bool packed)
{
    const unsigned char *from = packed ? page->packed : page->plain;
    const unsigned char *end = packed ? page->packed_end : page->plain_end;
    /* The library takes no const, but leaves persistent bytes alone. */
    // NOLINTNEXTLINE(performance-no-int-to-ptr)
    void *bytes = (void *)(uintptr_t)from;
    struct MHD_Response *response = MHD_create_response_from_buffer(
        (size_t)(end - from), bytes, MHD_RESPMEM_PERSISTENT);
    if (response != NULL && packed)
        MHD_add_response_header(response, "Content-Encoding", "gzip");
    return response;
}

enum ht_status dashboard_answer(struct MHD_Connection *connection,
                                const char *name, struct ht_error *err)
{
    const struct dashboard_file *page =
        find(name == NULL ? "index.html" : name);
    if (page == NULL)
        return ht_fail(err, HT_NOT_FOUND, "the dashboard has no file \"%.64s\"",
                       name);
    const bool known =
        strstr(header(connection, "If-None-Match"), page->etag) != NULL;
    struct MHD_Response *response =
        known
            ? MHD_create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT)
            : make_response(page, strstr(header(connection, "Accept-Encoding"),
                                         "gzip") != NULL);
    if (response == NULL)
        return ht_fail(err, HT_INTERNAL, "there is no memory for the answer");
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++)
        MHD_add_response_header(response, headers[i].name, headers[i].value);
    MHD_add_response_header(response, "Content-Type", page->type);
    MHD_add_response_header(response, "ETag", page->etag);
    MHD_queue_response(connection, known ? MHD_HTTP_NOT_MODIFIED : MHD_HTTP_OK,
                       response);
    MHD_destroy_response(response);
    return HT_OK;
}
