#include "runner/docker/registry_auth.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <nettle/base64.h>

#include "proto/base/clock.h"
#include "proto/base/limits.h"
#include "proto/base/text.h"
#include "proto/base/whole.h"
#include "runner/base/child.h"
#include "runner/base/json.h"

enum { MOST_BYTES = 64 * 1024 };

struct helper {
    const char *program;
    pid_t pid;
    int output; /* its stdout */
    int64_t deadline_ms;
    struct text said;
};

/* ---- starting ---- */

/* A file that the helper finds at its stdin: a pipe would need care for helpers
 * that never read. */
static int make_input(const char *server)
{
    const int fd = memfd_create("server", MFD_CLOEXEC);
    const size_t len = strlen(server);
    if (fd < 0)
        return -1;
    if (write(fd, server, len) == (ssize_t)len && lseek(fd, 0, SEEK_SET) == 0)
        return fd;
    close(fd);
    return -1;
}

static enum ht_status start(struct helper *helper, const char *server,
                            struct ht_error *err)
{
    int ends[2];
    const int input = make_input(server);
    if (input < 0)
        return ht_fail_errno(err, errno, "%s", helper->program);
    if (pipe2(ends, O_CLOEXEC) != 0) {
        const int code = errno;
        close(input);
        return ht_fail_errno(err, code, "%s", helper->program);
    }
    const char *const argv[] = {helper->program, "get", NULL};
    /* Its own group, so that a slow one is ended with all it started. */
    const struct child child = {.argv = argv,
                                .input = input,
                                .output = ends[1],
                                .group = POSIX_SPAWN_SETPGROUP};
    const int code = child_start_kept(&child, &helper->pid);
    close(input);
    close(ends[1]);
    helper->output = ends[0];
    if (code == 0)
        return HT_OK;
    close(ends[0]);
    return ht_fail_errno(err, code, "cannot run %s", helper->program);
}

/* ---- reading ---- */

/* False when the time is over. */
static bool wait_for(const struct helper *helper, int fd)
{
    struct pollfd wanted = {.fd = fd, .events = POLLIN};
    for (;;) {
        const int64_t left = helper->deadline_ms - clock_monotonic_ms();
        if (left <= 0)
            return false;
        if (poll(&wanted, 1, (int)left) > 0)
            return true;
    }
}

/* All its output; false when that is too much or takes too long. */
static bool read_output(struct helper *helper)
{
    char bytes[4096];
    while (helper->said.len <= MOST_BYTES && wait_for(helper, helper->output)) {
        const ssize_t n = read(helper->output, bytes, sizeof bytes);
        if (n == 0)
            return true;
        if (n > 0)
            text_append(&helper->said, bytes, (size_t)n);
        else if (errno != EINTR)
            return false;
    }
    return false;
}

/* Waits for its end, or kills it. */
static int reap(const struct helper *helper, bool wanted)
{
    const int fd = wanted ? pidfd_open(helper->pid, 0) : -1;
    if (fd < 0 || !wait_for(helper, fd))
        kill(-helper->pid, SIGKILL);
    if (fd >= 0)
        close(fd);
    return child_reap(helper->pid);
}

/* The output of a failed helper may have secrets, so only its known message for
 * "none" counts. */
static enum ht_status read_words(struct arena *arena, struct helper *helper,
                                 int exit, const struct node **found,
                                 struct ht_error *err)
{
    static const char none[] = "credentials not found";
    const char *words = helper->said.data != NULL ? helper->said.data : "";
    if (WIFSIGNALED(exit))
        return ht_fail(err, HT_IO, "%s was killed, or was too slow",
                       helper->program);
    if (WEXITSTATUS(exit) != 0 && strncmp(words, none, sizeof none - 1) == 0) {
        *found = NULL;
        return HT_OK;
    }
    if (WEXITSTATUS(exit) != 0)
        return ht_fail(err, HT_IO, "%s failed with code %d", helper->program,
                       WEXITSTATUS(exit));
    const struct node *map = json_read(arena, words, helper->said.len);
    if (node_get_string(map, "Username", NULL) == NULL ||
        node_get_string(map, "Secret", NULL) == NULL)
        return ht_fail(err, HT_IO, "%s did not answer with credentials",
                       helper->program);
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
    struct helper helper = {
        .program = arena_printf(arena, "docker-credential-%s", name),
        .deadline_ms = clock_monotonic_ms() + limit_ms,
    };
    enum ht_status status = start(&helper, server, err);
    if (status != HT_OK)
        return status;
    const bool complete = read_output(&helper);
    close(helper.output);
    const int exit = reap(&helper, complete);
    status = read_words(arena, &helper, exit, found, err);
    text_free(&helper.said);
    return status;
}

/* The name by which the docker command has always kept its own registry. */
static const char hub[] = "docker.io";
static const char hub_server[] = "https://index.docker.io/v1/";

/* Enough for the system's key ring, not for a question to a user. */
enum { HELPER_MS = 10000 };

struct credentials {
    const char *user, *password; /* both or none */
    const char *env;             /* a token in their place */
};

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
                                 struct credentials *credentials,
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
        credentials->env = secret;
    else
        *credentials = (struct credentials){.user = user, .password = secret};
    return HT_OK;
}

/* "auth" is base64 of USER:PASSWORD. */
static enum ht_status split_auth(struct arena *arena, const char *auth,
                                 struct credentials *credentials,
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
                                 struct credentials *credentials,
                                 struct ht_error *err)
{
    const char *auth = node_get_string(entry, "auth", "");
    const char *user = node_get_string(entry, "username", "");
    const char *env = node_get_string(entry, "identitytoken", "");
    if (env[0] != '\0')
        credentials->env = env;
    else if (auth[0] != '\0')
        return split_auth(arena, auth, credentials, err);
    else if (user[0] != '\0')
        *credentials = (struct credentials){
            .user = user, .password = node_get_string(entry, "password", "")};
    return HT_OK;
}

static bool has_any(const struct credentials *credentials)
{
    return credentials->user != NULL || credentials->env != NULL;
}

/* The helper of the registry, else that of all, else the file itself. */
static enum ht_status find_credentials(struct arena *arena,
                                       const struct node *config,
                                       const char *host,
                                       struct credentials *credentials,
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
        if (status != HT_OK || has_any(credentials))
            return status;
    }
    const struct node *entry =
        find_host(arena, node_find(config, "auths"), host);
    return read_entry(arena, entry, credentials, err);
}

static const char *encode(struct arena *arena, const char *host,
                          const struct credentials *credentials)
{
    struct text text = {0};
    json_open(&text, NULL);
    if (credentials->env != NULL) {
        json_put_string(&text, "identitytoken", credentials->env);
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

enum ht_status registry_auth_find(struct arena *arena, const char *image,
                                  char *(*lookup)(const char *name),
                                  const char **auth, struct ht_error *err)
{
    const char *host = registry_auth_host(arena, image);
    const struct node *config;
    struct credentials credentials = {0};
    enum ht_status status = read_config(arena, lookup, &config, err);
    if (status == HT_OK)
        status = find_credentials(arena, config, host, &credentials, err);
    if (status == HT_OK)
        *auth =
            has_any(&credentials) ? encode(arena, host, &credentials) : NULL;
    return status;
}
