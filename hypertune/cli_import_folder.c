/* A folder that `hypertune export -o dir` made. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "hypertune/cli_export_folder.h"
#include "hypertune/cli_import.h"
#include "hypertune/cli_imported.h"
#include "hypertune/cli_study.h"
#include "proto/job.h"
#include "proto/json.h"

enum { STUDY_BYTES = 1 << 20, TRIALS_BYTES = 1 << 30 };

struct folder {
    struct cli_imported imported;
    const struct job *job; /* as it was */
    bool stray;            /* some metric is none of its goals */
};

/* ---- the study ---- */

static const struct node *read_study(struct cli *cli, const char *path)
{
    size_t len;
    char *content = cli_import_read(cli, path, STUDY_BYTES, &len);
    struct diag diag;
    if (content == NULL)
        return NULL;
    diag_init(&diag, cli->arena, path, content, len);
    const struct node *root = node_read_json(cli->arena, content, len, &diag);
    if (root == NULL)
        cli_fail(cli, CLI_USAGE, "%s is no JSON: %s", path, diag.first->text);
    return root;
}

static const struct job *job_of(struct cli *cli, const struct cli_study *from)
{
    struct diag diag;
    diag_init(&diag, cli->arena, EXPORT_STUDY, NULL, 0);
    const struct job *job = job_read_vertex(from->job, from->home->kind, &diag);
    if (job == NULL)
        cli_fail(cli, CLI_USAGE, EXPORT_STUDY ": %s: %s",
                 diag.first->path != NULL ? diag.first->path : "",
                 diag.first->text);
    return job;
}

/* What was searched and how results are to be taken; nothing that would end
 * the study while its trials are told. */
static cJSON *search_of(struct cli *cli, const struct cli_study *from,
                        const struct job *theirs)
{
    const char *name = cli->set.name;
    const struct job job = {.kind = JOB_STUDY,
                            .name = name != NULL ? name : from->name,
                            .display = name != NULL ? name : theirs->display,
                            .labels = theirs->labels,
                            .space = theirs->space,
                            .n_metrics = theirs->n_metrics,
                            .metrics = theirs->metrics,
                            .algorithm = theirs->algorithm,
                            .has_seed = theirs->has_seed,
                            .seed = theirs->seed,
                            .selection = theirs->selection,
                            .noise = theirs->noise,
                            .constraints = theirs->constraints,
                            .parallel = JOB_PARALLEL,
                            .retries = JOB_RETRIES,
                            .grace_ms = JOB_GRACE_MS};
    return job_write_vertex(&job);
}

/* ---- trials ---- */

/* A study of clients knows the metrics of its goals alone. */
static bool is_goal(const struct job *job, const char *name)
{
    for (size_t i = 0; i < job->n_metrics; i++)
        if (strcmp(job->metrics[i].name, name) == 0)
            return true;
    return false;
}

static cJSON *make_measurement(struct folder *folder,
                               const struct node *metrics, int64_t step)
{
    cJSON *measurement = cJSON_CreateObject();
    json_add_int_text(measurement, "stepCount", step);
    cJSON *list = json_add_array(measurement, "metrics");
    for (const struct node *one = metrics ? metrics->first : NULL; one != NULL;
         one = one->next) {
        const bool goal = is_goal(folder->job, one->key);
        double value;
        if (goal && node_double(one, &value))
            cli_imported_metric(list, one->key, value);
        folder->stray = folder->stray || !goal;
    }
    if (list->child != NULL)
        return measurement;
    cJSON_Delete(measurement);
    return NULL;
}

static cJSON *make_parameters(const struct node *params)
{
    cJSON *list = cJSON_CreateArray();
    for (const struct node *one = params ? params->first : NULL; one != NULL;
         one = one->next) {
        cJSON *item = json_push_object(list);
        json_add_string(item, "parameterId", one->key);
        cJSON_AddItemToObject(item, "value", json_of_node(one));
    }
    return list;
}

static cJSON *make_curve(struct folder *folder, const struct node *records)
{
    cJSON *curve = cJSON_CreateArray();
    for (const struct node *one = records ? records->first : NULL; one != NULL;
         one = one->next) {
        cJSON *measurement = make_measurement(folder, node_find(one, "metrics"),
                                              node_get_int(one, "step", 0));
        if (measurement != NULL)
            cJSON_AddItemToArray(curve, measurement);
    }
    return curve;
}

static bool has_ended(const char *state)
{
    static const char *const ended[] = {"SUCCEEDED", "STOPPED", "FAILED",
                                        "INFEASIBLE", "CANCELLED"};
    for (size_t i = 0; i < sizeof ended / sizeof *ended; i++)
        if (strcmp(state, ended[i]) == 0)
            return true;
    return false;
}

static int add_trial(struct folder *folder, const struct node *line)
{
    const char *state = node_get_string(line, "state", "");
    const bool counts =
        strcmp(state, "SUCCEEDED") == 0 || strcmp(state, "STOPPED") == 0;
    const char *reason = node_get_string(line, "reason", "");
    const struct cli_imported_trial trial = {
        .parameters = make_parameters(node_find(line, "params")),
        .curve = make_curve(folder, node_find(line, "measurements")),
        .final = counts ? make_measurement(folder, node_find(line, "metrics"),
                                           node_get_int(line, "step", 0))
                        : NULL,
        .reason = reason[0] != '\0' ? reason : state};
    return cli_imported_add(&folder->imported, &trial);
}

/* One trial a line; each is read into an arena of its own. */
static int add_trials(struct folder *folder, char *content, const char *path)
{
    struct cli *cli = folder->imported.cli;
    size_t number = 0, open = 0;
    int code = CLI_DONE;
    char *rest = NULL;
    for (char *text = strtok_r(content, "\n", &rest);
         text != NULL && code == CLI_DONE; text = strtok_r(NULL, "\n", &rest)) {
        struct arena *arena = arena_new();
        struct diag diag;
        number++;
        diag_init(&diag, arena, path, text, strlen(text));
        const struct node *line =
            node_read_long_json(arena, text, strlen(text), &diag);
        if (line == NULL)
            code = cli_fail(cli, CLI_USAGE, "%s:%zu: %s", path, number,
                            diag.first->text);
        else if (has_ended(node_get_string(line, "state", "")))
            code = add_trial(folder, line);
        else
            open++;
        arena_free(arena);
    }
    if (open > 0)
        cli_say(cli, "left out: %zu trials that had not ended", open);
    return code;
}

int cli_import_folder(struct cli *cli, const char *path)
{
    const char *trials = arena_printf(cli->arena, "%s/" EXPORT_TRIALS, path);
    struct folder folder = {.stray = false};
    struct cli_study from;
    size_t len;
    const struct node *root =
        read_study(cli, arena_printf(cli->arena, "%s/" EXPORT_STUDY, path));
    if (root == NULL)
        return CLI_USAGE;
    char *content = cli_import_read(cli, trials, TRIALS_BYTES, &len);
    if (content == NULL)
        return CLI_ABSENT;
    cli_study_read(root, &from);
    folder.job = job_of(cli, &from);
    if (folder.job == NULL)
        return CLI_USAGE;
    int code = cli_imported_open(cli, search_of(cli, &from, folder.job),
                                 &folder.imported);
    if (code != CLI_DONE)
        return code;
    code = add_trials(&folder, content, trials);
    if (folder.stray && code == CLI_DONE)
        cli_say(cli, "left out: metrics that are no goal of the study");
    return cli_imported_close(&folder.imported, code);
}
