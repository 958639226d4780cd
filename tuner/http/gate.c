#include "tuner/http/gate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include <arpa/inet.h>

#include "proto/base/arena.h"
#include "proto/base/clock.h"
#include "proto/base/release.h"
#include "proto/base/token.h"
#include "tuner/base/token_board.h"

/* The hint for a missing or wrong token. */
#define TOKEN_PLACE "the one in the file token of the server's data folder"

struct grant {
    unsigned char hash[TOKEN_HASH_BYTES];
    unsigned roles;
};

struct gate {
    bool open_to_all;
    size_t n_grants, n_hosts;
    struct grant *grants;
    struct token_board *tokens; /* or NULL */
    unsigned people;            /* roles of those whom a proxy names */
    char **hosts;               /* authorities, lower case */
    int literals_port;          /* 0: literals are not allowed in general */
};

struct gate *gate_new(bool open_to_all)
{
    struct gate *gate = ht_xcalloc(1, sizeof *gate);
    gate->open_to_all = open_to_all;
    return gate;
}

void gate_free(struct gate *gate)
{
    if (gate == NULL)
        return;
    for (size_t i = 0; i < gate->n_hosts; i++)
        free(gate->hosts[i]);
    free(gate->hosts);
    free(gate->grants);
    free(gate);
}

bool gate_is_open_to_all(const struct gate *gate)
{
    return gate->open_to_all;
}

void gate_grant(struct gate *gate, const char *token, unsigned roles)
{
    gate->grants =
        ht_xrealloc(gate->grants, gate->n_grants + 1, sizeof *gate->grants);
    struct grant *grant = &gate->grants[gate->n_grants++];
    token_hash(grant->hash, token);
    grant->roles = roles;
}

void gate_use_tokens(struct gate *gate, struct token_board *tokens)
{
    gate->tokens = tokens;
}

static void add_authority(struct gate *gate, char *authority)
{
    gate->hosts =
        ht_xrealloc(gate->hosts, gate->n_hosts + 1, sizeof *gate->hosts);
    gate->hosts[gate->n_hosts++] = authority;
}

void gate_allow_host(struct gate *gate, const char *host, int port)
{
    bool is_v6 = strchr(host, ':') != NULL;
    char authority[300];
    snprintf(authority, sizeof authority, is_v6 ? "[%s]" : "%s", host);
    if (port == 80)
        add_authority(gate, ht_xstrdup(authority));
    snprintf(authority, sizeof authority, is_v6 ? "[%s]:%d" : "%s:%d", host,
             port);
    add_authority(gate, ht_xstrdup(authority));
}

enum ht_status gate_allow_name(struct gate *gate, const char *name, size_t len,
                               struct ht_error *err)
{
    static const char scheme[] = "https://";
    const size_t skip = sizeof scheme - 1;
    char authority[300];
    if (len <= skip || len - skip >= sizeof authority ||
        strncasecmp(name, scheme, skip) != 0)
        return ht_fail(err, HT_INVALID,
                       "--public-name is https://HOST[:PORT], not \"%.*s\"",
                       (int)(len < 80 ? len : 80), name);
    memcpy(authority, name + skip, len - skip);
    authority[len - skip] = '\0';
    if (authority[strcspn(authority, "/?#@ ")] != '\0')
        return ht_fail(err, HT_INVALID,
                       "--public-name has no path and no user: \"%.80s\"",
                       authority);
    char *port = strstr(authority, ":443");
    if (port != NULL && port[4] == '\0')
        *port = '\0'; /* as browsers write it */
    add_authority(gate, ht_xstrdup(authority));
    return HT_OK;
}

void gate_allow_literals(struct gate *gate, int port)
{
    gate->literals_port = port;
}

static bool is_literal_with_port(const char *authority, int port)
{
    char host[INET6_ADDRSTRLEN + 2], tail[16];
    const char *colon = strrchr(authority, ':');
    size_t len = colon != NULL ? (size_t)(colon - authority) : 0;
    if (len == 0 || len >= sizeof host)
        return false;
    snprintf(tail, sizeof tail, "%d", port);
    if (strcmp(colon + 1, tail) != 0)
        return false;
    memcpy(host, authority, len);
    host[len] = '\0';
    unsigned char address[sizeof(struct in6_addr)];
    if (host[0] != '[' || host[len - 1] != ']')
        return inet_pton(AF_INET, host, address) == 1;
    host[len - 1] = '\0';
    return inet_pton(AF_INET6, host + 1, address) == 1;
}

static bool is_our_authority(const struct gate *gate, const char *authority)
{
    for (size_t i = 0; i < gate->n_hosts; i++)
        if (strcasecmp(gate->hosts[i], authority) == 0)
            return true;
    return gate->literals_port != 0 &&
           is_literal_with_port(authority, gate->literals_port);
}

enum ht_status gate_check_place(const struct gate *gate,
                                const struct gate_request *request,
                                struct ht_error *err)
{
    if (request->n_hosts != 1 || request->host == NULL)
        return ht_fail(err, HT_INVALID, "exactly one Host header is needed");
    if (!is_our_authority(gate, request->host))
        return ht_fail(err, HT_MISDIRECTED,
                       "this server is not called \"%.128s\"", request->host);
    if (request->origin == NULL)
        return HT_OK;
    const char *scheme = request->secure ? "https://" : "http://";
    const size_t len = strlen(scheme);
    if (strncmp(request->origin, scheme, len) != 0 ||
        !is_our_authority(gate, request->origin + len))
        return ht_fail(err, HT_DENIED,
                       "pages from \"%.128s\" may not use this server",
                       request->origin);
    return HT_OK;
}

enum ht_status gate_check_release(const struct gate_request *request,
                                  struct ht_error *err)
{
    static const char ours[] = "hypertune/";
    if (request->agent == NULL ||
        strncmp(request->agent, ours, sizeof ours - 1) != 0 ||
        release_fits(HT_VERSION, request->agent + sizeof ours - 1))
        return HT_OK;
    return ht_fail(err, HT_PRECONDITION,
                   "this server is hypertune " HT_VERSION ", the client %.40s, "
                   "and they may be one minor release apart: install the same "
                   "on both sides, and end the old server (kill %ld)",
                   request->agent + sizeof ours - 1, (long)getpid());
}

/* Compares with every grant, so that the time reveals nothing about them. */
static unsigned roles_of(const struct gate *gate, const unsigned char *token)
{
    unsigned roles = 0;
    for (size_t i = 0; i < gate->n_grants; i++)
        roles |= token_equal(token, gate->grants[i].hash)
                     ? gate->grants[i].roles
                     : 0;
    return roles;
}

static bool is_read(const struct gate_request *request)
{
    return strcmp(request->method, "GET") == 0 ||
           strcmp(request->method, "HEAD") == 0;
}

/* A browser sends its cookie with requests of any page, and its proxy adds the
 * person to them; Origin names the page. */
static enum ht_status check_page(const struct gate_request *request,
                                 struct ht_error *err)
{
    return is_read(request) || request->origin != NULL
               ? HT_OK
               : ht_fail(err, HT_DENIED,
                         "a change by a session must have an Origin");
}

/* Who knows a right secret may learn what became of it. */
static enum ht_status refuse_named(enum token_verdict verdict,
                                   const struct token_row *row,
                                   struct ht_error *err)
{
    char stamp[CLOCK_STAMP_BYTES];
    if (verdict == TOKEN_EXPIRED)
        return ht_fail(err, HT_UNAUTHENTICATED,
                       "the token \"%s\" expired at %s: an admin makes another "
                       "one",
                       row->name, clock_stamp(stamp, row->expires_ms));
    if (verdict == TOKEN_REVOKED)
        return ht_fail(err, HT_UNAUTHENTICATED,
                       "the token \"%s\" was revoked at %s: an admin makes "
                       "another one",
                       row->name, clock_stamp(stamp, row->revoked_ms));
    return ht_fail(err, HT_UNAUTHENTICATED,
                   "the token \"%s\" has a new secret since it was rotated or "
                   "used to join: take that one",
                   row->name);
}

/* Nothing but these; a role that is none of them gets no bits. */
static unsigned roles_of_named(enum token_role role)
{
    switch (role) {
    case TOKEN_OF_ADMIN:
        return GATE_ALL;
    case TOKEN_OF_SUBMITTER:
        return GATE_SUBMIT | GATE_READ;
    case TOKEN_OF_READER:
        return GATE_READ;
    case TOKEN_OF_RUNNER:
        return GATE_RUNNER;
    case TOKEN_OF_JOINER:
        return GATE_JOIN;
    case TOKEN_OF_SHARE:
        return GATE_SHARE;
    case TOKEN_ROLES:
        break;
    }
    return 0;
}

void gate_admit_people(struct gate *gate, enum token_role role)
{
    gate->people = roles_of_named(role);
}

/* No token has a blank in its name. */
static void name_person(const struct gate *gate, const char *name,
                        struct principal *from)
{
    *from = (struct principal){.roles = gate->people};
    snprintf(from->name, sizeof from->name, "user %s", name);
}

static enum ht_status find_named(const struct gate *gate,
                                 const unsigned char *token,
                                 struct principal *from, struct ht_error *err)
{
    struct token_row row;
    const enum token_verdict verdict =
        token_board_find(gate->tokens, token, clock_wall_ms(), &row);
    if (verdict == TOKEN_UNKNOWN)
        return ht_fail(err, HT_UNAUTHENTICATED,
                       "this token is not valid here: take " TOKEN_PLACE);
    if (verdict != TOKEN_VALID)
        return refuse_named(verdict, &row, err);
    from->roles = roles_of_named(row.role);
    snprintf(from->name, sizeof from->name, "%s", row.name);
    memcpy(from->project, row.project, sizeof from->project);
    from->study = row.study;
    return HT_OK;
}

/* By the highest role; "client" where no token is asked for. */
static void name_by_role(struct principal *from, bool open_to_all)
{
    unsigned highest = open_to_all ? GATE_OPEN : GATE_ADMIN;
    while (highest != GATE_OPEN && (from->roles & highest) == 0)
        highest = highest << 1 & (GATE_ALL | GATE_TRIAL);
    snprintf(from->name, sizeof from->name, "%s",
             gate_role_name((enum gate_role)highest));
}

enum ht_status gate_find_token(const struct gate *gate,
                               const unsigned char token[TOKEN_HASH_BYTES],
                               struct principal *from, struct ht_error *err)
{
    struct principal found = {
        .roles = gate->open_to_all ? GATE_ALL : roles_of(gate, token)};
    const enum ht_status status =
        found.roles != 0 ? HT_OK : find_named(gate, token, &found, err);
    if (status != HT_OK)
        return status;
    if (found.name[0] == '\0')
        name_by_role(&found, gate->open_to_all);
    memcpy(found.peer, from->peer, sizeof found.peer);
    memcpy(found.certificate, from->certificate, sizeof found.certificate);
    memcpy(found.token, token, sizeof found.token);
    *from = found;
    return HT_OK;
}

/* The SHA-256 of the token that the request gives, or of its session's. */
static enum ht_status find_token(const struct gate_request *request,
                                 unsigned char token[TOKEN_HASH_BYTES],
                                 struct ht_error *err)
{
    static const char scheme[] = "Bearer ";
    if (request->authorization == NULL && request->session != NULL) {
        memcpy(token, request->session, TOKEN_HASH_BYTES);
        return check_page(request, err);
    }
    if (request->authorization == NULL)
        return ht_fail(err, HT_UNAUTHENTICATED,
                       "a token is needed, " TOKEN_PLACE
                       ": Authorization: Bearer TOKEN");
    if (strncasecmp(request->authorization, scheme, sizeof scheme - 1) != 0)
        return ht_fail(err, HT_UNAUTHENTICATED,
                       "the Authorization header must be: Bearer TOKEN");
    token_hash(token, request->authorization + sizeof scheme - 1);
    return HT_OK;
}

enum ht_status gate_check_token(const struct gate *gate,
                                const struct gate_request *request,
                                struct principal *from, struct ht_error *err)
{
    unsigned char token[TOKEN_HASH_BYTES] = {0};
    const bool is_person = request->authorization == NULL &&
                           request->session == NULL && request->person != NULL;
    if (is_person)
        name_person(gate, request->person, from);
    enum ht_status status = is_person ? check_page(request, err)
                            : gate->open_to_all
                                ? HT_OK
                                : find_token(request, token, err);
    snprintf(from->peer, sizeof from->peer, "%s",
             request->peer != NULL ? request->peer : "");
    snprintf(from->certificate, sizeof from->certificate, "%s",
             request->certificate != NULL ? request->certificate : "");
    return status == HT_OK && !is_person
               ? gate_find_token(gate, token, from, err)
               : status;
}

const char *gate_role_name(enum gate_role role)
{
    static const char *const names[] = {
        [GATE_ADMIN] = "admin", [GATE_SUBMIT] = "submit",
        [GATE_READ] = "read",   [GATE_RUNNER] = "runner",
        [GATE_TRIAL] = "trial", [GATE_JOIN] = "join",
        [GATE_SHARE] = "share"};
    const size_t n = sizeof names / sizeof *names;
    return role < n && names[role] != NULL ? names[role] : "client";
}

enum ht_status gate_check_role(unsigned needs, unsigned roles,
                               struct ht_error *err)
{
    if (needs == GATE_OPEN || (needs & roles) != 0)
        return HT_OK;
    return ht_fail(err, HT_DENIED,
                   "this token may not do that: take " TOKEN_PLACE);
}

static bool is_json(const char *type)
{
    static const char json[] = "application/json";
    if (type == NULL || strncasecmp(type, json, sizeof json - 1) != 0)
        return false;
    const char *rest = type + sizeof json - 1;
    return rest[strspn(rest, " \t")] == '\0' ||
           rest[strspn(rest, " \t")] == ';';
}

enum ht_status gate_check_type(const struct gate_request *request,
                               struct ht_error *err)
{
    /* No form can send DELETE, and Google's clients send it without a type. */
    bool is_bare_delete =
        strcmp(request->method, "DELETE") == 0 && !request->has_body;
    bool is_raw_put = strcmp(request->method, "PUT") == 0 && request->is_raw;
    if (is_read(request) || is_bare_delete || is_raw_put ||
        is_json(request->content_type))
        return HT_OK;
    return ht_fail(err, HT_INVALID,
                   "changes need Content-Type: application/json");
}

/* Of our own paths what shows or changes no other project. */
static bool is_of_any_project(const char *pattern)
{
    static const char *const fronts[] = {"/studies", "/session", "/login-links",
                                         "/events"};
    static const char ours[] = "/hypertune/v1";
    if (strncmp(pattern, ours, sizeof ours - 1) != 0)
        return false;
    pattern += sizeof ours - 1;
    for (size_t i = 0; i < sizeof fronts / sizeof *fronts; i++)
        if (strncmp(pattern, fronts[i], strlen(fronts[i])) == 0)
            return true;
    return false;
}

enum ht_status gate_check_scope(const struct principal *from,
                                const char *pattern, struct study_scope *scope,
                                struct ht_error *err)
{
    scope->study = from->study;
    if (from->project[0] == '\0')
        return HT_OK;
    if (scope->project == NULL && !is_of_any_project(pattern))
        return ht_fail(err, HT_DENIED,
                       "the token \"%s\" is for the project \"%s\" alone",
                       from->name, from->project);
    if (scope->project != NULL && strcmp(scope->project, from->project) != 0)
        return ht_fail(err, HT_NOT_FOUND, "there is no project \"%.100s\"",
                       scope->project);
    scope->project = from->project;
    return HT_OK;
}
