#include "tuner/search/reason_json.h"

#include <math.h>
#include <string.h>

#include "proto/doc/json.h"
#include "proto/doc/node.h"
#include "tuner/db/prior.h"

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

static void add_nearest(cJSON *object, const struct reason *reason,
                        const struct reason_json_origin *origin)
{
    cJSON *item = json_add_object(object, "nearest");
    json_add_int_text(item, "trial", origin->nearest);
    json_add_double(item, "distance", reason->distance);
    if (origin->nearest_study != NULL)
        json_add_string(item, "study", origin->nearest_study);
}

static void add_earlier(cJSON *object, const struct prior_list *list)
{
    cJSON *array = NULL;
    for (size_t i = 0; i < list->n; i++) {
        if (list->rows[i].own == 0)
            continue;
        if (array == NULL)
            array = json_add_array(object, "earlier");
        cJSON *item = json_push_object(array);
        json_add_string(item, "study", list->rows[i].name);
        json_add_int(item, "trials", list->rows[i].own);
    }
}

static void add_origin(cJSON *object, const struct reason_json_origin *origin)
{
    json_add_int_text(object, "revision", origin->revision);
    json_add_int_text(object, "ordinal", origin->ordinal);
    json_add_int(object, "batch", origin->batch);
    json_add_int_text(object, "trials", origin->max_trials);
    cJSON *pending = json_add_array(object, "pending");
    for (size_t i = 0; i < origin->n_pending; i++)
        json_push_int_text(pending, origin->pending[i]);
    if (origin->context != NULL)
        cJSON_AddItemToObject(object, "context",
                              cJSON_CreateRaw(origin->context));
}

const char *reason_json_text(struct arena *arena, const struct job *job,
                             const struct reason *reason,
                             const struct reason_json_origin *origin)
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
    if (reason->has_nearest)
        add_nearest(object, reason, origin);
    add_earlier(object, origin->earlier);
    add_origin(object, origin);
    return json_text(arena, object);
}

/* --- reading --- */

static bool read_whole(const struct node *object, const char *key,
                       int64_t *value)
{
    const struct node *item = node_find(object, key);
    return item != NULL && node_int64(item, value);
}

static void read_pending(struct arena *arena, const struct node *list,
                         struct reason_json_origin *origin)
{
    const size_t size = list == NULL ? 0 : list->count;
    int64_t *ids = arena_alloc(arena, size + 1, sizeof *ids);
    const struct node *item = size == 0 ? NULL : list->first;
    for (; item != NULL; item = item->next)
        origin->n_pending += node_int64(item, &ids[origin->n_pending]) ? 1 : 0;
    origin->pending = ids;
}

static const char *read_context(struct arena *arena, const struct node *node)
{
    return node == NULL ? NULL : json_text(arena, json_of_node(node));
}

bool reason_json_read(struct arena *arena, const char *why,
                      struct reason_json_origin *origin)
{
    struct reason_json_origin read = {0};
    struct diag diag;
    if (why == NULL)
        return false;
    diag_init(&diag, arena, "", NULL, 0);
    const struct node *object =
        node_read_long_json(arena, why, strlen(why), &diag);
    if (!read_whole(object, "revision", &read.revision) ||
        !read_whole(object, "ordinal", &read.ordinal) ||
        !read_whole(object, "batch", &read.batch) ||
        !read_whole(object, "trials", &read.max_trials))
        return false;
    read_pending(arena, node_find(object, "pending"), &read);
    read.context = read_context(arena, node_find(object, "context"));
    *origin = read;
    return true;
}
