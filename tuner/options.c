#include "tuner/options.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "proto/net/address.h"
#include "tuner/base/budget.h"
#include "tuner/tracker/mlflow_call.h"

enum { BACKUP_EVERY_MS = 3600 * 1000 };

#define MEMBER(name) offsetof(struct options, name)

static const struct flag table[] = {
    FLAG("data", "DIR", FLAG_TEXT, MEMBER(data),
         "folder of all state, made with mode 0700 (required)"),
    FLAG("listen", "HOST:PORT", FLAG_TEXT, MEMBER(listen),
         "HTTP address (default 127.0.0.1:8470; port 0 = any)"),
    FLAG("report-listen", "URL", FLAG_TEXT, MEMBER(report_listen),
         "address of reports (default tcp://127.0.0.1:8471; port 0 = any)"),
    FLAG("control-listen", "URL", FLAG_TEXT, MEMBER(control_listen),
         "address of runners (default: one port above the reports)"),
    FLAG("auth", "token|none", FLAG_TEXT, MEMBER(auth),
         "none is possible on loopback only (default token)"),
    FLAG("runner", "ENGINE,...|none", FLAG_TEXT, MEMBER(runner),
         "engines, a supervised local runner for each (default process)"),
    FLAG(
        "slots", "N", FLAG_COUNT, MEMBER(slots),
        "attempts each runs at once (default its GPUs, else the cores, at most "
        "4)"),
    FLAG("gpus", "N|all|0,1,...", FLAG_TEXT, MEMBER(gpus),
         "GPUs the first one gives to replicas (default those of "
         "CUDA_VISIBLE_DEVICES, else all)"),
    FLAG("share", NULL, FLAG_SWITCH, MEMBER(share),
         "let several trials use one GPU"),
    FLAG("volume-root", "DIR,...", FLAG_TEXT, MEMBER(volume_root),
         "folders below which volumes of containers and outputs may lie "
         "(default none)"),
    FLAG("gcs-root", "DIR", FLAG_TEXT, MEMBER(gcs_root),
         "folder that stands for gs:// where a job asks for it"),
    FLAG("secrets", "DIR", FLAG_TEXT, MEMBER(secrets),
         "folder with a file for each secret that jobs may name"),
    FLAG("credentials", "DIR", FLAG_TEXT, MEMBER(credentials),
         "folder with a file ACCOUNT.json for each service account that jobs "
         "may name"),
    FLAG(
        "allow", "NAME,...", FLAG_TEXT, MEMBER(allow),
        "what containers may do beyond the usual, see hypertune-runner --help"),
    FLAG("docker-host", "URL", FLAG_TEXT, MEMBER(docker_host),
         "the container engine (default DOCKER_HOST, else the usual sockets)"),
    FLAG("mlflow", "URL", FLAG_TEXT, MEMBER(mlflow),
         "the MLflow that studies may be shown in (default none; on demand: "
         "MLFLOW_TRACKING_URI)"),
    FLAG("mlflow-login", "FILE", FLAG_TEXT, MEMBER(mlflow_login),
         "file with its token, or USER:PASSWORD, of mode 0600"),
    FLAG("key-file", "FILE", FLAG_TEXT, MEMBER(key_file),
         "file with the key that encrypts secrets in the data folder, of mode "
         "0600 and elsewhere (default systemd's credential hypertune-key)"),
    FLAG("old-key-file", "FILE", FLAG_TEXT, MEMBER(old_key_file),
         "the key before: what it encrypted is encrypted with the new one"),
    FLAG("max-page", "N", FLAG_COUNT, MEMBER(max_page),
         "most elements in a page of a list (default 1000)"),
    FLAG("budget", "NAME=N,...", FLAG_TEXT, MEMBER(budget),
         "what one address, token or replica may take, see "
         "docs/operations.md"),
    FLAG("behind-proxy", "ADDRESS,...", FLAG_TEXT, MEMBER(behind_proxy),
         "proxies that end TLS before the HTTP address, see "
         "docs/operations.md"),
    FLAG("proxy-user-header", "NAME", FLAG_TEXT, MEMBER(proxy_user_header),
         "header by which the proxy names the person whom it has logged in"),
    FLAG("proxy-role", "ROLE", FLAG_TEXT, MEMBER(proxy_role),
         "what such a person may: read (default), submit or admin"),
    FLAG("public-name", "https://HOST[:PORT],...", FLAG_TEXT,
         MEMBER(public_name), "what clients call this server"),
    FLAG("tls", "DIR|none", FLAG_TEXT, MEMBER(tls),
         "serve by TLS with the files of `hypertune tls init` (default tls in "
         "the data folder, if there)"),
    FLAG("tls-cert", "FILE", FLAG_TEXT, MEMBER(tls_cert),
         "serve by TLS with this certificate and its chain (PEM)"),
    FLAG("tls-key", "FILE", FLAG_TEXT, MEMBER(tls_key), "its key (PEM)"),
    FLAG("tls-clients", "own|FILE", FLAG_TEXT, MEMBER(tls_clients),
         "ask clients by TLS for a certificate of `hypertune tls client`, or "
         "of the authority in FILE"),
    FLAG("insecure", NULL, FLAG_SWITCH, MEMBER(insecure),
         "listen off loopback without TLS: tokens are readable on the way"),
    FLAG("backups", "DIR|off", FLAG_TEXT, MEMBER(backups),
         "scheduled backups appear there, 24 hourly and 7 daily ones are kept "
         "(default backups in the data folder; on demand: off)"),
    FLAG("backup-every", "DURATION", FLAG_DURATION, MEMBER(backup_every_ms),
         "between scheduled backups (default 1h)"),
    FLAG("on-demand", NULL, FLAG_ORDER, MEMBER(on_demand),
         "take any port when the default is in use; end when idle"),
    FLAG("idle-exit", "DURATION", FLAG_DURATION, MEMBER(idle_exit_ms),
         "end after so long idle (on demand: 30m; else never)"),
    FLAG("verbose", NULL, FLAG_SWITCH, MEMBER(verbose), "log more"),
    {.name = NULL}};

static const struct flags flags = {
    .program = "hypertuned",
    .usage = "--data DIR [flags]",
    .about = "Serves hyperparameter tuning studies from one folder.",
    .prefix = "HYPERTUNED_",
    .table = table,
};

bool options_next_engine(const char **list, char engine[OPTIONS_ENGINE_BYTES])
{
    const size_t len = strcspn(*list, ",");
    if (len == 0 || len >= OPTIONS_ENGINE_BYTES)
        return false;
    memcpy(engine, *list, len);
    engine[len] = '\0';
    *list += len + ((*list)[len] == ',');
    return true;
}

static bool is_engine(const char *name)
{
    static const char *const engines[OPTIONS_ENGINES] = {"process", "docker",
                                                         "slurm", "kubernetes"};
    for (size_t i = 0; i < OPTIONS_ENGINES; i++)
        if (strcmp(name, engines[i]) == 0)
            return true;
    return false;
}

/* Each at most once: two runners of one engine would be one with more slots. */
static enum ht_status check_engines(const char *list, struct ht_error *err)
{
    char seen[OPTIONS_ENGINES][OPTIONS_ENGINE_BYTES];
    size_t n = 0;
    const char *rest = list;
    if (strcmp(list, "none") == 0)
        return HT_OK;
    bool fine = *rest != '\0';
    for (; fine && *rest != '\0'; n++) {
        fine = n < OPTIONS_ENGINES && options_next_engine(&rest, seen[n]) &&
               is_engine(seen[n]);
        for (size_t i = 0; fine && i < n; i++)
            fine = strcmp(seen[i], seen[n]) != 0;
    }
    if (fine)
        return HT_OK;
    return ht_fail(err, HT_INVALID,
                   "--runner is none or a list of process, docker, slurm, "
                   "kubernetes, each once, not \"%s\"",
                   list);
}

static enum ht_status check_words(const struct options *options,
                                  struct ht_error *err)
{
    if (options->data == NULL || options->data[0] == '\0')
        return ht_fail(err, HT_INVALID, "--data DIR is required, see --help");
    if (strcmp(options->auth, "token") != 0 &&
        strcmp(options->auth, "none") != 0)
        return ht_fail(err, HT_INVALID, "--auth is token or none, not \"%s\"",
                       options->auth);
    return check_engines(options->runner, err);
}

/* What goes over a network in clear shows every token. */
static enum ht_status check_exposure(const struct options *options,
                                     const char *host, struct ht_error *err)
{
    if (options->behind_proxy != NULL && options->public_name == NULL)
        return ht_fail(err, HT_INVALID,
                       "--behind-proxy needs --public-name https://HOST, the "
                       "name by which clients reach the proxy");
    if (options->insecure || options->tls_cert != NULL)
        return HT_OK;
    if (!address_is_loopback(host) && options->behind_proxy == NULL)
        return ht_fail(err, HT_INVALID,
                       "--listen %s: http shows tokens to the network; make a "
                       "certificate (hypertune tls init), use a proxy with TLS "
                       "(--behind-proxy, docs/operations.md "
                       "\"On a network\"), or --insecure where it is yours "
                       "alone",
                       options->listen);
    if (!address_url_is_loopback(options->report_listen) ||
        (options->control_listen != NULL &&
         !address_url_is_loopback(options->control_listen)))
        return ht_fail(err, HT_INVALID,
                       "--report-listen and --control-listen off loopback show "
                       "tokens to the network; make a certificate (hypertune "
                       "tls init), use 127.0.0.1 with a tunnel, or --insecure "
                       "where the network is yours alone");
    return HT_OK;
}

static bool asks_for_own(const struct options *options)
{
    return options->tls_clients != NULL &&
           strcmp(options->tls_clients, "own") == 0;
}

static void point_at_tls(struct options *options, bool own_clients)
{
    options->tls = options->tls_files[0];
    options->tls_cert = options->tls_files[1];
    options->tls_key = options->tls_files[2];
    if (!own_clients)
        return;
    options->tls_clients = options->tls_files[3];
    options->tls_crl = options->tls_files[4];
}

/* Files of a folder that `hypertune tls init` made: those asked for, or those
 * of the data folder where there are some. */
static enum ht_status find_tls(struct options *options, struct ht_error *err)
{
    static const char *const names[] = {"", "/cert.pem", "/key.pem", "/ca.pem",
                                        "/crl.pem"};
    const bool asked = options->tls != NULL;
    if ((options->tls_cert == NULL) != (options->tls_key == NULL))
        return ht_fail(err, HT_INVALID,
                       "--tls-cert and --tls-key are given together");
    if (options->tls_cert != NULL)
        return asked ? ht_fail(err, HT_INVALID,
                               "--tls excludes --tls-cert and --tls-key")
                     : HT_OK;
    if (asked && strcmp(options->tls, "none") == 0) {
        options->tls = NULL;
        return HT_OK;
    }
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (snprintf(options->tls_files[i], OPTIONS_PATH_BYTES, "%s%s%s",
                     asked ? options->tls : options->data, asked ? "" : "/tls",
                     names[i]) >= OPTIONS_PATH_BYTES)
            return ht_fail(err, HT_INVALID, "--tls: the path is too long");
    if (!asked && access(options->tls_files[1], F_OK) != 0)
        return HT_OK;
    point_at_tls(options, asks_for_own(options));
    return HT_OK;
}

static enum ht_status check_clients(const struct options *options,
                                    struct ht_error *err)
{
    if (options->tls_clients == NULL)
        return HT_OK;
    if (options->tls_cert == NULL)
        return ht_fail(err, HT_INVALID,
                       "--tls-clients needs TLS: make a certificate (hypertune "
                       "tls init), or give --tls-cert and --tls-key");
    if (asks_for_own(options))
        return ht_fail(err, HT_INVALID,
                       "--tls-clients own needs the folder of `hypertune tls "
                       "init` (--tls DIR); with --tls-cert give the file of an "
                       "authority");
    return HT_OK;
}

/* Checks that need all settings. */
static enum ht_status check(struct options *options, struct ht_error *err)
{
    char host[OPTIONS_HOST_BYTES];
    int port;
    enum ht_status status = check_words(options, err);
    if (status == HT_OK)
        status = options_split_address(options->listen, host, &port, err);
    if (status == HT_OK)
        status = find_tls(options, err);
    if (status == HT_OK)
        status = check_clients(options, err);
    if (status != HT_OK)
        return status;
    if (strcmp(options->auth, "none") == 0 && !address_is_loopback(host))
        return ht_fail(err, HT_INVALID,
                       "--auth none is refused on %s: anyone who reaches it "
                       "could run commands here; listen on 127.0.0.1 or keep "
                       "the token",
                       options->listen);
    if (strcmp(options->auth, "none") == 0 && options->behind_proxy != NULL)
        return ht_fail(err, HT_INVALID,
                       "--auth none is refused with --behind-proxy: anyone who "
                       "reaches the proxy could run commands here");
    if (options->behind_proxy == NULL && options->proxy_user_header != NULL)
        return ht_fail(err, HT_INVALID,
                       "--proxy-user-header needs --behind-proxy: from others "
                       "it would be anyone's word");
    if (strncmp(options->report_listen, "tcp://", 6) != 0 ||
        (options->control_listen != NULL &&
         strncmp(options->control_listen, "tcp://", 6) != 0))
        return ht_fail(err, HT_INVALID,
                       "--report-listen and --control-listen are "
                       "tcp://HOST:PORT");
    return check_exposure(options, host, err);
}

/* A server on demand runs for who started it, as does the MLflow that MLflow's
 * own variables name. A folder or a database, which they may name, too, is none
 * that a server can be asked for. */
static void take_own_mlflow(const struct flags_source *source,
                            struct options *read)
{
    const char *url = source->lookup("MLFLOW_TRACKING_URI");
    const char *token = source->lookup("MLFLOW_TRACKING_TOKEN");
    const char *user = source->lookup("MLFLOW_TRACKING_USERNAME");
    const char *password = source->lookup("MLFLOW_TRACKING_PASSWORD");
    char *login = read->mlflow_own_login;
    if (url == NULL || mlflow_url_check(url, NULL) != HT_OK)
        return;
    read->mlflow = url;
    if (user != NULL && password != NULL)
        snprintf(login, OPTIONS_LOGIN_BYTES, "%s:%s", user, password);
    else if (token != NULL)
        snprintf(login, OPTIONS_LOGIN_BYTES, "%s", token);
}

/* A server that a command started makes no backups unasked: they fill the disk.
 */
static void settle_backups(struct options *options)
{
    const bool off = options->backups != NULL
                         ? strcmp(options->backups, "off") == 0
                         : options->on_demand;
    if (options->backup_every_ms < 0)
        options->backup_every_ms = BACKUP_EVERY_MS;
    if (off)
        options->backup_every_ms = 0;
    if (options->backups != NULL && off)
        options->backups = NULL;
}

enum ht_status options_read(const struct flags_source *source,
                            struct options *options, struct text *shown,
                            struct ht_error *err)
{
    struct options read = {
        .listen = "127.0.0.1:8470",
        .report_listen = "tcp://127.0.0.1:8471",
        .auth = "token",
        .runner = "process",
        .idle_exit_ms = -1,
        .backup_every_ms = -1,
    };
    if (flags_show(&flags, source, shown))
        return HT_OK;
    enum ht_status status = flags_read(&flags, source, &read, err);
    if (status == HT_OK)
        status = check(&read, err);
    if (status == HT_OK && read.budget != NULL)
        status = budget_set(read.budget, err);
    if (status != HT_OK)
        return status;
    if (read.mlflow == NULL && read.on_demand)
        take_own_mlflow(source, &read);
    if (read.idle_exit_ms < 0)
        read.idle_exit_ms = read.on_demand ? 30 * 60 * 1000 : 0;
    settle_backups(&read);
    *options = read;
    if (read.tls_cert == read.tls_files[1])
        point_at_tls(options, read.tls_crl != NULL); /* its own copy */
    return HT_OK;
}

static bool read_port(const char *text, int *port)
{
    size_t len = strspn(text, "0123456789");
    if (len == 0 || len > 5 || text[len] != '\0')
        return false;
    long n = strtol(text, NULL, 10);
    if (n > 65535)
        return false;
    *port = (int)n;
    return true;
}

enum ht_status options_split_address(const char *address,
                                     char host[OPTIONS_HOST_BYTES], int *port,
                                     struct ht_error *err)
{
    const char *colon = strrchr(address, ':');
    size_t len = colon != NULL ? (size_t)(colon - address) : 0;
    bool bracketed = len >= 2 && address[0] == '[' && address[len - 1] == ']';
    const char *start = bracketed ? address + 1 : address;
    if (bracketed)
        len -= 2;
    int n;
    if (len == 0 || len >= OPTIONS_HOST_BYTES || !read_port(colon + 1, &n) ||
        (!bracketed && memchr(start, ':', len) != NULL))
        return ht_fail(err, HT_INVALID, "\"%s\" is not HOST:PORT", address);
    memcpy(host, start, len);
    host[len] = '\0';
    *port = n;
    return HT_OK;
}
