#include "runner/kubernetes/exec_plugin.h"

#include <errno.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proto/base/clock.h"
#include "proto/base/limits.h"
#include "proto/base/secret_file.h"
#include "proto/doc/node.h"
#include "runner/base/ask_child.h"
#include "runner/base/json.h"
#include "runner/docker/docker.h"
#include "runner/docker/registry_auth.h"

enum { PATIENCE_MS = 60000 };

static const char info_name[] = "KUBERNETES_EXEC_INFO";

/* ---- what it gets ---- */

/* Base64 with + and /, as Kubernetes has it. */
static const char *encode(struct arena *arena, const char *pem)
{
    char *text =
        arena_strdup(arena, registry_auth_encode(arena, pem, strlen(pem)));
    for (char *c = text; (c = strpbrk(c, "-_")) != NULL; c++) {
        if (*c == '-')
            *c = '+';
        else
            *c = '/';
    }
    return text;
}

/* The certificates that the cluster is checked with; NULL: none are named. */
static enum ht_status find_ca(const struct kube_config *config,
                              struct arena *arena, const char **ca,
                              struct ht_error *err)
{
    struct text text = {0};
    *ca = config->ca;
    if (*ca != NULL || config->ca_file == NULL)
        return HT_OK;
    const enum ht_status status = secret_file_read(config->ca_file, &text, err);
    if (status == HT_OK)
        *ca = text_take(&text, arena);
    return status;
}

static void put_cluster(struct text *out, struct arena *arena,
                        const struct kube_config *config, const char *ca)
{
    json_open(out, "cluster");
    json_put_string(out, "server", config->server);
    if (config->tls_name != NULL)
        json_put_string(out, "tls-server-name", config->tls_name);
    if (config->insecure)
        json_put_bool(out, "insecure-skip-tls-verify", true);
    if (ca != NULL)
        json_put_string(out, "certificate-authority-data", encode(arena, ca));
    if (config->proxy != NULL)
        json_put_string(out, "proxy-url", config->proxy);
    json_close(out);
}

static enum ht_status make_info(const struct kube_config *config,
                                struct arena *arena, const char **info,
                                struct ht_error *err)
{
    const struct kube_exec *exec = &config->user.exec;
    struct text out = {0};
    const char *ca = NULL;
    const enum ht_status status =
        exec->cluster ? find_ca(config, arena, &ca, err) : HT_OK;
    if (status != HT_OK)
        return status;
    json_open(&out, NULL);
    json_put_string(&out, "kind", "ExecCredential");
    json_put_string(&out, "apiVersion", exec->version);
    json_open(&out, "spec");
    json_put_bool(&out, "interactive", false);
    if (exec->cluster)
        put_cluster(&out, arena, config, ca);
    json_close(&out);
    json_close(&out);
    *info = text_take(&out, arena);
    return HT_OK;
}

static bool is_replaced(const struct kube_exec *exec, const char *entry)
{
    const size_t len = strcspn(entry, "=");
    bool replaced =
        strlen(info_name) == len && strncmp(entry, info_name, len) == 0;
    for (size_t i = 0; i < exec->env.n; i++)
        replaced |= strlen(exec->env.items[i].name) == len &&
                    strncmp(entry, exec->env.items[i].name, len) == 0;
    return replaced;
}

static const char *const *make_env(const struct kube_exec *exec,
                                   struct arena *arena, const char *info)
{
    size_t n = 0, all = 0;
    while (environ[all] != NULL)
        all++;
    const char **env = arena_alloc(arena, all + exec->env.n + 2, sizeof *env);
    for (size_t i = 0; i < all; i++) {
        if (!is_replaced(exec, environ[i]))
            env[n++] = environ[i];
    }
    for (size_t i = 0; i < exec->env.n; i++)
        env[n++] = arena_printf(arena, "%s=%s", exec->env.items[i].name,
                                exec->env.items[i].value);
    env[n] = arena_printf(arena, "%s=%s", info_name, info);
    return env;
}

static const char *const *make_argv(const struct kube_exec *exec,
                                    struct arena *arena)
{
    const char **argv = arena_alloc(arena, exec->args.n + 2, sizeof *argv);
    argv[0] = exec->command;
    for (size_t i = 0; i < exec->args.n; i++)
        argv[i + 1] = exec->args.items[i];
    return argv;
}

/* ---- what it answers ---- */

/* Where such programs say what is wrong, as in "... run aws sso login". */
static const char *last_line(struct arena *arena, const struct text *errors)
{
    size_t end = errors->len;
    while (end > 0 && strchr(" \r\n\t", errors->data[end - 1]) != NULL)
        end--;
    size_t from = end;
    while (from > 0 && errors->data[from - 1] != '\n')
        from--;
    return end > from ? docker_clean_words(
                            arena, arena_strndup(arena, errors->data + from,
                                                 end - from))
                      : "it did not say why";
}

static bool is_header_value(const char *text)
{
    return text == NULL || strpbrk(text, "\r\n") == NULL;
}

static enum ht_status read_pass(const struct kube_exec *exec,
                                struct arena *arena, const struct text *output,
                                struct kube_pass *pass, struct ht_error *err)
{
    const struct node *root =
        json_read_map(arena, text_string(output), output->len);
    const struct node *said = node_find(root, "status");
    const char *until = node_get_string(said, "expirationTimestamp", NULL);
    const struct kube_pass read = {
        .token = node_get_string(said, "token", NULL),
        .cert = node_get_string(said, "clientCertificateData", NULL),
        .key = node_get_string(said, "clientKeyData", NULL)};
    if (strcmp(node_get_string(root, "kind", ""), "ExecCredential") != 0)
        return ht_fail(err, HT_UNAUTHENTICATED,
                       "%s did not answer with an ExecCredential",
                       exec->command);
    if (strcmp(node_get_string(root, "apiVersion", ""), exec->version) != 0)
        return ht_fail(err, HT_UNAUTHENTICATED,
                       "%s answers in another version than %s", exec->command,
                       exec->version);
    if ((read.cert != NULL) != (read.key != NULL) ||
        (read.cert == NULL && read.token == NULL) ||
        !is_header_value(read.token))
        return ht_fail(err, HT_UNAUTHENTICATED,
                       "%s gives neither a token nor a certificate with its "
                       "key",
                       exec->command);
    *pass = read;
    if (until != NULL && !clock_read_stamp(until, &pass->until_ms))
        return ht_fail(err, HT_UNAUTHENTICATED,
                       "%s gives an expirationTimestamp that is no time",
                       exec->command);
    return HT_OK;
}

static enum ht_status judge(const struct kube_exec *exec, struct arena *arena,
                            const struct child_answer *answer,
                            struct kube_pass *pass, struct ht_error *err)
{
    if (WIFSIGNALED(answer->status))
        return ht_fail(err, HT_UNAUTHENTICATED,
                       "%s was killed, or took longer than %d s", exec->command,
                       PATIENCE_MS / 1000);
    if (WEXITSTATUS(answer->status) != 0)
        return ht_fail(err, HT_UNAUTHENTICATED, "%s failed with code %d: %s",
                       exec->command, WEXITSTATUS(answer->status),
                       last_line(arena, &answer->errors));
    return read_pass(exec, arena, &answer->output, pass, err);
}

enum ht_status kube_exec_run(const struct kube_config *config,
                             struct arena *arena, struct kube_pass *pass,
                             struct ht_error *err)
{
    const struct kube_exec *exec = &config->user.exec;
    const char *info;
    struct child_answer answer;
    enum ht_status status = make_info(config, arena, &info, err);
    if (status != HT_OK)
        return status;
    const struct child_question question = {
        .argv = make_argv(exec, arena),
        .env = make_env(exec, arena, info),
        .most = HT_MAX_SPEC,
        .deadline_ms = clock_monotonic_ms() + PATIENCE_MS};
    const int code = child_ask(&question, &answer);
    if (code == ENOENT)
        return ht_fail(
            err, HT_NOT_FOUND,
            "%s, which makes the cluster's credentials, is not "
            "installed%s%s",
            exec->command, exec->hint != NULL ? ": " : "",
            exec->hint != NULL ? docker_clean_words(arena, exec->hint) : "");
    if (code != 0)
        return ht_fail_errno(err, code, "cannot run %s", exec->command);
    status = judge(exec, arena, &answer, pass, err);
    secret_wipe(&answer.output);
    text_free(&answer.errors);
    return status;
}
