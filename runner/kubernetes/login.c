#include "runner/kubernetes/login.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/clock.h"
#include "proto/base/secret_file.h"
#include "runner/kubernetes/exec_plugin.h"

struct kube_login {
    const struct kube_config *config;
    struct arena *words_arena;
    const char *words;
    pthread_mutex_t lock; /* of all below */
    int owners;
    uint64_t number;     /* of the last pass */
    struct arena *arena; /* of `pass`; NULL: there is none */
    struct kube_pass pass;
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
    pthread_mutex_init(&login->lock, NULL);
    login->owners = 1;
    login->config = config;
    login->words_arena = arena_new();
    login->words = make_words(login->words_arena, config);
    return login;
}

struct kube_login *kube_login_share(struct kube_login *login)
{
    pthread_mutex_lock(&login->lock);
    login->owners++;
    pthread_mutex_unlock(&login->lock);
    return login;
}

void kube_login_free(struct kube_login *login)
{
    if (login == NULL)
        return;
    pthread_mutex_lock(&login->lock);
    const bool last = --login->owners == 0;
    pthread_mutex_unlock(&login->lock);
    if (!last)
        return;
    pthread_mutex_destroy(&login->lock);
    arena_free(login->arena);
    arena_free(login->words_arena);
    free(login);
}

const struct kube_config *kube_login_config(const struct kube_login *login)
{
    return login->config;
}

const char *kube_login_words(const struct kube_login *login)
{
    return login->words;
}

void kube_ticket_wipe(struct kube_ticket *ticket)
{
    secret_wipe(&ticket->token);
    secret_wipe(&ticket->cert);
    secret_wipe(&ticket->key);
}

/* The lock is held. */
static void drop_pass(struct kube_login *login)
{
    arena_free(login->arena);
    login->arena = NULL;
    login->pass = (struct kube_pass){0};
}

/* Another client may have had a new one since. */
bool kube_login_refused(struct kube_login *login, uint64_t pass)
{
    pthread_mutex_lock(&login->lock);
    if (login->number == pass)
        drop_pass(login);
    pthread_mutex_unlock(&login->lock);
    return pass != 0;
}

/* The lock is held. */
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
    if (status == HT_OK) {
        login->arena = arena;
        login->number++;
    } else {
        arena_free(arena);
    }
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

/* The lock is held. */
static enum ht_status take_pass(struct kube_login *login,
                                struct kube_ticket *ticket,
                                struct ht_error *err)
{
    const struct kube_pass *pass = &login->pass;
    const enum ht_status status = run_exec(login, err);
    if (status != HT_OK)
        return status;
    ticket->pass = login->number;
    if (pass->token != NULL)
        text_puts(&ticket->token, pass->token);
    if (pass->cert != NULL) {
        text_puts(&ticket->cert, pass->cert);
        text_puts(&ticket->key, pass->key);
    }
    return HT_OK;
}

enum ht_status kube_login_get(struct kube_login *login,
                              struct kube_ticket *ticket, struct ht_error *err)
{
    const struct kube_user *user = &login->config->user;
    enum ht_status status = HT_OK;
    *ticket = (struct kube_ticket){.pass = 0};
    if (has_exec(login->config)) {
        pthread_mutex_lock(&login->lock);
        status = take_pass(login, ticket, err);
        pthread_mutex_unlock(&login->lock);
    } else if (user->token_file != NULL) {
        status =
            read_token(user, &ticket->token, user->token != NULL ? NULL : err);
    }
    if (status != HT_OK && user->token == NULL)
        return status;
    if (user->token != NULL && ticket->token.len == 0)
        text_puts(&ticket->token, user->token);
    return HT_OK;
}
