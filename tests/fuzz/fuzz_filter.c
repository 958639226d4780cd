/* A filter, as lists and as log entries read it, and what it says of an item.
 *
 * fuzz-with: tuner */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tuner/ask/filter.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const ranks[] = {"DEFAULT", "INFO", "ERROR", NULL};
static const struct filter_field list_fields[] = {
    {"state", FILTER_NAME, ranks},
    {"createTime", FILTER_TIME, NULL},
    {"labels", FILTER_MAP, NULL},
    {NULL, FILTER_TEXT, NULL}};
static const struct filter_field log_fields[] = {
    {"timestamp", FILTER_TIME, NULL},          {"severity", FILTER_RANK, ranks},
    {"textPayload", FILTER_PHRASE, NULL},      {"labels", FILTER_PHRASES, NULL},
    {"resource.labels", FILTER_PHRASES, NULL}, {NULL, FILTER_PHRASE, NULL}};
static const struct filter_field message = {"the message", FILTER_PHRASE, NULL};
static const struct filter_language language = {log_fields, &message};

/* `item` tells whether the text is known. */
static size_t look_up(void *item, const char *field, const char *key,
                      const char *values[FILTER_VALUES])
{
    const bool *knows_text = item;
    if (strcmp(field, "textPayload") == 0 || strcmp(field, message.name) == 0) {
        values[0] = "Loss is NaN at step 30";
        return *knows_text ? 1 : FILTER_UNKNOWN;
    }
    if (key != NULL && strcmp(key, "team") != 0 && strcmp(key, "job_id") != 0)
        return 0;
    values[0] = strcmp(field, "severity") == 0 ? "INFO"
                : strstr(field, "ime") != NULL ? "2026-11-21T12:00:00.5Z"
                                               : "digits";
    return 1;
}

/* What is known before the text may not be wrong. */
static void check_log(struct arena *arena, const struct filter *filter)
{
    bool known = true, unknown = false;
    const bool wanted = filter_allows(filter, look_up, &known);
    struct strings ids;
    if (wanted && !filter_may_allow(filter, look_up, &unknown))
        abort();
    if (!wanted && filter_allows(filter, look_up, &unknown))
        abort();
    const struct filter_span span = filter_times(filter, "timestamp");
    const int64_t moment = INT64_C(1795262400500000000);
    if (wanted && (span.from_ns > moment || span.until_ns < moment))
        abort();
    if (!filter_equals(arena, filter, "resource.labels", "job_id", &ids))
        return;
    bool is_among = false;
    for (size_t i = 0; i < ids.n; i++)
        is_among = is_among || strcasecmp(ids.items[i], "digits") == 0;
    if (wanted && !is_among)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = arena_new();
    char *text = strndup((const char *)data, size);
    const struct filter *filter;
    bool known = true;
    if (filter_read(arena, text, list_fields, &filter, NULL) == HT_OK)
        filter_allows(filter, look_up, &known);
    if (filter_read_log(arena, text, &language, &filter, NULL) == HT_OK)
        check_log(arena, filter);
    free(text);
    arena_free(arena);
    return 0;
}
