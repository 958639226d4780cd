#include "runner/process/isolation.h"

#include <errno.h>
#include <grp.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/base/log.h"
#include "proto/base/words.h"
#include "runner/attempt/outputs.h"
#include "runner/attempt/prepare.h"
#include "runner/base/credentials.h"
#include "runner/base/json.h"
#include "runner/base/safe_path.h"
#include "runner/shim/confine.h"
#include "runner/shim/landlock.h"
#include "runner/transfer/trees.h"

/* The ids that systemd gives to its dynamic users, so that no package and no
 * person has one. */
enum { FIRST_UID = 61184, LAST_UID = 65519, MOST_UID = INT32_MAX };

/* ---- --run-as ---- */

static bool read_number(const char *text, size_t len, int64_t *value)
{
    char *end;
    if (len == 0 || len > 10 || strspn(text, "0123456789") < len)
        return false;
    *value = strtoll(text, &end, 10);
    return end == text + len && *value > 0 && *value <= MOST_UID;
}

static enum ht_status read_user(struct arena *arena, const char *name,
                                struct site *site, struct ht_error *err)
{
    struct guest *guest = &site->guest;
    gid_t groups[NGROUPS_MAX];
    int n = NGROUPS_MAX;
    const struct passwd *user = getpwnam(name);
    if (user == NULL)
        return ht_fail(err, HT_INVALID, "--run-as: there is no user \"%.64s\"",
                       name);
    if (user->pw_uid == 0 || user->pw_gid == 0)
        return ht_fail(err, HT_INVALID, "--run-as: \"%.64s\" is root", name);
    if (getgrouplist(name, user->pw_gid, groups, &n) < 0)
        return ht_fail(err, HT_INVALID,
                       "--run-as: \"%.64s\" has too many groups", name);
    guest->first_uid = guest->last_uid = user->pw_uid;
    guest->gid = user->pw_gid;
    guest->shared_uid = true;
    site->trial_user = arena_strdup(arena, user->pw_name);
    site->trial_home = arena_strdup(arena, user->pw_dir);
    const char **items = arena_alloc(arena, (size_t)n, sizeof *items);
    for (int i = 0; i < n; i++)
        items[i] = arena_printf(arena, "%u", (unsigned)groups[i]);
    guest->groups = (struct strings){.n = (size_t)n, .items = items};
    return HT_OK;
}

static enum ht_status read_run_as(struct arena *arena, const char *text,
                                  struct site *site, struct ht_error *err)
{
    struct guest *guest = &site->guest;
    const char *dash = strchr(text, '-');
    if (strcmp(text, "none") == 0)
        return HT_OK;
    if (geteuid() != 0)
        return ht_fail(err, HT_PRECONDITION,
                       "--run-as: only root can give trials another user");
    if (strcmp(text, "auto") == 0) {
        guest->first_uid = FIRST_UID;
        guest->last_uid = LAST_UID;
    } else if (dash == NULL ||
               !read_number(text, (size_t)(dash - text), &guest->first_uid) ||
               !read_number(dash + 1, strlen(dash + 1), &guest->last_uid)) {
        return read_user(arena, text, site, err);
    }
    if (guest->first_uid > guest->last_uid)
        return ht_fail(err, HT_INVALID, "--run-as: %.64s is no range", text);
    return HT_OK;
}

/* ---- --sandbox ---- */

static enum ht_status read_sandbox(const char *text, struct guest *guest,
                                   struct ht_error *err)
{
    if (strcmp(text, "auto") == 0) {
        guest->sandbox = confine_best();
    } else {
        int i = SANDBOX_NONE;
        while (i <= SANDBOX_NAMESPACES &&
               strcmp(text, sandbox_name((enum sandbox)i)) != 0)
            i++;
        if (i > SANDBOX_NAMESPACES)
            return ht_fail(err, HT_INVALID,
                           "--sandbox: \"%.64s\" is none of auto, namespaces, "
                           "landlock, none",
                           text);
        guest->sandbox = (enum sandbox)i;
        if (!confine_works(guest->sandbox))
            return ht_fail(err, HT_PRECONDITION,
                           "--sandbox: this machine does not let this user "
                           "make %s",
                           text);
    }
    if (guest->first_uid > 0 && guest->sandbox != SANDBOX_NAMESPACES)
        return ht_fail(err, HT_PRECONDITION,
                       "--run-as needs --sandbox namespaces, for which this "
                       "process lacks CAP_SYS_ADMIN");
    return HT_OK;
}

/* ---- --limit ---- */

static bool read_size(const char *text, int64_t *bytes)
{
    static const char units[] = "kmgt";
    char *end;
    errno = 0;
    const double value = strtod(text, &end);
    const char *unit = *end != '\0' ? strchr(units, *end | 0x20) : NULL;
    if (end == text || (*end != '\0' && (unit == NULL || end[1] != '\0')))
        return false;
    const double scaled =
        value *
        (double)((int64_t)1 << (unit != NULL ? 10 * (unit - units + 1) : 0));
    if (!(scaled >= 1 && scaled < 1e15))
        return false;
    *bytes = (int64_t)scaled;
    return true;
}

static bool read_limit(const char *name, const char *value,
                       struct cgroup_limits *limits, struct guest *guest)
{
    char *end;
    if (strcmp(name, "memory") == 0)
        return read_size(value, &limits->memory);
    if (strcmp(name, "file") == 0)
        return read_size(value, &guest->file_bytes);
    if (strcmp(name, "pids") == 0)
        return read_number(value, strlen(value), &limits->pids);
    limits->cpus = strtod(value, &end);
    return strcmp(name, "cpus") == 0 && *end == '\0' && limits->cpus >= 0.01 &&
           limits->cpus <= 4096;
}

static enum ht_status read_limits(struct arena *arena, const char *text,
                                  struct site *site, struct ht_error *err)
{
    char *rest = NULL;
    for (char *name = strtok_r(arena_strdup(arena, text), ",", &rest);
         name != NULL; name = strtok_r(NULL, ",", &rest)) {
        char *equals = strchr(name, '=');
        if (equals != NULL)
            *equals = '\0';
        if (equals == NULL ||
            !read_limit(name, equals + 1, &site->limits, &site->guest))
            return ht_fail(err, HT_INVALID,
                           "--limit: \"%.64s\" is none of memory=SIZE, "
                           "pids=N, file=SIZE, cpus=N; a SIZE is bytes or ends "
                           "in K, M, G or T",
                           name);
    }
    return HT_OK;
}

static char *read_text(struct arena *arena, const char *path)
{
    enum { MOST = 64 * 1024 };
    char *text = arena_alloc(arena, MOST, 1);
    FILE *file = fopen(path, "re");
    if (file != NULL) {
        text[fread(text, 1, MOST - 1, file)] = '\0';
        fclose(file);
    }
    return text;
}

/* Each limit that was asked for must be possible. */
static enum ht_status find_cgroups(struct arena *arena, struct site *site,
                                   struct ht_error *err)
{
    const struct cgroup_limits *limits = &site->limits;
    const bool wanted[CGROUP_CONTROLLERS] = {
        limits->memory > 0, limits->pids > 0, limits->cpus > 0};
    if (!wanted[0] && !wanted[1] && !wanted[2])
        return HT_OK;
    cgroup_find(arena, "/sys/fs/cgroup", read_text(arena, "/proc/self/cgroup"),
                &site->cgroups);
    for (int i = 0; i < CGROUP_CONTROLLERS; i++) {
        const bool by_user = i == CGROUP_PIDS && site->guest.first_uid > 0 &&
                             !site->guest.shared_uid;
        if (wanted[i] && site->cgroups.folders[i] == NULL && !by_user)
            return ht_fail(err, HT_PRECONDITION,
                           "--limit: no control group of this process can "
                           "limit %s: give it one (Delegate=yes), or run it as "
                           "root",
                           cgroup_controllers[i]);
    }
    if (site->guest.first_uid > 0 && !site->guest.shared_uid)
        site->guest.processes = limits->pids;
    return HT_OK;
}

/* ---- what is hidden ---- */

/* A trial's own user can enter no folder that is closed to others, so where one
 * is on the way to the trial's files, all of it is hidden but these. */
static void widen(char *path)
{
    struct stat status;
    for (char *slash = strchr(path + 1, '/'); slash != NULL;
         slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (stat(path, &status) == 0 && (status.st_mode & S_IXOTH) == 0)
            return;
        *slash = '/';
    }
}

static void hide(struct arena *arena, const char *path, const struct site *site,
                 struct words *hidden)
{
    char real[PATH_MAX];
    if (path == NULL || realpath(path, real) == NULL)
        return;
    if (site->guest.first_uid > 0)
        widen(real);
    words_add(arena, hidden, arena_strdup(arena, real));
}

/* A server's data folder is hidden as a whole. */
static const char *secret_place(struct arena *arena, const char *token_file)
{
    char real[PATH_MAX];
    if (realpath(token_file, real) == NULL)
        return token_file;
    char *folder = arena_strdup(arena, real);
    *strrchr(folder, '/') = '\0';
    return access(arena_printf(arena, "%s/hypertune.db", folder), F_OK) == 0
               ? folder
               : arena_strdup(arena, real);
}

/* Sockets by which this user may start programs outside of the sandbox, there
 * or not yet: of sessions and of container engines. Landlock has no rule for
 * them. */
static void hide_sockets(struct arena *arena, const struct guest *guest,
                         struct words *hidden)
{
    static const char *const engines[] = {"/run/docker.sock", "/run/podman",
                                          "/run/containerd", "/run/crio"};
    const unsigned uid = (unsigned)geteuid();
    if (guest->sandbox != SANDBOX_NAMESPACES)
        return;
    words_add(arena, hidden, arena_printf(arena, "/run/user/%u", uid));
    words_add(arena, hidden, arena_printf(arena, "/tmp/tmux-%u", uid));
    for (size_t i = 0; i < sizeof engines / sizeof *engines; i++)
        words_add(arena, hidden, engines[i]);
}

static void hide_all(struct arena *arena, const char *token_file,
                     struct site *site)
{
    struct words hidden = {0};
    hide(arena, secret_place(arena, token_file), site, &hidden);
    hide(arena, site->state, site, &hidden);
    hide(arena, site->secrets, site, &hidden);
    hide(arena, site->credentials, site, &hidden);
    hide_sockets(arena, &site->guest, &hidden);
    site->guest.hidden = (struct strings){hidden.n, hidden.items};
}

/* ---- once, and for each replica ---- */

/* Only what the runner itself chose, never a path of the job. */
static void keep(struct arena *arena, const struct guest *guest,
                 const char *path, struct words *kept)
{
    if (path != NULL && guest_hides(guest, path))
        words_add(arena, kept, path);
}

static void prepare_command(struct arena *arena, struct site *site)
{
    struct guest guest = site->guest;
    struct words kept = {0}, words = {0};
    struct text json = {0};
    keep(arena, &guest, site->programs, &kept);
    guest.kept = (struct strings){kept.n, kept.items};
    cgroup_plan(arena, &site->cgroups, &site->limits,
                arena_printf(arena, "questions-%s", site->runner), &guest);
    json_open(&json, NULL);
    guest_write(&json, &guest);
    json_close(&json);
    words_add(arena, &words, site->shim);
    words_add(arena, &words, "--guest");
    words_add(arena, &words, text_take(&json, arena));
    site->guest_command = (struct strings){words.n, words.items};
}

static void warn(const struct guest *guest)
{
    if (guest->sandbox == SANDBOX_NONE)
        log_event(LOG_WARN, "runner.open",
                  "reason=\"trials can read the server's data and signal its "
                  "programs: see Guests in docs/operations.md\"");
    else if (geteuid() == 0 && guest->first_uid == 0)
        log_event(LOG_WARN, "runner.root",
                  "reason=\"trials are root and can change this machine: "
                  "see --run-as\"");
    else if (guest->sandbox == SANDBOX_LANDLOCK &&
             landlock_version() < LANDLOCK_SIGNALS)
        log_event(LOG_WARN, "runner.signals",
                  "reason=\"trials can signal this user's programs: this "
                  "kernel's Landlock does not stop signals\"");
}

enum ht_status isolation_decide(struct arena *arena,
                                const struct isolation_options *options,
                                struct site *site, struct ht_error *err)
{
    site->guest = (struct guest){.sandbox = SANDBOX_NONE};
    site->limits = (struct cgroup_limits){.memory = 0};
    enum ht_status status = read_run_as(arena, options->run_as, site, err);
    if (status == HT_OK)
        status = read_sandbox(options->sandbox, &site->guest, err);
    if (status == HT_OK && options->limit != NULL)
        status = read_limits(arena, options->limit, site, err);
    if (status == HT_OK)
        status = find_cgroups(arena, site, err);
    if (status != HT_OK)
        return status;
    hide_all(arena, options->token_file, site);
    if (site->guest.sandbox != SANDBOX_NONE)
        prepare_command(arena, site);
    warn(&site->guest);
    log_event(LOG_INFO, "runner.guests", "sandbox=%s run-as=%s",
              sandbox_name(site->guest.sandbox), options->run_as);
    return HT_OK;
}

/* Those of the runner's user are not the trial's. */
static void change_home(struct arena *arena, const struct site *site,
                        struct replica_view *view)
{
    static const char *const own[] = {"HOME", "USER", "TMPDIR"};
    const struct pairs *before = &view->defaults;
    struct pair *items = arena_alloc(arena, before->n + 2, sizeof *items);
    size_t n = 0;
    items[n++] = (struct pair){
        "HOME", site->trial_home != NULL ? site->trial_home : view->folder};
    if (site->trial_user != NULL)
        items[n++] = (struct pair){"USER", site->trial_user};
    for (size_t i = 0; i < before->n; i++) {
        const char *name = before->items[i].name;
        if (strcmp(name, own[0]) != 0 && strcmp(name, own[1]) != 0 &&
            strcmp(name, own[2]) != 0)
            items[n++] = before->items[i];
    }
    view->defaults = (struct pairs){.n = n, .items = items};
}

static void plan_cgroups(struct arena *arena, const struct site *site,
                         const struct order *order, size_t replica,
                         struct guest *guest)
{
    cgroup_plan(arena, &site->cgroups, &site->limits,
                arena_printf(arena, "%s-%s", order->name,
                             order->replicas[replica].name),
                guest);
}

void isolation_forget(const struct site *site, const struct order *order,
                      size_t replica)
{
    struct arena *arena = arena_new();
    struct guest guest = {.sandbox = SANDBOX_NONE};
    plan_cgroups(arena, site, order, replica, &guest);
    cgroup_remove(&guest);
    arena_free(arena);
}

static struct guest guest_of(struct arena *arena, const struct site *site,
                             const struct order *order, size_t replica,
                             const struct replica_view *view)
{
    const char *attempt = prepare_attempt_folder(arena, site, &order->key);
    struct guest guest = site->guest;
    struct words kept = {0}, given = {0};
    const char *root =
        view->makes != NULL ? outputs_root(site, view->makes) : NULL;
    for (int i = 0; root != NULL && i < OUTPUT_FOLDERS; i++) {
        const char *folder =
            arena_printf(arena, "%s/%s", view->makes, output_folders[i].value);
        words_add(arena, &given, safe_path_rest(root, folder));
        if (order->output_dir == NULL)
            keep(arena, &guest, folder, &kept);
    }
    for (size_t i = 0; i < order->n_replicas; i++)
        keep(arena, &guest,
             prepare_replica_folder(arena, attempt, &order->replicas[i]),
             &kept);
    keep(arena, &guest, credentials_path(arena, site, &order->key), &kept);
    if (order->code.tree != NULL)
        keep(arena, &guest, trees_folder(arena, site->state, order->code.tree),
             &kept);
    keep(arena, &guest, site->kit, &kept);
    keep(arena, &guest, site->programs, &kept);
    guest.kept = (struct strings){kept.n, kept.items};
    /* Of several replicas, each with a user of its own, the others only write
     * into the folders. */
    if (replica == 0) {
        guest.given_root = root;
        guest.given = (struct strings){given.n, given.items};
    }
    plan_cgroups(arena, site, order, replica, &guest);
    return guest;
}

void isolation_apply(struct arena *arena, const struct site *site,
                     const struct order *order, size_t replica,
                     struct replica_view *view)
{
    view->guest = guest_of(arena, site, order, replica, view);
    if (site->guest.first_uid > 0)
        change_home(arena, site, view);
}
