/* How a browser gets its session and ends it. */
#include "tuner/http/login.h"

#include <time.h>

#include "proto/doc/json.h"
#include "tests/check.h"
#include "tests/lib/document.h"
#include "tuner/core/request.h"
#include "tuner/http/gate.h"
#include "tuner/http/sessions.h"

static const char secret[] = "0123456789abcdef0123456789abcdef";
static const char read_token[] = "fedcba9876543210fedcba9876543210";

struct server {
    struct gate *gate;
    struct sessions *sessions;
};

static struct server open_server(bool open_to_all)
{
    const struct server server = {gate_new(open_to_all),
                                  sessions_new(secret, NULL)};
    gate_grant(server.gate, secret, GATE_ADMIN | GATE_SUBMIT | GATE_READ);
    gate_grant(server.gate, read_token, GATE_READ);
    return server;
}

static void close_server(struct server server)
{
    gate_free(server.gate);
    sessions_free(server.sessions);
}

/* A login by the client with that token, "" for none; its request is the
 * caller's. */
static struct login login_of(struct server server, const char *token)
{
    unsigned char hash[TOKEN_HASH_BYTES];
    const struct login login = {
        .gate = server.gate, .sessions = server.sessions, .req = request_new()};
    token_hash(hash, token);
    (void)gate_find_token(server.gate, hash, &login.req->from, NULL);
    return login;
}

static unsigned roles_of(struct server server, const char *cookie)
{
    struct session session;
    struct principal from = {0};
    if (!sessions_open(server.sessions, cookie, (int64_t)time(NULL), &session))
        return 0;
    CHECK(gate_find_token(server.gate, session.token, &from, NULL) == HT_OK);
    return from.roles;
}

/* Sends a JSON body to login_enter; the roles of the cookie that comes back,
 * or 0. */
static unsigned enter(struct server server, const char *body,
                      enum ht_status want)
{
    struct login login = login_of(server, "");
    struct document document = {0};
    struct ht_error err = {0};
    char value[SESSION_COOKIE_BYTES] = "";
    document_read(&document, node_read_json, body, strlen(body));
    login.req->body = document.root;
    CHECK(login_enter(&login, &err) == want);
    if (login.cookie != NULL) {
        const size_t at = strlen(sessions_name(server.sessions)) + 1;
        snprintf(value, sizeof value, "%.*s",
                 (int)strcspn(login.cookie + at, ";"), login.cookie + at);
        CHECK(strstr(login.cookie, "; HttpOnly; SameSite=Strict") != NULL);
    }
    CHECK((login.cookie == NULL) == (want != HT_OK));
    document_free(&document);
    request_free(login.req);
    return roles_of(server, value);
}

static void a_token_is_exchanged_for_a_cookie_with_its_roles(void)
{
    const struct server server = open_server(false);
    char body[80];
    snprintf(body, sizeof body, "{\"token\":\"%s\"}", read_token);
    CHECK(enter(server, body, HT_OK) == GATE_READ);
    CHECK(enter(server, "{\"token\":\"wrong\"}", HT_UNAUTHENTICATED) == 0);
    close_server(server);
}

static void a_link_logs_in_once_with_the_roles_of_its_maker(void)
{
    const struct server server = open_server(false);
    struct login login = login_of(server, read_token);
    char body[64];
    CHECK(login_invite(&login, NULL) == HT_OK);
    const char *code = strstr(login.req->reply.data, "/#login=");
    CHECK(code != NULL);
    if (code != NULL) {
        snprintf(body, sizeof body, "{\"code\":\"%.*s\"}",
                 SESSION_CODE_BYTES - 1, code + strlen("/#login="));
        CHECK(enter(server, body, HT_OK) == GATE_READ);
        CHECK(enter(server, body, HT_UNAUTHENTICATED) == 0);
    }
    request_free(login.req);
    close_server(server);
}

static void a_body_that_names_neither_is_refused(void)
{
    const struct server server = open_server(false);
    CHECK(enter(server, "[]", HT_INVALID) == 0);
    CHECK(enter(server, "{}", HT_UNAUTHENTICATED) == 0);
    struct login login = login_of(server, "");
    CHECK(login_enter(&login, NULL) == HT_INVALID);
    request_free(login.req);
    close_server(server);
}

static void leaving_empties_the_cookie(void)
{
    const struct server server = open_server(false);
    struct login login = login_of(server, read_token);
    char want[64];
    CHECK(login_leave(&login, NULL) == HT_OK);
    snprintf(want, sizeof want, "%s=; Path=/; Max-Age=0;",
             sessions_name(server.sessions));
    CHECK(strncmp(login.cookie, want, strlen(want)) == 0);
    CHECK_TEXT(login.req->reply.data, "{}");
    request_free(login.req);
    close_server(server);
}

static void a_client_sees_its_roles(void)
{
    struct server server = open_server(false);
    struct login login = login_of(server, secret);
    CHECK(login_show(&login, NULL) == HT_OK);
    CHECK_TEXT(login.req->reply.data,
               "{\"auth\":\"token\",\"roles\":[\"admin\",\"submit\",\"read\"],"
               "\"name\":\"admin\"}");
    request_free(login.req);
    close_server(server);
    server = open_server(true);
    login = login_of(server, "");
    CHECK(login_show(&login, NULL) == HT_OK);
    CHECK_TEXT(login.req->reply.data,
               "{\"auth\":\"none\",\"roles\":[\"admin\",\"submit\",\"read\"],"
               "\"name\":\"client\"}");
    request_free(login.req);
    close_server(server);
}

int main(void)
{
    json_init();
    RUN(a_token_is_exchanged_for_a_cookie_with_its_roles);
    RUN(a_link_logs_in_once_with_the_roles_of_its_maker);
    RUN(a_body_that_names_neither_is_refused);
    RUN(leaving_empties_the_cookie);
    RUN(a_client_sees_its_roles);
    return check_done();
}
