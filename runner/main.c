/* main.c - hypertune-runner. */

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <unistd.h>

#include <curl/curl.h>

#include "proto/base/arena.h"
#include "proto/base/limits.h"
#include "proto/base/machine_id.h"
#include "proto/base/token.h"
#include "proto/base/utf8.h"
#include "proto/doc/json.h"
#include "proto/job/run_on.h"
#include "runner/attempt/engine.h"
#include "runner/base/disk.h"
#include "runner/base/gpus.h"
#include "runner/base/rules.h"
#include "runner/cluster/cluster.h"
#include "runner/options.h"
#include "runner/pods/look.h"
#include "runner/pods/preview.h"
#include "runner/pods/proof.h"
#include "runner/process/isolation.h"
#include "runner/supervisor.h"

enum { EXIT_ERROR = 1, EXIT_USAGE = 2, EXIT_TOKEN = 4, EXIT_CONFLICT = 5 };
enum {
    RUNNER_ID_BYTES = 8,
    ALONE_MS = 30000,
    MOST_USUAL_SLOTS = 4,
    USUAL_ELASTIC_SLOTS = 100
};

static int complain(int code, const struct ht_error *err)
{
    (void)fprintf(stderr, "hypertune-runner: %s\n", err->text);
    return code;
}

static int count_cores(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0)
        return CPU_COUNT(&set);
    const long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n > 0 ? (int)n : 1;
}

/* Most attempts on GPUs use one, and wait without it. */
static int usual_slots(const struct site *site)
{
    if (site->elastic)
        return USUAL_ELASTIC_SLOTS;
    if (site->gpus.n > 0)
        return (int)site->gpus.n;
    return site->cores < MOST_USUAL_SLOTS ? site->cores : MOST_USUAL_SLOTS;
}

static struct pairs collect_inherited(struct arena *arena)
{
    static const char *const names[] = {"HOME", "USER", "LANG", "TZ", "TMPDIR"};
    enum { N = sizeof names / sizeof *names };
    struct pair *items = arena_alloc(arena, N, sizeof *items);
    size_t n = 0;
    for (size_t i = 0; i < N; i++) {
        const char *value = getenv(names[i]);
        /* launch.json is UTF-8. */
        if (value != NULL && utf8_is_valid(value, strlen(value)))
            items[n++] = (struct pair){names[i], value};
    }
    return (struct pairs){.n = n, .items = items};
}

/* Only names: values are read when a trial needs them. */
static struct strings collect_secret_variables(struct arena *arena)
{
    static const char prefix[] = "HYPERTUNE_SECRET_";
    enum { LEN = sizeof prefix - 1 };
    size_t n = 0, most = 0;
    while (environ[most] != NULL)
        most++;
    const char **names = arena_alloc(arena, most + 1, sizeof *names);
    for (char **entry = environ; *entry != NULL; entry++) {
        const size_t len = strcspn(*entry, "=");
        if (strncmp(*entry, prefix, LEN) == 0 && len > LEN)
            names[n++] = arena_strndup(arena, *entry + LEN, len - LEN);
    }
    return (struct strings){.n = n, .items = names};
}

/* The places where Google's libraries look. */
static bool has_gcs_credentials(struct arena *arena)
{
    const char *home = getenv("HOME");
    return getenv("GOOGLE_APPLICATION_CREDENTIALS") != NULL ||
           (home != NULL &&
            access(arena_printf(arena,
                                "%s/.config/gcloud/"
                                "application_default_credentials.json",
                                home),
                   R_OK) == 0);
}

/* The folder part of a path, made absolute. */
static enum ht_status make_state(struct arena *arena,
                                 const struct runner_options *options,
                                 char **state, struct ht_error *err)
{
    const char *path = options->state;
    if (path == NULL) {
        const char *slash = strrchr(options->token_file, '/');
        const size_t len =
            slash != NULL ? (size_t)(slash - options->token_file) : 0;
        path = arena_printf(arena, "%.*s%sruns", (int)len, options->token_file,
                            slash != NULL ? "/" : "");
    }
    const enum ht_status status = disk_make_folder(path, err);
    if (status != HT_OK)
        return status;
    char real[PATH_MAX];
    if (realpath(path, real) == NULL)
        return ht_fail_errno(err, errno, "cannot resolve %s", path);
    *state = arena_strdup(arena, real);
    return HT_OK;
}

/* The lock lasts as long as the process. */
static enum ht_status lock_state(struct arena *arena, const char *state,
                                 struct ht_error *err)
{
    const char *path = arena_printf(arena, "%s/runner.lock", state);
    const int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return ht_fail_errno(err, errno, "cannot open %s", path);
    if (flock(fd, LOCK_EX | LOCK_NB) == 0)
        return HT_OK;
    close(fd);
    return ht_fail(err, HT_CONFLICT, "another runner works in %s", state);
}

static enum ht_status get_runner_id(struct arena *arena, const char *state,
                                    struct sender *sender, struct ht_error *err)
{
    struct disk_bytes bytes;
    enum ht_status status = disk_read(arena, state, "runner-id",
                                      sizeof sender->runner, &bytes, err);
    if (status == HT_OK) {
        char *text = bytes.data;
        text[strcspn(text, "\n")] = '\0';
        if (text[0] != '\0') {
            (void)snprintf(sender->runner, sizeof sender->runner, "%s", text);
            return HT_OK;
        }
    } else if (status != HT_NOT_FOUND) {
        return status;
    }
    char fresh[TOKEN_TEXT_BYTES];
    token_make(fresh, RUNNER_ID_BYTES);
    (void)snprintf(sender->runner, sizeof sender->runner, "%.32s", fresh);
    return disk_write(state, "runner-id", fresh, strlen(fresh), 0600, err);
}

/* Beside the programs as built, below lib/ as installed. */
static const char *find_kit(struct arena *arena, const char *programs)
{
    static const char *const places[] = {"../kit", "../lib/hypertune/kit"};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        char real[PATH_MAX];
        const char *path = arena_printf(arena, "%s/%s", programs, places[i]);
        if (realpath(path, real) != NULL &&
            access(arena_printf(arena, "%s/bin/hypertune-shim", real), X_OK) ==
                0)
            return arena_strdup(arena, real);
    }
    return NULL;
}

static enum ht_status find_programs(struct arena *arena, bool images,
                                    struct site *site, struct ht_error *err)
{
    char self[PATH_MAX];
    const ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    if (n <= 0)
        return ht_fail_errno(err, errno, "cannot read /proc/self/exe");
    self[n] = '\0';
    *strrchr(self, '/') = '\0';
    const char *path = arena_printf(arena, "%s/hypertune-shim", self);
    if (access(path, X_OK) != 0)
        return ht_fail_errno(err, errno, "cannot run %s", path);
    site->programs = arena_strdup(arena, self);
    site->shim = path;
    site->kit = find_kit(arena, self);
    if (images && site->kit == NULL)
        return ht_fail(err, HT_NOT_FOUND,
                       "the folder for containers is missing: neither "
                       "%.90s/../kit nor ../lib/hypertune/kit",
                       self);
    return HT_OK;
}

static enum ht_status read_folder(struct arena *arena, const char *flag,
                                  const char *text, const char **folder,
                                  struct ht_error *err)
{
    struct strings found;
    if (text == NULL)
        return HT_OK;
    const enum ht_status status = rules_folders(arena, flag, text, &found, err);
    if (status != HT_OK)
        return status;
    if (found.n != 1)
        return ht_fail(err, HT_INVALID, "--%s takes one folder", flag);
    *folder = found.items[0];
    return HT_OK;
}

static enum ht_status read_labels(struct arena *arena, const char *text,
                                  struct site *site, struct ht_error *err)
{
    struct ht_error why;
    if (run_on_labels(arena, text, &site->labels, &why) != HT_OK)
        return ht_fail(err, HT_INVALID, "--label: %s", why.text);
    return HT_OK;
}

/* Who named GPUs meant these and no instances of them. */
static void find_machine(struct arena *arena,
                         const struct runner_options *options,
                         const struct gpus_source *source, struct site *site)
{
    char id[TOKEN_TEXT_BYTES];
    machine_id(id, options->machine);
    site->machine = arena_strdup(arena, id);
    if (site->gpus.n > 0)
        site->models = gpu_models_ask(arena);
    if (source->visible == NULL &&
        (source->option == NULL || strcmp(source->option, "all") == 0))
        site->gpus = gpu_models_expand(arena, &site->models, &site->gpus);
}

static void read_cluster(const struct runner_options *options,
                         struct site *site)
{
    site->slurm_rest = options->slurm_rest;
    site->slurm_token = options->slurm_token;
    site->slurm_ssh = options->slurm_ssh;
    site->slurm_folder = options->slurm_folder;
    site->far = site->elastic && options->slurm_ssh != NULL;
    site->slurm_defaults = options->slurm_defaults;
    site->kube_config = options->kube_config;
    site->kube_context = options->kube_context;
    site->kube_namespace = options->kube_namespace;
    site->kube_shim_image = options->kube_shim_image;
    site->kube_max_jobs = options->kube_max_jobs;
}

/* The settings from flags and machine. */
static enum ht_status read_site(struct arena *arena,
                                const struct runner_options *options,
                                struct site *site, struct ht_error *err)
{
    const struct gpus_source source = {.option = options->gpus,
                                       .visible =
                                           getenv("CUDA_VISIBLE_DEVICES"),
                                       .devices = "/dev"};
    site->cores = count_cores();
    site->inherited = collect_inherited(arena);
    site->share_gpus = options->share;
    site->secret_variables = collect_secret_variables(arena);
    site->gcs_credentials = has_gcs_credentials(arena);
    site->docker_host = options->docker_host;
    site->start_limit_ms = options->start_limit * 1000;
    read_cluster(options, site);
    enum ht_status status = gpus_find(arena, &source, &site->gpus, err);
    if (status == HT_OK && options->label != NULL)
        status = read_labels(arena, options->label, site, err);
    if (status == HT_OK)
        find_machine(arena, options, &source, site);
    if (status == HT_OK && options->allow != NULL)
        status = rules_read(arena, options->allow, &site->allowed, err);
    if (status == HT_OK && options->volume_root != NULL)
        status = rules_folders(arena, "volume-root", options->volume_root,
                               &site->volume_roots, err);
    if (status == HT_OK)
        status = read_folder(arena, "gcs-root", options->gcs_root,
                             &site->gcs_root, err);
    if (status == HT_OK)
        status = read_folder(arena, "secrets", options->secrets, &site->secrets,
                             err);
    if (status == HT_OK)
        status = read_folder(arena, "credentials", options->credentials,
                             &site->credentials, err);
    site->slots = options->slots > 0 ? (int)options->slots : usual_slots(site);
    return status;
}

/* The runner's state folder, locked, and its id there. */
static enum ht_status take_state(struct arena *arena,
                                 const struct runner_options *options,
                                 struct site *site, struct sender *sender,
                                 struct ht_error *err)
{
    char *state = NULL;
    enum ht_status status = make_state(arena, options, &state, err);
    if (status == HT_OK)
        status = lock_state(arena, state, err);
    if (status == HT_OK)
        status = get_runner_id(arena, state, sender, err);
    if (status != HT_OK)
        return status;
    char boot[TOKEN_TEXT_BYTES];
    token_make(boot, TOKEN_TRIAL_BYTES);
    (void)snprintf(sender->boot, sizeof sender->boot, "%.32s", boot);
    site->state = state;
    site->runner = sender->runner;
    return HT_OK;
}

/* Each pod takes some descriptors. The limit is low because trainers inherit
 * it, of which there are none here. */
static void raise_files(void)
{
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) != 0)
        return;
    files.rlim_cur = files.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &files);
}

static int run(struct arena *arena, const struct runner_options *options)
{
    struct ht_error err;
    struct site site = {0};
    struct supervisor_settings settings = {
        .site = &site,
        .engine = runner_options_engine(options->engine),
        .server = options->server,
        .token_file = options->token_file,
        .trust = options->trust,
        .exit_when_alone = options->exit_when_alone,
        .alone_ms = ALONE_MS,
    };
    site.elastic = settings.engine->elastic != NULL;
    if (site.elastic)
        raise_files();
    char host[HOST_NAME_MAX + 1] = "";
    gethostname(host, sizeof host - 1);
    settings.host = host;
    if (read_site(arena, options, &site, &err) != HT_OK)
        return complain(EXIT_USAGE, &err);
    enum ht_status status =
        take_state(arena, options, &site, &settings.sender, &err);
    if (status == HT_OK)
        status = find_programs(arena, settings.engine->images, &site, &err);
    if (status != HT_OK)
        return complain(status == HT_CONFLICT ? EXIT_CONFLICT : EXIT_ERROR,
                        &err);
    if (access(options->token_file, R_OK) != 0) {
        ht_fail_errno(&err, errno, "cannot read token file %s",
                      options->token_file);
        return complain(EXIT_TOKEN, &err);
    }
    const struct isolation_options isolation = {
        .run_as = options->run_as,
        .sandbox = options->sandbox,
        .limit = options->limit,
        .token_file = options->token_file,
    };
    if (!settings.engine->images && !site.elastic &&
        isolation_decide(arena, &isolation, &site, &err) != HT_OK)
        return complain(EXIT_USAGE, &err);
    status = supervisor_run(&settings, &err);
    return status == HT_OK ? 0 : complain(EXIT_ERROR, &err);
}

static void preview(const struct runner_options *options,
                    const struct site *site, const struct disk_bytes *attempt,
                    struct text *out)
{
    const struct preview_wish wish = {.site = site,
                                      .attempt = attempt->data,
                                      .len = attempt->len,
                                      .dry_run = options->kube_try};
    pods_preview(&wish, out);
}

static void prove(const struct runner_options *options, struct site *site,
                  const struct disk_bytes *image, struct text *out)
{
    site->cores = site->slots = 1;
    const char *temporary = getenv("TMPDIR");
    const struct proof_wish wish = {.site = site,
                                    .image = image->data,
                                    .temporary =
                                        temporary != NULL ? temporary : "/tmp",
                                    .limit_ms = options->start_limit * 1000};
    pods_prove(&wish, out);
}

/* What is on stdin, as pods. */
static int look_at_input(struct arena *arena,
                         const struct runner_options *options,
                         struct site *site, struct text *out)
{
    struct ht_error err;
    struct disk_bytes input;
    enum ht_status status =
        find_programs(arena, options->kube_prove, site, &err);
    if (status == HT_OK)
        status = disk_read_open(arena, STDIN_FILENO, HT_MAX_SPEC, &input, &err);
    if (status != HT_OK) {
        ht_wrap(&err, status, "stdin");
        return complain(EXIT_ERROR, &err);
    }
    if (options->kube_prove)
        prove(options, site, &input, out);
    else
        preview(options, site, &input, out);
    return 0;
}

static int look(struct arena *arena, const struct runner_options *options)
{
    struct site site = {0};
    struct text out = {0};
    int code = 0;
    read_cluster(options, &site);
    if (options->kube_show || options->kube_try || options->kube_prove)
        code = look_at_input(arena, options, &site, &out);
    else if (options->kube_look)
        pods_look(&site, &out);
    else
        cluster_look(&site, options->slurm_test, &out);
    (void)fputs(text_string(&out), stdout);
    text_free(&out);
    return code;
}

int main(int argc, char **argv)
{
    const struct flags_source source = {argc, argv, getenv};
    struct runner_options options;
    struct text out = {0};
    struct ht_error err;
    json_init();
    memory_reserve();
    if (runner_options_read(&source, &options, &out, &err) != HT_OK)
        return complain(EXIT_USAGE, &err);
    if (out.len > 0) {
        (void)fputs(out.data, stdout);
        text_free(&out);
        return 0;
    }
    curl_global_init(CURL_GLOBAL_DEFAULT);
    struct arena *arena = arena_new();
    const int code = runner_options_only_look(&options) ? look(arena, &options)
                                                        : run(arena, &options);
    arena_free(arena);
    curl_global_cleanup();
    return code;
}
