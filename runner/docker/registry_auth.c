#include "runner/docker/registry_auth.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <nettle/base64.h>

#include "proto/base/clock.h"
#include "proto/base/limits.h"
#include "proto/base/secret_file.h"
#include "proto/base/text.h"
#include "proto/base/whole.h"
#include "runner/base/ask_child.h"
#include "runner/base/json.h"

enum { MOST_BYTES = 64 * 1024 };

/* The output of a failed helper may have secrets, so only its known message for
 * "none" counts. */
static enum ht_status read_words(struct arena *arena, const char *program,
                                 const struct child_answer *answer,
                                 const struct node **found,
                                 struct ht_error *err)
{
    static const char none[] = "credentials not found";
    const char *words = text_string(&answer->output);
    const int exit = answer->status;
    if (WIFSIGNALED(exit))
        return ht_fail(err, HT_IO, "%s was killed, or was too slow", program);
    if (WEXITSTATUS(exit) != 0 && strncmp(words, none, sizeof none - 1) == 0) {
        *found = NULL;
        return HT_OK;
    }
    if (WEXITSTATUS(exit) != 0)
        return ht_fail(err, HT_IO, "%s failed with code %d", program,
                       WEXITSTATUS(exit));
    const struct node *map = json_read(arena, words, answer->output.len);
    if (node_get_string(map, "Username", NULL) == NULL ||
        node_get_string(map, "Secret", NULL) == NULL)
        return ht_fail(err, HT_IO, "%s did not answer with credentials",
                       program);
    *found = map;
    return HT_OK;
}

enum ht_status registry_auth_ask_helper(struct arena *arena, const char *name,
                                        const char *server, int limit_ms,
                                        const struct node **found,
                                        struct ht_error *err)
{
    if (name[0] == '\0' || strchr(name, '/') != NULL)
        return ht_fail(err, HT_INVALID, "\"%s\" is no name of a helper", name);
    const char *program = arena_printf(arena, "docker-credential-%s", name);
    const char *const argv[] = {program, "get", NULL};
    struct child_answer answer;
    const int code =
        child_ask(&(struct child_question){.argv = argv,
                                           .input = server,
                                           .most = MOST_BYTES,
                                           .deadline_ms =
                                               clock_monotonic_ms() + limit_ms},
                  &answer);
    if (code != 0)
        return ht_fail_errno(err, code, "cannot run %s", program);
    const enum ht_status status =
        read_words(arena, program, &answer, found, err);
    secret_wipe(&answer.output);
    text_free(&answer.errors);
    return status;
}

/* The name by which the docker command has always kept its own registry. */
static const char hub[] = "docker.io";
static const char hub_server[] = "https://index.docker.io/v1/";

/* Enough for the system's key ring, not for a question to a user. */
enum { HELPER_MS = 10000 };

/* ---- base64 ---- */

const char *registry_auth_encode(struct arena *arena, const char *bytes,
                                 size_t len)
{
    struct base64_encode_ctx context;
    char *text = arena_alloc(arena, BASE64_ENCODE_RAW_LENGTH(len) + 1, 1);
    base64url_encode_init(&context);
    const size_t n =
        base64_encode_update(&context, text, len, (const uint8_t *)bytes);
    base64_encode_final(&context, text + n);
    return text;
}

const char *registry_auth_decode(struct arena *arena, const char *text,
                                 size_t *len)
{
    static const char padding[] = "===";
    struct base64_decode_ctx context;
    if (strpbrk(text, " \t\r\n\v\f") != NULL) /* nettle skips them */
        return NULL;
    if (strchr(text, '=') == NULL && strlen(text) % 4 != 0)
        text =
            arena_printf(arena, "%s%s", text, padding + strlen(text) % 4 - 1);
    const size_t n = strlen(text);
    uint8_t *bytes = arena_alloc(arena, BASE64_DECODE_LENGTH(n) + 1, 1);
    base64_decode_init(&context);
    return base64_decode_update(&context, len, bytes, n, text) &&
                   base64_decode_final(&context)
               ? (const char *)bytes
               : NULL;
}

/* ---- names of registries ---- */

static const char *host_of_hub(const char *host)
{
    return strcmp(host, "index.docker.io") == 0 ||
                   strcmp(host, "registry-1.docker.io") == 0
               ? hub
               : host;
}

const char *registry_auth_host(struct arena *arena, const char *image)
{
    const size_t len = strcspn(image, "/");
    if (image[len] == '\0')
        return hub;
    const char *first = arena_strndup(arena, image, len);
    if (strpbrk(first, ".:") == NULL && strcmp(first, "localhost") != 0)
        return hub; /* the name of a person there */
    return host_of_hub(first);
}

/* Whether a key of the file, which may be a URL, is that host. */
static bool is_host(struct arena *arena, const char *key, const char *host)
{
    static const char *const endings[] = {"",     "/",   "/v1",
                                          "/v1/", "/v2", "/v2/"};
    const char *scheme = strstr(key, "://");
    const char *name = scheme != NULL ? scheme + 3 : key;
    const size_t len = strcspn(name, "/");
    bool known = false;
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        known = known || strcmp(name + len, endings[i]) == 0;
    return known &&
           strcmp(host_of_hub(arena_strndup(arena, name, len)), host) == 0;
}

static const struct node *find_host(struct arena *arena, const struct node *map,
                                    const char *host)
{
    NODE_EACH (item, node_items(map)) {
        if (item->key != NULL && is_host(arena, item->key, host))
            return item;
    }
    return NULL;
}

/* ---- the file ---- */

static enum ht_status read_all(struct arena *arena, int fd, const char *path,
                               const struct node **config, struct ht_error *err)
{
    char *bytes = arena_alloc(arena, HT_MAX_SPEC + 1, 1);
    const ssize_t len = whole_read_at(fd, bytes, HT_MAX_SPEC + 1, 0);
    if (len < 0)
        return ht_fail_errno(err, errno, "cannot read %s", path);
    struct diag diag;
    diag_init(&diag, arena, path, NULL, 0);
    *config = node_read_json(arena, bytes, (size_t)len, &diag);
    if (*config == NULL) /* without the sentence, which may show a secret */
        return ht_fail(err, HT_INVALID, "%s:%d:%d: is not JSON", path,
                       diag.first->line, diag.first->column);
    return HT_OK;
}

/* *config is NULL when there is no such file. */
static enum ht_status read_config(struct arena *arena,
                                  char *(*lookup)(const char *name),
                                  const struct node **config,
                                  struct ht_error *err)
{
    const char *folder = lookup("DOCKER_CONFIG");
    const char *home = lookup("HOME");
    *config = NULL;
    if (folder == NULL || folder[0] == '\0')
        folder = home != NULL ? arena_printf(arena, "%s/.docker", home) : NULL;
    if (folder == NULL)
        return HT_OK;
    const char *path = arena_printf(arena, "%s/config.json", folder);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
        return HT_OK;
    if (fd < 0)
        return ht_fail_errno(err, errno, "cannot open %s", path);
    const enum ht_status status = read_all(arena, fd, path, config, err);
    close(fd);
    return status;
}

/* ---- credentials ---- */

static enum ht_status ask_helper(struct arena *arena, const char *helper,
                                 const char *host,
                                 struct registry_login *credentials,
                                 struct ht_error *err)
{
    const struct node *found = NULL;
    const char *server = strcmp(host, hub) == 0 ? hub_server : host;
    const enum ht_status status =
        registry_auth_ask_helper(arena, helper, server, HELPER_MS, &found, err);
    if (status != HT_OK || found == NULL)
        return status;
    const char *secret = node_get_string(found, "Secret", "");
    const char *user = node_get_string(found, "Username", "");
    if (strcmp(user, "<token>") == 0) /* by the helpers' protocol */
        credentials->identity = secret;
    else
        *credentials =
            (struct registry_login){.user = user, .password = secret};
    return HT_OK;
}

/* "auth" is base64 of USER:PASSWORD. */
static enum ht_status split_auth(struct arena *arena, const char *auth,
                                 struct registry_login *credentials,
                                 struct ht_error *err)
{
    size_t len = 0;
    const char *text = registry_auth_decode(arena, auth, &len);
    const char *colon = text != NULL ? strchr(text, ':') : NULL;
    if (colon == NULL)
        return ht_fail(err, HT_INVALID,
                       "the docker config file has a damaged \"auth\"");
    credentials->user = arena_strndup(arena, text, (size_t)(colon - text));
    credentials->password = colon + 1;
    return HT_OK;
}

static enum ht_status read_entry(struct arena *arena, const struct node *entry,
                                 struct registry_login *credentials,
                                 struct ht_error *err)
{
    const char *auth = node_get_string(entry, "auth", "");
    const char *user = node_get_string(entry, "username", "");
    const char *env = node_get_string(entry, "identitytoken", "");
    if (env[0] != '\0')
        credentials->identity = env;
    else if (auth[0] != '\0')
        return split_auth(arena, auth, credentials, err);
    else if (user[0] != '\0')
        *credentials = (struct registry_login){
            .user = user, .password = node_get_string(entry, "password", "")};
    return HT_OK;
}

bool registry_auth_has_any(const struct registry_login *login)
{
    return login->user != NULL || login->identity != NULL;
}

static enum ht_status find_entry(struct arena *arena, const struct node *config,
                                 const char *host,
                                 struct registry_login *credentials,
                                 struct ht_error *err)
{
    return read_entry(arena, find_host(arena, node_find(config, "auths"), host),
                      credentials, err);
}

/* The helper of the registry, else that of all, else the file itself. */
static enum ht_status find_credentials(struct arena *arena,
                                       const struct node *config,
                                       const char *host,
                                       struct registry_login *credentials,
                                       struct ht_error *err)
{
    const struct node *own =
        find_host(arena, node_find(config, "credHelpers"), host);
    const char *helper = own != NULL
                             ? node_string(own)
                             : node_get_string(config, "credsStore", NULL);
    if (helper != NULL && helper[0] != '\0') {
        const enum ht_status status =
            ask_helper(arena, helper, host, credentials, err);
        if (status != HT_OK || registry_auth_has_any(credentials))
            return status;
    }
    return find_entry(arena, config, host, credentials, err);
}

static const char *encode(struct arena *arena, const char *host,
                          const struct registry_login *credentials)
{
    struct text text = {0};
    json_open(&text, NULL);
    if (credentials->identity != NULL) {
        json_put_string(&text, "identitytoken", credentials->identity);
    } else {
        json_put_string(&text, "username", credentials->user);
        json_put_string(&text, "password", credentials->password);
    }
    json_put_string(&text, "serveraddress",
                    strcmp(host, hub) == 0 ? hub_server : host);
    json_close(&text);
    const char *encoded = registry_auth_encode(arena, text.data, text.len);
    explicit_bzero(text.data, text.len);
    text_free(&text);
    return encoded;
}

enum ht_status registry_auth_login(struct arena *arena, const char *image,
                                   char *(*lookup)(const char *name),
                                   struct registry_login *login,
                                   struct ht_error *err)
{
    const struct node *config;
    struct registry_login found = {0};
    enum ht_status status = read_config(arena, lookup, &config, err);
    if (status == HT_OK)
        status = find_credentials(
            arena, config, registry_auth_host(arena, image), &found, err);
    if (status == HT_OK)
        *login = found;
    return status;
}

enum ht_status registry_auth_login_of(struct arena *arena, const char *image,
                                      const struct node *config,
                                      struct registry_login *login,
                                      struct ht_error *err)
{
    struct registry_login found = {0};
    const enum ht_status status = find_entry(
        arena, config, registry_auth_host(arena, image), &found, err);
    if (status == HT_OK)
        *login = found;
    return status;
}

enum ht_status registry_auth_find(struct arena *arena, const char *image,
                                  char *(*lookup)(const char *name),
                                  const char **auth, struct ht_error *err)
{
    struct registry_login login;
    const enum ht_status status =
        registry_auth_login(arena, image, lookup, &login, err);
    if (status == HT_OK)
        *auth = registry_auth_has_any(&login)
                    ? encode(arena, registry_auth_host(arena, image), &login)
                    : NULL;
    return status;
}
