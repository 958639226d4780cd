/* Points that are looked for before a client asks. */
#include "tests/lib/core_fixture.h"
#include "tuner/api/vizier.h"
#include "tuner/core/live.h"

static const char study_body[] =
    "{\"displayName\":\"s\",\"studySpec\":{\"metrics\":[{\"metricId\":\"loss\","
    "\"goal\":\"MINIMIZE\"}],\"parameters\":[{\"parameterId\":\"x\","
    "\"doubleValueSpec\":{\"minValue\":0,\"maxValue\":1}}]}}";

enum { UNASKED = 10 }; /* as in tuner/study/suggestion_stock.c */

/* ---- the clients ---- */

static struct request *call(struct fixture *fixture, request_handler *handle,
                            const char *trial, const char *body)
{
    struct request *req = fixture_call_trial(fixture, handle, "1", trial, body);
    CHECK(req->status == HT_OK);
    return req;
}

static void begin(struct fixture *fixture)
{
    fixture_open(fixture);
    CHECK(
        fixture_call(fixture, study_create_vizier, NULL, study_body)->status ==
        HT_OK);
}

static void ask(struct fixture *fixture, const char *client)
{
    call(fixture, vizier_suggest, NULL,
         arena_printf(fixture->arena,
                      "{\"suggestionCount\":1,\"clientId\":\"%s\"}", client));
}

static void ask_with(struct fixture *fixture, const char *client, double x)
{
    call(fixture, vizier_suggest, NULL,
         arena_printf(
             fixture->arena,
             "{\"suggestionCount\":1,\"clientId\":\"%s\",\"contexts\":"
             "[{\"parameters\":[{\"parameterId\":\"x\",\"value\":%g}]}]}",
             client, x));
}

static void complete(struct fixture *fixture, const char *trial)
{
    call(fixture, vizier_complete_trial, trial,
         "{\"finalMeasurement\":{\"metrics\":[{\"metricId\":\"loss\","
         "\"value\":1}]}}");
}

static void add_result(struct fixture *fixture, double x)
{
    call(fixture, vizier_add_trial, NULL,
         arena_printf(fixture->arena,
                      "{\"parameters\":[{\"parameterId\":\"x\",\"value\":%g}],"
                      "\"finalMeasurement\":{\"metrics\":[{\"metricId\":"
                      "\"loss\",\"value\":1}]}}",
                      x));
}

/* The revision that a suggestion knew. */
static int64_t known_revision(struct fixture *fixture, int64_t trial)
{
    long long revision = -1;
    const char *why = fixture_trial(fixture, 1, trial).why;
    const char *at = strstr(why, "\"revision\":\"");
    CHECK(at != NULL && sscanf(at, "\"revision\":\"%lld", &revision) == 1);
    return revision;
}

/* ---- what the core has ---- */

struct hash_set {
    bool asking, fresh; /* fresh: knows every result */
    int64_t left;       /* points that were not given */
    const char *params; /* of the first of them */
};

static enum ht_status handle_look(struct core *core, struct request *req,
                                  struct ht_error *err)
{
    (void)err;
    const struct live_study *memory = live_study(core_live(core), 1);
    const struct live_suggestion *stock = &memory->stock;
    cJSON *object = cJSON_CreateObject();
    json_add_bool(object, "asking", memory->asking);
    json_add_bool(object, "fresh", stock->news == memory->news);
    json_add_int(object, "left", (int64_t)(stock->n - stock->taken));
    if (stock->taken < stock->n)
        json_add_string(object, "params", stock->items[stock->taken].params);
    json_print(object, &req->reply);
    return HT_OK;
}

static struct hash_set look(struct fixture *fixture)
{
    const struct node *seen =
        fixture_reply(call(fixture, handle_look, NULL, NULL));
    return (struct hash_set){.asking = node_get_bool(seen, "asking", false),
                             .fresh = node_get_bool(seen, "fresh", false),
                             .left = node_get_int(seen, "left", -1),
                             .params = node_get_string(seen, "params", "")};
}

/* Waits for a point that knows every result. */
static struct hash_set await_offer(struct fixture *fixture)
{
    const int64_t end_ms = clock_monotonic_ms() + PATIENCE_MS;
    struct hash_set seen = look(fixture);
    while ((seen.left == 0 || !seen.fresh) && clock_monotonic_ms() < end_ms) {
        fixture_nap();
        seen = look(fixture);
    }
    CHECK(seen.left == 1 && seen.fresh);
    return seen;
}

/* ---- cases ---- */

static void after_a_result_the_next_point_is_looked_for_at_once(void)
{
    struct fixture f;
    begin(&f);
    ask(&f, "me");
    complete(&f, "1");
    const char *found = await_offer(&f).params;
    ask(&f, "me");
    CHECK_TEXT(fixture_trial(&f, 1, 2).params, found);
    CHECK(look(&f).left == 0);
    fixture_close(&f);
}

static void while_a_trial_runs_the_next_point_is_looked_for(void)
{
    struct fixture f;
    begin(&f);
    ask(&f, "me");
    const char *found = await_offer(&f).params;
    ask(&f, "another");
    CHECK_TEXT(fixture_trial(&f, 1, 2).params, found);
    CHECK(strstr(fixture_trial(&f, 1, 2).why, "\"pending\":[\"1\"]") != NULL);
    fixture_close(&f);
}

static void a_point_knows_every_result_there_was_when_it_was_asked_for(void)
{
    struct fixture f;
    begin(&f);
    ask(&f, "one");
    ask(&f, "two");
    complete(&f, "1");
    await_offer(&f);
    complete(&f, "2");
    ask(&f, "one");
    CHECK(known_revision(&f, 3) >= fixture_trial(&f, 1, 2).revision);
    await_offer(&f);
    call(&f, vizier_delete_trial, "1", NULL);
    const int64_t revision = fixture_study(&f, 1).revision;
    ask(&f, "two");
    CHECK(known_revision(&f, 4) >= revision);
    await_offer(&f);
    add_result(&f, 0.5);
    ask(&f, "three");
    CHECK(known_revision(&f, 6) >= fixture_trial(&f, 1, 5).revision);
    fixture_close(&f);
}

static void nothing_is_looked_for_before_somebody_asks(void)
{
    struct fixture f;
    begin(&f);
    add_result(&f, 0.25);
    CHECK(!look(&f).asking);
    CHECK(look(&f).left == 0);
    ask(&f, "me");
    complete(&f, "2");
    await_offer(&f);
    fixture_close(&f);
}

static void given_values_are_looked_for_when_they_are_asked_for(void)
{
    struct fixture f;
    begin(&f);
    ask_with(&f, "me", 0.25);
    CHECK_TEXT(fixture_trial(&f, 1, 1).params, "{\"x\":0.25}");
    complete(&f, "1");
    CHECK(!look(&f).asking);
    CHECK(look(&f).left == 0);
    ask(&f, "another");
    await_offer(&f);
    ask_with(&f, "me", 0.75);
    CHECK_TEXT(fixture_trial(&f, 1, 3).params, "{\"x\":0.75}");
    complete(&f, "2");
    const char *found = await_offer(&f).params;
    ask(&f, "third");
    CHECK_TEXT(fixture_trial(&f, 1, 4).params, found);
    fixture_close(&f);
}

static void a_study_that_nobody_asks_any_more_is_left_alone(void)
{
    struct fixture f;
    begin(&f);
    ask(&f, "me");
    for (int i = 1; i < UNASKED; i++) {
        add_result(&f, 0.01 * i);
        await_offer(&f);
    }
    add_result(&f, 0.5);
    CHECK(!look(&f).asking);
    CHECK(!look(&f).fresh);
    ask(&f, "another");
    complete(&f, "1");
    await_offer(&f);
    fixture_close(&f);
}

static void the_last_trial_of_a_study_has_no_successor(struct fixture *f)
{
    CHECK(fixture_call(f, study_create_vizier, NULL,
                       "{\"displayName\":\"s\",\"studySpec\":{\"metrics\":[{"
                       "\"metricId\":\"loss\",\"goal\":\"MINIMIZE\"}],"
                       "\"parameters\":[{\"parameterId\":\"x\","
                       "\"doubleValueSpec\":{\"minValue\":0,\"maxValue\":1}}],"
                       "\"studyStoppingConfig\":{\"maxNumTrials\":2}}}")
              ->status == HT_OK);
    ask(f, "one");
    ask(f, "two");
    complete(f, "1");
    CHECK(!look(f).asking);
    CHECK(look(f).left == 0);
}

int main(void)
{
    RUN(after_a_result_the_next_point_is_looked_for_at_once);
    RUN(while_a_trial_runs_the_next_point_is_looked_for);
    RUN(a_point_knows_every_result_there_was_when_it_was_asked_for);
    RUN(nothing_is_looked_for_before_somebody_asks);
    RUN(given_values_are_looked_for_when_they_are_asked_for);
    RUN(a_study_that_nobody_asks_any_more_is_left_alone);
    RUN_ON_CORE(the_last_trial_of_a_study_has_no_successor);
    return check_done();
}
