#include "runner/talk/elastic.h"

#include <string.h>

#include "proto/base/arena.h"
#include "proto/doc/json.h"
#include "runner/base/json.h"

enum { MOST_WANTED = 10000, ELEMENTS_MS = 1000 };

void elastic_fini(struct elastic *elastic)
{
    text_free(&elastic->named);
    text_free(&elastic->elements);
}

void elastic_tick(struct elastic *elastic, const struct engine *engine,
                  int64_t now_ms)
{
    elastic->tick_at = engine->elastic->tick(now_ms);
}

/* The engine does not know of attempts that wait for code or a checkpoint: they
 * take slots that ask, too. */
static int64_t asking_of(const struct attempts *attempts,
                         const struct engine_slots *slots)
{
    int64_t n = slots->asking;
    for (const struct attempt *attempt = attempts->first; attempt != NULL;
         attempt = attempt->next)
        n -= attempt->waits && attempt->order->key.study == slots->study;
    return n > 0 ? n : 0;
}

static void put_asking(struct text *out, const struct attempts *attempts,
                       const struct engine_slots *slots, size_t n)
{
    json_open_list(out, "asking");
    for (size_t i = 0; i < n; i++) {
        const int64_t asking = asking_of(attempts, &slots[i]);
        if (asking == 0)
            continue;
        json_open(out, NULL);
        json_put_int(out, "study", slots[i].study);
        json_put_int(out, "n", asking);
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

/* Its members that make a poll under way out of date; what it has does not,
 * since that changes with its answer alone. */
struct named {
    struct text now, elements; /* of struct elastic */
};

static void named_fill(struct named *named, const struct attempts *attempts,
                       const struct engine_slots *slots, size_t n)
{
    json_open(&named->now, NULL);
    put_asking(&named->now, attempts, slots, n);
    put_refused(&named->now, slots, n);
    json_close(&named->now);
    json_open(&named->elements, NULL);
    put_elements(&named->elements, slots, n);
    json_close(&named->elements);
}

static bool is_same(const struct text *a, const struct text *b)
{
    return a->len == b->len && memcmp(a->data, b->data, a->len) == 0;
}

void elastic_put(struct elastic *elastic, const struct attempts *attempts,
                 int64_t now_ms, struct text *out)
{
    struct arena *arena = arena_new();
    struct named named = {0};
    const struct engine_slots *slots;
    const size_t n = attempts->engine->elastic->look(arena, &slots);
    put_asking(out, attempts, slots, n);
    put_refused(out, slots, n);
    put_elements(out, slots, n);
    put_have(out, slots, n);
    named_fill(&named, attempts, slots, n);
    elastic_fini(elastic);
    elastic->named = named.now;
    elastic->elements = named.elements;
    elastic->put_at = now_ms;
    arena_free(arena);
}

bool elastic_has_news(struct elastic *elastic, const struct attempts *attempts,
                      int64_t now_ms)
{
    struct arena *arena = arena_new();
    struct named named = {0};
    const struct engine_slots *slots;
    const size_t n = attempts->engine->elastic->look(arena, &slots);
    const int64_t elements_at = elastic->put_at + ELEMENTS_MS;
    named_fill(&named, attempts, slots, n);
    bool news = !is_same(&named.now, &elastic->named);
    if (!news && !is_same(&named.elements, &elastic->elements)) {
        news = now_ms >= elements_at;
        if (!news && elements_at < elastic->tick_at)
            elastic->tick_at = elements_at;
    }
    text_free(&named.now);
    text_free(&named.elements);
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
