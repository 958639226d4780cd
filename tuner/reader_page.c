#include "tuner/reader_page.h"

#include <errno.h>
#include <stdlib.h>

enum ht_status page_number(const struct request *req, const char *name,
                           const struct number_range *range, int64_t *value,
                           struct ht_error *err)
{
    const char *text = request_query(req, name);
    if (text == NULL || text[0] == '\0') {
        *value = range->fallback;
        return HT_OK;
    }
    char *end;
    errno = 0;
    long long n = strtoll(text, &end, 10);
    if (errno != 0 || *end != '\0' || n < range->min || n > range->max)
        return ht_fail(err, HT_INVALID,
                       "%s is \"%.40s\", not a number from %lld to %lld", name,
                       text, (long long)range->min, (long long)range->max);
    *value = n;
    return HT_OK;
}

enum ht_status page_read_sized(const struct request *req,
                               const struct page_sizes *sizes,
                               struct page *page, struct ht_error *err)
{
    static const struct number_range any_size = {0, INT32_MAX, 0};
    static const struct number_range tokens = {1, INT64_MAX, 0};
    int64_t size = 0, token = 0;
    enum ht_status status = page_number(req, "pageSize", &any_size, &size, err);
    if (status == HT_OK)
        status = page_number(req, "pageToken", &tokens, &token, err);
    if (status != HT_OK)
        return status;
    const size_t wanted = size == 0 ? sizes->usual : (size_t)size;
    page->size = wanted < sizes->most ? wanted : sizes->most;
    page->token = token;
    return HT_OK;
}

enum ht_status page_read(const struct request *req, struct page *page,
                         struct ht_error *err)
{
    static const struct page_sizes sizes = {PAGE_DEFAULT, PAGE_MOST};
    return page_read_sized(req, &sizes, page, err);
}

void page_end(struct request *req, int64_t token)
{
    text_puts(&req->reply, "]");
    if (token > 0)
        text_printf(&req->reply, ",\"nextPageToken\":\"%lld\"",
                    (long long)token);
    text_puts(&req->reply, "}");
}
