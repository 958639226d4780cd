/* The batch job that asks Slurm for a study's slots. */
#include "proto/job/slurm.h"
#include "tests/check.h"

#define NAME_LAUNCH                                                            \
    "read -r HYPERTUNE_LAUNCH </proc/sys/kernel/random/uuid\n"                 \
    "export HYPERTUNE_LAUNCH\n"

static struct arena *arena;

static const struct slurm_site site = {.name = "ht-7-1",
                                       .folder = "/home/a b/100%/7-1",
                                       .shim = "/home/a b/it's/shim",
                                       .elements = 20,
                                       .limit_ms = 0};

static struct slurm_batch batch_of(const struct slurm_need *need,
                                   const struct slurm_site *at)
{
    struct slurm_batch batch = {0};
    struct ht_error err = {0};
    CHECK(slurm_batch(arena, need, at, &batch, &err) == HT_OK);
    CHECK_TEXT(err.text, "");
    return batch;
}

/* As the lines of a script have them. */
static const char *options_text(const struct slurm_batch *batch)
{
    struct text text = {0};
    for (size_t i = 0; i < batch->n_options; i++) {
        const struct slurm_option *one = &batch->options[i];
        text_printf(&text, "%s%s%s\n", one->name, one->value ? "=" : "",
                    one->value ? one->value : "");
    }
    return text_take(&text, arena);
}

/* The value of an option; NULL: there is none. */
static const char *option(const struct slurm_batch *batch, const char *name)
{
    for (size_t i = 0; i < batch->n_options; i++)
        if (strcmp(batch->options[i].name, name) == 0)
            return batch->options[i].value != NULL ? batch->options[i].value
                                                   : "";
    return NULL;
}

static void who_asks_for_nothing_gets_one_cpu(void)
{
    const struct slurm_pool pool = {.count = 1};
    const struct slurm_need need = {
        .n_pools = 1, .pools = &pool, .grace_ms = 30000};
    const struct slurm_batch batch = batch_of(&need, &site);
    CHECK_TEXT(options_text(&batch), "job-name=ht-7-1\n"
                                     "array=0-19\n"
                                     "chdir=/home/a b/100%/7-1\n"
                                     "output=/home/a b/100%%/7-1/%a.out\n"
                                     "signal=B:USR1@30\n"
                                     "no-requeue\n"
                                     "nodes=1\n"
                                     "ntasks=1\n"
                                     "cpus-per-task=1\n");
    CHECK_TEXT(batch.script,
               "#!/bin/sh\n" NAME_LAUNCH
               "exec '/home/a b/it'\\''s/shim' --slurm '/home/a b/100%/7-1'\n");
    CHECK_TEXT(batch.name, "ht-7-1");
    CHECK_TEXT(batch.folder, "/home/a b/100%/7-1");
    CHECK(batch.elements == 20 && batch.tasks == 1);
}

static void the_section_comes_before_the_resources_and_its_options_last(void)
{
    static const char *const options[] = {"--mail-type=END", "--qos=high",
                                          "--spread-job"};
    static const char *const modules[] = {"cuda/12.1", "a'b"};
    const struct slurm_pool pool = {.count = 1,
                                    .cpus = 2.5,
                                    .memory_bytes = 1000000000,
                                    .gpus = 2,
                                    .gpu_model = "a100"};
    const struct slurm_need need = {.section = {.account = "vision",
                                                .partition = "gpu",
                                                .qos = "low",
                                                .constraint = "[a|b]",
                                                .reservation = "r",
                                                .gres = "fast:1",
                                                .exclusive = true,
                                                .time_ms = 5400001,
                                                .modules = {2, modules},
                                                .options = {3, options}},
                                    .n_pools = 1,
                                    .pools = &pool,
                                    .grace_ms = 1500};
    const struct slurm_batch batch = batch_of(&need, &site);
    CHECK_TEXT(strstr(options_text(&batch), "signal"), "signal=B:USR1@2\n"
                                                       "no-requeue\n"
                                                       "account=vision\n"
                                                       "partition=gpu\n"
                                                       "constraint=[a|b]\n"
                                                       "reservation=r\n"
                                                       "exclusive\n"
                                                       "time=91\n"
                                                       "nodes=1\n"
                                                       "ntasks=1\n"
                                                       "cpus-per-task=3\n"
                                                       "mem=954M\n"
                                                       "gres=gpu:a100:2,fast:1"
                                                       "\n"
                                                       "mail-type=END\n"
                                                       "qos=high\n"
                                                       "spread-job\n");
    CHECK(strstr(batch.script,
                 "#!/bin/sh\n" NAME_LAUNCH
                 "export HYPERTUNE_ENV_BEFORE=\"$(env)\"\nfor ") ==
          batch.script);
    CHECK(strstr(batch.script, "module load cuda/12.1 || exit\n"
                               "module load 'a'\\''b' || exit\n"
                               "exec ") != NULL);
}

static void a_time_is_at_most_the_partitions(void)
{
    static const struct {
        int64_t asked, limit;
        const char *want;
    } times[] = {
        {0, 0, NULL},       {0, 3600000, NULL},       {60000, 0, "1"},
        {60001, 0, "2"},    {7200000, 3600000, "60"}, {7200000, 3659999, "60"},
        {60001, 30000, "2"}};
    const struct slurm_pool pool = {.count = 1};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        const struct slurm_need need = {.section = {.time_ms = times[i].asked},
                                        .n_pools = 1,
                                        .pools = &pool};
        struct slurm_site at = site;
        at.limit_ms = times[i].limit;
        const struct slurm_batch batch = batch_of(&need, &at);
        const char *got = option(&batch, "time");
        CHECK_TEXT(got != NULL ? got : "none",
                   times[i].want != NULL ? times[i].want : "none");
    }
}

static void the_net_has_a_second_at_least_and_no_more_than_slurm_takes(void)
{
    const struct slurm_pool pool = {.count = 1};
    struct slurm_need need = {.n_pools = 1, .pools = &pool};
    struct slurm_batch batch = batch_of(&need, &site);
    CHECK_TEXT(option(&batch, "signal"), "B:USR1@1");
    need.grace_ms = INT64_C(86400000);
    batch = batch_of(&need, &site);
    CHECK_TEXT(option(&batch, "signal"), "B:USR1@65535");
}

static const char *gres(const char *own, const char *option_of_sbatch)
{
    const struct slurm_pool pool = {.count = 1, .gpus = 1};
    struct slurm_need need = {
        .section = {.gres = own}, .n_pools = 1, .pools = &pool};
    if (option_of_sbatch != NULL)
        need.section.options = (struct strings){1, &option_of_sbatch};
    const struct slurm_batch batch = batch_of(&need, &site);
    const char *got = option(&batch, "gres");
    return got != NULL ? got : "none";
}

static void gpus_that_the_section_says_replace_those_of_resources(void)
{
    static const struct {
        const char *own, *option, *want;
    } cases[] = {{NULL, NULL, "gpu:1"},
                 {"gpu:a100:2", NULL, "gpu:a100:2"},
                 {"fast:1,gres/gpu:2", NULL, "fast:1,gres/gpu:2"},
                 {"fast:1", NULL, "gpu:1,fast:1"},
                 {"shard:1", NULL, "shard:1"},
                 {"fast,mps=20", NULL, "fast,mps=20"},
                 {"gpu", NULL, "gpu"},
                 {"gpumem:4", NULL, "gpu:1,gpumem:4"},
                 {NULL, "--gpus-per-task=1", "none"},
                 {"fast:1", "--gpus=1", "fast:1"},
                 {NULL, "--gres=gpu:h100:1", "gpu:h100:1"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CHECK_TEXT(gres(cases[i].own, cases[i].option), cases[i].want);
}

/* sbatch refuses both. */
static void options_that_exclude_ours_replace_them(void)
{
    static const char *const options[] = {"--mem-per-gpu=4G",
                                          "--cpus-per-gpu=4"};
    const struct slurm_pool pool = {
        .count = 1, .cpus = 2, .memory_bytes = 1, .gpus = 1};
    struct slurm_need need = {.n_pools = 1, .pools = &pool};
    struct slurm_batch batch = batch_of(&need, &site);
    CHECK_TEXT(option(&batch, "mem"), "1M");
    need.section.options = (struct strings){2, options};
    batch = batch_of(&need, &site);
    CHECK(option(&batch, "mem") == NULL);
    CHECK(option(&batch, "cpus-per-task") == NULL);
    CHECK_TEXT(option(&batch, "mem-per-gpu"), "4G");
}

static void replicas_are_tasks_of_one_allocation(void)
{
    const struct slurm_pool pools[] = {{.count = 1, .cpus = 2, .image = "a"},
                                       {.count = 3, .cpus = 1.5, .image = "b"}};
    const struct slurm_need need = {.n_pools = 2, .pools = pools};
    const struct slurm_batch batch = batch_of(&need, &site);
    CHECK(batch.tasks == 4);
    CHECK_TEXT(option(&batch, "nodes"), "4");
    CHECK_TEXT(option(&batch, "ntasks"), "4");
    CHECK(strstr(batch.script,
                 "\nexec srun --kill-on-bad-exit=0 --export=ALL ") != NULL);
}

/* Neighbours with the same need are one component. */
static void pools_that_differ_are_components_of_one_job(void)
{
    const struct slurm_pool pools[] = {
        {.count = 1, .cpus = 2, .memory_bytes = 2},
        {.count = 3, .cpus = 4, .gpus = 1},
        {.count = 1, .cpus = 4, .gpus = 1, .image = "b"},
        {.count = 1, .cpus = 2}};
    const struct slurm_need need = {.section = {.partition = "gpu"},
                                    .n_pools = 4,
                                    .pools = pools,
                                    .grace_ms = 30000};
    const struct slurm_site at = {
        .name = "ht-7-1", .folder = "/a b", .shim = "/shim", .elements = 20};
    const struct slurm_batch batch = batch_of(&need, &at);
    CHECK(slurm_is_heterogeneous(&need));
    CHECK(batch.elements == 1 && batch.tasks == 6 && batch.n_others == 2);
    CHECK_TEXT(
        slurm_script(arena, &batch),
        "#!/bin/sh\n"
        "#SBATCH --job-name=ht-7-1\n#SBATCH --chdir=\"/a b\"\n"
        "#SBATCH --output=\"/a b/0.out\"\n#SBATCH --signal=B:USR1@30\n"
        "#SBATCH --no-requeue\n#SBATCH --partition=gpu\n"
        "#SBATCH --nodes=1\n#SBATCH --ntasks=1\n"
        "#SBATCH --cpus-per-task=2\n#SBATCH --mem=1M\n"
        "#SBATCH hetjob\n"
        "#SBATCH --job-name=ht-7-1\n#SBATCH --chdir=\"/a b\"\n"
        "#SBATCH --no-requeue\n#SBATCH --partition=gpu\n"
        "#SBATCH --nodes=4\n#SBATCH --ntasks=4\n"
        "#SBATCH --cpus-per-task=4\n#SBATCH --gres=gpu:1\n"
        "#SBATCH hetjob\n"
        "#SBATCH --job-name=ht-7-1\n#SBATCH --chdir=\"/a b\"\n"
        "#SBATCH --no-requeue\n#SBATCH --partition=gpu\n"
        "#SBATCH --nodes=1\n#SBATCH --ntasks=1\n"
        "#SBATCH --cpus-per-task=2\n" NAME_LAUNCH
        "unset SLURM_MEM_PER_NODE SLURM_MEM_PER_CPU SLURM_TRES_PER_TASK\n"
        "exec srun --kill-on-bad-exit=0 --export=ALL --het-group=0 "
        "--nodes=1 --ntasks=1 --mem=1M --cpus-per-task=2 \\\n"
        "    env SLURM_CPUS_PER_TASK=2 /shim --slurm '/a b' : \\\n"
        "    --kill-on-bad-exit=0 --export=ALL --het-group=1 "
        "--nodes=4 --ntasks=4 --cpus-per-task=4 \\\n"
        "    env SLURM_CPUS_PER_TASK=4 /shim --slurm '/a b' : \\\n"
        "    --kill-on-bad-exit=0 --export=ALL --het-group=2 "
        "--nodes=1 --ntasks=1 --cpus-per-task=2 \\\n"
        "    env SLURM_CPUS_PER_TASK=2 /shim --slurm '/a b'\n");
}

static void each_amount_may_differ(void)
{
    const struct slurm_pool others[] = {{.count = 1, .cpus = 3},
                                        {.count = 1, .memory_bytes = 1},
                                        {.count = 1, .gpus = 1}};
    struct slurm_pool pools[] = {{.count = 1, .cpus = 0.5}, {.count = 2}};
    const struct slurm_need need = {.n_pools = 2, .pools = pools};
    CHECK(!slurm_is_heterogeneous(&need));
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        pools[1] = others[i];
        CHECK(slurm_is_heterogeneous(&need));
    }
}

static void refused(const struct slurm_need *need, const char *want)
{
    struct slurm_batch batch = {.elements = 3};
    struct ht_error err = {0};
    CHECK(slurm_batch(arena, need, &site, &batch, &err) == HT_PRECONDITION);
    CHECK(strncmp(err.text, want, strlen(want)) == 0);
    CHECK(batch.elements == 3);
}

static void what_slurm_cannot_give_is_refused_in_words(void)
{
    const struct slurm_pool pools[] = {
        {.count = 1, .cpus = 2}, {.count = 1, .cpus = 2, .gpu_detail = true}};
    struct slurm_need need = {.n_pools = 2, .pools = pools};
    refused(&need, "Slurm gives whole GPUs of a model, ");
    need.section.gres = "shard:1";
    const struct slurm_batch batch = batch_of(&need, &site);
    CHECK_TEXT(option(&batch, "gres"), "shard:1");
}

int main(void)
{
    arena = arena_new();
    RUN(who_asks_for_nothing_gets_one_cpu);
    RUN(the_section_comes_before_the_resources_and_its_options_last);
    RUN(a_time_is_at_most_the_partitions);
    RUN(the_net_has_a_second_at_least_and_no_more_than_slurm_takes);
    RUN(gpus_that_the_section_says_replace_those_of_resources);
    RUN(options_that_exclude_ours_replace_them);
    RUN(replicas_are_tasks_of_one_allocation);
    RUN(pools_that_differ_are_components_of_one_job);
    RUN(each_amount_may_differ);
    RUN(what_slurm_cannot_give_is_refused_in_words);
    arena_free(arena);
    return check_done();
}
