/* Telling the forms of a spec file apart by what stands at its top. */
#include "proto/doc/json.h"
#include "proto/form/form.h"
#include "proto/job/job.h"
#include "tests/check.h"
#include "tests/lib/spec.h"

static struct arena *arena;

static struct job *read_text(const char *text, struct diag *diag)
{
    return spec_read(arena, form_read, text, diag);
}

static const struct job *must_read(const char *text)
{
    struct diag diag;
    const struct job *job = read_text(text, &diag);
    if (job == NULL) {
        struct text out = {0};
        diag_print(&diag, &out);
        CHECK_TEXT(out.data, text);
        text_free(&out);
    }
    return job;
}

#define POOLS                                                                  \
    "workerPoolSpecs: [{replicaCount: 1, containerSpec: {imageUri: i}}]"
#define STUDY                                                                  \
    "studySpec: {metrics: [{metricId: a, goal: MINIMIZE}], parameters: "       \
    "[{parameterId: x, doubleValueSpec: {minValue: 1, maxValue: 2}}]}\n"
#define NATIVE "goal: maximize a\nparameters: {x: [1, 2]}\ncommand: train.sh\n"

static void every_form_is_known_by_its_members(void)
{
    const struct job *job = must_read(NATIVE);
    CHECK(job && job->kind == JOB_TUNING && job->substitute);
    job = must_read(STUDY "trialJobSpec: {" POOLS "}\n");
    CHECK(job && job->kind == JOB_TUNING && !job->metrics[0].maximize);
    job = must_read("displayName: d\njobSpec: {" POOLS "}\n");
    CHECK(job && job->kind == JOB_CUSTOM);
    CHECK(job && strcmp(job->display, "d") == 0);
    job = must_read("trainingInput: {masterConfig: {imageUri: i}}\n");
    CHECK(job && job->kind == JOB_CUSTOM && job->max_trials == 1);
}

static void a_custom_jobs_config_is_its_spec_alone(void)
{
    const struct job *job =
        must_read(POOLS "\nserviceAccount: a@b\nscheduling: {timeout: 60s}\n");
    CHECK(job && job->kind == JOB_CUSTOM && job->trial_timeout_ms == 60000);
    CHECK_TEXT(job ? job->service_account : NULL, "a@b");
}

static const struct {
    const char *yaml;
    int line, column;
    const char *path, *text;
} faults[] = {
    {STUDY "trainingInput: {}\n", 2, 1, "trainingInput",
     "belongs to an AI Platform job, but studySpec to a Vertex tuning job"},
    {NATIVE "trialJobSpec: {}\n", 4, 1, "trialJobSpec",
     "belongs to a Vertex tuning job, but goal to a spec of hypertune"},
    {"jobSpec: {}\nspec: 1\n", 2, 1, "spec",
     "belongs to a spec of hypertune, but jobSpec to a Vertex custom job"},
    {"labels: {a: b}\nscaleTier: BASIC\n", 2, 1, "scaleTier",
     "belongs into trainingInput"},
    {"scaleTier: BASIC\nhyperparameters:\n  goal: MAXIMIZE\n", 2, 1,
     "hyperparameters", "belongs into trainingInput"},
    {"apiVersion: kubeflow.org/v1\nkind: PyTorchJob\nspec: {}\n", 1, 1,
     "apiVersion", "belongs to an object of Kubernetes"},
    {"x: {name: IntDistribution, attributes: {low: 1, high: 2}}\n", 1, 1, "",
     "is a search space of Optuna, without a goal and a command"},
    {"[]\n", 1, 1, "", "must be a map"},
    {"{}\n", 1, 1, "goal", "is missing"},
    {"trialJobSpec: {}\n", 1, 1, "studySpec", "is missing"},
    {POOLS "\nnetwrok: n\n", 2, 1, "jobSpec.netwrok",
     "unknown field \"netwrok\""}};

static void mixed_and_unwrapped_forms_are_told(void)
{
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        struct diag diag;
        const struct job *job = read_text(faults[i].yaml, &diag);
        const struct diag_item *item = diag.first;
        while (item && (strcmp(item->path, faults[i].path) != 0 ||
                        strstr(item->text, faults[i].text) == NULL))
            item = item->next;
        CHECK(job == NULL);
        if (item && item->line == faults[i].line &&
            item->column == faults[i].column)
            continue;
        struct text out = {0};
        diag_print(&diag, &out);
        CHECK_TEXT(out.data, faults[i].yaml);
        text_free(&out);
    }
}

static void a_native_word_for_a_field_of_google_is_still_meant(void)
{
    struct diag diag;
    CHECK(read_text(NATIVE "maxTrialCount: 5\n", &diag) == NULL);
    CHECK(diag.first && diag.first->hint);
    CHECK(diag.first && diag.first->hint &&
          strstr(diag.first->hint, "trials") != NULL);
}

int main(void)
{
    json_init();
    arena = arena_new();
    RUN(every_form_is_known_by_its_members);
    RUN(a_custom_jobs_config_is_its_spec_alone);
    RUN(mixed_and_unwrapped_forms_are_told);
    RUN(a_native_word_for_a_field_of_google_is_still_meant);
    arena_free(arena);
    return check_done();
}
