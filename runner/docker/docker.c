#include "runner/docker/docker.h"

#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <curl/curl.h>

#include "proto/base/clock.h"
#include "proto/base/text.h"
#include "runner/base/json.h"

enum {
    CONNECT_MS = 5000,
    USUAL_MS = 30000,
    MOST_BYTES = 16 * 1024 * 1024, /* of an answer in one piece */
    MOST_WORDS = 64 * 1024,        /* of a refusal; the rest is not needed */
    VERSION_BYTES = 16
};

/* The version that the API facts of this program were measured with. */
#define USUAL_VERSION "1.41"

struct docker {
    const struct docker_address *address;
    CURLM *multi; /* has the connection */
    CURL *curl;
    atomic_bool cancelled;
    int cancel_fd;               /* readable once cancelled */
    char version[VERSION_BYTES]; /* of the API */
    bool negotiated; /* the engine was asked which versions it has */
};

struct docker *docker_new(const struct docker_address *address)
{
    struct docker *docker = ht_xcalloc(1, sizeof *docker);
    docker->address = address;
    docker->multi = curl_multi_init();
    docker->curl = curl_easy_init();
    docker->cancel_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (docker->multi == NULL || docker->curl == NULL || docker->cancel_fd < 0)
        ht_out_of_memory();
    atomic_init(&docker->cancelled, false);
    memcpy(docker->version, USUAL_VERSION, sizeof USUAL_VERSION);
    return docker;
}

void docker_free(struct docker *docker)
{
    if (docker == NULL)
        return;
    curl_easy_cleanup(docker->curl);
    curl_multi_cleanup(docker->multi);
    close(docker->cancel_fd);
    free(docker);
}

void docker_cancel(struct docker *docker)
{
    atomic_store(&docker->cancelled, true);
    (void)eventfd_write(docker->cancel_fd, 1);
}

bool docker_is_cancelled(const struct docker *docker)
{
    return atomic_load(&docker->cancelled);
}

bool docker_pause(struct docker *docker, int ms)
{
    const int64_t end = clock_monotonic_ms() + ms;
    struct pollfd cancel = {.fd = docker->cancel_fd, .events = POLLIN};
    int64_t left = ms;
    while (left > 0 && !docker_is_cancelled(docker)) {
        (void)poll(&cancel, 1, (int)left);
        left = end - clock_monotonic_ms();
    }
    return !docker_is_cancelled(docker);
}

const char *docker_escape(struct arena *arena, const char *text)
{
    static const char safe[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                               "abcdefghijklmnopqrstuvwxyz"
                               "0123456789-._~/";
    struct text out = {0};
    for (; *text != '\0'; text++) {
        if (strchr(safe, *text) != NULL)
            text_append(&out, text, 1);
        else
            text_printf(&out, "%%%02X", (unsigned)(unsigned char)*text);
    }
    return text_take(&out, arena);
}

/* ---- one request and its answer ---- */

enum exchange_end { END_BY_ENGINE, END_TAKEN, END_TOO_LONG, END_NO_JSON };

struct exchange {
    struct docker *docker;
    const struct docker_call *call;
    bool versioned;     /* the path follows a version of the API */
    docker_take *take;  /* NULL: the answer is one piece */
    void *context;      /* of take */
    struct text answer; /* in one piece, or a refusal */
    struct json_stream stream;
    int64_t heard_ms; /* when the engine's last bytes came */
    bool silent;      /* too long */
    enum exchange_end end;
};

static bool is_success(long code)
{
    return (code >= 200 && code < 300) || code == 304; /* it is so already */
}

static long get_code(const struct exchange *exchange)
{
    long code = 0;
    curl_easy_getinfo(exchange->docker->curl, CURLINFO_RESPONSE_CODE, &code);
    return code;
}

static int get_timeout(const struct exchange *exchange)
{
    return exchange->call->timeout_ms > 0 ? exchange->call->timeout_ms
                                          : USUAL_MS;
}

/* Returns the bytes taken; any other number makes curl end the call. */
static size_t take_bytes(char *bytes, size_t size, size_t n, void *context)
{
    struct exchange *exchange = context;
    const size_t len = size * n;
    const bool good = is_success(get_code(exchange));
    exchange->heard_ms = clock_monotonic_ms();
    if (good && exchange->take != NULL) {
        const enum json_stream_end end = json_stream_feed(
            &exchange->stream, bytes, len, exchange->take, exchange->context);
        if (end != JSON_STREAM_MORE)
            exchange->end = end == JSON_STREAM_LEFT ? END_TAKEN : END_NO_JSON;
        return end == JSON_STREAM_MORE ? len : 0;
    }
    if (exchange->answer.len + len <= (good ? MOST_BYTES : MOST_WORDS)) {
        text_append(&exchange->answer, bytes, len);
        return len;
    }
    exchange->end = good ? END_TOO_LONG : END_BY_ENGINE;
    return 0;
}

static void set_route(struct exchange *exchange)
{
    const struct docker_address *address = exchange->docker->address;
    CURL *curl = exchange->docker->curl;
    struct text url = {0};
    text_puts(&url, address->base);
    if (exchange->versioned)
        text_printf(&url, "/v%s", exchange->docker->version);
    text_puts(&url, exchange->call->path);
    curl_easy_setopt(curl, CURLOPT_URL, url.data); /* copied */
    text_free(&url);
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take_bytes);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, exchange);
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_MS);
    if (exchange->take == NULL)
        curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, (long)get_timeout(exchange));
    if (address->socket != NULL) {
        curl_easy_setopt(curl, CURLOPT_UNIX_SOCKET_PATH, address->socket);
        curl_easy_setopt(curl, CURLOPT_PROXY, ""); /* not the environment's */
    }
    if (address->ca != NULL)
        curl_easy_setopt(curl, CURLOPT_CAINFO, address->ca);
    if (address->cert != NULL)
        curl_easy_setopt(curl, CURLOPT_SSLCERT, address->cert);
    if (address->key != NULL)
        curl_easy_setopt(curl, CURLOPT_SSLKEY, address->key);
}

/* The method, its body, and the headers, which the caller frees. */
static struct curl_slist *set_request(const struct exchange *exchange)
{
    const struct docker_call *call = exchange->call;
    CURL *curl = exchange->docker->curl;
    curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, call->method);
    struct curl_slist *headers = curl_slist_append(NULL, "Expect:");
    if (strcmp(call->method, "POST") == 0) {
        curl_easy_setopt(curl, CURLOPT_POSTFIELDS,
                         call->body != NULL ? call->body : "");
        headers = curl_slist_append(headers, "Content-Type: application/json");
    }
    if (call->auth != NULL) {
        struct text header = {0};
        text_printf(&header, "X-Registry-Auth: %s", call->auth);
        headers = curl_slist_append(headers, header.data);
        text_free(&header);
    }
    return headers;
}

static enum ht_status fail_transfer(const struct exchange *exchange,
                                    CURLcode code, struct ht_error *err)
{
    const struct docker *docker = exchange->docker;
    const char *engine = docker->address->text;
    if (docker_is_cancelled(docker))
        return ht_fail(err, HT_UNAVAILABLE, "%s: cancelled", engine);
    if (exchange->silent || code == CURLE_OPERATION_TIMEDOUT)
        return ht_fail(err, HT_UNAVAILABLE,
                       "%s: the engine did not answer within %g s", engine,
                       get_timeout(exchange) / 1000.0);
    long reason = 0;
    curl_easy_getinfo(docker->curl, CURLINFO_OS_ERRNO, &reason);
    if (code == CURLE_COULDNT_CONNECT && reason != 0)
        return ht_fail(err, HT_UNAVAILABLE, "%s: cannot connect: %s", engine,
                       strerrordesc_np((int)reason));
    return ht_fail(err, HT_UNAVAILABLE, "%s: %s", engine,
                   curl_easy_strerror(code));
}

/* The status of an answer that came without a fault of the connection. */
static enum ht_status check_answer(struct exchange *exchange,
                                   struct ht_error *err)
{
    const char *engine = exchange->docker->address->text;
    const long code = get_code(exchange);
    if (!is_success(code)) {
        struct arena *arena = arena_new();
        const enum ht_status status = docker_refusal(
            arena, code, exchange->answer.data, exchange->answer.len, err);
        arena_free(arena);
        return status;
    }
    if (exchange->end == END_TOO_LONG)
        return ht_fail(err, HT_INTERNAL,
                       "%s: an answer of more than %d MiB is not read", engine,
                       MOST_BYTES / 1024 / 1024);
    if (exchange->end == END_NO_JSON)
        return ht_fail(err, HT_INTERNAL, "%s: the answer is not JSON", engine);
    if (exchange->end == END_BY_ENGINE &&
        !json_stream_is_whole(&exchange->stream))
        return ht_fail(err, HT_UNAVAILABLE, "%s: the answer broke off", engine);
    return HT_OK;
}

/* Of a stream: the time left until it counts as silent. */
static int64_t find_time_left(const struct exchange *exchange)
{
    enum { WAKE_MS = 1000 };
    if (exchange->take == NULL)
        return WAKE_MS; /* curl has the deadline */
    const int64_t silent = clock_monotonic_ms() - exchange->heard_ms;
    const int64_t left = get_timeout(exchange) - silent;
    return left < WAKE_MS ? left : WAKE_MS;
}

static CURLcode get_result(CURLM *multi)
{
    int left;
    const CURLMsg *message = curl_multi_info_read(multi, &left);
    return message != NULL ? message->data.result : CURLE_ABORTED_BY_CALLBACK;
}

/* curl_easy_perform() that a cancel wakes up. */
static CURLcode perform(struct exchange *exchange)
{
    struct docker *docker = exchange->docker;
    struct curl_waitfd cancel = {.fd = docker->cancel_fd,
                                 .events = CURL_WAIT_POLLIN};
    if (curl_multi_add_handle(docker->multi, docker->curl) != CURLM_OK)
        return CURLE_FAILED_INIT;
    exchange->heard_ms = clock_monotonic_ms();
    for (;;) {
        int running = 0;
        const int64_t left = find_time_left(exchange);
        exchange->silent = left <= 0;
        if (exchange->silent || docker_is_cancelled(docker) ||
            curl_multi_perform(docker->multi, &running) != CURLM_OK ||
            running == 0)
            break;
        (void)curl_multi_poll(docker->multi, &cancel, 1, (int)left, NULL);
    }
    const CURLcode code = get_result(docker->multi);
    curl_multi_remove_handle(docker->multi, docker->curl);
    return code;
}

/* One request as it is; a refusal's message stays in exchange->answer. */
static enum ht_status transfer(struct exchange *exchange, struct ht_error *err)
{
    struct docker *docker = exchange->docker;
    curl_easy_reset(docker->curl); /* keeps the connection */
    text_clear(&exchange->answer);
    set_route(exchange);
    struct curl_slist *headers = set_request(exchange);
    curl_easy_setopt(docker->curl, CURLOPT_HTTPHEADER, headers);
    const CURLcode code = perform(exchange);
    curl_slist_free_all(headers);
    if (code == CURLE_OK || code == CURLE_WRITE_ERROR)
        return check_answer(exchange, err);
    return fail_transfer(exchange, code, err);
}

/* ---- which version of the API ---- */

enum { MINORS = 10000 }; /* more than a major version can have */

/* "1.41" as 10041, -1 when it is no version. */
static long read_version(const char *text)
{
    char *end;
    if (text == NULL || text[strspn(text, "0123456789.")] != '\0')
        return -1;
    const long major = strtol(text, &end, 10);
    if (end == text || *end != '.')
        return -1;
    const char *rest = end + 1;
    const long minor = strtol(rest, &end, 10);
    if (end == rest || *end != '\0' || major >= MINORS || minor >= MINORS)
        return -1;
    return major * MINORS + minor;
}

/* Takes the newest up to USUAL_VERSION, else the oldest there is. */
static void choose_version(struct docker *docker, const struct node *facts)
{
    const long newest =
        read_version(node_get_string(facts, "ApiVersion", NULL));
    const long oldest =
        read_version(node_get_string(facts, "MinAPIVersion", NULL));
    long chosen = read_version(USUAL_VERSION);
    if (newest >= 0 && newest < chosen)
        chosen = newest;
    else if (oldest > chosen)
        chosen = oldest;
    (void)snprintf(docker->version, sizeof docker->version, "%ld.%ld",
                   chosen / MINORS, chosen % MINORS);
}

static enum ht_status read_answer(struct exchange *exchange,
                                  struct arena *arena,
                                  const struct node **answer,
                                  struct ht_error *err)
{
    const struct text *text = &exchange->answer;
    struct diag diag;
    diag_init(&diag, arena, "answer", NULL, 0);
    const struct node *read =
        text->len > 0 ? node_read_long_json(arena, text->data, text->len, &diag)
                      : NULL;
    if (read == NULL && text->len > 0)
        return ht_fail(err, HT_INTERNAL, "%s: the answer is not JSON: %s",
                       exchange->docker->address->text, diag.first->text);
    if (answer != NULL)
        *answer = read;
    return HT_OK;
}

static void fini_exchange(struct exchange *exchange)
{
    json_stream_fini(&exchange->stream);
    text_free(&exchange->answer);
}

static enum ht_status negotiate(struct docker *docker, struct ht_error *err)
{
    const struct docker_call call = {.method = "GET", .path = "/version"};
    struct exchange exchange = {.docker = docker, .call = &call};
    struct arena *arena = arena_new();
    const struct node *facts = NULL;
    enum ht_status status = transfer(&exchange, err);
    if (status == HT_OK)
        status = read_answer(&exchange, arena, &facts, err);
    if (status == HT_OK) {
        choose_version(docker, facts);
        docker->negotiated = true;
    }
    fini_exchange(&exchange);
    arena_free(arena);
    return status;
}

/* dockerd refuses versions that it does not support with "client version 1.41
 * is too old" or the like; then it is asked for its own, once. */
static enum ht_status run(struct exchange *exchange, struct ht_error *err)
{
    struct docker *docker = exchange->docker;
    enum ht_status status = transfer(exchange, err);
    if (status != HT_INVALID || docker->negotiated ||
        exchange->answer.data == NULL ||
        strstr(exchange->answer.data, "client version") == NULL)
        return status;
    status = negotiate(docker, err);
    return status == HT_OK ? transfer(exchange, err) : status;
}

enum ht_status docker_call(struct docker *docker, struct arena *arena,
                           const struct docker_call *call,
                           const struct node **answer, struct ht_error *err)
{
    struct exchange exchange = {
        .docker = docker, .call = call, .versioned = true};
    enum ht_status status = run(&exchange, err);
    if (status == HT_OK)
        status = read_answer(&exchange, arena, answer, err);
    fini_exchange(&exchange);
    return status;
}

enum ht_status docker_get(struct docker *docker, struct arena *arena,
                          const char *path, const struct node **answer,
                          struct ht_error *err)
{
    const struct docker_call call = {.method = "GET", .path = path};
    return docker_call(docker, arena, &call, answer, err);
}

enum ht_status docker_stream(struct docker *docker,
                             const struct docker_call *call, docker_take *take,
                             void *context, struct ht_error *err)
{
    struct exchange exchange = {.docker = docker,
                                .call = call,
                                .versioned = true,
                                .take = take,
                                .context = context};
    const enum ht_status status = run(&exchange, err);
    fini_exchange(&exchange);
    return status;
}

/* ---- the kind of engine ---- */

static bool is_podman(const struct node *version)
{
    NODE_EACH (component, node_first(version, "Components")) {
        if (strcmp(node_get_string(component, "Name", ""), "Podman Engine") ==
            0)
            return true;
    }
    return false;
}

static bool is_rootless(const struct node *info)
{
    if (node_get_bool(info, "Rootless", false))
        return true;
    NODE_EACH (option, node_first(info, "SecurityOptions")) {
        if (option->kind == NODE_STRING &&
            strcmp(option->text, "name=rootless") == 0)
            return true;
    }
    return false;
}

/* "Docker 20.10.24" of "20.10.24+dfsg1": what distributions add is noise. */
static const char *name_version(struct arena *arena, const char *engine,
                                const char *version)
{
    const size_t len = strspn(version, "0123456789.");
    return arena_printf(arena, "%s %.*s", engine, (int)len, version);
}

/* The caller waits, so the limit is short; but Podman 4.3 asks the package
 * manager for its version, which takes 17 s on a very busy machine. */
static enum ht_status ask(struct docker *docker, struct arena *arena,
                          const char *path, const struct node **answer,
                          struct ht_error *err)
{
    enum { PATIENCE_MS = 30000 };
    const struct docker_call call = {
        .method = "GET", .path = path, .timeout_ms = PATIENCE_MS};
    return docker_call(docker, arena, &call, answer, err);
}

enum ht_status docker_ask_facts(struct docker *docker, struct arena *arena,
                                struct docker_facts *facts,
                                struct ht_error *err)
{
    const struct node *version = NULL, *info = NULL;
    enum ht_status status = ask(docker, arena, "/version", &version, err);
    if (status == HT_OK)
        status = ask(docker, arena, "/info", &info, err);
    if (status != HT_OK)
        return status;
    const bool podman = is_podman(version);
    *facts = (struct docker_facts){
        .podman = podman,
        .rootless = is_rootless(info),
        .gpus = node_find(node_find(info, "Runtimes"), "nvidia") != NULL,
        .version = name_version(arena, podman ? "Podman" : "Docker",
                                node_get_string(version, "Version", "")),
        .cpus = node_get_int(info, "NCPU", 0),
        .memory = node_get_int(info, "MemTotal", 0),
    };
    return HT_OK;
}
