#include "runner/cluster/cluster.h"

#include <string.h>

#include "proto/base/limits.h"
#include "runner/base/disk.h"
#include "runner/base/json.h"
#include "runner/cluster/submission.h"

enum ht_status cluster_open(const struct site *site, struct slurm **slurm,
                            struct ht_error *err)
{
    const struct slurm_settings settings = {
        .rest = site->slurm_rest,
        .token_file = site->slurm_token,
        .ssh = site->slurm_ssh,
    };
    return slurm_open(&settings, slurm, err);
}

enum ht_status cluster_defaults(const struct site *site, struct arena *arena,
                                struct job_slurm *defaults,
                                struct ht_error *err)
{
    struct disk_bytes bytes;
    const char *path = site->slurm_defaults;
    *defaults = (struct job_slurm){.said = false};
    if (path == NULL)
        return HT_OK;
    const char *slash = strrchr(path, '/');
    const char *folder =
        slash == NULL   ? "."
        : slash == path ? "/"
                        : arena_strndup(arena, path, (size_t)(slash - path));
    const enum ht_status status =
        disk_read(arena, folder, slash == NULL ? path : slash + 1, HT_MAX_YAML,
                  &bytes, err);
    if (status != HT_OK)
        return ht_wrap(err, HT_INVALID, "--slurm-defaults");
    return slurm_read_defaults(arena, bytes.data, bytes.len, path, defaults,
                               err);
}

/* ---- a look ---- */

struct look {
    const struct site *site;
    struct arena *arena;
    struct slurm *slurm;
    struct slurm_limits limits;
    struct text *out;
};

static void put_limits(const struct slurm_limits *limits, struct text *out)
{
    json_put_string(out, "version", limits->version);
    json_put_int(out, "maxArraySize", limits->most_array);
    json_put_int(out, "killWaitMs", limits->kill_wait_ms);
    json_open_list(out, "partitions");
    for (size_t i = 0; i < limits->n_partitions; i++) {
        const struct slurm_partition *one = &limits->partitions[i];
        json_open(out, NULL);
        json_put_string(out, "name", one->name);
        json_put_bool(out, "default", one->is_default);
        json_put_bool(out, "up", one->is_up);
        json_put_int(out, "defaultMs", one->default_ms);
        json_put_int(out, "mostMs", one->most_ms);
        json_close(out);
    }
    json_close_list(out);
    json_open_list(out, "reservations");
    for (size_t i = 0; i < limits->n_reservations; i++)
        json_put_string(out, NULL, limits->reservations[i]);
    json_close_list(out);
}

static enum ht_status ask_limits(struct look *look, struct ht_error *err)
{
    enum ht_status status = cluster_open(look->site, &look->slurm, err);
    if (status != HT_OK)
        return status;
    json_put_string(look->out, "way", slurm_way(look->slurm));
    status = slurm_limits(look->slurm, look->arena, &look->limits, err);
    if (status == HT_OK)
        put_limits(&look->limits, look->out);
    return status;
}

/* More elements than an array may have are several batches. */
static int elements_of(const struct slurm_limits *limits, int64_t wanted)
{
    const int64_t most =
        limits->most_array > 0 ? limits->most_array : INT32_MAX;
    return (int)(wanted < 1 ? 1 : wanted < most ? wanted : most);
}

static enum ht_status try_batch(struct look *look, const char *test,
                                struct ht_error *err)
{
    const struct node *root = json_read_map(look->arena, test, strlen(test));
    struct slurm_need need;
    struct job_slurm defaults;
    struct slurm_batch batch;
    const char *words;
    /* No file of it is looked at. */
    struct slurm_site site = {
        .name = "hypertune-test",
        .folder = "/",
        .shim = "/hypertune-shim",
        .elements =
            elements_of(&look->limits, node_get_int(root, "elements", 1))};
    enum ht_status status =
        slurm_need_read(look->arena, node_find(root, "need"), &need, err);
    if (status == HT_OK)
        status = cluster_defaults(look->site, look->arena, &defaults, err);
    if (status != HT_OK)
        return status;
    slurm_apply_defaults(look->arena, &need.section, &defaults);
    status =
        submission_job(&look->limits, &need, &site, look->arena, &batch, err);
    if (status == HT_OK)
        status = slurm_test(look->slurm, &batch, look->arena, &words, err);
    if (status == HT_OK)
        json_put_string(look->out, "test", words);
    return status;
}

void cluster_look(const struct site *site, const char *test, struct text *out)
{
    struct ht_error err;
    struct look look = {.site = site, .arena = arena_new(), .out = out};
    json_open(out, NULL);
    enum ht_status status = ask_limits(&look, &err);
    if (status == HT_OK && test != NULL)
        status = try_batch(&look, test, &err);
    if (status != HT_OK) {
        json_put_string(out, "error", err.text);
        json_put_string(out, "status", ht_status_rpc(status));
    }
    json_close(out);
    text_puts(out, "\n");
    slurm_close(look.slurm);
    arena_free(look.arena);
}
