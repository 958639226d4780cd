#include "tests/lib/drawn_job.h"

#include <math.h>
#include <string.h>

#include "proto/base/limits.h"
#include "proto/doc/field.h"
#include "proto/job/notify.h"

static struct arena *arena; /* of the job that is drawn */
static uint64_t state;      /* of the generator */

/* ---- numbers and texts ---- */

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

/* What trials had before a change: a range that holds today's. */
static void draw_former(struct param *param)
{
    const int64_t a = (int64_t)draw();
    const double b = draw_double();
    if (coin())
        return;
    if (param->type == PARAM_INTEGER)
        param->former =
            (struct former){.has_range = true,
                            .int_min = param->int_min,
                            .int_max = a > param->int_max ? a : param->int_max};
    else
        param->former = (struct former){true, .min = param->min,
                                        .max = fmax(b, param->max)};
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
        param->fallback =
            param->step > 0
                ? space_param_level(param, 0)
                : space_param_from_unit(param, (double)below(99) / 99);
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
        param->fallback = space_param_level(param, below(3));
}

static void draw_list(struct param *param)
{
    double *numbers = arena_alloc(arena, 8, sizeof *numbers);
    const char **labels = arena_alloc(arena, 8, sizeof *labels);
    double x = draw_double();
    param->n_values = 1 + below(5);
    param->n_former = below(4);
    for (size_t i = 0; i < param->n_values + param->n_former; i++) {
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
        const uint64_t levels = space_param_levels(parent);
        if (rank[i] >= rank[child] || levels == 0 || coin() || coin())
            continue;
        struct condition *condition = arena_alloc(arena, 1, sizeof *condition);
        condition->parent = i;
        condition->n = 1 + below(3);
        struct value *values = arena_alloc(arena, condition->n, sizeof *values);
        for (size_t j = 0; j < condition->n; j++)
            values[j] = space_param_level(parent, draw() % levels);
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
        if (param->type == PARAM_DOUBLE || param->type == PARAM_INTEGER)
            draw_former(param);
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

static void draw_cancelling(struct cancelling *after)
{
    after->waiting_ms = draw_ms();
    after->running_ms = draw_ms();
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
    draw_cancelling(&job->cancel_after);
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
            .gpu_memory = coin() ? (int64_t)(1 + below(1 << 30)) : 0,
            .accelerator = coin() ? gpus[below(2)] : NULL,
            .machine = coin() ? arena_printf(arena, "n%zu-x", below(3)) : NULL,
            .cpus = i > 0 && coin() ? (double)below(1000) / 7 : 0,
            .memory_bytes = i > 0 && coin() ? (int64_t)(draw() >> 1) : 0};
        if (job->pools[job->n_pools - 1].gpus == 0 && coin())
            job->pools[job->n_pools - 1].gpu_part =
                (double)(1 + below(999)) / 1000;
    }
}

static void draw_run_on(struct job *job)
{
    static const struct pair labels[] = {{"disk", "fast"}, {"rack", "7"}};
    job->priority = (int64_t)below(201) - 100;
    job->run_on = (struct job_run_on){.engine = coin() ? "slurm" : NULL,
                                      .gpu = coin() ? "RTX 4090" : NULL,
                                      .machine = coin() ? "box.1" : NULL,
                                      .labels = {below(3), labels}};
}

static const char *word_or_none(const char *word)
{
    return coin() ? word : NULL;
}

/* With the section the engine is Slurm. */
static void draw_slurm(struct job *job)
{
    static const char *const modules[] = {"cuda/12.1", "gcc"};
    static const char *const options[] = {"--nice=7", "--spread-job",
                                          "--comment=a \"b\" = c"};
    if (coin())
        return;
    job->run_on.engine = "slurm";
    job->slurm = (struct job_slurm){
        .said = true,
        .account = word_or_none("vision"),
        .partition = word_or_none("gpu,short"),
        .qos = word_or_none("normal"),
        .constraint = word_or_none("[a|b]&c"),
        .reservation = word_or_none("school days"),
        .gres = word_or_none("shard:1"),
        .exclusive = coin(),
        .time_ms = (int64_t)below(2) * (1 + (int64_t)below(99999)),
        .trials_per_job = (int64_t)below(3),
        .modules = {below(3), modules},
        .container = word_or_none("run {image} -- {command}"),
        .options = {below(4), options}};
}

static void draw_kubernetes(struct job *job)
{
    if (job->slurm.said || coin())
        return;
    job->run_on.engine = "kubernetes";
    job->kubernetes = (struct job_kubernetes){
        .said = true,
        .labels = draw_pairs(),
        .annotations = draw_pairs(),
        .queue = word_or_none("team-a"),
        .pod = word_or_none("{\"a\":{\"b\":[1.50,null,\"c \\\"\"]}}")};
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
    if (coin())
        job->service_account = arena_printf(arena, "a+b@c-%zu.d", below(9));
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

static void draw_notify(struct job *job)
{
    struct notify *notify = &job->notify;
    notify->said = coin();
    notify->items = arena_alloc(arena, 4, sizeof *notify->items);
    for (size_t n = notify->said ? below(4) : 0; notify->n < n; notify->n++)
        notify->items[notify->n] = (struct notify_item){
            draw_name("w", notify->n),
            coin() ? NOTIFY_ALL : 1 + (unsigned)below(NOTIFY_ALL)};
}

static void draw_run(struct job *job)
{
    job->trial_timeout_ms = (int64_t)below(2) * (1 + (int64_t)below(99999));
    job->silence_ms = (int64_t)below(2) * (1 + (int64_t)below(99999));
    job->on_silence = coin() ? SILENCE_STOP : SILENCE_WARN;
    job->retries = (int64_t)below(HT_MAX_RETRIES + 1) * (int64_t)below(2);
    job->grace_ms = (int64_t)below(100000);
    job->args_mode = (enum job_args_mode)below(3);
    job->substitute = coin();
    job->workdir = coin() ? arena_printf(arena, "/%s", draw_text()) : NULL;
    job->own_workdir = coin() && !job_needs_images(job);
    job->code.way = (enum job_code_way)below(2);
    job->pass_env = draw_variables();
    job->captured_env = draw_env();
    job->cpus = coin() ? (double)below(1000) / 7 : 0;
    job->memory_bytes = coin() ? (int64_t)(draw() >> 1) : 0;
    draw_container(job);
    job->stdout_patterns = draw_strings();
    job->metrics_file = coin() ? draw_text() : NULL;
    job->metrics_events = coin() ? draw_text() : NULL;
    job->job_dir = coin() ? draw_text() : NULL;
    job->output_dir = coin() ? arena_printf(arena, "/%s", draw_text()) : NULL;
    job->chief = coin();
    job->form = (enum job_dialect)(draw() % 3);
    if (job->kind == JOB_TUNING)
        job->metric_doctor = (enum job_metric_doctor)below(2);
}

struct job *drawn_job(struct arena *owner, enum job_kind kind, uint64_t seed)
{
    arena = owner;
    state = seed;
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
        draw_run_on(job);
        draw_slurm(job);
        draw_kubernetes(job);
        draw_run(job);
    }
    draw_notify(job);
    draw_kept(job);
    return job;
}
