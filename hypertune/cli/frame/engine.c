#include "hypertune/cli/frame/engine.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <curl/curl.h>

#include "proto/doc/diag.h"

/* Podman 4.3 asks the package manager for its version, which takes seconds on
 * a busy machine. */
enum { ASK_MS = 30000, CONNECT_MS = 2000 };

struct words cli_engine_places(struct cli *cli)
{
    struct words places = {0};
    const char *host = cli_variable(cli, "HYPERTUNE_RUNNER_DOCKER_HOST");
    if (host == NULL)
        host = cli_variable(cli, "DOCKER_HOST");
    const char *own = cli_variable(cli, "XDG_RUNTIME_DIR");
    if (host != NULL) {
        words_add(cli->arena, &places, host);
        return places;
    }
    words_add(cli->arena, &places, "unix:///var/run/docker.sock");
    words_add(cli->arena, &places, "unix:///run/podman/podman.sock");
    if (own == NULL)
        return places;
    words_add(cli->arena, &places,
              arena_printf(cli->arena, "unix://%s/docker.sock", own));
    words_add(cli->arena, &places,
              arena_printf(cli->arena, "unix://%s/podman/podman.sock", own));
    return places;
}

/* ---- asking ---- */

/* Certificates as the docker command finds them. */
static void set_tls(struct cli *cli, CURL *easy)
{
    const char *folder = cli_variable(cli, "DOCKER_CERT_PATH");
    const char *home = cli_variable(cli, "HOME");
    if (folder == NULL)
        folder = arena_printf(cli->arena, "%s/.docker", home ? home : "");
    curl_easy_setopt(easy, CURLOPT_CAINFO,
                     arena_printf(cli->arena, "%s/ca.pem", folder));
    curl_easy_setopt(easy, CURLOPT_SSLCERT,
                     arena_printf(cli->arena, "%s/cert.pem", folder));
    curl_easy_setopt(easy, CURLOPT_SSLKEY,
                     arena_printf(cli->arena, "%s/key.pem", folder));
}

/* Prepares the request for a path of the engine; false: `url` is no address. */
static bool prepare(struct cli *cli, CURL *easy, const char *url,
                    const char *path, struct text *body)
{
    const char *base = url;
    bool tls = cli_variable(cli, "DOCKER_TLS_VERIFY") != NULL;
    if (strncmp(url, "unix://", 7) == 0) {
        curl_easy_setopt(easy, CURLOPT_UNIX_SOCKET_PATH, url + 7);
        base = "http://engine";
    } else if (strncmp(url, "tcp://", 6) == 0) {
        base = arena_printf(cli->arena, "%s://%s", tls ? "https" : "http",
                            url + 6);
    } else if (strncmp(url, "http://", 7) != 0 &&
               strncmp(url, "https://", 8) != 0) {
        return false;
    }
    if (strncmp(base, "https://", 8) == 0)
        set_tls(cli, easy);
    cli_http_prepare(easy, arena_printf(cli->arena, "%s%s", base, path), ASK_MS,
                     body);
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_MS);
    return true;
}

static enum cli_engine_state state_of(const char *url, CURLcode code, long os)
{
    if (code == CURLE_OK)
        return CLI_ENGINE_READY;
    if (os == EACCES || os == EPERM)
        return CLI_ENGINE_DENIED;
    bool is_socket = strncmp(url, "unix://", 7) == 0;
    if (is_socket && (os == ENOENT || os == ECONNREFUSED))
        return CLI_ENGINE_ABSENT;
    return is_socket && access(url + 7, F_OK) != 0 ? CLI_ENGINE_ABSENT
                                                   : CLI_ENGINE_SILENT;
}

static const struct node *fail(struct cli_engine *engine,
                               enum cli_engine_state state, const char *why)
{
    engine->state = state;
    engine->trouble = why;
    return NULL;
}

/* One GET; sets state and trouble. Returns the HTTP code. */
static long perform(struct cli *cli, CURL *easy, struct cli_engine *engine)
{
    long os = 0, http = 0;
    CURLcode code = curl_easy_perform(easy);
    curl_easy_getinfo(easy, CURLINFO_OS_ERRNO, &os);
    curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &http);
    engine->state = state_of(engine->url, code, os);
    engine->trouble =
        code == CURLE_OK
            ? NULL
            : arena_strdup(cli->arena, os != 0 ? strerror((int)os)
                                               : curl_easy_strerror(code));
    return http;
}

/* The engine's JSON object at `path`; NULL: state and trouble have the cause.
 */
static const struct node *ask(struct cli *cli, struct cli_engine *engine,
                              const char *path)
{
    struct text body = {0};
    struct diag diag;
    CURL *easy = curl_easy_init();
    if (easy == NULL)
        abort();
    bool named = prepare(cli, easy, engine->url, path, &body);
    long http = named ? perform(cli, easy, engine) : 0;
    curl_easy_cleanup(easy);
    char *json = arena_strndup(cli->arena, text_string(&body), body.len);
    text_free(&body);
    if (!named)
        return fail(engine, CLI_ENGINE_SILENT,
                    "is no address such as unix:///var/run/docker.sock or "
                    "tcp://HOST:PORT");
    if (engine->state != CLI_ENGINE_READY)
        return NULL;
    diag_init(&diag, cli->arena, "answer", NULL, 0);
    const struct node *root =
        http == 200 ? node_read_json(cli->arena, json, strlen(json), &diag)
                    : NULL;
    if (root == NULL || root->kind != NODE_MAP)
        return fail(engine, CLI_ENGINE_SILENT, "does not answer as an engine");
    return root;
}

/* ---- reading ---- */

static bool is_podman(const struct node *version)
{
    NODE_EACH (one, node_first(version, "Components")) {
        if (strstr(node_get_string(one, "Name", ""), "Podman") != NULL)
            return true;
    }
    return false;
}

static bool is_rootless(const struct node *info)
{
    NODE_EACH (one, node_first(info, "SecurityOptions")) {
        const char *option = node_string(one);
        if (option != NULL && strstr(option, "name=rootless") != NULL)
            return true;
    }
    return node_get_bool(info, "Rootless", false);
}

static void read_version(struct cli *cli, const struct node *version,
                         struct cli_engine *engine)
{
    const char *number = node_get_string(version, "Version", "?");
    engine->podman = is_podman(version);
    /* "20.10.24+dfsg1" is how a distribution counts. */
    engine->name = arena_printf(cli->arena, "%s %.*s",
                                engine->podman ? "Podman" : "Docker",
                                (int)strcspn(number, "+~"), number);
    engine->api = node_get_string(version, "ApiVersion", "?");
}

static void read_info(const struct node *info, struct cli_engine *engine)
{
    engine->rootless = is_rootless(info);
    engine->linux_containers =
        strcmp(node_get_string(info, "OSType", "linux"), "linux") == 0;
    engine->limits = node_get_bool(info, "MemoryLimit", false) &&
                     node_get_bool(info, "CpuCfsQuota", false);
    engine->gpus = node_find(node_find(info, "Runtimes"), "nvidia") != NULL;
    engine->cpus = node_get_int(info, "NCPU", 0);
    engine->images = node_get_int(info, "Images", 0);
}

struct cli_engine cli_engine_ask(struct cli *cli, const char *url)
{
    struct cli_engine engine = {.url = url};
    const struct node *version = ask(cli, &engine, "/version");
    if (version == NULL)
        return engine;
    read_version(cli, version, &engine);
    const struct node *info = ask(cli, &engine, "/info");
    if (info != NULL)
        read_info(info, &engine);
    return engine;
}

const struct node *cli_engine_image(struct cli *cli,
                                    const struct cli_engine *engine,
                                    const char *image)
{
    struct cli_engine asked = *engine;
    return ask(cli, &asked, arena_printf(cli->arena, "/images/%s/json", image));
}

bool cli_engine_find(struct cli *cli, struct cli_engine *engine)
{
    struct words places = cli_engine_places(cli);
    for (size_t i = 0; i < places.n; i++) {
        *engine = cli_engine_ask(cli, places.items[i]);
        if (engine->state == CLI_ENGINE_READY && engine->linux_containers)
            return true;
    }
    return false;
}
