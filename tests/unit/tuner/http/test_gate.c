#include "tuner/http/gate.h"

#include <stdlib.h>

#include "tests/check.h"
#include "tuner/http/route.h"

static const char admin[] = "Bearer "
                            "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
                            "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
static const char runner[] = "Bearer "
                             "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
                             "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb";

static struct gate *make_gate(void)
{
    struct gate *gate = gate_new(false);
    gate_grant(gate, admin + 7, GATE_ALL);
    gate_grant(gate, runner + 7, GATE_RUNNER);
    gate_allow_host(gate, "127.0.0.1", 8470);
    gate_allow_host(gate, "localhost", 8470);
    gate_allow_host(gate, "::1", 8470);
    return gate;
}

static struct gate_request asked(const char *authorization)
{
    return (struct gate_request){
        .method = "GET",
        .host = "127.0.0.1:8470",
        .n_hosts = 1,
        .authorization = authorization,
    };
}

/* What a request with that token gets at a route. */
static enum ht_status admit(const struct gate *gate, const struct route *route,
                            const char *authorization)
{
    struct gate_request request = asked(authorization);
    struct principal from = {.roles = GATE_OPEN};
    enum ht_status status = HT_OK;
    if (route->needs != GATE_OPEN)
        status = gate_check_token(gate, &request, &from, NULL);
    return status == HT_OK ? gate_check_role(route->needs, from.roles, NULL)
                           : status;
}

/* Where a browser that has no session yet, or none any more, is let in. */
static bool is_login(const char *pattern)
{
    return strcmp(pattern, "/hypertune/v1/login") == 0 ||
           strcmp(pattern, "/hypertune/v1/logout") == 0;
}

static void every_route_is_open_to_exactly_its_roles(void)
{
    static const char trial[] = "Bearer cccccccccccccccccccccccccccccccc";
    struct gate *gate = make_gate();
    int open = 0, for_runners = 0, for_joiners = 0;
    for (size_t i = 0; i < route_count; i++) {
        const struct route *route = &route_table[i];
        bool is_open = strcmp(route->pattern, "/healthz") == 0 ||
                       route->lane == LANE_PAGE || is_login(route->pattern);
        bool is_runners = strcmp(route->pattern, "/hypertune/v1/server") == 0 ||
                          route->lane == LANE_STORE;
        enum ht_status stranger = is_open ? HT_OK : HT_UNAUTHENTICATED;
        CHECK(admit(gate, route, NULL) == stranger);
        CHECK(admit(gate, route, "Bearer ") == stranger);
        CHECK(admit(gate, route, "Bearer wrong") == stranger);
        CHECK(admit(gate, route, "Basic YWRtaW46YWRtaW4=") == stranger);
        CHECK(admit(gate, route, admin + 7) == stranger);
        CHECK(admit(gate, route, trial) == stranger);
        CHECK(admit(gate, route, runner) ==
              (is_open || is_runners ? HT_OK : HT_DENIED));
        const bool joins = route->needs == GATE_JOIN;
        CHECK(admit(gate, route, admin) == (joins ? HT_DENIED : HT_OK));
        CHECK((route->needs & GATE_TRIAL) == 0);
        open += is_open;
        for_joiners += joins;
        for_runners += is_runners;
    }
    CHECK(open == 5 && for_runners == 6 && for_joiners == 1);
    gate_free(gate);
}

static void a_read_token_changes_nothing(void)
{
    struct gate *gate = make_gate();
    gate_grant(gate, "reader", GATE_READ);
    for (size_t i = 0; i < route_count; i++) {
        const struct route *route = &route_table[i];
        /* Google asks some questions by POST; readers cannot write. */
        const char *verb = strrchr(route->pattern, ':');
        bool is_read = strcmp(route->method, "GET") == 0 ||
                       route->lane == LANE_READER ||
                       route->lane == LANE_LOGIN ||
                       (verb != NULL && strcmp(verb, ":wait") == 0);
        is_read =
            is_read && route->needs != GATE_ADMIN && route->lane != LANE_STORE;
        CHECK(admit(gate, route, "Bearer reader") ==
              (is_read ? HT_OK : HT_DENIED));
    }
    gate_free(gate);
}

static enum ht_status from(const char *agent, struct ht_error *err)
{
    const struct gate_request request = {.agent = agent};
    return gate_check_release(&request, err);
}

static void only_our_own_clients_of_a_far_release_are_refused(void)
{
    struct ht_error err;
    CHECK(from(NULL, NULL) == HT_OK);
    CHECK(from("google-cloud-sdk/528 hypertune/99.0.0", NULL) == HT_OK);
    CHECK(from("hypertune/" HT_VERSION, NULL) == HT_OK);
    CHECK(from("hypertune/99.0.0", &err) == HT_PRECONDITION);
    CHECK(strstr(err.text, "install the same on both sides") != NULL);
    CHECK(strstr(err.text, "99.0.0") != NULL);
}

static enum ht_status session(const char *method, const char *origin,
                              const char *token)
{
    struct gate *gate = make_gate();
    struct gate_request request = asked(NULL);
    struct principal granted = {0};
    unsigned char hash[TOKEN_HASH_BYTES];
    token_hash(hash, token);
    request.method = method;
    request.origin = origin;
    request.session = token[0] != '\0' ? hash : NULL;
    const enum ht_status status =
        gate_check_token(gate, &request, &granted, NULL);
    CHECK(status != HT_OK || token_equal(granted.token, hash));
    gate_free(gate);
    return status;
}

static void a_session_is_who_asks_but_changes_tell_their_page(void)
{
    const char *token = admin + 7;
    CHECK(session("GET", NULL, token) == HT_OK);
    CHECK(session("POST", "http://127.0.0.1:8470", token) == HT_OK);
    CHECK(session("POST", NULL, token) == HT_DENIED);
    CHECK(session("DELETE", NULL, token) == HT_DENIED);
    CHECK(session("GET", NULL, "ended since") == HT_UNAUTHENTICATED);
    CHECK(session("GET", NULL, "") == HT_UNAUTHENTICATED);
}

static enum ht_status place(const char *host, int n_hosts, const char *origin)
{
    struct gate *gate = make_gate();
    struct gate_request request = asked(NULL);
    request.host = host;
    request.n_hosts = n_hosts;
    request.origin = origin;
    enum ht_status status = gate_check_place(gate, &request, NULL);
    gate_free(gate);
    return status;
}

static void only_our_own_names_are_hosts(void)
{
    CHECK(place("127.0.0.1:8470", 1, NULL) == HT_OK);
    CHECK(place("LocalHost:8470", 1, NULL) == HT_OK);
    CHECK(place("[::1]:8470", 1, NULL) == HT_OK);
    CHECK(place("127.0.0.1", 1, NULL) == HT_MISDIRECTED);
    CHECK(place("127.0.0.1:8471", 1, NULL) == HT_MISDIRECTED);
    CHECK(place("evil.test:8470", 1, NULL) == HT_MISDIRECTED);
    CHECK(place("127.0.0.1:8470.evil.test", 1, NULL) == HT_MISDIRECTED);
    CHECK(place("127.0.0.1:8470, evil.test", 1, NULL) == HT_MISDIRECTED);
    CHECK(place("10.0.0.1:8470", 1, NULL) == HT_MISDIRECTED);
    CHECK(place("", 1, NULL) == HT_MISDIRECTED);
    CHECK(place(NULL, 0, NULL) == HT_INVALID);
    CHECK(place("127.0.0.1:8470", 2, NULL) == HT_INVALID);
}

static void only_our_own_pages_are_origins(void)
{
    CHECK(place("127.0.0.1:8470", 1, "http://127.0.0.1:8470") == HT_OK);
    CHECK(place("127.0.0.1:8470", 1, "http://localhost:8470") == HT_OK);
    CHECK(place("127.0.0.1:8470", 1, "http://127.0.0.1:1") == HT_DENIED);
    CHECK(place("127.0.0.1:8470", 1, "https://127.0.0.1:8470") == HT_DENIED);
    CHECK(place("127.0.0.1:8470", 1, "http://evil.test") == HT_DENIED);
    CHECK(place("127.0.0.1:8470", 1, "null") == HT_DENIED);
    CHECK(place("127.0.0.1:8470", 1, "") == HT_DENIED);
}

static void on_all_addresses_literals_are_hosts_and_names_are_not(void)
{
    struct gate *gate = make_gate();
    struct gate_request request = asked(NULL);
    gate_allow_literals(gate, 8470);
    request.host = "192.0.2.7:8470";
    CHECK(gate_check_place(gate, &request, NULL) == HT_OK);
    request.host = "[2001:db8::1]:8470";
    CHECK(gate_check_place(gate, &request, NULL) == HT_OK);
    request.host = "192.0.2.7:80";
    CHECK(gate_check_place(gate, &request, NULL) == HT_MISDIRECTED);
    request.host = "evil.test:8470";
    CHECK(gate_check_place(gate, &request, NULL) == HT_MISDIRECTED);
    request.host = "2001:db8::1:8470";
    CHECK(gate_check_place(gate, &request, NULL) == HT_MISDIRECTED);
    gate_free(gate);
}

static enum ht_status change(const char *method, const char *type, bool body)
{
    struct gate_request request = asked(admin);
    request.method = method;
    request.content_type = type;
    request.has_body = body;
    return gate_check_type(&request, NULL);
}

static void changes_are_json_or_refused(void)
{
    CHECK(change("POST", "application/json", true) == HT_OK);
    CHECK(change("POST", "Application/JSON; charset=utf-8", true) == HT_OK);
    CHECK(change("PATCH", "application/json ", true) == HT_OK);
    CHECK(change("DELETE", NULL, false) == HT_OK);
    CHECK(change("GET", NULL, false) == HT_OK);
    CHECK(change("HEAD", NULL, false) == HT_OK);
    CHECK(change("POST", NULL, false) == HT_INVALID);
    CHECK(change("POST", "text/plain", true) == HT_INVALID);
    CHECK(change("POST", "application/x-www-form-urlencoded", true) ==
          HT_INVALID);
    CHECK(change("POST", "multipart/form-data", true) == HT_INVALID);
    CHECK(change("POST", "application/jsonp", true) == HT_INVALID);
    CHECK(change("DELETE", "text/plain", true) == HT_INVALID);
}

static void without_tokens_everyone_has_every_role_but_a_trials(void)
{
    struct gate *gate = gate_new(true);
    struct gate_request request = asked(NULL);
    struct principal from;
    CHECK(gate_check_token(gate, &request, &from, NULL) == HT_OK);
    CHECK(from.roles == GATE_ALL && (from.roles & GATE_TRIAL) == 0);
    CHECK_TEXT(from.name, "client");
    gate_free(gate);
}

/* Whom events name when that token asks. */
static void check_name(unsigned roles, const char *want)
{
    struct gate *gate = make_gate();
    struct principal from;
    struct gate_request request = asked("Bearer dddddddd");
    gate_grant(gate, "dddddddd", roles);
    request.peer = "192.0.2.7";
    CHECK(gate_check_token(gate, &request, &from, NULL) == HT_OK);
    CHECK_TEXT(from.name, want);
    CHECK_TEXT(from.peer, "192.0.2.7");
    gate_free(gate);
}

static void who_asks_is_the_highest_role(void)
{
    check_name(GATE_ALL, "admin");
    check_name(GATE_SUBMIT | GATE_READ, "submit");
    check_name(GATE_READ, "read");
    check_name(GATE_RUNNER, "runner");
    check_name(GATE_TRIAL, "trial");
}

int main(void)
{
    RUN(every_route_is_open_to_exactly_its_roles);
    RUN(a_read_token_changes_nothing);
    RUN(a_session_is_who_asks_but_changes_tell_their_page);
    RUN(only_our_own_names_are_hosts);
    RUN(only_our_own_pages_are_origins);
    RUN(on_all_addresses_literals_are_hosts_and_names_are_not);
    RUN(changes_are_json_or_refused);
    RUN(without_tokens_everyone_has_every_role_but_a_trials);
    RUN(who_asks_is_the_highest_role);
    RUN(only_our_own_clients_of_a_far_release_are_refused);
    return check_done();
}
