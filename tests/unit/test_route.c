#include "tuner/route.h"

#include "tests/check.h"
#include "tuner/filter.h"
#include "tuner/gate.h"

#define BASE "/v1/projects/local/locations/local"

struct found {
    struct request *req;
    const struct route *route;
    const char *allow;
    enum ht_status status;
};

static struct found look(const char *method, const char *path)
{
    struct found found = {.req = request_new()};
    found.status =
        route_find(method, path, found.req, &found.route, &found.allow, NULL);
    return found;
}

static enum ht_status status_of(const char *method, const char *path)
{
    struct found found = look(method, path);
    request_free(found.req);
    return found.status;
}

static void parts_are_split_first_and_decoded_after(void)
{
    struct found found =
        look("GET", "/v1/projects/a%2Fb/locations/eu%20west/studies/"
                    "d%C3%A9j%C3%A0/trials/7");
    CHECK(found.status == HT_OK);
    CHECK_TEXT(found.req->scope.project, "a/b");
    CHECK_TEXT(found.req->scope.location, "eu west");
    CHECK_TEXT(found.req->study, "d\xC3\xA9j\xC3\xA0");
    CHECK_TEXT(found.req->trial, "7");
    request_free(found.req);
}

static void a_verb_is_part_of_the_route(void)
{
    struct found found =
        look("POST", BASE "/hyperparameterTuningJobs/digits:cancel");
    CHECK(found.status == HT_OK);
    CHECK_TEXT(found.req->study, "digits");
    request_free(found.req);
    CHECK(status_of("POST", BASE "/hyperparameterTuningJobs/digits:fly") ==
          HT_NOT_FOUND);
    CHECK(status_of("GET", BASE "/hyperparameterTuningJobs/digits:cancel") ==
          HT_NO_METHOD);
    CHECK(status_of("POST", BASE "/hyperparameterTuningJobs/:cancel") ==
          HT_INVALID);
    found = look("GET", BASE "/hyperparameterTuningJobs/a%3Acancel");
    CHECK(found.status == HT_OK);
    CHECK_TEXT(found.req->study, "a:cancel");
    request_free(found.req);
}

static void the_beta_version_is_the_same(void)
{
    struct found beta =
        look("GET", "/v1beta1/projects/p/locations/l/hyperparameterTuningJobs");
    struct found stable =
        look("GET", "/v1/projects/p/locations/l/hyperparameterTuningJobs");
    CHECK(beta.status == HT_OK && beta.route == stable.route);
    request_free(beta.req);
    request_free(stable.req);
    CHECK(status_of("GET", "/v1beta1/healthz") == HT_NOT_FOUND);
}

static void unknown_paths_are_not_found(void)
{
    CHECK(status_of("GET", "/") == HT_NOT_FOUND);
    CHECK(status_of("GET", "") == HT_NOT_FOUND);
    CHECK(status_of("GET", "healthz") == HT_NOT_FOUND);
    CHECK(status_of("GET", "/healthz/") == HT_NOT_FOUND);
    CHECK(status_of("GET", "//healthz") == HT_NOT_FOUND);
    CHECK(status_of("GET", "/HEALTHZ") == HT_NOT_FOUND);
    CHECK(status_of("GET", "/v1/projects/p") == HT_NOT_FOUND);
    CHECK(status_of("GET", "/../etc/passwd") == HT_NOT_FOUND);
    CHECK(status_of("GET", BASE "/studies/1/trials/2/3") == HT_NOT_FOUND);
}

static void wrong_methods_learn_the_right_ones(void)
{
    struct found found = look("PUT", BASE "/hyperparameterTuningJobs/7");
    CHECK(found.status == HT_NO_METHOD);
    CHECK_TEXT(found.allow, "GET, HEAD, DELETE");
    request_free(found.req);
    found = look("OPTIONS", BASE "/hyperparameterTuningJobs");
    CHECK(found.status == HT_NO_METHOD);
    CHECK_TEXT(found.allow, "POST, GET, HEAD");
    request_free(found.req);
    CHECK(status_of("get", "/healthz") == HT_NO_METHOD);
    CHECK(status_of("HEAD", "/healthz") == HT_OK);
}

static void broken_encodings_are_refused(void)
{
    static const char *const wrong[] = {
        "/v1/projects/%/locations/l/studies",
        "/v1/projects/%4/locations/l/studies",
        "/v1/projects/%zz/locations/l/studies",
        "/v1/projects/a%00b/locations/l/studies",
        "/v1/projects/%ff/locations/l/studies",
        "/v1/projects/%C0%AF/locations/l/studies",
        "/v1/projects//locations/l/studies",
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        CHECK(status_of("GET", wrong[i]) == HT_INVALID);
}

static void every_route_says_how_it_is_answered(void)
{
    for (size_t i = 0; i < route_count; i++) {
        const struct route *route = &route_table[i];
        CHECK((route->core != NULL) == (route->lane == LANE_CORE));
        CHECK((route->instant != NULL) == (route->lane == LANE_INSTANT));
        CHECK((route->read != NULL) ==
              (route->lane == LANE_READER || route->lane == LANE_STREAM));
        CHECK(route->lane != LANE_CORE || route->needs == GATE_SUBMIT);
        for (size_t j = 0; j < i; j++)
            CHECK(strcmp(route->method, route_table[j].method) != 0 ||
                  strcmp(route->pattern, route_table[j].pattern) != 0);
    }
}

/* --- the filter of lists --- */

static const char *const fields[] = {"state", "displayName", NULL};

static enum ht_status filter_status(const char *text)
{
    struct arena *arena = arena_new();
    struct filter filter;
    enum ht_status status = filter_read(arena, text, fields, &filter, NULL);
    arena_free(arena);
    return status;
}

static void a_filter_joins_terms_by_and(void)
{
    struct arena *arena = arena_new();
    struct filter filter;
    CHECK(filter_read(arena,
                      "display_name = \"a \\\"b\\\" AND c\" AND state=RUNNING",
                      fields, &filter, NULL) == HT_OK);
    const char *name = "a \"b\" AND c", *other = "b";
    const char *states[] = {"JOB_STATE_RUNNING", "RUNNING"};
    CHECK(filter.n == 2);
    CHECK(filter_allows(&filter, "displayName", 1, &name));
    CHECK(!filter_allows(&filter, "displayName", 1, &other));
    CHECK(filter_allows(&filter, "state", 2, states));
    CHECK(!filter_allows(&filter, "state", 1, states));
    CHECK(filter_read(arena, NULL, fields, &filter, NULL) == HT_OK);
    CHECK(filter.n == 0 && filter_allows(&filter, "state", 2, states));
    arena_free(arena);
}

static void a_wrong_filter_is_refused(void)
{
    CHECK(filter_status("  ") == HT_OK);
    CHECK(filter_status("colour=\"red\"") == HT_INVALID);
    CHECK(filter_status("state") == HT_INVALID);
    CHECK(filter_status("state=") == HT_INVALID);
    CHECK(filter_status("state=\"x") == HT_INVALID);
    CHECK(filter_status("state=\"x\" OR state=\"y\"") == HT_INVALID);
    CHECK(filter_status("state=\"x\" AND") == HT_INVALID);
    CHECK(filter_status("state=\"x\" AND ") == HT_INVALID);
    CHECK(filter_status("state=\"x\"AND state=\"y\"") == HT_INVALID);
    CHECK(filter_status("state=\"x\" state=\"y\"") == HT_INVALID);
    CHECK(filter_status("= \"x\"") == HT_INVALID);
    char many[17 * 16] = "state=a";
    for (int i = 0; i < FILTER_TERMS; i++)
        strcat(many, " AND state=a");
    CHECK(filter_status(many) == HT_INVALID);
}

int main(void)
{
    RUN(parts_are_split_first_and_decoded_after);
    RUN(a_verb_is_part_of_the_route);
    RUN(the_beta_version_is_the_same);
    RUN(unknown_paths_are_not_found);
    RUN(wrong_methods_learn_the_right_ones);
    RUN(broken_encodings_are_refused);
    RUN(every_route_says_how_it_is_answered);
    RUN(a_filter_joins_terms_by_and);
    RUN(a_wrong_filter_is_refused);
    return check_done();
}
