#include "tuner/http/entry.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include <microhttpd.h>

#include "proto/base/clock.h"
#include "tuner/core/request.h"
#include "tuner/http/arrival.h"
#include "tuner/http/call.h"
#include "tuner/http/gate.h"
#include "tuner/http/route.h"
#include "tuner/http/sessions.h"
#include "tuner/http/state.h"

bool entry_session(const struct call *call, struct session *session)
{
    const struct sessions *sessions = call->http->options.sessions;
    char secure_name[SESSION_NAME_BYTES + sizeof SESSION_SECURE_PREFIX];
    const char *name = sessions_name(sessions);
    if (call->secure) {
        snprintf(secure_name, sizeof secure_name, SESSION_SECURE_PREFIX "%s",
                 name);
        name = secure_name;
    }
    const char *cookie =
        MHD_lookup_connection_value(call->connection, MHD_COOKIE_KIND, name);
    return cookie != NULL &&
           sessions_open(sessions, cookie, clock_wall_ms() / 1000, session);
}

struct counted {
    const char *name;
    int n;
};

static enum MHD_Result count_header(void *context, enum MHD_ValueKind kind,
                                    const char *key, const char *value)
{
    struct counted *counted = context;
    (void)kind;
    (void)value;
    counted->n += strcasecmp(key, counted->name) == 0;
    return MHD_YES;
}

static int count_headers(const struct call *call, const char *name)
{
    struct counted counted = {name, 0};
    MHD_get_connection_values(call->connection, MHD_HEADER_KIND, count_header,
                              &counted);
    return counted.n;
}

static enum ht_status find_arrival(const struct call *call,
                                   struct arrival *arrival,
                                   struct ht_error *err)
{
    const struct proxies *proxies = call->http->options.proxies;
    struct arrival_words words = {.from = peer_address(call->peer),
                                  .by_tls = peer_is_by_tls(call->peer)};
    if (proxies != NULL) {
        words.forwarded_for = call_header(call, "X-Forwarded-For");
        words.forwarded_proto = call_header(call, "X-Forwarded-Proto");
        words.n_for = count_headers(call, "X-Forwarded-For");
        words.n_proto = count_headers(call, "X-Forwarded-Proto");
        const char *names = proxies_user_header(proxies);
        words.user = names != NULL ? call_header(call, names) : NULL;
        words.n_user = names != NULL ? count_headers(call, names) : 0;
    }
    return arrival_read(proxies, &words, arrival, err);
}

static bool has_body(const struct call *call)
{
    const char *length = call_header(call, "Content-Length");
    return call_header(call, "Transfer-Encoding") != NULL ||
           (length != NULL && strcmp(length, "0") != 0);
}

/* Place, then token unless the route is open, then role and scope. Without a
 * token no client learns which paths exist. */
enum ht_status entry_check(struct call *call, const char *method,
                           const char *path, struct ht_error *err)
{
    const struct gate *gate = call->http->options.gate;
    struct arrival arrival;
    struct session session;
    enum ht_status status = find_arrival(call, &arrival, err);
    if (status != HT_OK)
        return status;
    call->secure = arrival.secure;
    call->person = arrival.person;
    snprintf(call->req->from.peer, sizeof call->req->from.peer, "%s",
             arrival.peer);
    snprintf(call->req->from.certificate, sizeof call->req->from.certificate,
             "%s", peer_certificate(call->peer));
    struct gate_request asked = {
        .method = method,
        .host = call_header(call, "Host"),
        .n_hosts = 1, /* head_check() refuses a second one */
        .origin = call_header(call, "Origin"),
        .authorization = call_header(call, "Authorization"),
        .agent = call_header(call, "User-Agent"),
        .session = entry_session(call, &session) ? session.token : NULL,
        .person = call->person,
        .peer = arrival.peer,
        .certificate = peer_certificate(call->peer),
        .secure = arrival.secure,
        .content_type = call_header(call, "Content-Type"),
        .has_body = has_body(call),
    };
    struct principal *from = &call->req->from;
    struct ht_error unrouted;
    status = gate_check_place(gate, &asked, err);
    if (status != HT_OK)
        return status;
    if (peer_is_by_tls(call->peer))
        call->req->tls_host = arena_strdup(call->req->arena, asked.host);
    enum ht_status routed = route_find(method, path, call->req, &call->route,
                                       &call->allow, &unrouted);
    bool open = routed == HT_OK && call->route->needs == GATE_OPEN;
    if (!open)
        status = gate_check_token(gate, &asked, from, err);
    if (status == HT_OK)
        status = gate_check_release(&asked, err);
    if (status == HT_OK && routed != HT_OK)
        status = ht_fail(err, routed, "%s", unrouted.text);
    if (status == HT_OK)
        status = gate_check_role(call->route->needs, from->roles, err);
    if (status == HT_OK && call->route->needs != GATE_OPEN) {
        status = gate_check_scope(from, call->route->pattern, &call->req->scope,
                                  err);
        call->is_foreign = status != HT_OK;
    }
    asked.is_raw = routed == HT_OK && call->route->is_raw;
    if (status == HT_OK)
        status = gate_check_type(&asked, err);
    return status;
}

enum ht_status entry_check_again(const struct call *call, struct ht_error *err)
{
    struct principal now;
    struct session session;
    const struct gate_request asked = {
        .method = call->route->method,
        .origin = call_header(call, "Origin"),
        .authorization = call_header(call, "Authorization"),
        .session = entry_session(call, &session) ? session.token : NULL,
        .person = call->person};
    return call->route->needs == GATE_OPEN
               ? HT_OK
               : gate_check_token(call->http->options.gate, &asked, &now, err);
}
