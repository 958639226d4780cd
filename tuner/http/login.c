#include "tuner/http/login.h"

#include <string.h>

#include "proto/base/clock.h"
#include "proto/doc/json.h"
#include "tuner/core/request.h"
#include "tuner/http/gate.h"
#include "tuner/http/sessions.h"

static void add_roles(cJSON *object, unsigned roles)
{
    static const enum gate_role known[] = {GATE_ADMIN, GATE_SUBMIT, GATE_READ};
    cJSON *array = json_add_array(object, "roles");
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if ((roles & known[i]) != 0)
            json_push_string(array, gate_role_name(known[i]));
}

enum ht_status login_show(struct login *login, struct ht_error *err)
{
    (void)err;
    cJSON *object = cJSON_CreateObject();
    json_add_string(object, "auth",
                    gate_is_open_to_all(login->gate) ? "none" : "token");
    add_roles(object, login->req->from.roles);
    json_print(object, &login->req->reply);
    return HT_OK;
}

/* A cookie contains roles alone: it would outlive a named token, and its
 * project would be lost. */
static enum ht_status check_root(const struct login *login,
                                 struct ht_error *err)
{
    const struct principal *from = &login->req->from;
    struct principal root = {.roles = from->roles};
    gate_name(login->gate, &root);
    if (strcmp(from->name, root.name) == 0)
        return HT_OK;
    return ht_fail(err, HT_DENIED,
                   "the token \"%s\" cannot open the dashboard: a session "
                   "needs the one in the file token of the server's data "
                   "folder",
                   from->name);
}

enum ht_status login_invite(struct login *login, struct ht_error *err)
{
    char code[SESSION_CODE_BYTES], stamp[CLOCK_STAMP_BYTES];
    const enum ht_status status = check_root(login, err);
    if (status != HT_OK)
        return status;
    sessions_invite(login->sessions, login->req->from.roles,
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
    struct principal *from = &login->req->from;
    const struct node *body = login->req->body;
    const char *token = node_get_string(body, "token", "");
    if (token[0] != '\0') {
        const struct gate_request asked = {
            .method = "POST",
            .peer = from->peer,
            .authorization =
                arena_printf(login->req->arena, "Bearer %s", token)};
        const enum ht_status status =
            gate_check_token(login->gate, &asked, from, err);
        return status == HT_OK ? check_root(login, err) : status;
    }
    if (sessions_redeem(login->sessions, node_get_string(body, "code", ""),
                        clock_monotonic_ms(), &from->roles)) {
        gate_name(login->gate, from);
        return HT_OK;
    }
    return ht_fail(err, HT_UNAUTHENTICATED,
                   "this login link was used already or is too old; "
                   "\"hypertune ui\" makes another");
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
    sessions_seal(login->sessions, login->req->from.roles,
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
