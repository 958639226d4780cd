/* The frame of answers on the wire, and names of attempts in it. */
#include <string.h>

#include "proto/doc/json.h"
#include "tests/check.h"
#include "tuner/wire/envelope.h"

static struct request *asked(const char *json)
{
    struct request *req = request_new();
    struct diag diag;
    diag_init(&diag, req->arena, "test", json, strlen(json));
    req->body = node_read_json(req->arena, json, strlen(json), &diag);
    CHECK(req->body != NULL);
    return req;
}

static void an_answer_carries_the_id_of_its_question(void)
{
    struct request *req = asked("{\"id\":41}");
    struct text out = {0};
    cJSON *answer = wire_ok(req);
    json_add_string(answer, "more", "x");
    CHECK(wire_finish(req, answer, HT_OK) == HT_OK);
    wire_answer(req, &out);
    CHECK_TEXT(out.data,
               "{\"v\":1,\"id\":41,\"status\":\"ok\",\"more\":\"x\"}");
    text_free(&out);
    request_free(req);
}

static void what_could_not_be_read_is_answered_without_an_id(void)
{
    struct request *req = request_new();
    struct text out = {0};
    req->status = ht_fail(&req->err, HT_INVALID, "no JSON");
    wire_answer(req, &out);
    CHECK_TEXT(out.data, "{\"v\":1,\"id\":0,\"status\":\"invalid\","
                         "\"error\":\"no JSON\"}");
    text_free(&out);
    request_free(req);
}

static void a_failed_request_drops_its_answer(void)
{
    struct request *req = asked("{\"id\":1}");
    CHECK(wire_finish(req, wire_ok(req), HT_DENIED) == HT_DENIED);
    CHECK(req->reply.len == 0);
    request_free(req);
}

/* Who is told "retry" asks again, and who is told "gone" gives up. */
static void each_failure_has_its_status_on_the_wire(void)
{
    static const struct {
        enum ht_status status;
        const char *want;
    } cases[] = {
        {HT_NOT_FOUND, "gone"},    {HT_CONFLICT, "gone"},
        {HT_PRECONDITION, "gone"}, {HT_UNAUTHENTICATED, "denied"},
        {HT_DENIED, "denied"},     {HT_INVALID, "invalid"},
        {HT_TOO_LARGE, "invalid"}, {HT_UNAVAILABLE, "retry"},
        {HT_IO, "retry"},          {HT_TIMEOUT, "retry"},
        {HT_INTERNAL, "retry"},    {HT_CORRUPT, "retry"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct request *req = asked("{\"id\":2}");
        struct text out = {0}, want = {0};
        const bool again = strcmp(cases[i].want, "retry") == 0;
        req->status = ht_fail(&req->err, cases[i].status, "why");
        wire_answer(req, &out);
        text_printf(&want,
                    "{\"v\":1,\"id\":2,\"status\":\"%s\",%s\"error\":\"why\"}",
                    cases[i].want, again ? "\"retryMs\":1000," : "");
        CHECK_TEXT(out.data, want.data);
        text_free(&out);
        text_free(&want);
        request_free(req);
    }
}

static void a_name_is_three_positive_numbers(void)
{
    static const char *const bad[] = {
        "{}", "{\"study\":1,\"trial\":2}",
        "{\"study\":0,\"trial\":2,\"attempt\":3}",
        "{\"study\":1,\"trial\":-2,\"attempt\":3}"};
    struct trial_name name = {7, 8, 9};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct request *req = asked(bad[i]);
        CHECK(wire_name(req->body, &name, NULL) == HT_INVALID);
        CHECK(name.study == 7 && name.trial == 8 && name.attempt == 9);
        request_free(req);
    }
}

static void a_name_comes_back_as_it_was_written(void)
{
    const struct trial_name name = {12, 5, 3};
    struct text out = {0};
    cJSON *object = cJSON_CreateObject();
    wire_add_name(object, &name);
    json_print(object, &out);
    struct request *req = asked(out.data);
    struct trial_name read = {0};
    CHECK(wire_name(req->body, &read, NULL) == HT_OK);
    CHECK(read.study == 12 && read.trial == 5 && read.attempt == 3);
    text_free(&out);
    request_free(req);
}

int main(void)
{
    json_init();
    RUN(an_answer_carries_the_id_of_its_question);
    RUN(what_could_not_be_read_is_answered_without_an_id);
    RUN(a_failed_request_drops_its_answer);
    RUN(each_failure_has_its_status_on_the_wire);
    RUN(a_name_is_three_positive_numbers);
    RUN(a_name_comes_back_as_it_was_written);
    return check_done();
}
