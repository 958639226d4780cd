#include "tuner/http/head.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

#include <microhttpd.h>

#include "proto/base/limits.h"

/* More than one of these, and readers choose differently. */
static const char *const singles[] = {
    "Host",   "Content-Length", "Transfer-Encoding",
    "Origin", "Authorization",  "Content-Type"};

enum { SINGLES = sizeof singles / sizeof *singles };

struct fields {
    struct ht_error *err;
    enum ht_status status;
    const char *values[SINGLES];
    const char *next; /* where the next line begins; NULL: it is not known */
};

/* 0.9.75 leaves the lines where they came in and replaces their ends by NULs.
 * So a line that does not begin two bytes behind the value before it followed
 * a bare LF, a NUL in that value, or a folded line. Later releases refuse
 * those themselves. */
static bool lines_are_in_place(void)
{
    return strcmp(MHD_get_version(), "0.9.75") == 0;
}

static bool is_token_byte(unsigned char c)
{
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') ||
           (c >= 'a' && c <= 'z') ||
           (c != '\0' && strchr("!#$%&'*+-.^_`|~", c));
}

static bool is_token(const char *text, size_t len)
{
    size_t i = 0;
    while (i < len && is_token_byte((unsigned char)text[i]))
        i++;
    return len > 0 && i == len;
}

static bool is_field_value(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        const unsigned char c = (unsigned char)text[i];
        if ((c < 0x20 && c != '\t') || c == 0x7f)
            return false;
    }
    return true;
}

static enum ht_status note_single(struct fields *fields, const char *name,
                                  const char *value)
{
    for (size_t i = 0; i < SINGLES; i++) {
        if (strcasecmp(name, singles[i]) != 0)
            continue;
        if (fields->values[i] != NULL)
            return ht_fail(fields->err, HT_INVALID,
                           "the header %s must be given once", singles[i]);
        fields->values[i] = value;
    }
    return HT_OK;
}

// NOLINTNEXTLINE(readability-function-size): the library's signature
static enum MHD_Result take_field(void *context, enum MHD_ValueKind kind,
                                  const char *name, size_t name_len,
                                  const char *value, size_t value_len)
{
    struct fields *fields = context;
    (void)kind;
    value = value != NULL ? value : "";
    if (!is_token(name, name_len))
        fields->status = ht_fail(fields->err, HT_INVALID,
                                 "\"%.64s\" is not the name of a header: no "
                                 "blank may be in it or before its colon",
                                 name);
    else if (!is_field_value(value, value_len))
        fields->status =
            ht_fail(fields->err, HT_INVALID,
                    "the header %.64s has a control character", name);
    else if (fields->next != NULL && fields->next != name)
        fields->status = ht_fail(fields->err, HT_INVALID,
                                 "each line of the head must end with CR LF, "
                                 "and the one before %.64s does not",
                                 name);
    else
        fields->status = note_single(fields, name, value);
    if (fields->next != NULL)
        fields->next = value + value_len + 2;
    return fields->status == HT_OK ? MHD_YES : MHD_NO;
}

/* Bytes of the request line and the headers, with the empty line. */
static size_t size_of(const struct head *head)
{
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(
        head->connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
    return info != NULL ? info->header_size : 0;
}

static enum ht_status read_fields(const struct head *head,
                                  struct fields *fields)
{
    const bool in_place = lines_are_in_place();
    if (in_place)
        fields->next = head->version + strlen(head->version) + 2;
    MHD_get_connection_values_n(head->connection, MHD_HEADER_KIND, take_field,
                                fields);
    if (fields->status == HT_OK && in_place &&
        fields->next + 2 != head->method + size_of(head))
        return ht_fail(fields->err, HT_INVALID,
                       "each line of the head must end with CR LF, and the "
                       "last one does not");
    return fields->status;
}

/* --- where the body ends --- */

static enum ht_status check_framing(const struct head *head,
                                    const struct fields *fields,
                                    struct ht_error *err)
{
    const char *length = fields->values[1], *coding = fields->values[2];
    if (coding != NULL && length != NULL)
        return ht_fail(err, HT_INVALID,
                       "Content-Length and Transfer-Encoding exclude each "
                       "other");
    if (coding != NULL && strcasecmp(coding, "chunked") != 0)
        return ht_fail(err, HT_INVALID,
                       "chunked is the only Transfer-Encoding here");
    if (coding != NULL && strcmp(head->version, "HTTP/1.1") != 0)
        return ht_fail(err, HT_INVALID,
                       "Transfer-Encoding needs HTTP/1.1, this is %.16s",
                       head->version);
    if (length != NULL &&
        (*length == '\0' || length[strspn(length, "0123456789")] != '\0'))
        return ht_fail(err, HT_INVALID, "Content-Length must be digits only");
    return HT_OK;
}

/* --- the request line --- */

/* Behind "http://" or "https://", whose authority must be the Host's. */
static enum ht_status skip_authority(const char **target, const char *host,
                                     struct ht_error *err)
{
    const char *at = *target;
    if (strncasecmp(at, "http://", 7) != 0 &&
        strncasecmp(at, "https://", 8) != 0)
        return ht_fail(err, HT_INVALID,
                       "the target of a request must begin with / or be a "
                       "whole http URL");
    at = strstr(at, "//") + 2;
    const size_t len = strcspn(at, "/");
    if (host == NULL || strlen(host) != len || strncasecmp(host, at, len) != 0)
        return ht_fail(err, HT_INVALID,
                       "the URL in the request line and the header Host must "
                       "name the same server");
    *target = at[len] == '/' ? at + len : "/";
    return HT_OK;
}

static enum ht_status check_line(const struct head *head, struct ht_error *err)
{
    if (!is_token(head->method, strlen(head->method)))
        return ht_fail(err, HT_INVALID, "the method is no token");
    if (strcmp(head->version, "HTTP/1.1") != 0 &&
        strcmp(head->version, "HTTP/1.0") != 0)
        return ht_fail(err, HT_INVALID,
                       "the request is %.16s, and this server takes HTTP/1.1 "
                       "and HTTP/1.0",
                       head->version);
    for (const char *at = head->target; *at != '\0'; at++)
        if ((unsigned char)*at <= 0x20 || (unsigned char)*at >= 0x7f ||
            *at == '#')
            return ht_fail(err, HT_INVALID,
                           "the path has a byte that must be "
                           "percent-encoded, at %zu",
                           (size_t)(at - head->target));
    if (lines_are_in_place() &&
        head->method + strlen(head->method) + 1 != head->target)
        return ht_fail(err, HT_INVALID,
                       "one blank must be between method and target");
    return HT_OK;
}

enum ht_status head_check(const struct head *head, const char **path,
                          struct ht_error *err)
{
    struct fields fields = {.err = err};
    *path = head->target;
    if (size_of(head) > HT_MAX_HEADER)
        return ht_fail(err, HT_HEADER_TOO_LARGE,
                       "the request line and headers are over %d bytes",
                       HT_MAX_HEADER);
    enum ht_status status = check_line(head, err);
    if (status == HT_OK)
        status = read_fields(head, &fields);
    if (status == HT_OK)
        status = check_framing(head, &fields, err);
    if (status == HT_OK && **path != '/')
        status = skip_authority(path, fields.values[0], err);
    return status;
}
