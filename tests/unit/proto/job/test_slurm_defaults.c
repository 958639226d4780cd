/* What a cluster's users leave out of the section `slurm`. */
#include "proto/job/slurm.h"
#include "tests/check.h"

static struct arena *arena;

static enum ht_status read_text(const char *text, struct job_slurm *defaults,
                                struct ht_error *err)
{
    return slurm_read_defaults(arena, text, strlen(text), "site.yaml", defaults,
                               err);
}

static void every_member_may_have_a_default(void)
{
    static const char text[] = "# of the site\n"
                               "account: vision\n"
                               "partition: gpu\n"
                               "time: 02:30:00\n"
                               "trialsPerJob: 3\n"
                               "modules: [cuda/12.1]\n"
                               "container: apptainer\n"
                               "options: {mail-type: END, nice: 5}\n";
    struct job_slurm got = {0};
    struct ht_error err = {0};
    CHECK(read_text(text, &got, &err) == HT_OK);
    CHECK_TEXT(err.text, "");
    CHECK_TEXT(got.account, "vision");
    CHECK_TEXT(got.partition, "gpu");
    CHECK_TEXT(got.container, "apptainer");
    CHECK(got.time_ms == 9000000 && got.trials_per_job == 3);
    CHECK(got.modules.n == 1 && got.options.n == 2 && !got.said);
    CHECK_TEXT(got.options.items[0], "--mail-type=END");
    CHECK_TEXT(got.options.items[1], "--nice=5");
}

static void a_fault_has_its_place(void)
{
    static const struct {
        const char *text, *want;
    } faults[] = {
        {"account: vision\nacount: x\n",
         "site.yaml:2:1: acount: unknown field \"acount\"; did you mean "
         "\"account\"?"},
        {"options: [--hold,\n  --output=x]\n",
         "site.yaml:2:3: options[1]: --output is set by hypertune: what a node "
         "prints is kept with its batch"},
        {"- a\n", "site.yaml:1:1: must be a map, not a list"},
        {"time: 5\n", "site.yaml:1:7: time: \"5\" has no unit; write 90m, 12h, "
                      "or as sbatch has it: 1-12:00:00"}};
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        struct job_slurm got = {.account = "as before"};
        struct ht_error err = {0};
        CHECK(read_text(faults[i].text, &got, &err) == HT_INVALID);
        CHECK_TEXT(err.text, faults[i].want);
        CHECK_TEXT(got.account, "as before");
    }
}

/* Slurm's own grammar and ours; all in milliseconds. */
static void a_time_has_a_unit_or_is_slurms(void)
{
    static const struct {
        const char *text;
        int64_t ms; /* 0: refused */
    } times[] = {{"90m", 5400000},
                 {"1h30m", 5400000},
                 {"30:15", 1815000},
                 {"02:00:00", 7200000},
                 {"1-12", 129600000},
                 {"1-12:30", 131400000},
                 {"1-12:30:01", 131401000},
                 {"366-00", INT64_C(31622400000)},
                 {"366-01", 0},
                 {"9999999-0", 0},
                 {"9999999999999999999991-12:00", 0},
                 {"-1", 0},
                 {"1-", 0},
                 {"1:2:3:4", 0},
                 {"1:", 0},
                 {"00:00", 0},
                 {"90", 0},
                 {"1.5", 0},
                 {"UNLIMITED", 0}};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        struct job_slurm got = {0};
        const char *text = arena_printf(arena, "time: %s\n", times[i].text);
        const enum ht_status want = times[i].ms > 0 ? HT_OK : HT_INVALID;
        CHECK(read_text(text, &got, NULL) == want);
        CHECK(got.time_ms == times[i].ms);
    }
}

/* What is not needed by us passes as it is. */
static void unknown_options_pass(void)
{
    struct job_slurm got = {0};
    CHECK(read_text("options: [--of-the-next-version=a b, wait-all-nodes=1]\n",
                    &got, NULL) == HT_OK);
    CHECK(got.options.n == 2);
    CHECK_TEXT(got.options.items[0], "--of-the-next-version=a b");
    CHECK_TEXT(got.options.items[1], "--wait-all-nodes=1");
}

static void the_section_wins(void)
{
    static const char *const site[] = {"--nice=1", "--hold"},
                             *const own[] = {"--nice=2"}, *const gcc = "gcc";
    const struct job_slurm defaults = {.account = "site",
                                       .partition = "gpu",
                                       .qos = "low",
                                       .constraint = "ib",
                                       .reservation = "r",
                                       .gres = "shard:1",
                                       .exclusive = true,
                                       .time_ms = 60000,
                                       .trials_per_job = 2,
                                       .modules = {1, &gcc},
                                       .container = "pyxis",
                                       .options = {2, site}};
    struct job_slurm section = {.account = "mine",
                                .time_ms = 1,
                                .trials_per_job = 1,
                                .options = {1, own}};
    slurm_apply_defaults(arena, &section, &defaults);
    CHECK_TEXT(section.account, "mine");
    CHECK_TEXT(section.partition, "gpu");
    CHECK_TEXT(section.qos, "low");
    CHECK_TEXT(section.constraint, "ib");
    CHECK_TEXT(section.reservation, "r");
    CHECK_TEXT(section.gres, "shard:1");
    CHECK_TEXT(section.container, "pyxis");
    CHECK(section.exclusive && section.time_ms == 1);
    CHECK(section.trials_per_job == 1 && section.modules.n == 1);
    CHECK(section.options.n == 3);
    CHECK_TEXT(section.options.items[2], "--nice=2");
}

int main(void)
{
    arena = arena_new();
    RUN(every_member_may_have_a_default);
    RUN(a_fault_has_its_place);
    RUN(a_time_has_a_unit_or_is_slurms);
    RUN(unknown_options_pass);
    RUN(the_section_wins);
    arena_free(arena);
    return check_done();
}
