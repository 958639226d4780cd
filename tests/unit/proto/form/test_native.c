/* The native form: every field arrives, faults are reported with their place.
 */
#include "proto/base/limits.h"
#include "proto/doc/json.h"
#include "proto/form/form.h"
#include "proto/job/notify.h"
#include "tests/check.h"
#include "tests/lib/spec.h"

static struct arena *arena;

static struct job *read_text(const char *text, struct diag *diag)
{
    return spec_read(arena, native_read, text, diag);
}

static struct job *good(const char *name)
{
    struct diag diag;
    const char *path = arena_printf(arena, "tests/specs/good/%s", name);
    return read_text(spec_file(arena, path), &diag);
}

static void every_field_arrives_in_the_job(void)
{
    const struct job *job = good("everything.yaml");
    CHECK_TEXT(job->name, "everything.v1/a-b");
    CHECK_TEXT(job->display, "everything.v1/a-b");
    CHECK(job->labels.n == 2 && strcmp(job->labels.items[1].value, "7") == 0);
    CHECK(job->n_metrics == 1 && !job->metrics[0].maximize);
    CHECK(job->algorithm == ALGORITHM_RANDOM);
    CHECK(job->max_trials == 100000 && job->parallel == 1000);
    CHECK(job->until.has_target && job->until.target == -0.5);
    CHECK(job->until.time_ms == 5400000 && job->until.no_progress == 7);
    CHECK(job->trial_timeout_ms == 90000 && job->grace_ms == 250);
    CHECK(job->max_failed == 3 && job->retries == 0);
    CHECK(job->early_stop.rule == EARLY_ASHA && job->early_stop.pauses);
    CHECK(job->early_stop.min_steps == 2 && job->early_stop.max_steps == 54);
    CHECK(job->early_stop.factor == 4 && job->early_stop.by_time);
    CHECK(job->selection == SELECT_BEST && job->noise == JOB_NOISE_HIGH);
    CHECK(job->has_seed && job->seed == INT64_MAX);
    CHECK(job->args_mode == ARGS_APPEND && job->substitute);
    CHECK_TEXT(job->pools[0].image, "registry.local/train:7");
    CHECK(job->pools[0].command.n == 4 && job->pools[0].env.n == 3);
    CHECK_TEXT(job->pools[0].env.items[0].value, "1");
    CHECK_TEXT(job->workdir, "/data");
    CHECK(job->pass_env.n == 2 && job->volumes.n == 1);
    CHECK(job->stdout_patterns.n == 2);
    CHECK_TEXT(job->metrics_file, "metrics.csv");
    CHECK(job->cpus == 0.5 && job->pools[0].gpus == 2);
    CHECK(job->memory_bytes == 512 * 1024 * 1024);
    CHECK(job->constraints.n == 2);
}

static void every_wish_of_a_container_arrives(void)
{
    const struct job *job = good("everything.yaml");
    const struct container_options *said = &job->container;
    CHECK(said->pull == PULL_ALWAYS && said->read_only && said->privileged);
    CHECK(said->host_pid && said->pids == 9 && said->shm_bytes == 1 << 30);
    CHECK_TEXT(said->user, "1000:100");
    CHECK_TEXT(said->network, "host");
    CHECK_TEXT(job->pools[0].machine, "n1-standard-4");
    CHECK(job->reporter == REPORTER_PYTHON && job->rewrite_gcs);
    CHECK(job->notify.said && job->notify.n == 3);
    CHECK_TEXT(job->notify.items[0].webhook, "chat");
    CHECK(job->notify.items[0].events ==
          (1U << NOTIFY_STUDY_ENDED | 1U << NOTIFY_TRIAL_FAILED));
    CHECK_TEXT(job->notify.items[1].webhook, "archive.v1/a");
    CHECK(job->notify.items[1].events == NOTIFY_ALL);
    CHECK(job->notify.items[2].events == 1U << NOTIFY_STUDY_PAUSED);
    CHECK_TEXT(job->trackers.mlflow, "the digits");
    CHECK(job->trackers.tensorboard);
    CHECK(job->keep_best == 2 && job->n_secrets == 1);
    CHECK_TEXT(job->secrets[0].file, "key");
    CHECK(job_needs_images(job) && !job_mentions_gcs(job));
    job = good("container.yaml");
    CHECK_TEXT(job->container.user, "1000");
    CHECK(job->container.shm_bytes == 64 << 20 && job->volumes.n == 3);
    CHECK_TEXT(job->secrets[1].env, "HUB");
    CHECK_TEXT(job->service_account,
               "trainer@my-project.iam.gserviceaccount.com");
    CHECK(job_mentions_gcs(job));
    job = good("replicas.yaml");
    CHECK(job->n_pools == 4 && job->pools[1].cpus == 1.5);
    CHECK(job->pools[1].gpus == 1 && job->pools[1].memory_bytes == 1 << 30);
    CHECK_TEXT(job->pools[1].machine, "n1-highcpu-8");
    CHECK_TEXT(job->pools[2].machine, "n1-standard-4");
}

static const struct job *with_metrics(const char *metrics, struct diag *diag)
{
    struct text text = {0};
    text_printf(&text, "%s\nparameters: {x: [1, 2]}\ncommand: [run]\n",
                metrics);
    const struct job *job = read_text(arena_strdup(arena, text.data), diag);
    text_free(&text);
    return job;
}

static void goals_and_safety_arrive_in_that_order(void)
{
    struct diag diag;
    const struct job *job =
        with_metrics("safety: [a b >= -1e3 for 90% of trials, c<=0.5]\n"
                     "goal: [minimize loss, maximize accuracy]",
                     &diag);
    CHECK(job != NULL && job->n_metrics == 4 && job_objectives(job) == 2);
    if (job == NULL || job->n_metrics != 4)
        return;
    CHECK_TEXT(job->metrics[0].name, "loss");
    CHECK(!job->metrics[0].maximize && job->metrics[1].maximize);
    const struct metric_goal *safe = &job->metrics[2];
    CHECK_TEXT(safe->name, "a b");
    CHECK(safe->safety && safe->maximize && safe->threshold == -1000);
    CHECK(safe->safe_share == 0.9);
    CHECK_TEXT(safe[1].name, "c");
    CHECK(safe[1].safety && !safe[1].maximize && safe[1].threshold == 0.5);
    CHECK(safe[1].safe_share == 0);
    job = with_metrics("goal: minimize loss\n"
                       "safety: memory <= 4 for 0.25 of trials",
                       &diag);
    CHECK(job != NULL && job->n_metrics == 2 &&
          job->metrics[1].safe_share == 0.25);
}

static void safety_that_says_no_bound_is_refused(void)
{
    static const char *const broken[] = {
        "memory",
        "memory < 4",
        "memory == 4",
        "<= 4",
        "memory <= much",
        "memory <= 4 of trials",
        "memory <= 4 for 0% of trials",
        "memory <= 4 for 120% of trials",
        "memory <= 4 for 0.5",
        "[]",
        "7",
        "memory <= 1e999",
        "loss <= 4",
    };
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        struct diag diag;
        if (with_metrics(arena_printf(arena, "goal: minimize loss\nsafety: %s",
                                      broken[i]),
                         &diag) != NULL)
            CHECK_TEXT(broken[i], "to be refused");
    }
}

static void parameters_of_every_kind_arrive(void)
{
    const struct space *space = &good("everything.yaml")->space;
    CHECK(space->n == 8);
    const struct param *big = &space->params[1];
    CHECK(big->int_min == INT64_MIN && big->int_max == INT64_MAX);
    CHECK(big->has_default && big->fallback.whole == 9007199254740993);
    const struct condition *when = space->params[3].when;
    CHECK(when && when->n == 2 && when->values[0].whole == 1);
    when = space->params[4].when;
    CHECK(when && when->next && when->next->parent == 1);
    CHECK(space->params[4].int_step == 5);
}

static void values_of_before_a_change_arrive(void)
{
    const struct param *params = good("everything.yaml")->space.params + 4;
    CHECK(params[0].former.has_range && params[0].former.int_min == -3 &&
          params[0].former.int_max == 20);
    CHECK(params[1].min == 1 && params[1].max == 1 &&
          params[1].former.min == 0.5);
    CHECK(params[2].n_values == 2 && params[2].n_former == 1 &&
          params[2].numbers[2] == 16);
    CHECK(params[3].n_values == 1 && params[3].n_former == 2 &&
          strcmp(params[3].labels[2], "tanh") == 0);
}

static void short_forms_choose_their_type(void)
{
    const struct job *job = good("short-forms.yaml");
    const struct param *params = job->space.params;
    CHECK(params[0].type == PARAM_DISCRETE && params[0].numbers[0] == 32 &&
          params[0].numbers[2] == 128);
    CHECK(params[1].type == PARAM_CATEGORICAL);
    CHECK(params[2].type == PARAM_CATEGORICAL &&
          strcmp(params[2].labels[0], "true") == 0);
    CHECK(params[3].type == PARAM_CATEGORICAL &&
          strcmp(params[3].labels[0], "1") == 0);
    CHECK(params[4].type == PARAM_CATEGORICAL && params[4].n_values == 1 &&
          strcmp(params[4].labels[0], "20") == 0);
    CHECK(params[6].type == PARAM_DOUBLE && params[6].step == 0.1);
    CHECK(params[7].type == PARAM_INTEGER && params[7].scale == SCALE_LOG);
    CHECK(params[8].fallback.whole == 0 && params[8].numbers[0] == 0.01);
    CHECK(params[9].scale == SCALE_REVERSE_LOG);
    CHECK(job->n_metrics == 2 && job->metrics[1].maximize);
    CHECK(job->pools[0].command.n == 4);
    CHECK_TEXT(job->pools[0].command.items[3], "two words");
    CHECK(job->algorithm == ALGORITHM_DEFAULT && !job->has_seed);
    CHECK(job->max_trials == JOB_MAX_TRIALS && job->retries == JOB_RETRIES);
    CHECK(job->name == NULL && job->display == NULL);
}

static void all_faults_are_told_at_once(void)
{
    struct diag diag;
    CHECK(read_text("gaol: maximize a\ntrials: 0\nparallel: x\n"
                    "parameters:\n  lr: {type: double, min: 2, max: 1}\n"
                    "  b: []\ncommand: \"'\"\nseed: -1\n",
                    &diag) == NULL);
    CHECK(diag.errors == 7); /* "gaol" stands for the missing goal */
}

static const struct other_word {
    const char *spec; /* one line; the test adds what it lacks */
    const char *hint;
} other_words[] = {
    {"max_trials: 4", "did you mean \"trials\"?"},
    {"maxTrialCount: 4", "did you mean \"trials\"?"},
    {"n_trials: 4", "did you mean \"trials\"?"},
    {"parallelTrialCount: 4", "did you mean \"parallel\"?"},
    {"max-parallel-trials: 4", "did you mean \"parallel\"?"},
    {"script: a.py", "did you mean \"command\"?"},
    {"cmd: a.py", "did you mean \"command\"?"},
    {"run: a.py", "did you mean \"command\"?"},
    {"entrypoint: a.py", "did you mean \"command\"?"},
    {"environment: {A: b}", "did you mean \"env\"?"},
    {"timeout: 3h", "did you mean \"trialTimeout\"?"},
    {"until: {timeout: 3h}", "did you mean \"time\"?"},
    {"until: {patience: 3}", "did you mean \"noProgress\"?"},
    {"max_duration: 3h", "did you mean \"until.time\"?"},
    {"target: 0.9", "did you mean \"until.target\"?"},
    {"algorithm: GRID_SEARCH", "did you mean \"grid\"?"},
    {"earlyStopping: true", "one of none, median, decay, convex, asha"},
    {"pruner: median", "did you mean \"earlyStopping\"?"},
    {"earlyStopping: successive_halving", "did you mean \"asha\"?"},
    {"earlyStopping: HyperbandPruner", "did you mean \"hyperband\"?"},
    {"earlyStopping: MedianPruner", "did you mean \"median\"?"},
    {"earlyStopping: {type: asha}", "did you mean \"rule\"?"},
    {"earlyStopping: {rule: asha, reduction_factor: 4}",
     "did you mean \"factor\"?"},
    {"earlyStopping: {rule: asha, grace_period: 4}",
     "did you mean \"minSteps\"?"},
    {"earlyStopping: {rule: asha, max_t: 4}", "did you mean \"maxSteps\"?"},
    {"earlyStopping: {rule: decay, useElapsedDuration: true}",
     "write \"by: time\""},
    {"earlyStopping: {minSteps: 4}", "write \"earlyStopping: {rule: median}\""},
    {"passEnv: HOME", "write [HOME]"},
    {"metric: a", "write \"goal: maximize METRIC\""},
    {"objective: a", "write \"goal: maximize METRIC\""},
    {"direction: maximize", "write \"goal: maximize METRIC\""},
    {"goal: max a", "did you mean \"maximize\"?"},
    {"goal: minimise a", "did you mean \"minimize\"?"},
    {"params: {a: 1}", "did you mean \"parameters\"?"},
    {"search_space: {a: 1}", "did you mean \"parameters\"?"},
    {"hyperparameters: {a: 1}", "did you mean \"parameters\"?"},
    {"parameters: {a: {type: double, low: 0, max: 1}}", "\"min\"?"},
    {"parameters: {a: {type: double, min: 0, upper: 1}}", "\"max\"?"},
    {"parameters: {a: {type: double, minValue: 0, max: 1}}", "\"min\"?"},
    {"parameters: {a: {choices: [1, 2]}}", "did you mean \"values\"?"},
    {"parameters: {a: {options: [1, 2]}}", "did you mean \"values\"?"},
    {"parameters: {a: {categories: [x]}}", "did you mean \"values\"?"},
    {"parameters: {a: {type: loguniform, min: 1, max: 2}}",
     "write \"type: double\" and \"scale: log\""},
    {"parameters: {a: {type: double, min: 1, max: 2, log: true}}",
     "write \"scale: log\""},
    {"parameters: {a: {type: double, min: 1, max: 2, scale: log_uniform}}",
     "did you mean \"log\"?"},
    {"parameters: {a: {type: double, min: 1, max: 2, scale: UNIT_LOG_SCALE}}",
     "did you mean \"log\"?"}};

/* One fault, reported at the word; what it stands for is not missed. */
static void words_of_other_tools_lead_to_ours(void)
{
    for (size_t i = 0; i < sizeof other_words / sizeof *other_words; i++) {
        const struct other_word *word = &other_words[i];
        const char *goal = strstr(word->hint, "goal") ? "" : "goal: maximize a";
        const char *space = "parameters: {lr: [1, 2]}";
        const char *command = "command: [train]";
        if (strncmp(word->spec, "goal", 4) == 0)
            goal = "";
        if (strstr(word->spec, "param") || strstr(word->spec, "space"))
            space = "";
        if (strstr(word->hint, "command"))
            command = "";
        struct text text = {0};
        struct diag diag;
        text_printf(&text, "%s\n%s\n%s\n%s\n", word->spec, goal, space,
                    command);
        CHECK(read_text(text.data, &diag) == NULL);
        CHECK(diag.errors == 1 && diag.first->line == 1);
        const char *hint =
            diag.first && diag.first->hint ? diag.first->hint : "no hint";
        CHECK_TEXT(strstr(hint, word->hint) ? word->hint : hint, word->hint);
        text_free(&text);
    }
}

static void a_constant_that_looks_like_a_range_is_warned_of(void)
{
    static const struct {
        const char *value;
        size_t warnings;
    } cases[] = {{"0.1..1", 1},  {"log:1e-5..0.1", 1}, {"1..8:2", 1},
                 {"../data", 0}, {"a..b", 0},          {"v1.0", 0},
                 {"1...", 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct text text = {0};
        struct diag diag;
        text_printf(&text,
                    "goal: maximize a\nparameters: {lr: %s, x: [1, 2]}\n"
                    "command: [train]\n",
                    cases[i].value);
        CHECK(read_text(text.data, &diag) != NULL);
        CHECK(diag.warnings == cases[i].warnings);
        text_free(&text);
    }
}

/* Linux starts no program with a longer one. */
static void words_and_variables_have_a_limit(void)
{
    for (size_t more = 0; more < 2; more++) {
        struct text text = {0};
        struct diag diag;
        char *word = arena_alloc(arena, HT_MAX_WORD + more + 1, 1);
        memset(word, 'x', HT_MAX_WORD + more);
        text_printf(&text,
                    "{\"goal\":\"maximize a\",\"parameters\":{\"lr\":[1,2]},"
                    "\"command\":[\"train\",\"%s\"],\"env\":{\"A\":\"%s\"}}",
                    word, word);
        CHECK((read_text(text.data, &diag) == NULL) == (more > 0));
        CHECK(diag.errors == 2 * more);
        text_free(&text);
    }
}

static void sound_commands_are_not_warned_of(void)
{
    static const char *const commands[] = {"[sh, -c, 'train --lr=${lr}']",
                                           "[sh, -c, 'exec \"$@\"', sh, train]",
                                           "[bash, -ec, 'train $1', bash]",
                                           "[python3, -c, 'print(1)']",
                                           "[sh, train.sh]",
                                           "[train, \"${HOME}\", \"${lr}\"]"};
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        struct text text = {0};
        struct diag diag;
        text_printf(&text,
                    "goal: maximize a\nparameters: {lr: [1, 2]}\ncommand: %s\n",
                    commands[i]);
        CHECK(read_text(text.data, &diag) != NULL);
        CHECK(diag.warnings == 0);
        text_free(&text);
    }
}

int main(void)
{
    json_init();
    arena = arena_new();
    RUN(every_field_arrives_in_the_job);
    RUN(every_wish_of_a_container_arrives);
    RUN(goals_and_safety_arrive_in_that_order);
    RUN(safety_that_says_no_bound_is_refused);
    RUN(parameters_of_every_kind_arrive);
    RUN(values_of_before_a_change_arrive);
    RUN(short_forms_choose_their_type);
    RUN(all_faults_are_told_at_once);
    RUN(words_of_other_tools_lead_to_ours);
    RUN(a_constant_that_looks_like_a_range_is_warned_of);
    RUN(words_and_variables_have_a_limit);
    RUN(sound_commands_are_not_warned_of);
    arena_free(arena);
    return check_done();
}
