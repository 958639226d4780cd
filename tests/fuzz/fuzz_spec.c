/* Any bytes as a spec of every form and kind: a refusal is explained, and what
 * is accepted survives being stored and draws points inside its space. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/limits.h"
#include "proto/doc/json.h"
#include "proto/form/form.h"
#include "proto/form/native.h"
#include "proto/job/kubernetes.h"
#include "proto/job/pod_overlay.h"
#include "proto/job/slurm.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_points(struct arena *arena, const struct space *space)
{
    struct value *point = arena_alloc(arena, space->n, sizeof *point);
    struct value *back = arena_alloc(arena, space->n, sizeof *back);
    static const double at[] = {0, 0.3, 0.5, 0.999999};
    for (size_t k = 0; k < sizeof at / sizeof *at; k++) {
        struct text text = {0};
        for (size_t i = 0; i < space->n; i++)
            point[i] = space_param_from_unit(&space->params[i], at[k]);
        space_settle(space, point);
        space_point_text(space, point, &text);
        if (space_point_parse(space, text.data, back, NULL) != HT_OK)
            abort();
        for (size_t i = 0; i < space->n; i++)
            if (!space_value_equal(&space->params[i], point[i], back[i]))
                abort();
        text_free(&text);
    }
}

/* What the native form does not name as lost survives it. */
static void check_native(struct arena *arena, const struct job *job)
{
    struct diag diag;
    struct text json = {0}, diff = {0};
    diag_init(&diag, arena, "native", NULL, 0);
    native_omits(job, &diag);
    if (diag.warnings > 0)
        return;
    json_print(native_write(job), &json);
    diag_init(&diag, arena, "native", json.data, json.len);
    const struct node *root = node_read_json(arena, json.data, json.len, &diag);
    const struct job *back = root ? native_read(root, &diag) : NULL;
    if (json.len <= HT_MAX_SPEC &&
        (back == NULL || form_diff(job, back, &diff) != 0))
        abort();
    text_free(&json);
    text_free(&diff);
}

/* What a runner gets of it is what the server meant, and no option of a batch
 * job breaks its line. */
static void check_slurm(struct arena *arena, const struct job *job)
{
    static const struct slurm_site site = {
        .name = "n", .folder = "/f", .shim = "/s", .elements = 1};
    const struct slurm_need need = slurm_need_of(arena, job);
    const char *text = slurm_need_write(arena, &need);
    struct slurm_need back;
    struct slurm_batch batch;
    if (need.n_pools == 0)
        return;
    if (slurm_need_read(arena, node_read_stored(arena, text), &back, NULL) !=
            HT_OK ||
        strcmp(slurm_need_write(arena, &back), text) != 0)
        abort();
    if (slurm_batch(arena, &need, &site, &batch, NULL) != HT_OK)
        return;
    for (size_t i = 0; i < batch.n_options; i++)
        if (batch.options[i].value != NULL &&
            strchr(batch.options[i].value, '\n') != NULL)
            abort();
}

/* What a spec lays over a pod changes nothing that the spec says elsewhere. */
static void check_kubernetes(struct arena *arena, const struct job *job)
{
    static const char base[] =
        "{\"restartPolicy\":\"Never\",\"containers\":[{\"name\":"
        "\"" KUBERNETES_CONTAINER "\",\"image\":\"i\",\"command\":[\"c\"]}]}";
    if (job->kubernetes.pod == NULL)
        return;
    cJSON *merged = json_of_node(node_read_stored(arena, base));
    pod_overlay(merged, node_read_stored(arena, job->kubernetes.pod));
    const struct node *pod = node_read_stored(arena, json_text(arena, merged));
    const struct node *trial = node_first(pod, "containers");
    if (strcmp(node_get_string(pod, "restartPolicy", ""), "Never") != 0 ||
        (trial != NULL && /* they may be taken away */
         (strcmp(node_get_string(trial, "image", ""), "i") != 0 ||
          node_first(trial, "command") == NULL)))
        abort();
}

/* The files of some forms leave that to the words after "--", without which
 * they are never stored. */
static bool says_what_to_run(const struct job *job)
{
    for (size_t i = 0; i < job->n_pools; i++)
        if (job->pools[i].image == NULL && job->pools[i].command.n == 0)
            return false;
    return true;
}

static void check_job(struct arena *arena, const struct job *job)
{
    struct text json = {0}, diff = {0};
    struct job *back;
    if (!says_what_to_run(job))
        return;
    json_print(vertex_write(job), &json);
    if (json.len <= HT_MAX_SPEC &&
        (vertex_parse(arena, json.data, &back, NULL) != HT_OK ||
         form_diff(job, back, &diff) != 0))
        abort();
    check_native(arena, job);
    check_slurm(arena, job);
    check_kubernetes(arena, job);
    check_points(arena, &job->space);
    text_free(&json);
    text_free(&diff);
}

static struct job *read_tuning(const struct node *root, struct diag *diag)
{
    return vertex_read(root, JOB_TUNING, diag);
}

static struct job *read_study(const struct node *root, struct diag *diag)
{
    return vertex_read(root, JOB_STUDY, diag);
}

static struct job *read_custom(const struct node *root, struct diag *diag)
{
    return vertex_read(root, JOB_CUSTOM, diag);
}

typedef struct job *reader_function(const struct node *, struct diag *);

static void check_reader(reader_function *reader, const char *text, size_t len)
{
    struct arena *arena = arena_new();
    struct diag diag;
    struct text shown = {0};
    diag_init(&diag, arena, "spec", text, len);
    const struct node *root = node_read(arena, text, len, &diag);
    const struct job *job = root ? reader(root, &diag) : NULL;
    if ((job == NULL) != (diag.errors > 0))
        abort();
    diag_print(&diag, &shown);
    if (job)
        check_job(arena, job);
    text_free(&shown);
    arena_free(arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    json_init();
    char *text = malloc(size + 1); /* exact, so that overreads are seen */
    memcpy(text, data, size);
    text = realloc(text, size > 0 ? size : 1);
    static reader_function *const readers[] = {
        native_read, read_tuning, read_study, read_custom, aip_read, form_read};
    for (size_t i = 0; i < sizeof readers / sizeof *readers; i++)
        check_reader(readers[i], text, size);
    struct arena *arena = arena_new();
    struct job_slurm defaults;
    slurm_read_defaults(arena, text, size, "site", &defaults, NULL);
    arena_free(arena);
    free(text);
    return 0;
}
