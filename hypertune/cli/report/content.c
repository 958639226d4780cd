#include "hypertune/cli/report/content.h"

#include <math.h>
#include <string.h>

#include "proto/base/clock.h"
#include "proto/doc/diag.h"
#include "proto/doc/json.h"

enum { CURVES = 20, CURVE_POINTS = 80 };

/* ---- the spec ---- */

static bool is_named(const cJSON *item, const char *name)
{
    return item->string != NULL && strcmp(item->string, name) == 0;
}

/* Variables may hold passwords, and a page is sent to others. */
static void hide_values(cJSON *object)
{
    cJSON *item;
    cJSON_ArrayForEach(item, object)
    {
        if (is_named(item, "parameters"))
            continue;
        if (!is_named(item, "env"))
            hide_values(item);
        for (cJSON *one = is_named(item, "env") ? item->child : NULL;
             one != NULL; one = one->next)
            if (cJSON_IsString(one))
                cJSON_SetValuestring(one, "(not shown)");
    }
}

/* Takes the tree over. */
static const char *yaml_of(struct arena *arena, cJSON *tree)
{
    struct text yaml = {0};
    struct diag diag;
    hide_values(tree);
    const char *json = json_text(arena, tree);
    diag_init(&diag, arena, "spec", NULL, 0);
    node_write_yaml(node_read_long_json(arena, json, strlen(json), &diag),
                    &yaml);
    return text_take(&yaml, arena);
}

/* A study whose trials clients run may have no spec of ours. */
static const char *read_spec(struct cli *cli, const struct cli_study *study)
{
    const struct node *answer;
    const char *path = cli_study_path(cli, study->id, "/spec?form=native");
    const struct node *spec = cli_get(cli, path, &answer, NULL) == HT_OK
                                  ? node_find(answer, "spec")
                                  : node_find(study->job, "studySpec");
    return spec != NULL ? yaml_of(cli->arena, json_of_node(spec)) : "";
}

/* ---- what else there is ---- */

static bool take_trial(const struct node *trial, void *context)
{
    struct content *content = context;
    struct arena *arena = content->cli->arena;
    content->trials = arena_grow(arena, content->trials, content->n,
                                 sizeof(const struct node *));
    content->trials[content->n++] = trial;
    content->others = cli_trial_others(content->cli, content->study, trial,
                                       content->others, &content->n_others);
    return true;
}

/* The first of a list in the answer to a question about the study; NULL when
 * the server has no answer: the page does without. */
static const struct node *ask(const struct content *content, const char *rest,
                              const char *list)
{
    const struct node *answer;
    const char *path =
        cli_study_path(content->cli, content->study->id, "%s", rest);
    return cli_get(content->cli, path, &answer, NULL) == HT_OK
               ? node_first(answer, list)
               : NULL;
}

static const struct node *read_notes(struct cli *cli,
                                     const struct cli_study *study)
{
    const struct node *notes;
    const char *path = cli_study_path(cli, study->id, "/notes");
    return cli_get(cli, path, &notes, NULL) == HT_OK ? notes : NULL;
}

static const char *read_version(struct cli *cli)
{
    const struct node *answer;
    if (cli_get(cli, "/hypertune/v1/server", &answer, NULL) != HT_OK)
        return "";
    return node_get_string(answer, "version", "");
}

enum ht_status content_read(struct cli *cli, const struct cli_study *study,
                            struct content *content, struct ht_error *err)
{
    struct cli_pages pages = cli_trial_pages(cli, study->id, NULL);
    *content =
        (struct content){.cli = cli, .study = study, .now_ms = clock_wall_ms()};
    cli_parameters_read(study->job, &content->parameters);
    pages.keep = true;
    enum ht_status status =
        cli_pages_each(cli, &pages, take_trial, content, err);
    if (status == HT_OK && study->best != NULL && study->front == NULL)
        status = cli_trial_get(cli, study->id, cli_trial_id(study->best),
                               &content->best, err);
    if (status != HT_OK)
        return status;
    content->importances = ask(content, "/importances", "importances");
    content->curves = ask(content,
                          arena_printf(cli->arena, "/curves?top=%d&points=%d",
                                       CURVES, CURVE_POINTS),
                          "curves");
    content->notes = read_notes(cli, study);
    content->spec = read_spec(cli, study);
    content->version = read_version(cli);
    return HT_OK;
}

/* ---- questions ---- */

bool content_is_best(const struct content *content, const struct node *trial)
{
    const char *id = cli_trial_id(trial);
    if (content->study->front == NULL)
        return content->best != NULL &&
               strcmp(cli_trial_id(content->best), id) == 0;
    NODE_EACH (one, node_items(content->study->front))
        if (strcmp(cli_scalar(one), id) == 0)
            return true;
    return false;
}

bool content_counts(const struct node *trial)
{
    const char *state = cli_trial_state(trial);
    return strcmp(state, "SUCCEEDED") == 0 || strcmp(state, "STOPPED") == 0;
}

double content_value(const struct node *trial, const char *metric)
{
    const double value =
        content_counts(trial) ? cli_trial_value(trial, metric) : NAN;
    return isfinite(value) ? value : NAN;
}

/* Among the children of a list of specs, too. */
static const struct node *find_in(const struct node *specs, const char *name)
{
    const struct node *found = NULL;
    NODE_EACH (item, specs) {
        const struct node *child = node_find(item, "parameterSpec");
        const struct node *spec = child != NULL ? child : item;
        if (strcmp(node_get_string(spec, "parameterId", ""), name) == 0)
            return spec;
        found = find_in(node_first(spec, "conditionalParameterSpecs"), name);
        if (found != NULL)
            return found;
    }
    return NULL;
}

const struct node *content_parameter(const struct content *content,
                                     const char *name)
{
    return find_in(
        node_first(node_find(content->study->job, "studySpec"), "parameters"),
        name);
}

bool content_is_goal(const struct node *metric)
{
    return node_find(metric, "safetyConfig") == NULL;
}

bool content_maximizes(const struct node *metric)
{
    return strcmp(node_get_string(metric, "goal", "MAXIMIZE"), "MINIMIZE") != 0;
}
