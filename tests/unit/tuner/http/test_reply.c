/* Refusals as a google.rpc.Status. */
#include "tuner/http/reply.h"

#include "proto/doc/json.h"
#include "tests/check.h"

/* The text of a refusal; the caller frees it. */
static struct text refuse(enum ht_status status, const char *why,
                          const struct diag *diag)
{
    struct text out = {0};
    struct ht_error err = {0};
    ht_fail(&err, status, "%s", why);
    http_error_text(&out, &err, diag, NULL);
    return out;
}

static void an_error_has_code_message_and_status(void)
{
    struct text out = refuse(HT_NOT_FOUND, "no study \"a\"", NULL);
    CHECK_TEXT(out.data, "{\"error\":{\"code\":404,"
                         "\"message\":\"no study \\\"a\\\"\","
                         "\"status\":\"NOT_FOUND\"}}");
    text_free(&out);
}

static void faults_of_a_document_become_field_violations(void)
{
    struct arena *arena = arena_new();
    struct diag diag;
    diag_init(&diag, arena, "spec", NULL, 0);
    diag_warning(&diag, 0, 0, "seed", "is not used");
    struct text out = refuse(HT_CONFLICT, "it exists", &diag);
    CHECK(out.data != NULL && strstr(out.data, "details") == NULL);
    text_free(&out);
    diag_error(&diag, 0, 0, "goal", "is missing");
    diag_hint(&diag, "say %s", "minimize loss");
    diag_error(&diag, 0, 0, NULL, "too deep");
    out = refuse(HT_INVALID, "2 faults", &diag);
    CHECK_TEXT(out.data,
               "{\"error\":{\"code\":400,\"message\":\"2 faults\","
               "\"status\":\"INVALID_ARGUMENT\",\"details\":["
               "{\"@type\":\"type.googleapis.com/google.rpc.BadRequest\","
               "\"fieldViolations\":["
               "{\"field\":\"goal\","
               "\"description\":\"is missing; say minimize loss\"},"
               "{\"field\":\"\",\"description\":\"too deep\"}]}]}}");
    arena_free(arena);
    text_free(&out);
}

static void a_text_is_appended(void)
{
    struct text out = {0};
    struct ht_error err = {0};
    text_puts(&out, "data: ");
    ht_fail(&err, HT_INTERNAL, "x");
    http_error_text(&out, &err, NULL, NULL);
    CHECK(strncmp(out.data, "data: {\"error\":{\"code\":500,", 27) == 0);
    text_free(&out);
}

int main(void)
{
    json_init();
    RUN(an_error_has_code_message_and_status);
    RUN(faults_of_a_document_become_field_violations);
    RUN(a_text_is_appended);
    return check_done();
}
