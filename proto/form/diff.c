/* diff.c - how one spec differs from another, field by field. */

#include <stdlib.h>
#include <string.h>

#include "proto/doc/json.h"
#include "proto/form/form.h"
#include "proto/form/native.h"
#include "proto/job/job.h"

/* Two absent members are equal; numbers are raw text, so this is exact. */
static bool is_equal(const cJSON *a, const cJSON *b)
{
    if (a == NULL || b == NULL)
        return a == b;
    return cJSON_Compare(a, b, true);
}

/* Texts bare, the rest as JSON. A difference is one line whatever the text
 * holds. */
static void show(const cJSON *item, struct text *out)
{
    if (item == NULL) {
        text_puts(out, "none");
    } else if (cJSON_IsString(item)) {
        text_escape(out, item->valuestring);
    } else {
        struct text json = {0};
        json_print(cJSON_Duplicate(item, true), &json);
        text_escape(out, json.data);
        text_free(&json);
    }
}

static size_t diff_items(const char *path, const cJSON *old, const cJSON *new,
                         struct text *out);

/* The member of that name in another map; where parameters share one, the
 * second is compared with the second. */
static const cJSON *counterpart(const cJSON *map, const cJSON *member,
                                const cJSON *other)
{
    size_t before = 0;
    const cJSON *item;
    for (item = map->child; item != member; item = item->next)
        before += strcmp(item->string, member->string) == 0;
    cJSON_ArrayForEach(item, other)
    {
        if (strcmp(item->string, member->string) == 0 && before-- == 0)
            return item;
    }
    return NULL;
}

/* Members of the old map first, then those that are new. */
static size_t diff_maps(const char *path, const cJSON *old, const cJSON *new,
                        struct text *out)
{
    size_t n = 0;
    const cJSON *item;
    cJSON_ArrayForEach(item, old)
    {
        struct text member = {0};
        text_printf(&member, "%s%s%s", path, path[0] ? "." : "", item->string);
        n += diff_items(member.data, item, counterpart(old, item, new), out);
        text_free(&member);
    }
    cJSON_ArrayForEach(item, new)
    {
        if (counterpart(new, item, old))
            continue;
        struct text member = {0};
        text_printf(&member, "%s%s%s", path, path[0] ? "." : "", item->string);
        n += diff_items(member.data, NULL, item, out);
        text_free(&member);
    }
    return n;
}

static size_t diff_items(const char *path, const cJSON *old, const cJSON *new,
                         struct text *out)
{
    /* cJSON compares members of one name with the first such. */
    const bool both = cJSON_IsObject(old) && cJSON_IsObject(new);
    if (!both && is_equal(old, new))
        return 0;
    /* until: none -> {...} says less than one line for each of its members. */
    bool maps = (old == NULL || cJSON_IsObject(old)) &&
                (new == NULL || cJSON_IsObject(new));
    if (maps && strncmp(path, "parameters.", 11) != 0)
        return diff_maps(path, old, new, out);
    if (both)
        return diff_maps(path, old, new, out);
    text_escape(out, path);
    text_puts(out, ": ");
    show(old, out);
    text_puts(out, " -> ");
    show(new, out);
    text_puts(out, "\n");
    return 1;
}

/* A name or seed of one side only was not chosen by a person. */
static void skip_unchosen(cJSON *old, cJSON *new, const char *key)
{
    if (cJSON_HasObjectItem(old, key) && cJSON_HasObjectItem(new, key))
        return;
    cJSON_DeleteItemFromObjectCaseSensitive(old, key);
    cJSON_DeleteItemFromObjectCaseSensitive(new, key);
}

/* The order of parameters is the order of the arguments and of the grid. */
static size_t diff_order(const struct space *old, const struct space *new,
                         struct text *out)
{
    if (old->n != new->n)
        return 0;
    bool same = true;
    for (size_t i = 0; i < old->n; i++) {
        if (space_find(new, old->params[i].name) < 0)
            return 0;
        same &= strcmp(old->params[i].name, new->params[i].name) == 0;
    }
    if (!same)
        text_puts(out, "parameters: order changed\n");
    return !same;
}

/* A study is stored with the algorithm it got; who names none takes that. */
static void skip_unnamed_algorithm(cJSON *old, const cJSON *new)
{
    if (!cJSON_HasObjectItem(new, "algorithm"))
        cJSON_DeleteItemFromObjectCaseSensitive(old, "algorithm");
}

/* The tree of a job without the values that only its earlier trials may have,
 * which no person chose. */
static cJSON *tree_of_today(const struct job *job)
{
    const struct space *space = &job->space;
    struct job today = *job;
    today.space.params = ht_xcalloc(space->n + 1, sizeof *space->params);
    for (size_t i = 0; i < space->n; i++) {
        struct param *param = &today.space.params[i];
        *param = space->params[i];
        param->former = (struct former){0};
        param->n_former = 0;
    }
    cJSON *tree = native_tree(&today, NATIVE_FULL);
    free(today.space.params);
    return tree;
}

size_t form_diff(const struct job *old, const struct job *new, struct text *out)
{
    cJSON *a = tree_of_today(old);
    cJSON *b = tree_of_today(new);
    skip_unchosen(a, b, "seed");
    skip_unchosen(a, b, "name");
    skip_unchosen(a, b, "displayName");
    skip_unnamed_algorithm(a, b);
    size_t n = diff_maps("", a, b, out);
    n += diff_order(&old->space, &new->space, out);
    cJSON_Delete(a);
    cJSON_Delete(b);
    return n;
}
