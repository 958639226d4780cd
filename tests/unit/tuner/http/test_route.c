#include "tuner/http/route.h"

#include "tests/check.h"
#include "tuner/http/gate.h"

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
        look("GET", "/v1/projects/a.b/locations/eu%20west/studies/"
                    "d%C3%A9j%2F%C3%A0/trials/7");
    CHECK(found.status == HT_OK);
    CHECK_TEXT(found.req->scope.project, "a.b");
    CHECK_TEXT(found.req->scope.location, "eu west");
    CHECK_TEXT(found.req->study, "d\xC3\xA9j/\xC3\xA0");
    CHECK_TEXT(found.req->trial, "7");
    request_free(found.req);
}

static void a_name_of_a_parent_has_no_slash(void)
{
    CHECK(status_of("GET", "/v1/projects/a%2Fb/jobs") == HT_INVALID);
    CHECK(status_of("POST", "/v1/projects/p/locations/l%2Fm/studies") ==
          HT_INVALID);
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

static void operations_are_found_below_ui_too(void)
{
    struct found ui =
        look("GET", "/ui/projects/p/locations/l/studies/7/operations/12");
    struct found stable =
        look("GET", "/v1/projects/p/locations/l/studies/7/operations/12");
    CHECK(ui.status == HT_OK && ui.route == stable.route);
    CHECK_TEXT(ui.req->study, "7");
    CHECK_TEXT(ui.req->operation, "12");
    request_free(ui.req);
    request_free(stable.req);
    CHECK(status_of("GET", "/ui/healthz") == HT_NOT_FOUND);
}

static void unknown_paths_are_not_found(void)
{
    CHECK(status_of("GET", "/web") == HT_NOT_FOUND);
    CHECK(status_of("GET", "") == HT_NOT_FOUND);
    CHECK(status_of("GET", "healthz") == HT_NOT_FOUND);
    CHECK(status_of("GET", "/healthz/") == HT_NOT_FOUND);
    CHECK(status_of("GET", "//healthz") == HT_NOT_FOUND);
    CHECK(status_of("GET", "/HEALTHZ") == HT_NOT_FOUND);
    CHECK(status_of("GET", "/v1/projects/p") == HT_NOT_FOUND);
    CHECK(status_of("GET", "/../etc/passwd") == HT_NOT_FOUND);
    CHECK(status_of("GET", BASE "/studies/1/trials/2/3") == HT_NOT_FOUND);
}

static const char *said_of(const char *path)
{
    static struct ht_error err;
    struct found found = {.req = request_new()};
    CHECK(route_find("GET", path, found.req, &found.route, &found.allow,
                     &err) == HT_NOT_FOUND);
    request_free(found.req);
    return err.text;
}

static void collections_that_only_google_has_are_named(void)
{
    static const char *const theirs[] = {
        "/v1/projects/p/models", "/ml/v1/projects/p/models/m/versions",
        "/v1beta1/projects/p/locations/l/models:upload",
        "/v1/projects/p/locations/l/models/7"};
    for (size_t i = 0; i < sizeof theirs / sizeof *theirs; i++)
        CHECK_TEXT(said_of(theirs[i]),
                   "hypertune serves training jobs, tuning jobs and studies, "
                   "not Google's \"models\"");
    CHECK(strstr(said_of("/v1/projects/p/locations"), "\"locations\""));
    CHECK_TEXT(said_of(BASE "/studies/1/trials/2/3"),
               "there is nothing at \"" BASE "/studies/1/trials/2/3\"");
    CHECK_TEXT(said_of("/v1/projects/p/locations/l"),
               "there is nothing at \"/v1/projects/p/locations/l\"");
    CHECK_TEXT(said_of("/v1/projectsp/x/models"),
               "there is nothing at \"/v1/projectsp/x/models\"");
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
    struct request *req = request_new();
    const struct route *route;
    const char *allow;
    struct ht_error err;
    CHECK(route_find("GET", BASE "/studies//trials", req, &route, &allow,
                     &err) == HT_INVALID);
    CHECK_TEXT(err.text, "a name in the path is empty");
    request_free(req);
}

static void every_route_says_how_it_is_answered(void)
{
    for (size_t i = 0; i < route_count; i++) {
        const struct route *route = &route_table[i];
        const bool leaves = strstr(route->pattern, "/logout") != NULL;
        const bool keeps = route->lane == LANE_STORE &&
                           strstr(route->pattern, "/trees") != NULL &&
                           strcmp(route->method, "POST") == 0;
        const bool sends = route->lane == LANE_SEND;
        CHECK((route->core != NULL) == (route->lane == LANE_CORE ||
                                        route->lane == LANE_GATHER || leaves ||
                                        keeps || sends));
        CHECK((route->store != NULL) == (route->lane == LANE_STORE || sends));
        CHECK(route->takes == 0 || route->lane == LANE_STORE);
        CHECK((route->instant != NULL) == (route->lane == LANE_INSTANT));
        CHECK((route->read != NULL) ==
              (route->lane == LANE_READER || route->lane == LANE_MODEL ||
               route->lane == LANE_GATHER || route->lane == LANE_STREAM));
        /* What is kept of operations, runners and fetches is in the core's
         * memory. */
        const bool asks =
            strstr(route->pattern, "/files") != NULL ||
            strstr(route->pattern, "/operations") != NULL ||
            strncmp(route->pattern, "/hypertune/v1/projects", 22) == 0;
        CHECK(route->lane != LANE_CORE || route->needs == GATE_SUBMIT ||
              route->needs == GATE_ADMIN || route->needs == GATE_JOIN ||
              (asks && route->needs == GATE_READ));
        for (size_t j = 0; j < i; j++)
            CHECK(strcmp(route->method, route_table[j].method) != 0 ||
                  strcmp(route->pattern, route_table[j].pattern) != 0);
    }
}

int main(void)
{
    RUN(parts_are_split_first_and_decoded_after);
    RUN(a_name_of_a_parent_has_no_slash);
    RUN(a_verb_is_part_of_the_route);
    RUN(the_beta_version_is_the_same);
    RUN(operations_are_found_below_ui_too);
    RUN(unknown_paths_are_not_found);
    RUN(collections_that_only_google_has_are_named);
    RUN(wrong_methods_learn_the_right_ones);
    RUN(broken_encodings_are_refused);
    RUN(every_route_says_how_it_is_answered);
    return check_done();
}
