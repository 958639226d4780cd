/* One request from its headers to its answer. */
#include "tuner/http/call.h"

#include <stdio.h>
#include <string.h>

#include "tests/lib/http_fixture.h"

#define JOBS "/v1/projects/p/locations/l/hyperparameterTuningJobs"
#define STUDIES "/v1/projects/p/locations/l/studies"
#define JSON "Content-Type: application/json\r\n"

/* Whether the answer is that refusal. */
static void check_refused(const char *answer, int status, const char *words)
{
    CHECK(http_fixture_status(answer) == status);
    CHECK(strstr(answer, words) != NULL);
}

static void the_end_of_a_request_is_never_in_doubt(struct http_fixture *f)
{
    check_refused(http_fixture_ask(f, "POST " JOBS,
                                   JSON "Content-Length: 2\r\n"
                                        "Transfer-Encoding: chunked\r\n",
                                   "{}"),
                  400, "exclude each other");
    check_refused(http_fixture_ask(f, "POST " JOBS,
                                   JSON "Transfer-Encoding: gzip\r\n", ""),
                  400, "chunked is the only");
}

static void without_a_token_no_path_is_known(struct http_fixture *f)
{
    check_refused(http_fixture_ask(f, "GET /nowhere", "", ""), 404,
                  "there is nothing at");
    f->token = "other";
    check_refused(http_fixture_ask(f, "GET /nowhere", "", ""), 401,
                  "UNAUTHENTICATED");
    check_refused(http_fixture_ask(f, "GET " JOBS, "", ""), 401,
                  "UNAUTHENTICATED");
    CHECK(http_fixture_status(http_fixture_ask(f, "GET /healthz", "", "")) ==
          200);
}

static void a_body_is_json_of_a_limited_size(struct http_fixture *f)
{
    char length[64];
    check_refused(
        http_fixture_ask(f, "POST " JOBS, JSON "Content-Length: 3\r\n", "{]}"),
        400, "the body is not JSON");
    check_refused(
        http_fixture_ask(f, "POST " JOBS, "Content-Length: 2\r\n", "{}"), 400,
        "changes need Content-Type");
    snprintf(length, sizeof length, JSON "Content-Length: %d\r\n",
             CALL_MOST_READ + 1);
    check_refused(http_fixture_ask(f, "POST " JOBS, length, ""), 413,
                  "the body is over");
}

static void a_query_takes_what_its_route_takes(struct http_fixture *f)
{
    check_refused(http_fixture_ask(f, "GET " JOBS "?color=red", "", ""), 400,
                  "this method takes");
    check_refused(http_fixture_ask(f, "GET " JOBS "?filter=%ff", "", ""), 400,
                  "percent-encoded UTF-8");
    const char *answer = http_fixture_ask(f, "GET " JOBS "?pageSize=1", "", "");
    CHECK(http_fixture_status(answer) == 200);
    CHECK(strstr(answer, "{\"hyperparameterTuningJobs\":[]}") != NULL);
}

static void a_method_that_is_missing_names_the_others(struct http_fixture *f)
{
    const char *answer = http_fixture_ask(f, "DELETE " JOBS, "", "");
    check_refused(answer, 405, "Allow: POST, GET, HEAD\r\n");
}

static void head_has_the_headers_alone(struct http_fixture *f)
{
    const char *answer = http_fixture_ask(f, "HEAD " STUDIES, "", "");
    CHECK(http_fixture_status(answer) == 200);
    const char *end = strstr(answer, "\r\n\r\n");
    CHECK(end != NULL && end[4] == '\0');
    CHECK(strstr(answer, "Content-Type: application/json\r\n") != NULL);
}

static void the_core_and_a_reader_answer_over_one_door(struct http_fixture *f)
{
    static const char study[] =
        "{\"displayName\":\"d\",\"studySpec\":{\"metrics\":[{\"metricId\":"
        "\"m\",\"goal\":\"MAXIMIZE\"}],\"parameters\":[{\"parameterId\":\"x\","
        "\"doubleValueSpec\":{\"minValue\":0,\"maxValue\":1}}]}}";
    char length[96];
    snprintf(length, sizeof length, JSON "Content-Length: %zu\r\n",
             sizeof study - 1);
    const char *made = http_fixture_ask(f, "POST " STUDIES, length, study);
    CHECK(http_fixture_status(made) == 200);
    const char *read = http_fixture_ask(f, "GET " STUDIES "/1", "", "");
    CHECK(http_fixture_status(read) == 200);
    CHECK(strstr(read, "\"displayName\":\"d\"") != NULL);
    check_refused(http_fixture_ask(f, "GET " STUDIES "/2", "", ""), 404,
                  "NOT_FOUND");
}

int main(void)
{
    RUN_ON_HTTP(the_end_of_a_request_is_never_in_doubt);
    RUN_ON_HTTP(without_a_token_no_path_is_known);
    RUN_ON_HTTP(a_body_is_json_of_a_limited_size);
    RUN_ON_HTTP(a_query_takes_what_its_route_takes);
    RUN_ON_HTTP(a_method_that_is_missing_names_the_others);
    RUN_ON_HTTP(head_has_the_headers_alone);
    RUN_ON_HTTP(the_core_and_a_reader_answer_over_one_door);
    return check_done();
}
