#include "tuner/http/login.h"

#include <string.h>

#include "proto/base/clock.h"
#include "proto/doc/json.h"
#include "tuner/core/request.h"
#include "tuner/http/gate.h"
#include "tuner/http/sessions.h"

static void add_roles(cJSON *object, unsigned roles)
{
    static const enum gate_role known[] = {GATE_ADMIN, GATE_SUBMIT, GATE_READ,
                                           GATE_SHARE};
    cJSON *array = json_add_array(object, "roles");
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if ((roles & known[i]) != 0)
            json_push_string(array, gate_role_name(known[i]));
}

/* What has let the client in. */
static const char *way_in(const struct login *login)
{
    static const unsigned char none[TOKEN_HASH_BYTES] = {0};
    if (gate_is_open_to_all(login->gate))
        return "none";
    return token_equal(login->req->from.token, none) ? "proxy" : "token";
}

enum ht_status login_show(struct login *login, struct ht_error *err)
{
    (void)err;
    const struct principal *from = &login->req->from;
    cJSON *object = cJSON_CreateObject();
    json_add_string(object, "auth", way_in(login));
    add_roles(object, from->roles);
    json_add_string(object, "name", from->name);
    if (from->project[0] != '\0')
        json_add_string(object, "project", from->project);
    if (from->study > 0)
        json_add_int_text(object, "study", from->study);
    json_print(object, &login->req->reply);
    return HT_OK;
}

enum ht_status login_invite(struct login *login, struct ht_error *err)
{
    char code[SESSION_CODE_BYTES], stamp[CLOCK_STAMP_BYTES];
    if (strcmp(way_in(login), "proxy") == 0)
        return ht_fail(err, HT_PRECONDITION,
                       "a login link is for a token, and the proxy has logged "
                       "you in");
    sessions_invite(login->sessions, login->req->from.token,
                    clock_monotonic_ms(), code);
    cJSON *object = cJSON_CreateObject();
    json_add_string(object, "code", code);
    json_add_string(object, "path",
                    arena_printf(login->req->arena, "/#login=%s", code));
    json_add_string(object, "expireTime",
                    clock_stamp(stamp, clock_wall_ms() + SESSION_CODE_MS));
    json_print(object, &login->req->reply);
    return HT_OK;
}

/* By the code or the token in the body. */
static enum ht_status find_client(const struct login *login,
                                  struct ht_error *err)
{
    const struct node *body = login->req->body;
    const char *secret = node_get_string(body, "token", "");
    const char *code = node_get_string(body, "code", "");
    unsigned char token[TOKEN_HASH_BYTES];
    if (secret[0] != '\0')
        token_hash(token, secret);
    else if (!sessions_redeem(login->sessions, code, clock_monotonic_ms(),
                              token))
        return ht_fail(err, HT_UNAUTHENTICATED,
                       "this login link was used already or is too old; "
                       "\"hypertune ui\" makes another");
    return gate_find_token(login->gate, token, &login->req->from, err);
}

/* Strict: no other site's link or form ever carries it. */
static const char *cookie_line(const struct login *login, const char *value,
                               int seconds)
{
    return arena_printf(login->req->arena,
                        "%s%s=%s; Path=/; Max-Age=%d; HttpOnly; "
                        "SameSite=Strict%s",
                        login->secure ? SESSION_SECURE_PREFIX : "",
                        sessions_name(login->sessions), value, seconds,
                        login->secure ? "; Secure" : "");
}

enum ht_status login_enter(struct login *login, struct ht_error *err)
{
    char cookie[SESSION_COOKIE_BYTES];
    if (login->req->body == NULL || login->req->body->kind != NODE_MAP)
        return ht_fail(err, HT_INVALID,
                       "the body must be {\"code\":...} or {\"token\":...}");
    const enum ht_status status = find_client(login, err);
    if (status != HT_OK)
        return status;
    sessions_seal(login->sessions, login->req->from.token,
                  clock_wall_ms() / 1000, cookie);
    login->cookie = cookie_line(login, cookie, SESSION_SECONDS);
    return login_show(login, err);
}

enum ht_status login_leave(struct login *login, struct ht_error *err)
{
    (void)err;
    login->cookie = cookie_line(login, "", 0);
    text_puts(&login->req->reply, "{}");
    return HT_OK;
}
