#include "runner/kubernetes/login.h"

#include <stdlib.h>
#include <string.h>

#include "proto/base/clock.h"
#include "proto/base/secret_file.h"
#include "runner/kubernetes/exec_plugin.h"

struct kube_login {
    const struct kube_config *config;
    struct arena *arena; /* of `pass`; NULL: there is none */
    struct kube_pass pass;
    struct arena *words_arena;
    const char *words;
};

static bool has_exec(const struct kube_config *config)
{
    const struct kube_user *user = &config->user;
    return user->exec.command != NULL && user->token == NULL &&
           user->token_file == NULL && user->name == NULL;
}

static const char *make_words(struct arena *arena,
                              const struct kube_config *config)
{
    const struct kube_user *user = &config->user;
    if (user->token_file != NULL)
        return arena_printf(arena, "the token in %s", user->token_file);
    if (user->token != NULL)
        return arena_printf(arena, "the token of %s", config->source);
    if (user->name != NULL)
        return arena_printf(arena, "the password of %s", user->name);
    if (user->exec.command != NULL)
        return arena_printf(arena, "what %s gives", user->exec.command);
    if (user->cert != NULL || user->cert_file != NULL)
        return arena_printf(arena, "the client certificate of %s",
                            config->source);
    return arena_printf(arena, "requests without credentials: %s has none",
                        config->source);
}

struct kube_login *kube_login_new(const struct kube_config *config)
{
    struct kube_login *login = ht_xcalloc(1, sizeof *login);
    login->config = config;
    login->words_arena = arena_new();
    login->words = make_words(login->words_arena, config);
    return login;
}

void kube_login_free(struct kube_login *login)
{
    if (login == NULL)
        return;
    arena_free(login->arena);
    arena_free(login->words_arena);
    free(login);
}

const char *kube_login_words(const struct kube_login *login)
{
    return login->words;
}

static void drop_pass(struct kube_login *login)
{
    arena_free(login->arena);
    login->arena = NULL;
    login->pass = (struct kube_pass){0};
}

bool kube_login_refused(struct kube_login *login)
{
    const bool had = login->arena != NULL;
    drop_pass(login);
    return had;
}

static enum ht_status run_exec(struct kube_login *login, struct ht_error *err)
{
    const struct kube_pass *pass = &login->pass;
    if (login->arena != NULL &&
        (pass->until_ms == 0 || clock_wall_ms() < pass->until_ms))
        return HT_OK;
    drop_pass(login);
    struct arena *arena = arena_new();
    const enum ht_status status =
        kube_exec_run(login->config, arena, &login->pass, err);
    if (status == HT_OK)
        login->arena = arena;
    else
        arena_free(arena);
    return status;
}

/* The kubelet and other programs replace such files at any time. */
static enum ht_status read_token(const struct kube_user *user,
                                 struct text *token, struct ht_error *err)
{
    const enum ht_status status =
        secret_file_read(user->token_file, token, err);
    if (status != HT_OK)
        return status;
    while (token->len > 0 && strchr(" \t\r\n", token->data[token->len - 1]))
        token->data[--token->len] = '\0';
    if (token->len > 0 && strlen(token->data) == token->len &&
        strpbrk(token->data, " \t\r\n") == NULL)
        return HT_OK;
    secret_wipe(token);
    return ht_fail(err, HT_INVALID, "%s: there is no token in it",
                   user->token_file);
}

enum ht_status kube_login_get(struct kube_login *login,
                              struct kube_ticket *ticket, struct ht_error *err)
{
    const struct kube_user *user = &login->config->user;
    struct kube_ticket made = {.cert = user->cert, .key = user->key};
    enum ht_status status = HT_OK;
    if (has_exec(login->config))
        status = run_exec(login, err);
    else if (user->token_file != NULL)
        status =
            read_token(user, &made.token, user->token != NULL ? NULL : err);
    if (status != HT_OK && user->token == NULL)
        return status;
    if (user->token != NULL && made.token.len == 0)
        text_puts(&made.token, user->token);
    if (login->pass.token != NULL)
        text_puts(&made.token, login->pass.token);
    if (login->pass.cert != NULL) {
        made.cert = login->pass.cert;
        made.key = login->pass.key;
    }
    *ticket = made;
    return HT_OK;
}
