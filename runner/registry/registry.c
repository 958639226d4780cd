#include "runner/registry/registry.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <curl/curl.h>
#include <nettle/base64.h>

#include "proto/base/text.h"
#include "proto/base/token.h"
#include "proto/doc/node.h"
#include "runner/base/json.h"
#include "runner/docker/registry_auth.h"

enum {
    CALL_MS = 30000,
    MOST_BYTES = 4 * 1024 * 1024, /* of a manifest, as registries have it */
    DIGEST_BYTES = (int)sizeof "sha256:" + 2 * TOKEN_HASH_BYTES
};

#define OCI "application/vnd.oci.image."
#define DOCKER "application/vnd.docker.distribution.manifest."

static const char accepted[] =
    "Accept: " OCI "index.v1+json, " OCI "manifest.v1+json, " DOCKER
    "list.v2+json, " DOCKER "v2+json";

/* One image at its registry. */
struct place {
    struct arena *arena;
    const char *name;       /* as the spec has it */
    const char *host;       /* registry_auth_host() */
    const char *base;       /* "https://HOST/v2/REPOSITORY" */
    const char *repository; /* its name there */
    const char *reference;  /* tag or digest */
    const char *pinned;     /* the name up to the tag */
    bool local;             /* http is allowed */
    const struct registry_login *login;
    const char *authorization; /* header; NULL: none yet */
};

struct answer {
    struct text body;
    char *challenge; /* WWW-Authenticate, in the arena; NULL: none */
    long code;
    bool too_long;
    struct arena *arena;
};

/* ---- names ---- */

static bool is_local(const char *host)
{
    static const char *const names[] = {"localhost", "127.0.0.1"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const size_t len = strlen(names[i]);
        if (strncmp(host, names[i], len) == 0 &&
            (host[len] == '\0' || host[len] == ':'))
            return true;
    }
    return false;
}

static struct place place_of(struct arena *arena, const char *name)
{
    static const char hub[] = "docker.io";
    struct place place = {
        .arena = arena, .name = name, .host = registry_auth_host(arena, name)};
    const bool is_hub = strcmp(place.host, hub) == 0;
    const size_t first = strcspn(name, "/");
    const bool named =
        name[first] == '/' && (!is_hub || memchr(name, '.', first) != NULL);
    const char *rest = named ? name + first + 1 : name;
    const char *at = strchr(rest, '@');
    const size_t len = at != NULL ? (size_t)(at - rest) : strlen(rest);
    const char *colon = memchr(rest, ':', len);
    const size_t own = colon != NULL ? (size_t)(colon - rest) : len;
    place.local = is_local(place.host);
    place.repository =
        arena_printf(arena, "%s%.*s",
                     is_hub && memchr(rest, '/', own) == NULL ? "library/" : "",
                     (int)own, rest);
    place.pinned = arena_strndup(arena, name, (size_t)(rest - name) + own);
    if (at != NULL)
        place.reference = at + 1;
    else if (colon != NULL)
        place.reference = colon + 1;
    else
        place.reference = "latest";
    place.base = arena_printf(
        arena, "%s://%s/v2/%s", place.local ? "http" : "https",
        is_hub ? "registry-1.docker.io" : place.host, place.repository);
    return place;
}

/* ---- one request ---- */

static size_t take_body(char *bytes, size_t size, size_t n, void *context)
{
    struct answer *answer = context;
    answer->too_long = answer->body.len + size * n > MOST_BYTES;
    if (answer->too_long)
        return 0;
    text_append(&answer->body, bytes, size * n);
    return size * n;
}

static size_t take_header(char *bytes, size_t size, size_t n, void *context)
{
    static const char name[] = "www-authenticate:";
    struct answer *answer = context;
    const size_t len = size * n;
    if (len > sizeof name && strncasecmp(bytes, name, sizeof name - 1) == 0) {
        char *value = arena_strndup(answer->arena, bytes + sizeof name - 1,
                                    len - (sizeof name - 1));
        value += strspn(value, " \t");
        value[strcspn(value, "\r\n")] = '\0';
        answer->challenge = value;
    }
    return len;
}

static void set_options(CURL *curl, const struct place *place, const char *url,
                        struct answer *answer)
{
    curl_easy_setopt(curl, CURLOPT_URL, url);
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR,
                     place->local ? "http,https" : "https");
    curl_easy_setopt(curl, CURLOPT_REDIR_PROTOCOLS_STR,
                     place->local ? "http,https" : "https");
    /* Blobs are elsewhere; curl sends no other host our credentials. */
    curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 1L);
    curl_easy_setopt(curl, CURLOPT_MAXREDIRS, 5L);
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, (long)CALL_MS);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take_body);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, answer);
    curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, take_header);
    curl_easy_setopt(curl, CURLOPT_HEADERDATA, answer);
    if (place->local)
        curl_easy_setopt(curl, CURLOPT_PROXY, "");
}

/* `form`: a POST of it; NULL: a GET. The body is the caller's. */
static enum ht_status ask(const struct place *place, const char *url,
                          const char *authorization, const char *form,
                          struct answer *answer, struct ht_error *err)
{
    CURL *curl = curl_easy_init();
    struct curl_slist *headers = curl_slist_append(NULL, accepted);
    *answer = (struct answer){.arena = place->arena};
    if (curl == NULL)
        ht_out_of_memory();
    if (authorization != NULL)
        headers = curl_slist_append(headers, authorization);
    set_options(curl, place, url, answer);
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
    if (form != NULL)
        curl_easy_setopt(curl, CURLOPT_POSTFIELDS, form);
    const CURLcode code = curl_easy_perform(curl);
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &answer->code);
    curl_easy_cleanup(curl);
    curl_slist_free_all(headers);
    if (code == CURLE_OK)
        return HT_OK;
    text_free(&answer->body);
    if (answer->too_long)
        return ht_fail(err, HT_PRECONDITION,
                       "image %s: an answer of the registry %s has more than "
                       "%d bytes",
                       place->name, place->host, MOST_BYTES);
    return ht_fail(err, HT_UNAVAILABLE,
                   "image %s: the registry %s cannot be asked: %s", place->name,
                   place->host, curl_easy_strerror(code));
}

/* ---- who we are ---- */

static const char *basic(const struct place *place)
{
    const char *both = arena_printf(place->arena, "%s:%s", place->login->user,
                                    place->login->password);
    const size_t len = strlen(both);
    char *text =
        arena_alloc(place->arena, BASE64_ENCODE_RAW_LENGTH(len) + 1, 1);
    base64_encode_raw(text, len, (const uint8_t *)both);
    return arena_printf(place->arena, "Authorization: Basic %s", text);
}

/* The value of NAME="VALUE" in a challenge; "" where it has none. */
static const char *parameter(struct arena *arena, const char *challenge,
                             const char *name)
{
    const char *begin = arena_printf(arena, "%s=\"", name);
    const char *at = challenge;
    while ((at = strstr(at, begin)) != NULL && at > challenge &&
           strchr(" ,", at[-1]) == NULL)
        at++;
    if (at == NULL)
        return "";
    at += strlen(begin);
    return arena_strndup(arena, at, strcspn(at, "\""));
}

static const char *escaped(struct arena *arena, const char *value)
{
    char *text = curl_easy_escape(NULL, value, (int)strlen(value));
    const char *copy = arena_strdup(arena, text != NULL ? text : "");
    curl_free(text);
    return copy;
}

static enum ht_status refuse(const struct place *place, long code,
                             struct ht_error *err)
{
    if (code == 401 || code == 403)
        return ht_fail(err, HT_DENIED,
                       "image %s: the registry %s gives no access (HTTP %ld); "
                       "log in to it where the runner is (docker login), or "
                       "say `command` in the spec",
                       place->name, place->host, code);
    if (code == 404)
        return ht_fail(err, HT_PRECONDITION,
                       "image %s: the registry %s has no such image",
                       place->name, place->host);
    return ht_fail(err, HT_UNAVAILABLE,
                   "image %s: the registry %s answers HTTP %ld", place->name,
                   place->host, code);
}

/* A token for this repository, from where the challenge says. */
static enum ht_status get_token(struct place *place, const char *challenge,
                                struct ht_error *err)
{
    struct answer answer;
    struct arena *arena = place->arena;
    const struct registry_login *login = place->login;
    const char *realm = parameter(arena, challenge, "realm");
    const char *words =
        arena_printf(arena, "service=%s&scope=%s",
                     escaped(arena, parameter(arena, challenge, "service")),
                     escaped(arena, arena_printf(arena, "repository:%s:pull",
                                                 place->repository)));
    const char *form = NULL;
    if (login->identity != NULL)
        form = arena_printf(arena,
                            "grant_type=refresh_token&client_id=hypertune&%s&"
                            "refresh_token=%s",
                            words, escaped(arena, login->identity));
    const char *url =
        form != NULL
            ? realm
            : arena_printf(arena, "%s%c%s", realm,
                           strchr(realm, '?') != NULL ? '&' : '?', words);
    enum ht_status status =
        ask(place, url, login->user != NULL ? basic(place) : NULL, form,
            &answer, err);
    if (status != HT_OK)
        return status;
    const struct node *map =
        json_read_map(arena, text_string(&answer.body), answer.body.len);
    const char *token =
        node_get_string(map, "token", node_get_string(map, "access_token", ""));
    text_free(&answer.body);
    if (answer.code != 200)
        return refuse(place, answer.code, err);
    place->authorization =
        arena_printf(arena, "Authorization: Bearer %s", token);
    return HT_OK;
}

static enum ht_status log_in(struct place *place, const char *challenge,
                             struct ht_error *err)
{
    if (strncasecmp(challenge, "Bearer ", 7) == 0)
        return get_token(place, challenge, err);
    if (strncasecmp(challenge, "Basic", 5) == 0 && place->login->user != NULL) {
        place->authorization = basic(place);
        return HT_OK;
    }
    return refuse(place, 401, err);
}

/* ---- what is there ---- */

static void hash(const struct text *body, char digest[DIGEST_BYTES])
{
    unsigned char sum[TOKEN_HASH_BYTES];
    int n = snprintf(digest, DIGEST_BYTES, "sha256:");
    token_sha256(sum, text_string(body), body->len);
    for (size_t i = 0; i < sizeof sum; i++)
        n += snprintf(digest + n, DIGEST_BYTES - (size_t)n, "%02x", sum[i]);
}

/* "manifests" or "blobs"; *digest is what the bytes have, and must be the
 * reference where that is one. */
static enum ht_status get(struct place *place, const char *kind,
                          const char *reference, const struct node **map,
                          const char **digest, struct ht_error *err)
{
    struct answer answer;
    char sum[DIGEST_BYTES];
    const char *url =
        arena_printf(place->arena, "%s/%s/%s", place->base, kind, reference);
    enum ht_status status =
        ask(place, url, place->authorization, NULL, &answer, err);
    if (status == HT_OK && answer.code == 401 && answer.challenge != NULL &&
        place->authorization == NULL) {
        text_free(&answer.body);
        status = log_in(place, answer.challenge, err);
        if (status == HT_OK)
            status = ask(place, url, place->authorization, NULL, &answer, err);
    }
    if (status != HT_OK)
        return status;
    hash(&answer.body, sum);
    *map =
        json_read_map(place->arena, text_string(&answer.body), answer.body.len);
    text_free(&answer.body);
    if (answer.code != 200)
        return refuse(place, answer.code, err);
    if (*map == NULL ||
        (strchr(reference, ':') != NULL && strcmp(reference, sum) != 0))
        return ht_fail(err, HT_PRECONDITION,
                       "image %s: what the registry %s sent is not %s",
                       place->name, place->host, reference);
    *digest = arena_strdup(place->arena, sum);
    return HT_OK;
}

/* The manifest for the processor; NULL: the list has none. */
static const char *choose(const struct node *list, const char *arch)
{
    NODE_EACH (one, node_items(list)) {
        const struct node *platform = node_find(one, "platform");
        if (strcmp(node_get_string(platform, "os", ""), "linux") == 0 &&
            strcmp(node_get_string(platform, "architecture", ""), arch) == 0)
            return node_get_string(one, "digest", "");
    }
    return NULL;
}

static enum ht_status get_manifest(struct place *place, const char *arch,
                                   const struct node **manifest,
                                   const char **digest, struct ht_error *err)
{
    const char *of_platform;
    enum ht_status status =
        get(place, "manifests", place->reference, manifest, digest, err);
    if (status != HT_OK)
        return status;
    const struct node *list = node_find(*manifest, "manifests");
    if (list == NULL)
        return HT_OK;
    const char *chosen = choose(list, arch);
    if (chosen == NULL)
        return ht_fail(err, HT_PRECONDITION,
                       "image %s is not there for linux/%s", place->name, arch);
    return get(place, "manifests", chosen, manifest, &of_platform, err);
}

enum ht_status registry_read(struct arena *arena, const char *name,
                             const char *arch,
                             const struct registry_login *login,
                             struct image *image, struct ht_error *err)
{
    const struct node *manifest, *config;
    const char *digest, *id;
    enum ht_status status = image_check_name(name, err);
    if (status != HT_OK)
        return status;
    struct arena *scratch = arena_new();
    struct place place = place_of(scratch, name);
    place.login = login;
    status = get_manifest(&place, arch, &manifest, &digest, err);
    if (status == HT_OK)
        status = get(
            &place, "blobs",
            node_get_string(node_find(manifest, "config"), "digest", "sha256:"),
            &config, &id, err);
    if (status == HT_OK) {
        *image = image_read_config(arena, node_find(config, "config"));
        image->id = arena_strdup(arena, id);
        image->digest = arena_printf(arena, "%s@%s", place.pinned, digest);
    }
    arena_free(scratch);
    return status;
}
