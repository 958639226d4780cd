#include "tests/check.h"

#include <string.h>

#include "proto/base/arena.h"
#include "proto/doc/json.h"
#include "runner/attempt/engine.h"
#include "runner/base/json.h"
#include "runner/talk/elastic.h"

enum { PUT_AT = 70000 };

/* An engine whose slots a test sets. */
static struct engine_slots slots[3];
static size_t n_slots;
static int64_t looked_at;
static char wanted[256];

static int64_t tick(int64_t now_ms)
{
    looked_at = now_ms;
    return now_ms + 500;
}

static size_t look(struct arena *arena, const struct engine_slots **out)
{
    (void)arena;
    *out = slots;
    return n_slots;
}

static void want(const struct engine_wanted *items, size_t n)
{
    struct text out = {0};
    for (size_t i = 0; i < n; i++)
        text_printf(&out, "%lld:%lldx%s=%s ", (long long)items[i].study,
                    (long long)items[i].slots, items[i].need,
                    items[i].is != NULL ? items[i].is : "known");
    (void)snprintf(wanted, sizeof wanted, "%s", text_string(&out));
    text_free(&out);
}

static const struct engine_elastic functions = {tick, look, want};
static const struct engine engine = {.name = "on-demand",
                                     .elastic = &functions};

static struct attempts attempts = {.engine = &engine};

static const char *put(struct elastic *elastic, struct arena *arena)
{
    struct text out = {0};
    json_open(&out, NULL);
    elastic_put(elastic, &attempts, PUT_AT, &out);
    json_close(&out);
    return text_take(&out, arena);
}

static void a_poll_says_what_asks_what_is_refused_and_what_is_known(void)
{
    struct arena *arena = arena_new();
    struct elastic elastic = {.tick_at = 0};
    n_slots = 0;
    CHECK_TEXT(put(&elastic, arena),
               "{\"asking\":[],\"refused\":[],\"elements\":[],\"have\":[]}");
    n_slots = 3;
    slots[0] = (struct engine_slots){
        .study = 7, .asking = 2, .wanted = 5, .need = "h"};
    slots[1] = (struct engine_slots){.study = 8,
                                     .wanted = 1,
                                     .need = "g",
                                     .run = 4,
                                     .wait = 6,
                                     .why = "Priority",
                                     .refused = "QOSMaxSubmitJobs \"x\""};
    slots[2] = (struct engine_slots){.study = 9, .asking = 1};
    CHECK_TEXT(put(&elastic, arena),
               "{\"asking\":[{\"study\":7,\"n\":2},{\"study\":9,\"n\":1}],"
               "\"refused\":[{\"study\":8,\"reason\":\"QOSMaxSubmitJobs "
               "\\\"x\\\"\"}],"
               "\"elements\":[{\"study\":8,\"run\":4,\"wait\":6,"
               "\"why\":\"Priority\"}],"
               "\"have\":[{\"study\":7,\"slots\":5,\"need\":\"h\"},"
               "{\"study\":8,\"slots\":1,\"need\":\"g\"}]}");
    elastic_fini(&elastic);
    arena_free(arena);
}

static void all_but_what_is_known_is_news(void)
{
    struct arena *arena = arena_new();
    struct elastic elastic = {.tick_at = 0};
    n_slots = 1;
    slots[0] = (struct engine_slots){.study = 7, .wanted = 1, .need = "h"};
    (void)put(&elastic, arena);
    CHECK(!elastic_has_news(&elastic, &attempts, PUT_AT));
    slots[0].wanted = 2;
    CHECK(!elastic_has_news(&elastic, &attempts, PUT_AT));
    slots[0].asking = 1;
    CHECK(elastic_has_news(&elastic, &attempts, PUT_AT));
    (void)put(&elastic, arena);
    CHECK(!elastic_has_news(&elastic, &attempts, PUT_AT));
    slots[0].refused = "no";
    CHECK(elastic_has_news(&elastic, &attempts, PUT_AT));
    elastic_fini(&elastic);
    arena_free(arena);
}

static void other_elements_are_news_once_a_second(void)
{
    struct arena *arena = arena_new();
    struct elastic elastic = {.tick_at = PUT_AT + 5000};
    n_slots = 1;
    slots[0] = (struct engine_slots){.study = 7, .wanted = 1, .need = "h"};
    (void)put(&elastic, arena);
    CHECK(!elastic_has_news(&elastic, &attempts, PUT_AT + 2000));
    CHECK(elastic.tick_at == PUT_AT + 5000);
    slots[0].wait = 1;
    CHECK(!elastic_has_news(&elastic, &attempts, PUT_AT + 999));
    CHECK(elastic.tick_at == PUT_AT + 1000);
    CHECK(elastic_has_news(&elastic, &attempts, PUT_AT + 1000));
    slots[0].asking = 1;
    CHECK(elastic_has_news(&elastic, &attempts, PUT_AT));
    elastic_fini(&elastic);
    arena_free(arena);
}

static void attempts_that_wait_for_code_have_their_slots(void)
{
    struct arena *arena = arena_new();
    struct elastic elastic = {.tick_at = 0};
    struct order asked = {.key = {.study = 7}};
    struct order another = {.key = {.study = 8}};
    struct attempt other = {.order = &another, .waits = true};
    struct attempt one = {.order = &asked, .waits = true, .next = &other};
    n_slots = 1;
    slots[0] = (struct engine_slots){.study = 7, .asking = 2};
    attempts.first = &one;
    CHECK_TEXT(put(&elastic, arena), "{\"asking\":[{\"study\":7,\"n\":1}],"
                                     "\"refused\":[],\"elements\":[],"
                                     "\"have\":[]}");
    one.waits = false; /* the engine has it */
    slots[0].asking = 1;
    CHECK(!elastic_has_news(&elastic, &attempts, PUT_AT));
    attempts.first = NULL;
    elastic_fini(&elastic);
    arena_free(arena);
}

static void take(struct arena *arena, const char *answer)
{
    elastic_take(&engine, json_read_map(arena, answer, strlen(answer)));
}

static void an_answer_says_all_that_is_wanted(void)
{
    struct arena *arena = arena_new();
    (void)strcpy(wanted, "before");
    take(arena, "{\"attempts\":[]}");
    CHECK_TEXT(wanted, "before");
    take(arena, "{\"wanted\":[{\"study\":7,\"slots\":3,\"need\":\"h\","
                "\"is\":{\"pools\":[1]}},"
                "{\"study\":8,\"slots\":0,\"need\":\"g\"},"
                "{\"study\":0,\"slots\":1,\"need\":\"g\"},"
                "{\"study\":9,\"slots\":-1,\"need\":\"g\"},"
                "{\"study\":9,\"slots\":1}]}");
    CHECK_TEXT(wanted, "7:3xh={\"pools\":[1]} 8:0xg=known ");
    take(arena, "{\"wanted\":[]}");
    CHECK_TEXT(wanted, "");
    arena_free(arena);
}

static void the_engine_says_when_it_looks_again(void)
{
    struct elastic elastic = {.tick_at = 0};
    elastic_tick(&elastic, &engine, 1000);
    CHECK(looked_at == 1000 && elastic.tick_at == 1500);
    elastic_fini(&elastic);
}

int main(void)
{
    json_init();
    RUN(a_poll_says_what_asks_what_is_refused_and_what_is_known);
    RUN(all_but_what_is_known_is_news);
    RUN(other_elements_are_news_once_a_second);
    RUN(attempts_that_wait_for_code_have_their_slots);
    RUN(an_answer_says_all_that_is_wanted);
    RUN(the_engine_says_when_it_looks_again);
    return check_done();
}
