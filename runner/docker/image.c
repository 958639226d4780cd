#include "runner/docker/image.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/clock.h"
#include "runner/docker/pull_progress.h"
#include "runner/docker/registry_auth.h"

enum {
    TRIES = 3,
    USUAL_PAUSE_MS = 2000,
    /* Engines send nothing while they unpack a large layer on a slow disk. */
    SILENCE_MS = 5 * 60 * 1000
};

struct pull {
    struct docker *docker;
    struct arena *arena;
    const struct image_request *request;
    const char *path;            /* of the call, with the query */
    const char *host;            /* of the registry */
    const char *auth;            /* NULL: none */
    const char *no_auth_because; /* NULL: none are needed, or they are there */
    struct pull_progress progress;
    const char *fault; /* the message of the stream, NULL: none */
};

__attribute__((format(printf, 2, 3))) static void
report_line(const struct pull *pull, const char *format, ...)
{
    if (pull->request->progress == NULL)
        return;
    va_list args;
    va_start(args, format);
    const char *line = arena_vprintf(pull->arena, format, args);
    va_end(args);
    pull->request->progress(pull->request->context, line);
}

/* ---- the name ---- */

/* Splits "HOST:PORT/A/B:TAG@DIGEST" into what is pulled and its tag or digest,
 * as the query wants them; a digest makes the tag moot. */
static const char *make_path(struct arena *arena, const char *name)
{
    const char *at = strchr(name, '@');
    const size_t len = at != NULL ? (size_t)(at - name) : strlen(name);
    const char *whole = arena_strndup(arena, name, len);
    const char *slash = strrchr(whole, '/');
    const char *colon = strchr(slash != NULL ? slash : whole, ':');
    const char *version = at != NULL      ? at + 1
                          : colon != NULL ? colon + 1
                                          : "latest";
    const char *repository =
        colon != NULL ? arena_strndup(arena, whole, (size_t)(colon - whole))
                      : whole;
    return arena_printf(arena, "/images/create?fromImage=%s&tag=%s",
                        docker_escape(arena, repository),
                        docker_escape(arena, version));
}

/* ---- one try ---- */

static bool take_item(void *context, const struct node *item)
{
    struct pull *pull = context;
    const char *fault = node_get_string(item, "error", NULL);
    if (fault == NULL)
        fault =
            node_get_string(node_find(item, "errorDetail"), "message", NULL);
    if (fault != NULL) {
        pull->fault = docker_clean_words(pull->arena, fault);
        return false;
    }
    struct text line = {0};
    if (pull_progress_take(&pull->progress, item, clock_monotonic_ms(), &line))
        report_line(pull, "pulling %s: %s", pull->request->name, line.data);
    text_free(&line);
    return true;
}

static enum ht_status try_once(struct pull *pull, struct ht_error *err)
{
    const struct docker_call call = {.method = "POST",
                                     .path = pull->path,
                                     .auth = pull->auth,
                                     .timeout_ms = SILENCE_MS};
    pull->fault = NULL;
    const enum ht_status status =
        docker_stream(pull->docker, &call, take_item, pull, err);
    if (status == HT_OK && pull->fault != NULL)
        return ht_fail(err, HT_INTERNAL, "%s", pull->fault);
    return status;
}

/* ---- what a failure means ---- */

enum cure { CURE_REPEAT, CURE_LOGIN, CURE_NAME, CURE_ADMIN };

/* Engines and registries distinguish these in their messages only; the first
 * match counts. */
static const struct {
    const char *words;
    enum cure cure;
} cures[] = {
    {"toomanyrequests", CURE_REPEAT},
    {"too many requests", CURE_REPEAT},
    {"no such host", CURE_REPEAT},      /* name servers fail for a while */
    {"permission denied", CURE_REPEAT}, /* of the machine, not the registry */
    {"denied", CURE_LOGIN},
    {"unauthorized", CURE_LOGIN},
    {"authentication required", CURE_LOGIN},
    {"no basic auth credentials", CURE_LOGIN},
    {"manifest unknown", CURE_NAME},
    {"name unknown", CURE_NAME},
    {"not found", CURE_NAME},
    {"no such image", CURE_NAME},
    {"no matching manifest", CURE_NAME},
    {"invalid reference", CURE_NAME},
    {"x509:", CURE_ADMIN},
    {"does not look like a TLS handshake", CURE_ADMIN},
    {"server gave HTTP response to HTTPS client", CURE_ADMIN},
};

static enum cure find_cure(const struct pull *pull,
                           const struct ht_error *failure)
{
    for (size_t i = 0; i < sizeof cures / sizeof *cures; i++) {
        if (strcasestr(failure->text, cures[i].words) != NULL)
            return cures[i].cure;
    }
    /* Podman's name for images that were built here; no registry has them. */
    if (strcmp(pull->host, "localhost") == 0)
        return CURE_NAME;
    return failure->status == HT_NOT_FOUND || failure->status == HT_INVALID
               ? CURE_NAME
               : CURE_REPEAT;
}

static enum ht_status explain(const struct pull *pull, enum cure cure,
                              const struct ht_error *failure,
                              struct ht_error *err)
{
    const char *name = pull->request->name;
    switch (cure) {
    case CURE_LOGIN:
        if (pull->no_auth_because != NULL)
            return ht_fail(err, HT_PRECONDITION, "image %s: no access (%s): %s",
                           name, pull->no_auth_because, failure->text);
        return ht_fail(err, HT_PRECONDITION,
                       "image %s: there is none, or no access to it; try "
                       "\"docker login %s\" as the runner's user: %s",
                       name, pull->host, failure->text);
    case CURE_NAME:
        return ht_fail(err, HT_PRECONDITION,
                       "image %s: there is none of that name and tag: %s", name,
                       failure->text);
    case CURE_ADMIN:
        return ht_fail(err, HT_PRECONDITION,
                       "image %s: the engine does not trust registry %s, which "
                       "its own settings can change: %s",
                       name, pull->host, failure->text);
    case CURE_REPEAT:
        break;
    }
    return ht_fail(err, HT_UNAVAILABLE, "image %s: cannot be pulled: %s", name,
                   failure->text);
}

static enum ht_status try_all(struct pull *pull, struct ht_error *err)
{
    int pause =
        pull->request->pause_ms > 0 ? pull->request->pause_ms : USUAL_PAUSE_MS;
    for (int i = 1;; i++, pause *= 3) {
        struct ht_error failure;
        if (try_once(pull, &failure) == HT_OK)
            return HT_OK;
        const enum cure cure = find_cure(pull, &failure);
        if (cure != CURE_REPEAT || i == TRIES ||
            docker_is_cancelled(pull->docker))
            return explain(pull, cure, &failure, err);
        char span[CLOCK_DURATION_BYTES];
        report_line(pull, "pulling %s: %s; again in %s", pull->request->name,
                    failure.text, clock_duration(span, pause));
        if (!docker_pause(pull->docker, pause))
            return explain(pull, cure, &failure, err);
    }
}

/* A public image needs none, so a failure is only a hint. */
static void find_auth(struct pull *pull)
{
    struct ht_error failure;
    char *(*lookup)(const char *name) =
        pull->request->lookup != NULL ? pull->request->lookup : getenv;
    if (registry_auth_find(pull->arena, pull->request->name, lookup,
                           &pull->auth, &failure) == HT_OK)
        return;
    pull->no_auth_because = arena_strdup(pull->arena, failure.text);
    report_line(pull, "pulling %s without credentials: %s", pull->request->name,
                failure.text);
}

/* Pulls request->name, three times at most where a repeat may help, and reports
 * the progress. A name without tag means :latest. Statuses of image_get(). */
static enum ht_status pull_image(struct docker *docker,
                                 const struct image_request *request,
                                 struct ht_error *err)
{
    /* Credentials must not outlive the pull. */
    struct arena *own = arena_new();
    struct pull *pull = arena_alloc(own, 1, sizeof *pull);
    *pull = (struct pull){.docker = docker,
                          .arena = own,
                          .request = request,
                          .path = make_path(own, request->name),
                          .host = registry_auth_host(own, request->name)};
    find_auth(pull);
    const int64_t begin = clock_monotonic_ms();
    report_line(pull, "pulling %s", request->name);
    const enum ht_status status = try_all(pull, err);
    char span[CLOCK_DURATION_BYTES];
    if (status == HT_OK)
        report_line(pull, "pulled %s in %s", request->name,
                    clock_duration(span, clock_monotonic_ms() - begin));
    arena_free(own);
    return status;
}

/* ---- the engine's description ---- */

/* Items of another kind are left out. */
static struct strings read_strings(struct arena *arena, const struct node *list)
{
    struct strings strings = {0};
    const char **items =
        arena_alloc(arena, list != NULL ? list->count : 0, sizeof *items);
    NODE_EACH (item, node_items(list)) {
        if (item->kind == NODE_STRING)
            items[strings.n++] = item->text;
    }
    strings.items = items;
    return strings;
}

static struct pairs read_env(struct arena *arena, const struct node *list)
{
    const struct strings lines = read_strings(arena, list);
    struct pairs env = {0};
    struct pair *items = arena_alloc(arena, lines.n, sizeof *items);
    for (size_t i = 0; i < lines.n; i++) {
        const char *equals = strchr(lines.items[i], '=');
        if (equals == NULL || equals == lines.items[i])
            continue;
        const size_t len = (size_t)(equals - lines.items[i]);
        items[env.n++] =
            (struct pair){.name = arena_strndup(arena, lines.items[i], len),
                          .value = equals + 1};
    }
    env.items = items;
    return env;
}

/* Of "REPOSITORY@DIGEST"; where there are several, that of the repository in
 * the order. */
static const char *find_digest(const struct node *inspected, const char *name,
                               const char *id)
{
    const char *digest = id;
    NODE_EACH (item, node_first(inspected, "RepoDigests")) {
        const char *at =
            item->kind == NODE_STRING ? strchr(item->text, '@') : NULL;
        if (at == NULL)
            continue;
        const size_t len = (size_t)(at - item->text);
        if (digest == id)
            digest = at + 1;
        if (strncmp(name, item->text, len) == 0 &&
            strchr(":@", name[len]) != NULL)
            return at + 1; /* the name may end there, too */
    }
    return digest;
}

static const char *null_if_empty(const char *text)
{
    return text != NULL && text[0] != '\0' ? text : NULL;
}

struct image image_read_config(struct arena *arena, const struct node *config)
{
    return (struct image){
        .entrypoint = read_strings(arena, node_find(config, "Entrypoint")),
        .command = read_strings(arena, node_find(config, "Cmd")),
        .env = read_env(arena, node_find(config, "Env")),
        .workdir = null_if_empty(node_get_string(config, "WorkingDir", NULL)),
    };
}

static enum ht_status describe(struct arena *arena, const char *name,
                               const struct node *inspected,
                               struct image *image, struct ht_error *err)
{
    const char *id = node_get_string(inspected, "Id", NULL);
    if (id == NULL)
        return ht_fail(err, HT_INTERNAL,
                       "image %s: the engine describes it without an id", name);
    *image = image_read_config(arena, node_find(inspected, "Config"));
    image->id = id;
    image->digest = find_digest(inspected, name, id);
    return HT_OK;
}

static enum ht_status inspect(struct docker *docker, struct arena *arena,
                              const char *name, struct image *image,
                              struct ht_error *err)
{
    const struct node *inspected;
    const char *path =
        arena_printf(arena, "/images/%s/json", docker_escape(arena, name));
    const enum ht_status status =
        docker_get(docker, arena, path, &inspected, err);
    if (status != HT_OK)
        return status;
    return describe(arena, name, inspected, image, err);
}

/* ---- getting it ---- */

enum ht_status image_check_name(const char *name, struct ht_error *err)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                  "abcdefghijklmnopqrstuvwxyz"
                                  "0123456789._-/:@[]";
    if (name[0] != '\0' && name[strspn(name, letters)] == '\0' &&
        strstr(name, "..") == NULL && strstr(name, "//") == NULL &&
        name[0] != '/')
        return HT_OK;
    return ht_fail(err, HT_PRECONDITION, "\"%s\" is no name of an image", name);
}

static enum ht_status pull_and_inspect(struct docker *docker,
                                       struct arena *arena,
                                       const struct image_request *request,
                                       struct image *image,
                                       struct ht_error *err)
{
    enum ht_status status = pull_image(docker, request, err);
    if (status != HT_OK)
        return status;
    status = inspect(docker, arena, request->name, image, err);
    if (status == HT_NOT_FOUND)
        return ht_fail(err, HT_UNAVAILABLE,
                       "image %s: was pulled, but the engine does not have it",
                       request->name);
    return status;
}

enum ht_status image_get(struct docker *docker, struct arena *arena,
                         const struct image_request *request,
                         struct image *image, struct ht_error *err)
{
    enum ht_status status = image_check_name(request->name, err);
    if (status != HT_OK)
        return status;
    if (request->pull == PULL_ALWAYS)
        return pull_and_inspect(docker, arena, request, image, err);
    struct ht_error failure;
    status = inspect(docker, arena, request->name, image, &failure);
    if (status == HT_NOT_FOUND && request->pull == PULL_NEVER)
        return ht_fail(err, HT_PRECONDITION,
                       "image %s: is not on this machine, and the job says "
                       "\"pull: never\"",
                       request->name);
    if (status == HT_NOT_FOUND)
        return pull_and_inspect(docker, arena, request, image, err);
    return status == HT_OK ? HT_OK
                           : ht_fail(err, status, "image %s: %s", request->name,
                                     failure.text);
}
