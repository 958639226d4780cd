/* Other tuners' files: what each in tests/specs/foreign becomes, and all that
 * is said of it, as the text beside it has them. Runs in the source tree; with
 * HYPERTUNE_TEST_WRITE=1 it writes those texts, to be read before a commit. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/doc/json.h"
#include "proto/form/form.h"
#include "proto/form/optuna.h"
#include "tests/check.h"
#include "tests/lib/spec.h"

#define FOLDER "tests/specs/foreign"

static struct arena *arena;

static void add_items(const struct diag *diag, struct text *out)
{
    for (const struct diag_item *item = diag->first; item; item = item->next) {
        text_printf(out, "%d:%d %s %s: %s\n", item->line, item->column,
                    item->kind == DIAG_ERROR ? "error" : "warning", item->path,
                    item->text);
        if (item->hint != NULL)
            text_printf(out, "    %s\n", item->hint);
    }
}

static void add_native(const struct job *job, struct text *out)
{
    struct text json = {0};
    struct diag diag;
    json_print(native_write(job), &json);
    diag_init(&diag, arena, "native", json.data, json.len);
    node_write_yaml(node_read_json(arena, json.data, json.len, &diag), out);
    if (job->display != job->name)
        text_printf(out, "# displayName: %s\n", job->display);
    text_free(&json);
}

/* The native form of it is a spec, and the same job. */
static void check_native(const struct job *job)
{
    struct diag diag;
    struct text json = {0}, diff = {0};
    json_print(native_write(job), &json);
    diag_init(&diag, arena, "native", json.data, json.len);
    const struct node *root = node_read_json(arena, json.data, json.len, &diag);
    const struct job *back = root != NULL ? native_read(root, &diag) : NULL;
    CHECK(back != NULL);
    if (back != NULL)
        form_diff(job, back, &diff);
    CHECK_TEXT(diff.data ? diff.data : "", "");
    text_free(&json);
    text_free(&diff);
}

static void check_file(const char *path)
{
    struct diag diag;
    struct text said = {0};
    const char *beside = arena_printf(arena, "%s.expect", path);
    const struct job *job =
        spec_read(arena, form_read, spec_file(arena, path), &diag);
    CHECK((job == NULL) == (diag.errors > 0));
    add_items(&diag, &said);
    if (job != NULL)
        add_native(job, &said);
    if (job != NULL && job->pools[0].command.n + (job->pools[0].image != NULL))
        check_native(job);
    if (getenv("HYPERTUNE_TEST_WRITE") != NULL) {
        FILE *file = fopen(beside, "we");
        CHECK(file != NULL && fputs(said.data, file) >= 0 && fclose(file) == 0);
    }
    printf("# %s\n", path);
    CHECK_TEXT(said.data, spec_file(arena, beside));
    text_free(&said);
}

static int is_spec(const struct dirent *entry)
{
    const char *dot = strrchr(entry->d_name, '.');
    return dot && (strcmp(dot, ".yaml") == 0 || strcmp(dot, ".json") == 0);
}

static void each_file_becomes_what_is_beside_it(void)
{
    struct dirent **entries;
    const int n = scandir(FOLDER, &entries, is_spec, alphasort);
    CHECK(n >= 15);
    for (int i = 0; i < n; i++) {
        check_file(arena_printf(arena, FOLDER "/%s", entries[i]->d_name));
        free(entries[i]);
    }
    if (n >= 0)
        free(entries);
}

/* Lists of any length are refused at their place, not read to their end. */
static void an_experiment_of_any_size_is_refused_at_its_place(void)
{
    static const struct {
        const char *before, *item, *after, *path;
    } lists[] = {
        {"parameters: [", "{name: x}, ", "{name: y}]", "spec.parameters"},
        {"parameters: [{name: x, parameterType: int, feasibleSpace: {min: 1, "
         "max: 2}}], trialTemplate: {trialSpec: {kind: Job, spec: {template: "
         "{spec: {containers: [{image: i, args: [",
         "a, ", "a]}]}}}}}",
         "spec.trialTemplate.trialSpec.spec.template.spec.containers[0].args"}};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        struct diag diag;
        struct text yaml = {0};
        text_printf(&yaml,
                    "apiVersion: kubeflow.org/v1beta1\nkind: Experiment\n"
                    "spec: {maxTrialCount: 2, objective: {type: minimize, "
                    "objectiveMetricName: loss}, %s",
                    lists[i].before);
        for (size_t k = 0; k < 20000; k++)
            text_puts(&yaml, lists[i].item);
        text_printf(&yaml, "%s}\n", lists[i].after);
        CHECK(spec_read(arena, form_read, yaml.data, &diag) == NULL);
        bool found = false;
        for (const struct diag_item *item = diag.first; item; item = item->next)
            found |= strcmp(item->path, lists[i].path) == 0;
        CHECK(found);
        text_free(&yaml);
    }
}

static const struct node *read_space(const char *json, struct diag *diag)
{
    diag_init(diag, arena, "space", json, strlen(json));
    const struct node *root = node_read_json(arena, json, strlen(json), diag);
    CHECK(root != NULL && optuna_is_space(root));
    return optuna_parameters(root, diag);
}

static void optunas_distributions_of_all_versions_are_parameters(void)
{
    struct diag diag;
    struct text out = {0};
    const struct node *space = read_space(
        "{\"f\":{\"name\":\"FloatDistribution\",\"attributes\":"
        "{\"low\":1e-5,\"high\":1,\"log\":true,\"step\":null}},"
        "\"d\":{\"name\":\"DiscreteUniformDistribution\",\"attributes\":"
        "{\"low\":0,\"high\":1,\"q\":0.25}},"
        "\"u\":{\"name\":\"UniformDistribution\",\"attributes\":"
        "{\"low\":0,\"high\":1}},"
        "\"l\":{\"name\":\"LogUniformDistribution\",\"attributes\":"
        "{\"low\":0.1,\"high\":1}},"
        "\"i\":{\"name\":\"IntDistribution\",\"attributes\":"
        "{\"low\":1,\"high\":9,\"log\":false,\"step\":2}},"
        "\"v\":{\"name\":\"IntUniformDistribution\",\"attributes\":"
        "{\"low\":1,\"high\":9,\"step\":1}},"
        "\"w\":{\"name\":\"IntLogUniformDistribution\",\"attributes\":"
        "{\"low\":1,\"high\":64,\"step\":1}},"
        "\"o\":{\"name\":\"IntDistribution\",\"attributes\":"
        "{\"low\":3,\"high\":3}},"
        "\"c\":{\"name\":\"CategoricalDistribution\",\"attributes\":"
        "{\"choices\":[\"a\",1.5,true,null]}}}",
        &diag);
    CHECK(space != NULL && diag.errors == 0);
    if (space != NULL)
        json_print(json_of_node(space), &out);
    CHECK_TEXT(out.data,
               "{\"f\":{\"type\":\"double\",\"min\":1e-5,\"max\":1,"
               "\"scale\":\"log\"},"
               "\"d\":{\"type\":\"double\",\"min\":0,\"max\":1,\"step\":0.25},"
               "\"u\":{\"type\":\"double\",\"min\":0,\"max\":1},"
               "\"l\":{\"type\":\"double\",\"min\":0.1,\"max\":1,"
               "\"scale\":\"log\"},"
               "\"i\":{\"type\":\"integer\",\"min\":1,\"max\":9,\"step\":2},"
               "\"v\":{\"type\":\"integer\",\"min\":1,\"max\":9},"
               "\"w\":{\"type\":\"integer\",\"min\":1,\"max\":64,"
               "\"scale\":\"log\"},\"o\":{\"values\":[3]},"
               "\"c\":{\"type\":\"categorical\","
               "\"values\":[\"a\",\"1.5\",\"true\",\"null\"]}}");
    text_free(&out);
}

static void a_bad_distribution_is_told_with_its_place(void)
{
    struct diag diag;
    CHECK(read_space("{\"x\":{\"name\":\"OddDistribution\","
                     "\"attributes\":{}},\n\"y\":{\"name\":"
                     "\"FloatDistribution\",\"attributes\":{\"low\":1}},\n"
                     "\"z\":{\"name\":\"CategoricalDistribution\","
                     "\"attributes\":{}}}",
                     &diag) == NULL);
    CHECK(diag.errors == 3 && diag.first->line == 1);
    CHECK_TEXT(diag.first->path, "x.name");
    CHECK_TEXT(diag.first->next->path, "y.attributes.high");
    CHECK_TEXT(diag.first->next->next->path, "z.attributes.choices");
}

int main(void)
{
    json_init();
    arena = arena_new();
    RUN(each_file_becomes_what_is_beside_it);
    RUN(an_experiment_of_any_size_is_refused_at_its_place);
    RUN(optunas_distributions_of_all_versions_are_parameters);
    RUN(a_bad_distribution_is_told_with_its_place);
    arena_free(arena);
    return check_done();
}
