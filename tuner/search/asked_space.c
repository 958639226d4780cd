#include "tuner/search/asked_space.h"

#include <string.h>

#include "proto/base/limits.h"
#include "proto/doc/json.h"
#include "proto/form/form.h"

/* The question as a whole Study. */
static const char *complete(struct arena *arena, const struct job *study,
                            const struct node *search)
{
    cJSON *whole = json_of_node(search), *stored = vertex_write(study);
    cJSON *spec = cJSON_GetObjectItemCaseSensitive(whole, "studySpec");
    cJSON *of_study = cJSON_GetObjectItemCaseSensitive(stored, "studySpec");
    json_add_string(whole, "displayName", "asked");
    if (cJSON_IsObject(spec))
        cJSON_AddItemToObject(
            spec, "metrics",
            cJSON_DetachItemFromObjectCaseSensitive(of_study, "metrics"));
    cJSON_Delete(stored);
    return json_text(arena, whole);
}

struct job *asked_space_read(const struct job *study, const struct node *search,
                             struct diag *diag)
{
    if (search->kind != NODE_MAP) {
        diag_error(diag, 0, 0, "search", "must be a Study");
        return NULL;
    }
    const char *text = complete(diag->arena, study, search);
    const struct node *root =
        node_read_long_json(diag->arena, text, strlen(text), diag);
    struct job *job = root == NULL ? NULL : vertex_read(root, JOB_STUDY, diag);
    if (job == NULL)
        return NULL;
    if (job->space.open || job->constraints.n > 0 || job->warm_start.n > 0)
        diag_error(diag, 0, 0, "search.hypertune",
                   "has an open space, constraints or earlier studies");
    if (!space_is_flat(&job->space))
        diag_error(diag, 0, 0, "search.studySpec.parameters",
                   "must have no conditions");
    return diag->errors > 0 ? NULL : job;
}

enum ht_status asked_space_parse(struct arena *arena, const struct job *study,
                                 const char *search, struct job **job,
                                 struct ht_error *err)
{
    struct diag diag;
    diag_init(&diag, arena, "search", NULL, 0);
    const struct node *node =
        node_read_long_json(arena, search, strlen(search), &diag);
    *job = node == NULL ? NULL : asked_space_read(study, node, &diag);
    return *job != NULL ? HT_OK
                        : ht_fail(err, HT_CORRUPT, "stored search: %s: %s",
                                  diag.first->path, diag.first->text);
}

const char *asked_space_of(struct arena *arena, const char *context)
{
    const struct node *search =
        node_find(node_read_stored(arena, context), "search");
    return search == NULL ? NULL : json_text(arena, json_of_node(search));
}

enum asked_fit asked_space_point(const struct space *space, const char *params,
                                 struct value point[])
{
    struct arena *arena = arena_new();
    const struct node *map = node_read_stored(arena, params);
    enum asked_fit fit =
        map != NULL && map->count == space->n ? ASKED_EQUAL : ASKED_WITHIN;
    for (size_t i = 0; fit != ASKED_OUTSIDE && i < space->n; i++) {
        const struct node *node = node_find(map, space->params[i].name);
        if (node == NULL ||
            space_param_read(&space->params[i], node, &point[i], NULL) != HT_OK)
            fit = ASKED_OUTSIDE;
    }
    arena_free(arena);
    return fit;
}

const char *asked_space_params(struct arena *arena, const struct space *space,
                               const char *params)
{
    struct value point[HT_MAX_PARAMETERS];
    struct text text = {0};
    if (asked_space_point(space, params, point) == ASKED_OUTSIDE)
        return NULL;
    space_point_text(space, point, &text);
    const char *found = arena_strndup(arena, text.data, text.len);
    text_free(&text);
    return found;
}
