#include "tuner/why.h"

#include <math.h>
#include <stdlib.h>

#include "proto/json.h"

static const char *const kinds[] = {
    [REASON_DRAWN] = "DRAWN",       [REASON_DESIGN] = "DESIGN",
    [REASON_EXPLOITS] = "EXPLOITS", [REASON_EXPLORES] = "EXPLORES",
    [REASON_REPEATS] = "REPEATS",   [REASON_SEED] = "SEED",
};

/* Minimised metrics are negated in a search, so the low end is the high one. */
static void add_predicted(cJSON *array, const struct metric_goal *metric,
                          const struct quantiles *quantiles)
{
    cJSON *item = json_push_object(array);
    json_add_string(item, "metric", metric->name);
    json_add_double(item, "low",
                    metric->maximize ? quantiles->low : -quantiles->high);
    json_add_double(item, "median",
                    metric->maximize ? quantiles->median : -quantiles->median);
    json_add_double(item, "high",
                    metric->maximize ? quantiles->high : -quantiles->low);
}

static void add_origin(cJSON *object, const struct why_origin *origin)
{
    json_add_int_text(object, "revision", origin->revision);
    json_add_int_text(object, "ordinal", origin->ordinal);
    json_add_int(object, "batch", origin->batch);
    json_add_int_text(object, "trials", origin->max_trials);
    cJSON *pending = json_add_array(object, "pending");
    for (size_t i = 0; i < origin->n_pending; i++)
        json_push_int_text(pending, origin->pending[i]);
}

const char *why_text(struct arena *arena, const struct job *job,
                     const struct reason *reason,
                     const struct why_origin *origin)
{
    cJSON *object = cJSON_CreateObject();
    json_add_string(object, "kind", kinds[reason->kind]);
    if (reason->n_predicted > 0) {
        cJSON *array = json_add_array(object, "predicted");
        for (size_t i = 0; i < reason->n_predicted && i < job->n_metrics; i++)
            add_predicted(array, &job->metrics[i], &reason->predicted[i]);
    }
    if (isfinite(reason->acquisition))
        json_add_double(object, "acquisition", reason->acquisition);
    if (reason->has_nearest) {
        cJSON *item = json_add_object(object, "nearest");
        json_add_int_text(item, "trial", origin->nearest);
        json_add_double(item, "distance", reason->distance);
    }
    add_origin(object, origin);
    struct text text = {0};
    json_print(object, &text);
    const char *kept = arena_strdup(arena, text.data);
    text_free(&text);
    return kept;
}

/* --- reading --- */

/* An integer, as a text or as a number. */
static bool read_whole(const cJSON *object, const char *key, int64_t *value)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
    if (cJSON_IsString(item))
        *value = strtoll(item->valuestring, NULL, 10);
    else if (cJSON_IsNumber(item))
        *value = (int64_t)item->valuedouble;
    return cJSON_IsString(item) || cJSON_IsNumber(item);
}

static void read_pending(struct arena *arena, const cJSON *list,
                         struct why_origin *origin)
{
    const int size = cJSON_GetArraySize(list);
    int64_t *ids = arena_alloc(arena, (size_t)size + 1, sizeof *ids);
    size_t n = 0;
    const cJSON *item;
    cJSON_ArrayForEach(item, list) if (cJSON_IsString(item)) ids[n++] =
        strtoll(item->valuestring, NULL, 10);
    origin->pending = ids;
    origin->n_pending = n;
}

bool why_read(struct arena *arena, const char *why, struct why_origin *origin)
{
    struct why_origin read = {0};
    cJSON *object = why == NULL ? NULL : cJSON_Parse(why);
    const bool whole = read_whole(object, "revision", &read.revision) &&
                       read_whole(object, "ordinal", &read.ordinal) &&
                       read_whole(object, "batch", &read.batch) &&
                       read_whole(object, "trials", &read.max_trials);
    if (whole)
        read_pending(arena, cJSON_GetObjectItemCaseSensitive(object, "pending"),
                     &read);
    cJSON_Delete(object);
    if (whole)
        *origin = read;
    return whole;
}
