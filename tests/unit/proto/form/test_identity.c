/* A job of any kind written in the Vertex form and read again is the same job,
 * in every string byte, every bit of a double and every int64; so is a tuning
 * job in the native form, but for what that form cannot say. */
#include "proto/doc/field.h"
#include "proto/doc/json.h"
#include "proto/form/form.h"
#include "proto/form/native.h"
#include "tests/check.h"
#include "tests/lib/drawn_job.h"

static struct arena *arena;

/* ---- equality ---- */

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static bool same_strings(struct strings a, struct strings b)
{
    bool same = a.n == b.n;
    for (size_t i = 0; same && i < a.n; i++)
        same = same_text(a.items[i], b.items[i]);
    return same;
}

static bool same_pairs(struct pairs a, struct pairs b)
{
    bool same = a.n == b.n;
    for (size_t i = 0; same && i < a.n; i++)
        same = same_text(a.items[i].name, b.items[i].name) &&
               same_text(a.items[i].value, b.items[i].value);
    return same;
}

static bool same_conditions(const struct condition *a,
                            const struct condition *b)
{
    for (; a && b; a = a->next, b = b->next) {
        if (a->parent != b->parent || a->n != b->n)
            return false;
        for (size_t i = 0; i < a->n; i++)
            if (a->values[i].whole != b->values[i].whole ||
                a->values[i].real != b->values[i].real)
                return false;
    }
    return a == b;
}

static bool same_bits(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0;
}

static bool same_param(const struct param *a, const struct param *b)
{
    bool same = same_text(a->name, b->name) && a->type == b->type &&
                a->scale == b->scale && same_bits(a->min, b->min) &&
                same_bits(a->max, b->max) && same_bits(a->step, b->step) &&
                a->int_min == b->int_min && a->int_max == b->int_max &&
                a->int_step == b->int_step && a->n_values == b->n_values &&
                a->has_default == b->has_default &&
                same_bits(a->fallback.real, b->fallback.real) &&
                a->fallback.whole == b->fallback.whole &&
                a->n_former == b->n_former &&
                a->former.has_range == b->former.has_range &&
                same_bits(a->former.min, b->former.min) &&
                same_bits(a->former.max, b->former.max) &&
                a->former.int_min == b->former.int_min &&
                a->former.int_max == b->former.int_max &&
                same_conditions(a->when, b->when);
    for (size_t i = 0; same && i < a->n_values + a->n_former; i++)
        same = a->type == PARAM_DISCRETE
                   ? same_bits(a->numbers[i], b->numbers[i])
                   : same_text(a->labels[i], b->labels[i]);
    return same;
}

static void check_until(const struct stopping *a, const struct stopping *b)
{
    CHECK(a->has_target == b->has_target && same_bits(a->target, b->target));
    CHECK(a->time_ms == b->time_ms && a->end_ms == b->end_ms);
    CHECK(a->no_progress == b->no_progress);
    CHECK(a->no_progress_ms == b->no_progress_ms);
    CHECK(a->min_trials == b->min_trials);
    CHECK(a->min_time_ms == b->min_time_ms && a->min_end_ms == b->min_end_ms);
    CHECK(a->let_finish == b->let_finish);
}

static void check_kept(const struct kept *a, const struct kept *b)
{
    size_t n = 0, m = 0;
    for (const struct kept *other = b; other; other = other->next)
        m++;
    for (; a; a = a->next, n++) {
        const struct kept *other = b;
        while (other && strcmp(other->path, a->path) != 0)
            other = other->next;
        CHECK_TEXT(other ? other->json : "lost", a->json);
    }
    CHECK(n == m);
}

static void check_early_stop(const struct early_stop *a,
                             const struct early_stop *b)
{
    CHECK(a->rule == b->rule && a->by_time == b->by_time);
    CHECK(a->min_steps == b->min_steps && a->max_steps == b->max_steps);
    CHECK(a->min_trials == b->min_trials && a->factor == b->factor);
    CHECK(a->min_measurements == b->min_measurements && a->pauses == b->pauses);
}

static void check_study(const struct job *a, const struct job *b)
{
    CHECK(a->space.n == b->space.n);
    for (size_t i = 0; i < a->space.n && i < b->space.n; i++)
        CHECK(same_param(&a->space.params[i], &b->space.params[i]));
    CHECK(a->n_metrics == b->n_metrics);
    for (size_t i = 0; i < a->n_metrics && i < b->n_metrics; i++)
        CHECK(same_text(a->metrics[i].name, b->metrics[i].name) &&
              a->metrics[i].maximize == b->metrics[i].maximize &&
              a->metrics[i].safety == b->metrics[i].safety &&
              a->metrics[i].threshold == b->metrics[i].threshold &&
              a->metrics[i].safe_share == b->metrics[i].safe_share);
    CHECK(a->algorithm == b->algorithm && a->has_seed == b->has_seed);
    CHECK(a->seed == b->seed && a->selection == b->selection);
    CHECK(a->noise == b->noise);
    check_early_stop(&a->early_stop, &b->early_stop);
    CHECK(a->max_trials == b->max_trials);
    CHECK(a->parallel == b->parallel && a->max_failed == b->max_failed);
    check_until(&a->until, &b->until);
}

static void check_container(const struct job *a, const struct job *b)
{
    const struct container_options *x = &a->container, *y = &b->container;
    CHECK(x->pull == y->pull && same_text(x->user, y->user));
    CHECK(x->read_only == y->read_only && same_text(x->network, y->network));
    CHECK(x->shm_bytes == y->shm_bytes && x->pids == y->pids);
    CHECK(x->privileged == y->privileged && x->host_pid == y->host_pid);
    CHECK(same_strings(a->volumes, b->volumes));
    CHECK(a->reporter == b->reporter && a->rewrite_gcs == b->rewrite_gcs);
    CHECK(same_text(a->service_account, b->service_account));
    CHECK(a->keep_best == b->keep_best && a->n_secrets == b->n_secrets);
    for (size_t i = 0; i < a->n_secrets && i < b->n_secrets; i++) {
        CHECK(same_text(a->secrets[i].name, b->secrets[i].name));
        CHECK(same_text(a->secrets[i].file, b->secrets[i].file));
        CHECK(same_text(a->secrets[i].env, b->secrets[i].env));
    }
}

static void check_slurm(const struct job_slurm *a, const struct job_slurm *b)
{
    CHECK(a->said == b->said && a->exclusive == b->exclusive);
    CHECK(same_text(a->account, b->account));
    CHECK(same_text(a->partition, b->partition) && same_text(a->qos, b->qos));
    CHECK(same_text(a->constraint, b->constraint));
    CHECK(same_text(a->reservation, b->reservation));
    CHECK(same_text(a->gres, b->gres));
    CHECK(same_text(a->container, b->container));
    CHECK(a->time_ms == b->time_ms && a->trials_per_job == b->trials_per_job);
    CHECK(same_strings(a->modules, b->modules));
    CHECK(same_strings(a->options, b->options));
}

static void check_kubernetes(const struct job_kubernetes *a,
                             const struct job_kubernetes *b)
{
    CHECK(a->said == b->said);
    CHECK(same_pairs(a->labels, b->labels));
    CHECK(same_pairs(a->annotations, b->annotations));
    CHECK(same_text(a->queue, b->queue) && same_text(a->pod, b->pod));
}

static void check_rest(const struct job *a, const struct job *b)
{
    CHECK(same_text(a->name, b->name) && same_text(a->display, b->display));
    CHECK(same_pairs(a->labels, b->labels));
    CHECK(a->cancel_after.waiting_ms == b->cancel_after.waiting_ms);
    CHECK(a->cancel_after.running_ms == b->cancel_after.running_ms);
    CHECK(a->trial_timeout_ms == b->trial_timeout_ms);
    CHECK(a->silence_ms == b->silence_ms);
    CHECK(same_text(a->trackers.mlflow, b->trackers.mlflow));
    CHECK(a->trackers.tensorboard == b->trackers.tensorboard);
    CHECK(a->on_silence == b->on_silence);
    CHECK(a->retries == b->retries && a->grace_ms == b->grace_ms);
    CHECK(a->args_mode == b->args_mode && a->substitute == b->substitute);
    CHECK(same_text(a->workdir, b->workdir));
    CHECK(a->own_workdir == b->own_workdir);
    CHECK(a->code.way == b->code.way);
    CHECK(same_strings(a->pass_env, b->pass_env));
    CHECK(same_pairs(a->captured_env, b->captured_env));
    CHECK(a->priority == b->priority);
    CHECK(same_text(a->run_on.engine, b->run_on.engine));
    CHECK(same_text(a->run_on.gpu, b->run_on.gpu));
    CHECK(same_text(a->run_on.machine, b->run_on.machine));
    CHECK(same_pairs(a->run_on.labels, b->run_on.labels));
    check_slurm(&a->slurm, &b->slurm);
    check_kubernetes(&a->kubernetes, &b->kubernetes);
    CHECK(same_bits(a->cpus, b->cpus));
    CHECK(a->memory_bytes == b->memory_bytes);
    check_container(a, b);
    CHECK(same_strings(a->stdout_patterns, b->stdout_patterns));
    CHECK(same_text(a->metrics_file, b->metrics_file));
    CHECK(same_text(a->metrics_events, b->metrics_events));
    CHECK(same_strings(a->constraints, b->constraints));
    CHECK(a->kind == b->kind && a->chief == b->chief);
    CHECK(a->form == b->form);
    CHECK(same_text(a->job_dir, b->job_dir));
    CHECK(same_text(a->output_dir, b->output_dir));
    check_kept(a->kept, b->kept);
    CHECK(a->n_pools == b->n_pools);
    for (size_t i = 0; i < a->n_pools && i < b->n_pools; i++) {
        const struct pool *x = &a->pools[i], *y = &b->pools[i];
        CHECK(same_text(x->type, y->type) && x->count == y->count);
        CHECK(same_text(x->image, y->image) && x->gpus == y->gpus);
        CHECK(same_strings(x->command, y->command));
        CHECK(same_strings(x->args, y->args));
        CHECK(same_pairs(x->env, y->env));
        CHECK(same_bits(x->gpu_part, y->gpu_part));
        CHECK(x->gpu_memory == y->gpu_memory);
        CHECK(same_text(x->machine, y->machine));
        CHECK(same_text(x->accelerator, y->accelerator));
        CHECK(same_bits(x->cpus, y->cpus));
        CHECK(x->memory_bytes == y->memory_bytes);
    }
}

static void check_vertex(const struct job *job, uint64_t seed)
{
    struct text json = {0}, diff = {0};
    struct job *back = NULL;
    struct ht_error err;
    json_print(vertex_write(job), &json);
    enum ht_status status = vertex_parse(arena, json.data, &back, &err);
    if (status != HT_OK) {
        printf("# seed %d: %s\n# %s\n", (int)seed, err.text, json.data);
        CHECK(status == HT_OK);
    } else {
        check_study(job, back);
        check_rest(job, back);
        CHECK(form_diff(job, back, &diff) == 0);
    }
    text_free(&json);
    text_free(&diff);
}

static void writing_and_reading_is_the_identity(void)
{
    for (uint64_t seed = 1; seed <= 600; seed++) {
        check_vertex(drawn_job(arena, (enum job_kind)(seed % 3),
                               seed * 0x9e3779b97f4a7c15),
                     seed);
        arena_reset(arena);
    }
}

/* Takes away what native_omits() names, and texts that the native form
 * refuses. */
static void make_native(struct job *job)
{
    job->display = job->name;
    job->substitute = true;
    job->kept = NULL;
    job->stdout_patterns = (struct strings){0};
    job->captured_env = (struct pairs){0};
    for (size_t i = 0; i < job->n_pools; i++) {
        job->pools[i].accelerator = NULL;
        if (job->pools[i].machine == NULL)
            job->pools[i].machine = job->pools[0].machine;
    }
    const char **texts[] = {&job->metrics_file, &job->metrics_events,
                            &job->job_dir};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (*texts[i] && **texts[i] == '\0')
            *texts[i] = NULL;
}

static void the_native_form_keeps_a_tuning_job(void)
{
    for (uint64_t seed = 1; seed <= 300; seed++) {
        struct job *job =
            drawn_job(arena, JOB_TUNING, seed * 0xd1342543de82ef95);
        struct text json = {0}, diff = {0};
        struct diag diag;
        make_native(job);
        json_print(native_write(job), &json);
        diag_init(&diag, arena, "spec", json.data, json.len);
        native_omits(job, &diag);
        CHECK(diag.warnings == 0);
        const struct node *root =
            node_read_json(arena, json.data, json.len, &diag);
        const struct job *back = root ? native_read(root, &diag) : NULL;
        CHECK(back != NULL);
        if (back == NULL)
            diag_print(&diag, &diff);
        if (back)
            form_diff(job, back, &diff);
        CHECK_TEXT(diff.data ? diff.data : "", "");
        if (back)
            check_study(job, back);
        text_free(&json);
        text_free(&diff);
        arena_reset(arena);
    }
}

/* What it cannot keep it lists. */
static void what_the_native_form_cannot_say_is_named(void)
{
    static const struct pair pair = {"A", "${lr}"};
    struct param lr = {.name = "lr", .type = PARAM_DOUBLE, .max = 1};
    struct kept kept = {"trialJobSpec.network", "\"n\"", NULL};
    const char *word = "--x";
    struct pool pools[2] = {
        {.type = "master", .count = 1, .image = "i", .args = {1, &word}},
        {.type = "worker", .count = 1, .image = "i", .command = {1, &word}}};
    struct job job = {.display = "My job",
                      .name = "my-job",
                      .space = {1, &lr},
                      .n_pools = 2,
                      .pools = pools,
                      .kept = &kept};
    static const char *const paths[] = {"displayName", "master",
                                        "master",      "worker",
                                        "worker",      "trialJobSpec.network"};
    struct diag diag;
    pools[0].accelerator = "NVIDIA_L4";
    pools[0].machine = "n1-standard-4";
    pools[1].env = (struct pairs){1, &pair};
    diag_init(&diag, arena, "job", NULL, 0);
    native_omits(&job, &diag);
    CHECK(diag.warnings == sizeof paths / sizeof *paths && diag.errors == 0);
    const struct diag_item *item = diag.first;
    for (size_t i = 0; item && i < sizeof paths / sizeof *paths; i++) {
        CHECK_TEXT(item->path, paths[i]);
        item = item->next;
    }
    job = (struct job){.kind = JOB_STUDY};
    diag_init(&diag, arena, "job", NULL, 0);
    native_omits(&job, &diag);
    CHECK(diag.warnings == 1);
}

int main(void)
{
    json_init();
    arena = arena_new();
    RUN(writing_and_reading_is_the_identity);
    RUN(the_native_form_keeps_a_tuning_job);
    RUN(what_the_native_form_cannot_say_is_named);
    arena_free(arena);
    return check_done();
}
