/* address.c - finds the socket of dockerd or of Podman's service. */

#include "runner/docker/docker.h"

#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

typedef char *lookup_variable(const char *name);

static const char unix_scheme[] = "unix://";

/* Ports of dockerd by convention, where an address names none. */
static const char plain_port[] = ":2375";
static const char tls_port[] = ":2376";

/* NULL when it is not set or empty, which means the same to docker. */
static const char *find_variable(lookup_variable *lookup, const char *name)
{
    const char *value = lookup(name);
    return value != NULL && value[0] != '\0' ? value : NULL;
}

static bool starts_with(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* ---- the kinds of addresses ---- */

static enum ht_status read_unix(struct docker_address *address,
                                struct ht_error *err)
{
    const char *path = address->text + strlen(unix_scheme);
    const struct sockaddr_un *room = NULL;
    if (path[0] != '/')
        return ht_fail(err, HT_INVALID,
                       "\"%s\": the path of the socket must begin with /",
                       address->text);
    if (strlen(path) >= sizeof room->sun_path)
        return ht_fail(err, HT_INVALID,
                       "\"%s\": the path of a socket has at most %zu bytes",
                       address->text, sizeof room->sun_path - 1);
    address->socket = path;
    address->base = "http://engine"; /* the name is not looked up */
    return HT_OK;
}

/* The file in the folder, NULL when it is not there. */
static const char *find_file(struct arena *arena, const char *folder,
                             const char *name)
{
    const char *path = arena_printf(arena, "%s/%s", folder, name);
    return access(path, F_OK) == 0 ? path : NULL;
}

static void find_certificates(struct docker_address *address,
                              lookup_variable *lookup)
{
    const char *folder = find_variable(lookup, "DOCKER_CERT_PATH");
    const char *home = find_variable(lookup, "HOME");
    struct arena *arena = address->arena;
    if (folder == NULL)
        folder = arena_printf(arena, "%s/.docker", home != NULL ? home : "");
    address->ca = find_file(arena, folder, "ca.pem");
    address->cert = find_file(arena, folder, "cert.pem");
    address->key = find_file(arena, folder, "key.pem");
}

static bool has_port(const char *authority)
{
    const char *bracket = strrchr(authority, ']'); /* of an IPv6 address */
    return strchr(bracket != NULL ? bracket : authority, ':') != NULL;
}

static enum ht_status read_tcp(struct docker_address *address,
                               lookup_variable *lookup, struct ht_error *err)
{
    const char *authority = strstr(address->text, "://") + 3;
    const size_t len = strcspn(authority, "/");
    if (len == 0 || authority[len + (authority[len] == '/')] != '\0' ||
        strpbrk(authority, "@?# \t\r\n\\") != NULL)
        return ht_fail(err, HT_INVALID, "\"%s\": expected HOST:PORT after ://",
                       address->text);
    const bool tls = starts_with(address->text, "https:") ||
                     (starts_with(address->text, "tcp:") &&
                      find_variable(lookup, "DOCKER_TLS_VERIFY") != NULL);
    const char *host = arena_strndup(address->arena, authority, len);
    const char *port = has_port(host) ? "" : tls ? tls_port : plain_port;
    address->base = arena_printf(address->arena, "http%s://%s%s",
                                 tls ? "s" : "", host, port);
    if (tls)
        find_certificates(address, lookup);
    return HT_OK;
}

static enum ht_status read_text(struct docker_address *address,
                                lookup_variable *lookup, struct ht_error *err)
{
    if (starts_with(address->text, unix_scheme))
        return read_unix(address, err);
    if (starts_with(address->text, "tcp://") ||
        starts_with(address->text, "http://") ||
        starts_with(address->text, "https://"))
        return read_tcp(address, lookup, err);
    return ht_fail(err, HT_INVALID,
                   "\"%s\" is no address of a container engine; write "
                   "unix:///PATH, tcp://HOST:PORT or https://HOST:PORT",
                   address->text);
}

/* ---- where engines usually are ---- */

static bool is_socket(const char *path)
{
    struct stat facts;
    return stat(path, &facts) == 0 && S_ISSOCK(facts.st_mode);
}

/* The first socket that may be used; else the first there is, so that the
 * error of the connection names the missing permission. NULL: none. */
static const char *find_usual(struct arena *arena, lookup_variable *lookup)
{
    const char *runtime = find_variable(lookup, "XDG_RUNTIME_DIR");
    const char *own = runtime != NULL ? runtime : "/nonexistent";
    const char *const paths[] = {
        "/var/run/docker.sock",
        "/run/podman/podman.sock",
        arena_printf(arena, "%s/docker.sock", own),
        arena_printf(arena, "%s/podman/podman.sock", own),
    };
    const char *found = NULL;
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        if (!is_socket(paths[i]))
            continue;
        const bool usable = access(paths[i], R_OK | W_OK) == 0;
        if (found == NULL || usable)
            found = paths[i];
        if (usable)
            break;
    }
    return found != NULL ? arena_printf(arena, "%s%s", unix_scheme, found)
                         : NULL;
}

enum ht_status docker_address_find(const char *host,
                                   char *(*lookup)(const char *name),
                                   struct docker_address **address,
                                   struct ht_error *err)
{
    if (host == NULL || host[0] == '\0')
        host = find_variable(lookup, "DOCKER_HOST");
    struct arena *arena = arena_new();
    struct docker_address *found = arena_alloc(arena, 1, sizeof *found);
    found->arena = arena;
    found->text =
        host != NULL ? arena_strdup(arena, host) : find_usual(arena, lookup);
    const enum ht_status status =
        found->text != NULL
            ? read_text(found, lookup, err)
            : ht_fail(err, HT_NOT_FOUND,
                      "no container engine is here: DOCKER_HOST is not set, "
                      "and neither Docker's nor Podman's socket exists");
    if (status == HT_OK)
        *address = found;
    else
        arena_free(arena);
    return status;
}

void docker_address_free(struct docker_address *address)
{
    if (address != NULL)
        arena_free(address->arena);
}
