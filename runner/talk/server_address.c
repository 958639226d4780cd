#include "runner/talk/server_address.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <curl/curl.h>

#include "proto/base/arena.h"
#include "proto/base/limits.h"
#include "proto/base/log.h"
#include "proto/base/text.h"
#include "proto/doc/node.h"
#include "runner/base/disk.h"
#include "runner/base/json.h"
#include "runner/talk/uplink.h"

_Static_assert((int)SERVER_PINS_BYTES == (int)UPLINK_PINS_BYTES, "the same");

struct server_address {
    pthread_mutex_t lock; /* one question at a time */
    struct arena *arena;  /* of this and its paths */
    char server[SERVER_URL_BYTES];
    const char *token_file, *folder;
    struct trust trust;
    struct uplink *uplink;
    atomic_bool stopped;
};

struct server_address *server_address_new(const char *server,
                                          const char *token_file,
                                          const struct trust *trust,
                                          struct uplink *uplink)
{
    struct arena *arena = arena_new();
    struct server_address *address = arena_alloc(arena, 1, sizeof *address);
    const char *slash = strrchr(token_file, '/');
    address->arena = arena;
    address->trust = *trust;
    address->uplink = uplink;
    pthread_mutex_init(&address->lock, NULL);
    (void)snprintf(address->server, sizeof address->server, "%s", server);
    address->token_file = arena_strdup(arena, token_file);
    address->folder =
        slash != NULL
            ? arena_strndup(arena, token_file, (size_t)(slash - token_file))
            : ".";
    atomic_init(&address->stopped, false);
    return address;
}

void server_address_free(struct server_address *address)
{
    if (address == NULL)
        return;
    pthread_mutex_destroy(&address->lock);
    arena_free(address->arena);
}

void server_address_stop(struct server_address *address)
{
    atomic_store(&address->stopped, true);
}

enum ht_status server_address_token(const char *token_file,
                                    char token[SERVER_TOKEN_BYTES],
                                    struct ht_error *err)
{
    FILE *file = fopen(token_file, "re");
    if (file == NULL)
        return ht_fail_errno(err, errno, "cannot open token file %s",
                             token_file);
    char line[SERVER_TOKEN_BYTES] = "";
    const bool read = fgets(line, sizeof line, file) != NULL;
    (void)fclose(file);
    line[strcspn(line, " \t\r\n")] = '\0';
    if (!read || line[0] == '\0')
        return ht_fail(err, HT_IO, "token file %s is empty", token_file);
    memcpy(token, line, sizeof line);
    return HT_OK;
}

/* ---- one GET ---- */

static size_t keep_body(char *bytes, size_t size, size_t n, void *context)
{
    struct text *body = context;
    if (body->len + size * n > HT_MAX_MESSAGE)
        return 0; /* makes curl fail */
    text_append(body, bytes, size * n);
    return size * n;
}

static int stop_transfer(void *context, curl_off_t a, curl_off_t b,
                         curl_off_t c, curl_off_t d)
{
    const struct server_address *address = context;
    (void)a, (void)b, (void)c, (void)d;
    return atomic_load(&address->stopped);
}

static struct trust trust_now(struct server_address *address,
                              char pins[SERVER_PINS_BYTES])
{
    struct trust trust = address->trust;
    uplink_pins(address->uplink, pins);
    trust.pin = pins[0] != '\0' ? pins : NULL;
    return trust;
}

static struct curl_slist *set_up(CURL *curl, struct server_address *address,
                                 const char *url, const char *token,
                                 struct text *body)
{
    char pins[SERVER_PINS_BYTES];
    char header[SERVER_TOKEN_BYTES + 32];
    const struct trust trust = trust_now(address, pins);
    trust_apply(&trust, curl);
    (void)snprintf(header, sizeof header, "Authorization: Bearer %s", token);
    struct curl_slist *headers = curl_slist_append(NULL, header);
    curl_easy_setopt(curl, CURLOPT_URL, url);
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_NOPROXY, "127.0.0.1,localhost,::1");
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, 10000L);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, 30000L);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, keep_body);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, body);
    curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, stop_transfer);
    curl_easy_setopt(curl, CURLOPT_XFERINFODATA, address);
    return headers;
}

static enum ht_status get_server(struct server_address *address,
                                 const char *server, const char *token,
                                 struct text *body, struct ht_error *err)
{
    if (trust_check(&address->trust, server, true, err) != HT_OK)
        return HT_DENIED;
    CURL *curl = curl_easy_init();
    if (curl == NULL)
        return ht_fail(err, HT_UNAVAILABLE, "libcurl cannot start");
    char url[SERVER_URL_BYTES + 32];
    const size_t len = strlen(server);
    (void)snprintf(url, sizeof url, "%s%shypertune/v1/server", server,
                   len > 0 && server[len - 1] == '/' ? "" : "/");
    char why[CURL_ERROR_SIZE] = "";
    struct curl_slist *headers = set_up(curl, address, url, token, body);
    curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, why);
    const CURLcode code = curl_easy_perform(curl);
    long http = 0;
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &http);
    curl_slist_free_all(headers);
    curl_easy_cleanup(curl);
    if (trust_check_refusal(server, why, err) != HT_OK)
        return HT_DENIED;
    if (trust_is_lacking((int)code))
        return ht_fail(err, HT_DENIED, "no trust in %.100s: %.120s", server,
                       curl_easy_strerror(code));
    if (code != CURLE_OK)
        return ht_fail(err, HT_UNAVAILABLE, "%s: %s", server,
                       curl_easy_strerror(code));
    if (http == 401 || http == 403)
        return ht_fail(err, HT_UNAUTHENTICATED, "%s refuses the runner token",
                       server);
    if (http != 200)
        return ht_fail(err, HT_UNAVAILABLE, "%s answered %ld", server, http);
    return HT_OK;
}

static bool is_address(const char *url)
{
    return (strncmp(url, "tcp://", 6) == 0 ||
            strncmp(url, "tls+tcp://", 10) == 0) &&
           strlen(url) < SERVER_URL_BYTES;
}

static enum ht_status take_addresses(struct server_address *address,
                                     const char *server,
                                     const struct text *body,
                                     char control[SERVER_URL_BYTES],
                                     struct ht_error *err)
{
    struct arena *arena = arena_new();
    const struct node *map = json_read(arena, body->data, body->len);
    const struct uplink_server named = {
        .control = node_get_string(map, "control", ""),
        .report = node_get_string(map, "report", ""),
        .pins = node_get_string(map, "tlsPins", ""),
    };
    const enum ht_status status =
        is_address(named.control)
            ? uplink_aim(address->uplink, &named, control, err)
            : ht_fail(err, HT_UNAVAILABLE, "%s names no control address",
                      server);
    arena_free(arena);
    return status;
}

static enum ht_status ask(struct server_address *address, const char *server,
                          char control[SERVER_URL_BYTES], struct ht_error *err)
{
    char token[SERVER_TOKEN_BYTES];
    enum ht_status status =
        server_address_token(address->token_file, token, err);
    struct text body = {0};
    if (status == HT_OK)
        status = get_server(address, server, token, &body, err);
    if (status == HT_OK)
        status = take_addresses(address, server, &body, control, err);
    text_free(&body);
    return status;
}

/* ---- server.json ---- */

static bool read_server_file(const struct server_address *address,
                             char server[SERVER_URL_BYTES])
{
    struct arena *arena = arena_new();
    const struct node *map = NULL;
    (void)disk_read_json(arena, address->folder, "server.json", &map, NULL);
    const char *url = node_get_string(map, "http", "");
    const bool found = strncmp(url, "http", 4) == 0 &&
                       strlen(url) < SERVER_URL_BYTES &&
                       strcmp(url, address->server) != 0;
    if (found)
        (void)snprintf(server, SERVER_URL_BYTES, "%s", url);
    arena_free(arena);
    return found;
}

static enum ht_status find(struct server_address *address,
                           char control[SERVER_URL_BYTES], struct ht_error *err)
{
    if (atomic_load(&address->stopped))
        return ht_fail(err, HT_UNAVAILABLE, "the runner is ending");
    const enum ht_status status = ask(address, address->server, control, err);
    char other[SERVER_URL_BYTES];
    if (status == HT_OK || !read_server_file(address, other) ||
        ask(address, other, control, NULL) != HT_OK)
        return status;
    log_event(LOG_INFO, "server.moved", "from=%s to=%s", address->server,
              other);
    memcpy(address->server, other, sizeof other);
    return HT_OK;
}

enum ht_status server_address_find(struct server_address *address,
                                   char control[SERVER_URL_BYTES],
                                   struct ht_error *err)
{
    pthread_mutex_lock(&address->lock);
    const enum ht_status status = find(address, control, err);
    pthread_mutex_unlock(&address->lock);
    return status;
}

enum ht_status server_address_get(struct server_address *address,
                                  struct server_found *found,
                                  struct ht_error *err)
{
    const enum ht_status status =
        server_address_token(address->token_file, found->token, err);
    if (status != HT_OK)
        return status;
    pthread_mutex_lock(&address->lock);
    memcpy(found->url, address->server, sizeof found->url);
    pthread_mutex_unlock(&address->lock);
    found->trust = trust_now(address, found->pins);
    return HT_OK;
}
