#include <errno.h>

#include "proto/base/error.h"
#include "tests/check.h"

static void failing_writes_status_and_sentence(void)
{
    struct ht_error err;
    CHECK(ht_fail(&err, HT_INVALID, "%d points", 3) == HT_INVALID);
    CHECK(err.status == HT_INVALID);
    CHECK_TEXT(err.text, "3 points");
}

static void failing_without_an_error_only_returns_the_status(void)
{
    CHECK(ht_fail(NULL, HT_LIMIT, "x") == HT_LIMIT);
    CHECK(ht_wrap(NULL, HT_EXISTS, "x") == HT_EXISTS);
    CHECK(ht_fail_errno(NULL, ENOENT, "x") == HT_IO);
}

static void wrapping_puts_the_context_in_front(void)
{
    struct ht_error err;
    ht_fail(&err, HT_NOT_FOUND, "no row");
    CHECK(ht_wrap(&err, HT_NOT_FOUND, "study %s", "digits") == HT_NOT_FOUND);
    CHECK_TEXT(err.text, "study digits: no row");
}

static void a_sentence_too_long_is_cut_not_overrun(void)
{
    struct ht_error err;
    char longest[sizeof err.text + 50];
    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    ht_fail(&err, HT_INTERNAL, "%s", longest);
    CHECK(strlen(err.text) == sizeof err.text - 1);
    ht_wrap(&err, HT_INTERNAL, "context");
    CHECK(strlen(err.text) == sizeof err.text - 1);
    CHECK(strncmp(err.text, "context: xxx", 12) == 0);
    ht_wrap(&err, HT_INTERNAL, "%s", longest);
    CHECK(strlen(err.text) == sizeof err.text - 1);
}

static void a_system_error_is_told_in_words(void)
{
    struct ht_error err;
    CHECK(ht_fail_errno(&err, ENOENT, "open %s", "spec.yaml") == HT_IO);
    CHECK_TEXT(err.text, "open spec.yaml: No such file or directory");
}

static void every_status_has_its_http_and_rpc_form(void)
{
    CHECK(ht_status_http(HT_OK) == 200 && ht_status_code(HT_OK) == 0);
    CHECK(ht_status_http(HT_NOT_FOUND) == 404);
    CHECK(ht_status_code(HT_NOT_FOUND) == 5);
    CHECK_TEXT(ht_status_rpc(HT_CONFLICT), "ABORTED");
    CHECK(ht_status_http(HT_TIMEOUT) == 504);
}

int main(void)
{
    RUN(failing_writes_status_and_sentence);
    RUN(failing_without_an_error_only_returns_the_status);
    RUN(wrapping_puts_the_context_in_front);
    RUN(a_sentence_too_long_is_cut_not_overrun);
    RUN(a_system_error_is_told_in_words);
    RUN(every_status_has_its_http_and_rpc_form);
    return check_done();
}
