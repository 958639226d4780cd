#include "tuner/access.h"

#include <stddef.h>
#include <string.h>

#include "tuner/base/token_board.h"
#include "tuner/datadir.h"
#include "tuner/front.h"
#include "tuner/http/arrival.h"
#include "tuner/http/gate.h"
#include "tuner/http/sessions.h"
#include "tuner/options.h"

/* The names of --public-name. */
static enum ht_status allow_names(struct gate *gate, const char *name,
                                  struct ht_error *err)
{
    enum ht_status status = HT_OK;
    while (status == HT_OK && name != NULL && *name != '\0') {
        const size_t len = strcspn(name, ",");
        status = gate_allow_name(gate, name, len, err);
        name += len + (name[len] == ',');
    }
    return status;
}

static void allow_loopback(struct gate *gate, int port)
{
    gate_allow_host(gate, "127.0.0.1", port);
    gate_allow_host(gate, "localhost", port);
    gate_allow_host(gate, "::1", port);
}

static enum ht_status open_proxies(const struct options *options,
                                   struct access *access, struct ht_error *err)
{
    const struct proxies_wanted wanted = {
        options->behind_proxy, options->proxy_user_header, options->insecure};
    enum token_role role = TOKEN_OF_READER;
    if (options->behind_proxy == NULL)
        return HT_OK;
    if (options->proxy_role != NULL)
        for (role = TOKEN_OF_ADMIN; role <= TOKEN_OF_READER; role++)
            if (strcmp(options->proxy_role, token_role_name(role)) == 0)
                break;
    if (role > TOKEN_OF_READER)
        return ht_fail(err, HT_INVALID,
                       "--proxy-role is read, submit or admin, not \"%.40s\"",
                       options->proxy_role);
    gate_admit_people(access->gate, role);
    return proxies_new(&wanted, &access->proxies, err);
}

static void allow_addresses(const struct access_wanted *wanted,
                            struct gate *gate)
{
    const int port = wanted->public_port;
    allow_loopback(gate, wanted->port);
    if (port != wanted->port)
        allow_loopback(gate, port);
    if (wanted->any_address)
        gate_allow_literals(gate, port);
    else
        gate_allow_host(gate, wanted->host, port);
}

/* A session of a server that asked for no token ends with it. */
static struct sessions *open_sessions(const struct access_wanted *wanted,
                                      const struct gate *gate)
{
    char own[TOKEN_TEXT_BYTES];
    token_make(own, TOKEN_ADMIN_BYTES);
    struct sessions *sessions =
        sessions_new(gate_is_open_to_all(gate) ? own : wanted->dir->admin_token,
                     wanted->left_sessions);
    explicit_bzero(own, sizeof own);
    return sessions;
}

enum ht_status access_open(const struct access_wanted *wanted,
                           struct access *access, struct ht_error *err)
{
    const struct options *options = wanted->options;
    struct gate *gate = gate_new(strcmp(options->auth, "none") == 0);
    gate_grant(gate, wanted->dir->admin_token, GATE_ALL);
    gate_grant(gate, wanted->dir->runner_token, GATE_RUNNER);
    gate_use_tokens(gate, wanted->tokens);
    allow_addresses(wanted, gate);
    *access =
        (struct access){.gate = gate, .sessions = open_sessions(wanted, gate)};
    enum ht_status status = open_proxies(options, access, err);
    if (status == HT_OK)
        status = allow_names(gate, options->public_name, err);
    if (status == HT_OK && front_has_https(options))
        status =
            front_allow_names(wanted->front, gate, wanted->public_port, err);
    if (status != HT_OK)
        access_close(access);
    return status;
}

void access_close(struct access *access)
{
    sessions_free(access->sessions);
    gate_free(access->gate);
    proxies_free(access->proxies);
}
