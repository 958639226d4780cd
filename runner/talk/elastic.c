#include "runner/talk/elastic.h"

#include <string.h>

#include "proto/base/arena.h"
#include "proto/doc/json.h"
#include "runner/base/json.h"

enum { MOST_WANTED = 10000 };

void elastic_fini(struct elastic *elastic)
{
    text_free(&elastic->named);
}

void elastic_tick(struct elastic *elastic, const struct engine *engine,
                  int64_t now_ms)
{
    elastic->tick_at = engine->elastic->tick(now_ms);
}

static void put_asking(struct text *out, const struct engine_slots *slots,
                       size_t n)
{
    json_open_list(out, "asking");
    for (size_t i = 0; i < n; i++) {
        if (slots[i].asking == 0)
            continue;
        json_open(out, NULL);
        json_put_int(out, "study", slots[i].study);
        json_put_int(out, "n", slots[i].asking);
        json_close(out);
    }
    json_close_list(out);
}

static void put_refused(struct text *out, const struct engine_slots *slots,
                        size_t n)
{
    json_open_list(out, "refused");
    for (size_t i = 0; i < n; i++) {
        if (slots[i].refused == NULL)
            continue;
        json_open(out, NULL);
        json_put_int(out, "study", slots[i].study);
        json_put_string(out, "reason", slots[i].refused);
        json_close(out);
    }
    json_close_list(out);
}

static void put_elements(struct text *out, const struct engine_slots *slots,
                         size_t n)
{
    json_open_list(out, "elements");
    for (size_t i = 0; i < n; i++) {
        if (slots[i].run + slots[i].wait == 0)
            continue;
        json_open(out, NULL);
        json_put_int(out, "study", slots[i].study);
        json_put_int(out, "run", slots[i].run);
        json_put_int(out, "wait", slots[i].wait);
        if (slots[i].why != NULL)
            json_put_string(out, "why", slots[i].why);
        json_close(out);
    }
    json_close_list(out);
}

static void put_have(struct text *out, const struct engine_slots *slots,
                     size_t n)
{
    json_open_list(out, "have");
    for (size_t i = 0; i < n; i++) {
        if (slots[i].need == NULL)
            continue;
        json_open(out, NULL);
        json_put_int(out, "study", slots[i].study);
        json_put_int(out, "slots", slots[i].wanted);
        json_put_string(out, "need", slots[i].need);
        json_close(out);
    }
    json_close_list(out);
}

/* What makes a poll under way out of date; what it has does not, since that
 * changes with its answer alone. */
static void put_named(struct text *out, const struct engine_slots *slots,
                      size_t n)
{
    put_asking(out, slots, n);
    put_refused(out, slots, n);
    put_elements(out, slots, n);
}

/* The same members, to be compared. */
static void name_all(struct text *out, const struct engine_slots *slots,
                     size_t n)
{
    json_open(out, NULL);
    put_named(out, slots, n);
    json_close(out);
}

void elastic_put(struct elastic *elastic, const struct engine *engine,
                 struct text *out)
{
    struct arena *arena = arena_new();
    const struct engine_slots *slots;
    const size_t n = engine->elastic->look(arena, &slots);
    put_named(out, slots, n);
    put_have(out, slots, n);
    text_clear(&elastic->named);
    name_all(&elastic->named, slots, n);
    arena_free(arena);
}

bool elastic_has_news(const struct elastic *elastic,
                      const struct engine *engine)
{
    struct arena *arena = arena_new();
    struct text now = {0};
    const struct engine_slots *slots;
    const size_t n = engine->elastic->look(arena, &slots);
    name_all(&now, slots, n);
    const bool news =
        strcmp(text_string(&now), text_string(&elastic->named)) != 0;
    text_free(&now);
    arena_free(arena);
    return news;
}

void elastic_take(const struct engine *engine, const struct node *answer)
{
    if (node_find(answer, "wanted") == NULL)
        return;
    struct arena *arena = arena_new();
    struct engine_wanted *items = NULL;
    size_t n = 0;
    NODE_EACH (item, node_first(answer, "wanted")) {
        const struct node *is = node_find(item, "is");
        const struct engine_wanted wanted = {
            .study = node_get_int(item, "study", 0),
            .slots = node_get_int(item, "slots", 0),
            .need = node_get_string(item, "need", NULL),
            .is = is != NULL ? json_text(arena, json_of_node(is)) : NULL,
        };
        if (wanted.study <= 0 || wanted.slots < 0 || wanted.need == NULL ||
            n == MOST_WANTED)
            continue;
        items = arena_grow(arena, items, n, sizeof *items);
        items[n++] = wanted;
    }
    engine->elastic->want(items, n);
    arena_free(arena);
}
