/* The dashboard's files. */
#include "tuner/http/dashboard.h"

#include "tests/lib/core_fixture.h"
#include "tests/lib/http_fixture.h"

static void the_first_page_loads_only_our_own_files(struct http_fixture *f)
{
    const char *answer = http_fixture_ask(f, "GET /?whatever", "", "");
    CHECK(http_fixture_status(answer) == 200);
    CHECK(strstr(answer, "Content-Security-Policy: default-src 'none'; "
                         "script-src 'self'") != NULL);
    CHECK(strstr(answer, "Content-Type: text/html") != NULL);
    CHECK(strstr(answer, "<!doctype html>") != NULL);
}

static void every_file_is_there(struct http_fixture *f)
{
    CHECK(page_count > 0);
    for (size_t i = 0; i < page_count; i++) {
        const char *line =
            arena_printf(f->core->arena, "HEAD /web/%s", pages[i].name);
        const char *answer = http_fixture_ask(f, line, "", "");
        CHECK(http_fixture_status(answer) == 200);
        CHECK(strstr(answer, arena_printf(f->core->arena, "ETag: %s\r\n",
                                          pages[i].etag)) != NULL);
    }
    CHECK(http_fixture_status(
              http_fixture_ask(f, "GET /web/none.js", "", "")) == 404);
}

static void a_known_file_is_not_sent_again(struct http_fixture *f)
{
    const char *known =
        arena_printf(f->core->arena, "If-None-Match: %s\r\n", pages[0].etag);
    const char *line =
        arena_printf(f->core->arena, "GET /web/%s", pages[0].name);
    const char *answer = http_fixture_ask(f, line, known, "");
    CHECK(http_fixture_status(answer) == 304);
    CHECK(http_fixture_status(http_fixture_ask(
              f, line, "If-None-Match: \"other\"\r\n", "")) == 200);
}

static void a_browser_that_can_gets_it_packed(struct http_fixture *f)
{
    const char *line = "GET /web/main.js";
    const char *packed =
        http_fixture_ask(f, line, "Accept-Encoding: br, gzip\r\n", "");
    CHECK(strstr(packed, "Content-Encoding: gzip\r\n") != NULL);
    const char *plain = http_fixture_ask(f, line, "", "");
    CHECK(strstr(plain, "Content-Encoding") == NULL);
    CHECK(strstr(plain, "import ") != NULL);
}

int main(void)
{
    RUN_ON_HTTP(the_first_page_loads_only_our_own_files);
    RUN_ON_HTTP(every_file_is_there);
    RUN_ON_HTTP(a_known_file_is_not_sent_again);
    RUN_ON_HTTP(a_browser_that_can_gets_it_packed);
    return check_done();
}
