/* test_answers.c - what an API server says, without one: refusals, the lines of
 * a watch, and which fields there are. */

#include <stdlib.h>

#include "runner/base/json.h"
#include "runner/kubernetes/fields.h"
#include "runner/kubernetes/lines.h"
#include "runner/kubernetes/refusal.h"
#include "tests/check.h"

static struct arena *arena;
static struct ht_error err;

/* ---- refusals ---- */

static enum ht_status refuse(int code, const char *json)
{
    const struct node *status =
        json != NULL ? json_read(arena, json, strlen(json)) : NULL;
    CHECK(json == NULL || status != NULL);
    return kube_refuse(arena, code, status, &err);
}

static void reasons_become_statuses(void)
{
    static const struct {
        const char *reason;
        int code;
        enum ht_status status;
    } all[] = {{"BadRequest", 400, HT_INVALID},
               {"Unauthorized", 401, HT_UNAUTHENTICATED},
               {"Forbidden", 403, HT_DENIED},
               {"NotFound", 404, HT_NOT_FOUND},
               {"AlreadyExists", 409, HT_EXISTS},
               {"Conflict", 409, HT_CONFLICT},
               {"Expired", 410, HT_RANGE},
               {"Gone", 410, HT_RANGE},
               {"TooManyRequests", 429, HT_LIMIT},
               {"InternalError", 500, HT_INTERNAL},
               {"ServerTimeout", 500, HT_TIMEOUT},
               {"ServiceUnavailable", 503, HT_UNAVAILABLE},
               {"Timeout", 504, HT_TIMEOUT},
               {"", 302, HT_PRECONDITION}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        const char *json = arena_printf(
            arena, "{\"reason\":\"%s\",\"message\":\"a\\nb\"}", all[i].reason);
        CHECK(refuse(all[i].code, json) == all[i].status);
        CHECK_TEXT(err.text, "a b");
    }
    CHECK(refuse(403, "{\"message\":\"x is forbidden: exceeded quota: q\"}") ==
          HT_EXHAUSTED);
    CHECK(refuse(502, NULL) == HT_UNAVAILABLE);
    CHECK_TEXT(err.text, "the API server answered 502");
}

static void causes_are_listed_field_by_field_without_long_values(void)
{
    const char *value = arena_printf(arena, "%0400d", 0);
    const char *json = arena_printf(
        arena,
        "{\"message\":\"long\",\"reason\":\"Invalid\",\"details\":{\"causes\":"
        "[{\"field\":\"spec.a\",\"message\":\"Required value\"},"
        "{\"field\":\"spec.b\",\"message\":\"Invalid value: %s: field is "
        "immutable\"}]}}",
        value);
    CHECK(refuse(422, json) == HT_INVALID);
    CHECK(strncmp(err.text, "spec.a: Required value; spec.b: Invalid value: 0",
                  48) == 0);
    CHECK(strstr(err.text, "0: field is immutable") != NULL);
    CHECK(strlen(err.text) < 220);
}

/* ---- lines ---- */

struct seen {
    int n, most;
    char text[64]; /* of "t" of each */
};

static bool see(void *context, const struct node *line)
{
    struct seen *seen = context;
    strncat(seen->text, node_get_string(line, "t", "?"),
            sizeof seen->text - strlen(seen->text) - 1);
    return ++seen->n < seen->most;
}

/* In pieces of that many bytes. */
static void feed(const char *text, size_t piece, struct seen *seen)
{
    struct kube_lines lines = {0};
    for (size_t left = strlen(text); left > 0; left -= piece, text += piece) {
        piece = piece < left ? piece : left;
        CHECK(kube_lines_feed(&lines, text, piece, see, seen) ==
              KUBE_LINES_MORE);
    }
    kube_lines_fini(&lines);
}

static void lines_come_whole_wherever_they_are_cut(void)
{
    static const char all[] = "{\"t\":\"a\"}\n\n{\"t\":\"\\n}{\"}\r\n"
                              "{\"t\":\"c\",\"x\":[{}]}\n{\"t\":\"d";
    for (size_t piece = 1; piece < sizeof all; piece++) {
        struct seen seen = {.most = 9};
        feed(all, piece, &seen);
        CHECK_TEXT(seen.text, "a\n}{c");
    }
}

/* A trial may write such a message. */
static void a_nul_in_a_text_hides_no_line(void)
{
    struct seen seen = {.most = 9};
    feed("{\"t\":\"a\\u0000b\"}\n{\"t\":\"c\\\\u0000\"}\n", 100, &seen);
    CHECK_TEXT(seen.text, "a\xef\xbf\xbd"
                          "bc\\u0000");
}

static void a_taker_may_leave_and_no_json_breaks(void)
{
    struct kube_lines lines = {0};
    struct seen seen = {.most = 1};
    static const char two[] = "{\"t\":\"a\"}\n{\"t\":\"b\"}\n";
    CHECK(kube_lines_feed(&lines, two, strlen(two), see, &seen) ==
          KUBE_LINES_LEFT);
    CHECK_TEXT(seen.text, "a");
    seen.most = 9;
    static const char *const wrong[] = {"x\n", "[1]\n", "{\"a\":1}{}\n",
                                        "{\"a\":\n"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        kube_lines_fini(&lines);
        CHECK(kube_lines_feed(&lines, wrong[i], strlen(wrong[i]), see, &seen) ==
              KUBE_LINES_BROKEN);
    }
    kube_lines_fini(&lines);
}

static void a_line_without_an_end_is_bounded(void)
{
    enum { PART = 1024 * 1024 };
    struct kube_lines lines = {0};
    struct seen seen = {.most = 9};
    char *part = calloc(PART, 1);
    memset(part, 'x', PART);
    enum kube_lines_end end = KUBE_LINES_MORE;
    int parts = 0;
    for (; end == KUBE_LINES_MORE && parts < 100; parts++)
        end = kube_lines_feed(&lines, part, PART, see, &seen);
    CHECK(end == KUBE_LINES_BROKEN && parts == KUBE_LINE_MOST / PART + 1);
    free(part);
    kube_lines_fini(&lines);
}

/* ---- fields ---- */

static void read_fields(const char *version, const char *schema,
                        struct kube_fields *fields)
{
    kube_fields_read(json_read(arena, version, strlen(version)),
                     schema != NULL ? json_read(arena, schema, strlen(schema))
                                    : NULL,
                     fields);
}

static void the_schema_counts_and_else_the_version(void)
{
    struct kube_fields fields;
    read_fields("{\"major\":\"1\",\"minor\":\"29+\"}", NULL, &fields);
    CHECK(fields.minor == 29 && !fields.by_schema);
    CHECK(fields.has[KUBE_POD_REPLACEMENT_POLICY]);
    CHECK(!fields.has[KUBE_SUCCESS_POLICY]);
    read_fields("{\"major\":\"1\",\"minor\":\"34\"}",
                "{\"components\":{\"schemas\":{\"io.k8s.api.batch.v1.JobSpec\":"
                "{\"properties\":{\"successPolicy\":{}}}}}}",
                &fields);
    CHECK(fields.by_schema && fields.has[KUBE_SUCCESS_POLICY]);
    CHECK(!fields.has[KUBE_POD_FAILURE_POLICY]);
    /* Nothing is known: nothing is sent. */
    read_fields("{}", "{\"components\":{\"schemas\":{}}}", &fields);
    CHECK(!fields.by_schema);
    for (int i = 0; i < KUBE_FIELDS; i++)
        CHECK(!fields.has[i]);
}

int main(void)
{
    arena = arena_new();
    RUN(reasons_become_statuses);
    RUN(causes_are_listed_field_by_field_without_long_values);
    RUN(lines_come_whole_wherever_they_are_cut);
    RUN(a_nul_in_a_text_hides_no_line);
    RUN(a_taker_may_leave_and_no_json_breaks);
    RUN(a_line_without_an_end_is_bounded);
    RUN(the_schema_counts_and_else_the_version);
    arena_free(arena);
    return check_done();
}
