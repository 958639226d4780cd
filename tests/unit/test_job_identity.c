/* A job of any kind written in the Vertex form and read again is the same job,
 * in every string byte, every bit of a double and every int64; so is a tuning
 * job in the native form, but for what that form cannot say. */
#include <math.h>

#include "proto/job_native.h"
#include "proto/json.h"
#include "proto/limits.h"
#include "tests/check.h"

static struct arena *arena;

/* ---- random jobs ---- */

static uint64_t state;

static uint64_t draw(void) /* xorshift64 */
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

static size_t below(size_t n)
{
    return (size_t)(draw() % n);
}

static bool coin(void)
{
    return draw() & 1024;
}

/* Texts with everything that JSON has to escape, and beyond. */
static const char *draw_text(void)
{
    static const char *const parts[] = {"a",
                                        "\"",
                                        "\\",
                                        "\n",
                                        "\x01",
                                        "\x7f",
                                        "/",
                                        " ",
                                        "\xc3\xa9",
                                        "=",
                                        "${lr}",
                                        "\xf0\x9f\x98\x80",
                                        "\xe2\x80\xae",
                                        "'"};
    struct text text = {0};
    text_puts(&text, "");
    for (size_t i = below(9); i > 0; i--)
        text_puts(&text, parts[below(sizeof parts / sizeof *parts)]);
    const char *result = arena_strdup(arena, text.data);
    text_free(&text);
    return result;
}

static const char *draw_name(const char *prefix, size_t i)
{
    return arena_printf(arena, "%s%zu_%llx./-", prefix, i,
                        (unsigned long long)(draw() & 0xffff));
}

/* Any finite double, from its bits. */
static double draw_double(void)
{
    for (;;) {
        uint64_t bits = draw();
        double x;
        memcpy(&x, &bits, sizeof x);
        if (isfinite(x) && x != 0)
            return x;
    }
}

static struct strings draw_strings(void)
{
    size_t n = below(4);
    const char **items = arena_alloc(arena, n + 1, sizeof *items);
    for (size_t i = 0; i < n; i++)
        items[i] = draw_text();
    return (struct strings){n, items};
}

static struct pairs draw_pairs(void)
{
    size_t n = below(4);
    struct pair *items = arena_alloc(arena, n + 1, sizeof *items);
    for (size_t i = 0; i < n; i++)
        items[i] = (struct pair){draw_name("k", i), draw_text()};
    return (struct pairs){n, items};
}

static struct strings draw_variables(void)
{
    size_t n = below(4);
    const char **items = arena_alloc(arena, n + 1, sizeof *items);
    for (size_t i = 0; i < n; i++)
        items[i] = arena_printf(arena, "V%zu_%zu", i, below(99));
    return (struct strings){n, items};
}

static struct pairs draw_env(void)
{
    struct strings names = draw_variables();
    struct pair *items = arena_alloc(arena, names.n + 1, sizeof *items);
    for (size_t i = 0; i < names.n; i++)
        items[i] = (struct pair){names.items[i], draw_text()};
    return (struct pairs){names.n, items};
}

static void draw_real(struct param *param)
{
    double a = draw_double(), b = draw_double();
    param->min = fmin(a, b);
    param->max = fmax(a, b);
    if (param->min > 0)
        param->scale = (enum param_scale)below(3);
    if (isfinite(param->max - param->min) && coin())
        param->step = (param->max - param->min) / (double)(1 + below(9));
    if (param->step < 1e-12 * fmax(fabs(param->min), fabs(param->max)))
        param->step = 0;
    param->has_default = coin();
    if (param->has_default)
        param->fallback = param->step > 0
                              ? param_level(param, 0)
                              : param_from_unit(param, (double)below(99) / 99);
}

static void draw_whole(struct param *param)
{
    int64_t a = (int64_t)draw(), b = (int64_t)draw();
    param->int_min = a < b ? a : b;
    param->int_max = a < b ? b : a;
    if (param->int_min > 0)
        param->scale = (enum param_scale)below(3);
    param->int_step = 1;
    uint64_t span = (uint64_t)param->int_max - (uint64_t)param->int_min;
    if (coin() && span / 3 <= INT64_MAX && span >= 3)
        param->int_step = (int64_t)(span / 3);
    param->has_default = coin();
    if (param->has_default)
        param->fallback = param_level(param, below(3));
}

static void draw_list(struct param *param)
{
    double *numbers = arena_alloc(arena, 5, sizeof *numbers);
    const char **labels = arena_alloc(arena, 5, sizeof *labels);
    double x = draw_double();
    param->n_values = 1 + below(5);
    for (size_t i = 0; i < param->n_values; i++) {
        numbers[i] = x;
        x = nextafter(x, INFINITY);
        labels[i] = arena_printf(arena, "%zu%s", i, draw_text());
    }
    param->numbers = param->type == PARAM_DISCRETE ? numbers : NULL;
    param->labels = param->type == PARAM_CATEGORICAL ? labels : NULL;
    param->has_default = coin();
    if (param->has_default)
        param->fallback.whole = (int64_t)below(param->n_values);
}

static struct strings draw_constraints(const struct space *space)
{
    const char **items = arena_alloc(arena, space->n + 1, sizeof *items);
    size_t n = 0;
    for (size_t i = 0; i < space->n; i++)
        if (space->params[i].type != PARAM_CATEGORICAL && coin())
            items[n++] = arena_printf(arena, "abs(%s)*1e-3 >= -1",
                                      space->params[i].name);
    return (struct strings){n, items};
}

/* A condition on a finite parameter of lower rank, so that there is no cycle;
 * ranks are drawn, so that parents may be declared behind their children. */
static void draw_conditions(const struct space *space, const uint64_t rank[],
                            size_t child)
{
    for (size_t i = 0; i < space->n; i++) {
        const struct param *parent = &space->params[i];
        const uint64_t levels = param_levels(parent);
        if (rank[i] >= rank[child] || levels == 0 || coin() || coin())
            continue;
        struct condition *condition = arena_alloc(arena, 1, sizeof *condition);
        condition->parent = i;
        condition->n = 1 + below(3);
        struct value *values = arena_alloc(arena, condition->n, sizeof *values);
        for (size_t j = 0; j < condition->n; j++)
            values[j] = param_level(parent, draw() % levels);
        condition->values = values;
        condition->next = space->params[child].when;
        space->params[child].when = condition;
    }
}

static struct space draw_space(void)
{
    struct space space = {.n = 1 + below(9)};
    uint64_t rank[9];
    space.params = arena_alloc(arena, space.n, sizeof *space.params);
    for (size_t i = 0; i < space.n; i++) {
        struct param *param = &space.params[i];
        param->name = draw_name("p", i);
        param->type = (enum param_type)below(4);
        rank[i] = draw();
        if (param->type == PARAM_DOUBLE)
            draw_real(param);
        else if (param->type == PARAM_INTEGER)
            draw_whole(param);
        else
            draw_list(param);
    }
    for (size_t i = 0; i < space.n; i++)
        draw_conditions(&space, rank, i);
    return space;
}

static bool has_finite_levels(const struct space *space)
{
    uint64_t size = space_size(space);
    return size > 0 && size <= HT_MAX_GRID;
}

static int64_t draw_ms(void)
{
    return coin() ? 1 + (int64_t)below(100000000) : 0;
}

static int64_t draw_moment(void)
{
    return coin() ? 1 + (int64_t)(draw() % 253402300799999) : 0;
}

static void draw_until(struct stopping *until)
{
    until->min_trials = (int64_t)below(3);
    until->min_time_ms = draw_ms();
    until->min_end_ms = draw_moment();
    until->has_target = coin();
    until->target = until->has_target ? draw_double() : 0;
    until->time_ms = draw_ms();
    until->end_ms = draw_moment();
    until->no_progress = (int64_t)below(3);
    until->no_progress_ms = draw_ms();
    /* Without a rule there is nothing to finish, and readers say so. */
    until->let_finish =
        coin() && (until->has_target || until->time_ms || until->end_ms ||
                   until->no_progress || until->no_progress_ms);
}

static void draw_early_stop(struct early_stop *stop, enum job_kind kind)
{
    stop->rule = (enum job_early_stop)below(6);
    if (stop->rule == EARLY_NONE)
        return;
    stop->by_time = coin();
    stop->min_steps = (int64_t)below(3);
    if (coin() || stop->rule == EARLY_HYPERBAND)
        stop->max_steps = 3 + (int64_t)below(100);
    if (stop->rule == EARLY_ASHA || stop->rule == EARLY_HYPERBAND) {
        stop->factor = coin() ? 2 + (int64_t)below(9) : 0;
        stop->pauses = kind != JOB_STUDY && coin();
    } else {
        stop->min_trials = (int64_t)below(9);
        stop->min_measurements = (int64_t)below(9);
    }
}

static void draw_study(struct job *job)
{
    struct metric_goal *metrics = arena_alloc(arena, 5, sizeof *metrics);
    const size_t objectives = 1 + below(3);
    job->n_metrics = objectives + below(3);
    for (size_t i = 0; i < job->n_metrics; i++)
        metrics[i] = (struct metric_goal){.name = draw_name("m", i),
                                          .maximize = coin(),
                                          .safety = i >= objectives};
    for (size_t i = objectives; i < job->n_metrics; i++) {
        metrics[i].threshold = draw_double();
        metrics[i].safe_share = coin() ? (double)below(1001) / 1000 : 0;
    }
    job->metrics = metrics;
    job->space = draw_space();
    job->constraints = draw_constraints(&job->space);
    job->algorithm = (enum job_algorithm)below(4);
    if (job->algorithm == ALGORITHM_GRID && !has_finite_levels(&job->space))
        job->algorithm = ALGORITHM_RANDOM;
    job->has_seed = coin();
    job->seed = job->has_seed ? (int64_t)(draw() >> 1) : 0;
    job->selection = (enum job_selection)below(2);
    job->noise = (enum job_noise)below(3);
    draw_early_stop(&job->early_stop, job->kind);
    draw_until(&job->until);
}

static void draw_counts(struct job *job)
{
    if (job->kind == JOB_CUSTOM) {
        job->max_trials = job->parallel = 1;
        return;
    }
    job->max_trials = 1 + (int64_t)below(HT_MAX_TRIALS);
    job->parallel = 1;
    if (job->kind == JOB_STUDY && coin())
        job->max_trials = 0;
    if (job->kind == JOB_STUDY)
        return;
    job->parallel = 1 + (int64_t)below(HT_MAX_PARALLEL);
    job->max_failed = (int64_t)below(3);
}

static void draw_pools(struct job *job)
{
    static const char *const types[] = {"master", "worker", "ps", "evaluator"};
    static const char *const module[] = {"python3", "-m", "trainer.task"};
    static const char *const gpus[] = {"NVIDIA_TESLA_T4", "NVIDIA_L4"};
    bool images = coin();
    job->pools = arena_alloc(arena, 4, sizeof *job->pools);
    for (size_t i = 0; i < 4; i++) {
        if (i > 0 && coin())
            continue;
        job->pools[job->n_pools++] = (struct pool){
            .type = types[i],
            .count = i == 0 ? 1 : 1 + (int)below(5),
            .image = images ? arena_printf(arena, "r.io/i%zu:1", i) : NULL,
            .command = coin() ? (struct strings){1, &types[i]}
                              : (struct strings){3, module},
            .args = draw_strings(),
            .env = draw_env(),
            .gpus = (int64_t)below(9),
            .accelerator = coin() ? gpus[below(2)] : NULL,
            .machine = coin() ? arena_printf(arena, "n%zu-x", below(3)) : NULL,
            .cpus = i > 0 && coin() ? (double)below(1000) / 7 : 0,
            .memory_bytes = i > 0 && coin() ? (int64_t)(draw() >> 1) : 0};
    }
}

static void draw_secrets(struct job *job)
{
    struct secret *secrets = arena_alloc(arena, 3, sizeof *secrets);
    job->n_secrets = below(4);
    for (size_t i = 0; i < job->n_secrets; i++) {
        secrets[i].name = arena_printf(arena, "S%zu", i);
        if (coin())
            secrets[i].file = arena_printf(arena, "f.%zu", below(9));
        else
            secrets[i].env = arena_printf(arena, "E%zu", below(9));
    }
    job->secrets = secrets;
}

static void draw_container(struct job *job)
{
    static const char *const volumes[] = {"/a:/b", "/a b/c:/d/e:ro",
                                          "/\xc3\xa9:/x:rw"};
    static const char *const users[] = {NULL, "1000:1000", "nobody", "7"};
    static const char *const networks[] = {NULL, "none", "host", "net.1"};
    job->volumes = (struct strings){below(4), volumes};
    job->container = (struct container_options){
        .pull = (enum job_pull)below(3),
        .user = users[below(4)],
        .read_only = coin(),
        .network = networks[below(4)],
        .shm_bytes = coin() ? (int64_t)below(1 << 30) : 0,
        .pids = (int64_t)below(5000),
        .privileged = coin(),
        .host_pid = coin()};
    draw_secrets(job);
    job->reporter = (enum job_reporter)below(2);
    job->rewrite_gcs = coin();
    job->keep_best = (int64_t)below(5);
}

/* Members without effect, as the readers would keep them. */
static void draw_kept(struct job *job)
{
    static const struct {
        const char *path, *json;
        int kinds; /* one bit each */
    } members[] = {
        {"encryptionSpec.kmsKeyName", "\"key\"", 5},
        {"trialJobSpec.network", "\"n\"", 1},
        {"trialJobSpec.models", "[\"a\",\"b\"]", 1},
        {"trialJobSpec.enableWebAccess", "false", 1},
        {"trialJobSpec.scheduling.strategy", "\"SPOT\"", 1},
        {"trialJobSpec.workerPoolSpecs[0].pythonPackageSpec.executorImageUri",
         "\"eu.gcr.io/tf\"", 1},
        {"trialJobSpec.workerPoolSpecs[0].machineSpec.tpuTopology", "\"\"", 1},
        {"trialJobSpec.workerPoolSpecs[3].diskSpec.bootDiskSizeGb", "100", 1},
        {"jobSpec.network", "\"n\"", 4},
        {"jobSpec.workerPoolSpecs[0].diskSpec", "{}", 4},
        {"trainingInput.region", "\"us-central1\"", 5},
        {"trainingInput.workerConfig.diskConfig", "{\"a\":[1e400,null]}", 5}};
    struct kept **last = &job->kept;
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        if ((members[i].kinds & 1 << job->kind) == 0 || coin())
            continue;
        struct kept *kept = arena_alloc(arena, 1, sizeof *kept);
        *kept = (struct kept){members[i].path, members[i].json, NULL};
        *last = kept;
        last = &kept->next;
    }
}

static void draw_run(struct job *job)
{
    job->trial_timeout_ms = (int64_t)below(2) * (1 + (int64_t)below(99999));
    job->retries = (int64_t)below(HT_MAX_RETRIES + 1) * (int64_t)below(2);
    job->grace_ms = (int64_t)below(100000);
    job->args_mode = (enum job_args_mode)below(3);
    job->substitute = coin();
    job->workdir = coin() ? arena_printf(arena, "/%s", draw_text()) : NULL;
    job->pass_env = draw_variables();
    job->captured_env = draw_env();
    job->cpus = coin() ? (double)below(1000) / 7 : 0;
    job->memory_bytes = coin() ? (int64_t)(draw() >> 1) : 0;
    draw_container(job);
    job->stdout_patterns = draw_strings();
    job->metrics_file = coin() ? draw_text() : NULL;
    job->job_dir = coin() ? draw_text() : NULL;
    job->output_dir = coin() ? arena_printf(arena, "/%s", draw_text()) : NULL;
    job->chief = coin();
}

static struct job *draw_job(enum job_kind kind)
{
    struct job *job = arena_alloc(arena, 1, sizeof *job);
    job->kind = kind;
    job->retries = JOB_RETRIES;
    job->grace_ms = JOB_GRACE_MS;
    if (kind != JOB_CUSTOM)
        draw_study(job);
    draw_counts(job);
    job->name = coin() ? draw_name("s", 0) : NULL;
    job->display = coin() ? draw_text() : job->name;
    if (kind != JOB_STUDY) {
        job->labels = draw_pairs();
        draw_pools(job);
        draw_run(job);
    }
    draw_kept(job);
    return job;
}

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
                same_conditions(a->when, b->when);
    for (size_t i = 0; same && i < a->n_values; i++)
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
    CHECK(a->keep_best == b->keep_best && a->n_secrets == b->n_secrets);
    for (size_t i = 0; i < a->n_secrets && i < b->n_secrets; i++) {
        CHECK(same_text(a->secrets[i].name, b->secrets[i].name));
        CHECK(same_text(a->secrets[i].file, b->secrets[i].file));
        CHECK(same_text(a->secrets[i].env, b->secrets[i].env));
    }
}

static void check_rest(const struct job *a, const struct job *b)
{
    CHECK(same_text(a->name, b->name) && same_text(a->display, b->display));
    CHECK(same_pairs(a->labels, b->labels));
    CHECK(a->trial_timeout_ms == b->trial_timeout_ms);
    CHECK(a->retries == b->retries && a->grace_ms == b->grace_ms);
    CHECK(a->args_mode == b->args_mode && a->substitute == b->substitute);
    CHECK(same_text(a->workdir, b->workdir));
    CHECK(same_strings(a->pass_env, b->pass_env));
    CHECK(same_pairs(a->captured_env, b->captured_env));
    CHECK(same_bits(a->cpus, b->cpus));
    CHECK(a->memory_bytes == b->memory_bytes);
    check_container(a, b);
    CHECK(same_strings(a->stdout_patterns, b->stdout_patterns));
    CHECK(same_text(a->metrics_file, b->metrics_file));
    CHECK(same_strings(a->constraints, b->constraints));
    CHECK(a->kind == b->kind && a->chief == b->chief);
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
    json_print(job_write_vertex(job), &json);
    enum ht_status status = job_parse(arena, json.data, &back, &err);
    if (status != HT_OK) {
        printf("# seed %d: %s\n# %s\n", (int)seed, err.text, json.data);
        CHECK(status == HT_OK);
    } else {
        check_study(job, back);
        check_rest(job, back);
        CHECK(job_diff(job, back, &diff) == 0);
    }
    text_free(&json);
    text_free(&diff);
}

static void writing_and_reading_is_the_identity(void)
{
    for (uint64_t seed = 1; seed <= 600; seed++) {
        state = seed * 0x9e3779b97f4a7c15;
        check_vertex(draw_job((enum job_kind)(seed % 3)), seed);
        arena_reset(arena);
    }
}

/* Takes away what job_native_omits() names, and texts that the native form
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
    const char **texts[] = {&job->metrics_file, &job->job_dir};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (*texts[i] && **texts[i] == '\0')
            *texts[i] = NULL;
}

static void the_native_form_keeps_a_tuning_job(void)
{
    for (uint64_t seed = 1; seed <= 300; seed++) {
        state = seed * 0xd1342543de82ef95;
        struct job *job = draw_job(JOB_TUNING);
        struct text json = {0}, diff = {0};
        struct diag diag;
        make_native(job);
        json_print(job_write_native(job), &json);
        diag_init(&diag, arena, "spec", json.data, json.len);
        job_native_omits(job, &diag);
        CHECK(diag.warnings == 0);
        const struct node *root =
            node_read_json(arena, json.data, json.len, &diag);
        const struct job *back = root ? job_read_native(root, &diag) : NULL;
        CHECK(back != NULL);
        if (back == NULL)
            diag_print(&diag, &diff);
        if (back)
            job_diff(job, back, &diff);
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
    job_native_omits(&job, &diag);
    CHECK(diag.warnings == sizeof paths / sizeof *paths && diag.errors == 0);
    const struct diag_item *item = diag.first;
    for (size_t i = 0; item && i < sizeof paths / sizeof *paths; i++) {
        CHECK_TEXT(item->path, paths[i]);
        item = item->next;
    }
    job = (struct job){.kind = JOB_STUDY};
    diag_init(&diag, arena, "job", NULL, 0);
    job_native_omits(&job, &diag);
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
