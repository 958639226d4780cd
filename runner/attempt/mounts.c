#include "runner/attempt/mounts.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runner/attempt/outputs.h"
#include "runner/base/credentials.h"
#include "runner/base/rules.h"
#include "runner/base/safe_path.h"

struct finding { /* a list in the making */
    struct arena *arena;
    const struct site *site;
    const struct order *order;
    struct mounts mounts;
    struct mount *items; /* room for all */
};

static void add(struct finding *finding, const char *source, const char *target,
                bool read_only)
{
    finding->items[finding->mounts.n++] = (struct mount){
        .source = source, .target = target, .read_only = read_only};
}

/* ---- paths as text ---- */

static bool is_within(const char *root, const char *path)
{
    return safe_path_rest(root, path) != NULL;
}

/* Without a "." or "..", an empty part or a slash at the end, so that two names
 * of one place are equal; the root itself is none. */
static bool is_plain_path(const char *path)
{
    if (path[0] != '/' || path[1] == '\0')
        return false;
    for (const char *at = path; *at == '/';) {
        at++;
        const size_t len = strcspn(at, "/");
        if (len == 0 || (len == 1 && at[0] == '.') ||
            (len == 2 && at[0] == '.' && at[1] == '.'))
            return false;
        at += len;
    }
    return true;
}

/* ---- targets ---- */

/* In one of these folders, or above one. */
static bool is_ours(const char *target)
{
    static const char *const kept[] = {"/hypertune", CONTAINER_GCS, "/proc",
                                       "/sys", "/dev"};
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
        if (is_within(kept[i], target) || is_within(target, kept[i]))
            return true;
    }
    return false;
}

static enum ht_status check_target(const struct finding *finding,
                                   const char *target, struct ht_error *err)
{
    if (!is_plain_path(target))
        return ht_fail(
            err, HT_PRECONDITION,
            "volumes: %.80s is no plain absolute path in a container", target);
    if (is_ours(target))
        return ht_fail(err, HT_PRECONDITION,
                       "volumes: %.80s would cover a folder that is not the "
                       "job's",
                       target);
    for (size_t i = 0; i < finding->mounts.n; i++) {
        if (strcmp(finding->items[i].target, target) == 0)
            return ht_fail(err, HT_PRECONDITION,
                           "volumes: %.80s is the target of two", target);
    }
    return HT_OK;
}

/* ---- sources ---- */

/* The root above the path, as the admin named it; NULL: none. */
static const char *root_of(const struct site *site, const char *path)
{
    for (size_t i = 0; i < site->volume_roots.n; i++) {
        if (is_within(site->volume_roots.items[i], path))
            return site->volume_roots.items[i];
    }
    return NULL;
}

/* The path of what was opened, links in the admin's own root resolved. */
static enum ht_status name_opened(struct arena *arena, int fd,
                                  const char **path, struct ht_error *err)
{
    char real[PATH_MAX];
    const ssize_t n = readlink(arena_printf(arena, "/proc/self/fd/%d", fd),
                               real, sizeof real - 1);
    if (n <= 0)
        return ht_fail_errno(err, errno, "cannot resolve a volume");
    *path = arena_strndup(arena, real, (size_t)n);
    return HT_OK;
}

static enum ht_status refuse_source(const char *path, int code,
                                    struct ht_error *err)
{
    if (code == ENOENT)
        return ht_fail(err, HT_PRECONDITION, "volumes: %.160s does not exist",
                       path);
    if (code == ELOOP)
        return ht_fail(err, HT_PRECONDITION,
                       "volumes: %.160s passes a symbolic link", path);
    return ht_fail(err, HT_PRECONDITION,
                   "volumes: %.160s cannot be mounted: %s", path,
                   strerror(code));
}

/* Access to one of these makes a trial root of the machine. */
static bool has_engine_socket(const struct site *site, const char *path)
{
    static const char *const usual[] = {
        "/run/docker.sock",
        "/run/podman/podman.sock",
        "/run/containerd/containerd.sock",
        "/run/crio/crio.sock",
        "/var/lib/docker",
        "/var/lib/containerd",
        "/var/lib/containers",
    };
    static const char unix_scheme[] = "unix://";
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++) {
        if (is_within(path, usual[i]) || is_within(usual[i], path))
            return true;
    }
    const char *own = site->docker_host;
    if (own == NULL || strncmp(own, unix_scheme, sizeof unix_scheme - 1) != 0)
        return false;
    char real[PATH_MAX];
    if (realpath(own + sizeof unix_scheme - 1, real) == NULL)
        return false;
    return is_within(path, real);
}

/* In one of the runner's own folders, which have the tokens of every attempt;
 * or, with `above`, around one. */
static bool is_own(const struct site *site, const char *path, bool above)
{
    const char *const own[] = {site->state, site->secrets, site->credentials};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
        if (own[i] != NULL &&
            (is_within(own[i], path) || (above && is_within(path, own[i]))))
            return true;
    }
    return false;
}

static enum ht_status check_opened(const struct finding *finding, int fd,
                                   const char *path, struct ht_error *err)
{
    struct stat status;
    if (fstat(fd, &status) != 0)
        return refuse_source(path, errno, err);
    const bool allowed = rules_allow(finding->site, "engine-socket");
    const bool is_socket = S_ISSOCK(status.st_mode);
    if (!S_ISDIR(status.st_mode) && !S_ISREG(status.st_mode) &&
        !(is_socket && allowed))
        return ht_fail(err, HT_PRECONDITION,
                       "volumes: %.160s is neither a folder nor a file", path);
    if (!allowed && has_engine_socket(finding->site, path))
        return ht_fail(
            err, HT_PRECONDITION,
            "volumes: %.120s gives access to the container engine; the "
            "runner has no --allow engine-socket",
            path);
    if (is_own(finding->site, path, true))
        return ht_fail(err, HT_PRECONDITION,
                       "volumes: %.160s is the runner's own", path);
    return HT_OK;
}

static enum ht_status find_source(const struct finding *finding,
                                  const char *path, const char **source,
                                  struct ht_error *err)
{
    const char *root = root_of(finding->site, path);
    if (!is_plain_path(path))
        return ht_fail(err, HT_PRECONDITION,
                       "volumes: %.160s is no plain absolute path", path);
    if (root == NULL)
        return ht_fail(err, HT_PRECONDITION,
                       "volumes: %.160s is below none of the runner's "
                       "--volume-root folders",
                       path);
    const int fd = safe_path_open(root, safe_path_rest(root, path));
    if (fd < 0)
        return refuse_source(path, errno, err);
    const char *real = NULL;
    enum ht_status status = name_opened(finding->arena, fd, &real, err);
    if (status == HT_OK)
        status = check_opened(finding, fd, real, err);
    close(fd);
    if (status == HT_OK)
        *source = real;
    return status;
}

/* ---- the list ---- */

/* HOST:TARGET[:ro|:rw] */
static enum ht_status add_volume(struct finding *finding, const char *volume,
                                 struct ht_error *err)
{
    char *host = arena_strdup(finding->arena, volume);
    char *target = strchr(host, ':');
    if (target == NULL)
        return ht_fail(err, HT_PRECONDITION,
                       "volumes: %.160s is not HOST:TARGET[:ro]", volume);
    *target++ = '\0';
    const char *option = "rw";
    char *colon = strchr(target, ':');
    if (colon != NULL) {
        *colon = '\0';
        option = colon + 1;
    }
    const bool read_only = strcmp(option, "ro") == 0;
    if (!read_only && strcmp(option, "rw") != 0)
        return ht_fail(err, HT_PRECONDITION,
                       "volumes: %.60s of %.120s is neither ro nor rw", option,
                       volume);
    const char *source = NULL;
    enum ht_status status = check_target(finding, target, err);
    if (status == HT_OK)
        status = find_source(finding, host, &source, err);
    if (status == HT_OK)
        add(finding, source, target, read_only);
    return status;
}

/* Each of the three by itself: beside them are the attempts with their tokens.
 */
static enum ht_status add_outputs(struct finding *finding, struct ht_error *err)
{
    struct arena *arena = finding->arena;
    const struct site *site = finding->site;
    const char *asked = finding->order->output_dir;
    const char *here = outputs_here(arena, site, finding->order);
    if (here == NULL)
        return HT_OK;
    const bool in_bucket = asked != NULL && asked[0] != '/';
    const char *root = asked == NULL ? site->state
                       : in_bucket   ? site->gcs_root
                                     : root_of(site, here);
    if (root == NULL)
        return ht_fail(err, HT_PRECONDITION,
                       "outputDir: %.120s is below none of the runner's "
                       "--volume-root folders",
                       here);
    if (asked != NULL && is_own(site, here, false))
        return ht_fail(err, HT_PRECONDITION,
                       "outputDir: %.160s is the runner's own", here);
    const enum ht_status status = outputs_share(root, here, in_bucket, err);
    if (status != HT_OK)
        return ht_wrap(err, status, "outputDir");
    for (size_t i = 0; !in_bucket && i < OUTPUT_FOLDERS; i++)
        add(finding,
            arena_printf(arena, "%s/%s", here, output_folders[i].value),
            arena_printf(arena, CONTAINER_OUTPUT "/%s",
                         output_folders[i].value),
            false);
    return HT_OK;
}

enum ht_status mounts_find(struct arena *arena, const struct site *site,
                           const struct order *order, const char *folder,
                           struct mounts *mounts, struct ht_error *err)
{
    enum { OWN = 4 }; /* kit, trial, credentials, buckets */
    struct finding finding = {
        .arena = arena,
        .site = site,
        .order = order,
        .items = arena_alloc(arena, OWN + OUTPUT_FOLDERS + order->volumes.n,
                             sizeof(struct mount)),
    };
    add(&finding, site->kit, CONTAINER_KIT, true);
    add(&finding, folder, CONTAINER_TRIAL, false);
    const char *credentials = credentials_path(arena, site, &order->key);
    if (access(credentials, F_OK) == 0)
        add(&finding, credentials, CONTAINER_CREDENTIALS, true);
    enum ht_status status = add_outputs(&finding, err);
    if (status == HT_OK && site->gcs_root != NULL)
        add(&finding, site->gcs_root, CONTAINER_GCS, false);
    for (size_t i = 0; status == HT_OK && i < order->volumes.n; i++)
        status = add_volume(&finding, order->volumes.items[i], err);
    if (status != HT_OK)
        return status;
    finding.mounts.items = finding.items;
    *mounts = finding.mounts;
    return HT_OK;
}
