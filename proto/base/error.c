#include "proto/base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum ht_status ht_fail(struct ht_error *err, enum ht_status status,
                       const char *format, ...)
{
    if (err == NULL)
        return status;
    err->status = status;
    va_list args;
    va_start(args, format);
    vsnprintf(err->text, sizeof err->text, format, args);
    va_end(args);
    return status;
}

enum ht_status ht_wrap(struct ht_error *err, enum ht_status status,
                       const char *format, ...)
{
    if (err == NULL)
        return status;
    char inner[sizeof err->text];
    memcpy(inner, err->text, sizeof inner);
    err->status = status;
    va_list args;
    va_start(args, format);
    int n = vsnprintf(err->text, sizeof err->text, format, args);
    va_end(args);
    if (n >= 0 && (size_t)n < sizeof err->text)
        snprintf(err->text + n, sizeof err->text - (size_t)n, ": %s", inner);
    return status;
}

enum ht_status ht_fail_errno(struct ht_error *err, int code, const char *format,
                             ...)
{
    if (err == NULL)
        return HT_IO;
    err->status = HT_IO;
    va_list args;
    va_start(args, format);
    int n = vsnprintf(err->text, sizeof err->text, format, args);
    va_end(args);
    char reason[128];
    if (n >= 0 && (size_t)n < sizeof err->text)
        snprintf(err->text + n, sizeof err->text - (size_t)n, ": %s",
                 strerror_r(code, reason, sizeof reason));
    return HT_IO;
}

static const struct {
    int http, code;
    const char *rpc;
} statuses[] = {
#define X(name, http, rpc, code) {http, code, rpc},
    HT_STATUS_LIST(X)
#undef X
};

int ht_status_http(enum ht_status status)
{
    return statuses[status].http;
}

int ht_status_code(enum ht_status status)
{
    return statuses[status].code;
}

const char *ht_status_rpc(enum ht_status status)
{
    return statuses[status].rpc;
}
