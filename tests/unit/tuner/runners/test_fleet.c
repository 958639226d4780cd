/* Runners of one machine, parts of GPUs and projects, as the core gives
 * trials. */
#include "tests/lib/core_fixture.h"

#include "tuner/db/fleet.h"

#define GPU(name, uuid)                                                        \
    "\"" name "\":{\"uuid\":\"" uuid "\",\"name\":\"NVIDIA A100\","            \
    "\"memory\":85899345920}"
#define BOX                                                                    \
    "\"machine\":\"box\",\"gpus\":[\"0\",\"1\"],\"gpuModels\":{" GPU(          \
        "0", "GPU-a") "," GPU("1", "GPU-b") "}"
/* The same GPUs under other names. */
#define OTHER                                                                  \
    "\"images\":false,\"machine\":\"box\",\"gpus\":[\"GPU-b\",\"GPU-a\"],"     \
    "\"gpuModels\":{" GPU("GPU-a", "GPU-a") "," GPU("GPU-b", "GPU-b") "}"

static void submit(struct fixture *f, const char *name, int trials,
                   const char *more)
{
    struct text spec = {0};
    text_printf(&spec,
                "spec: 1\nname: %s\ngoal: maximize accuracy\n"
                "parameters: {lr: [1, 2, 3, 4, 5, 6, 7, 8]}\n"
                "algorithm: grid\ntrials: %d\nparallel: %d\n"
                "command: [train]\n%s\n",
                name, trials, trials, more);
    CHECK(fixture_submit(f, spec.data)->status == HT_OK);
    text_free(&spec);
}

static void be(struct fixture *f, const char *runner, int slots,
               const char *rules)
{
    f->runner = runner;
    f->boot = arena_printf(f->arena, "boot-%s", runner);
    CHECK(fixture_hello_rules(f, slots, rules)->status == HT_OK);
}

static struct request *ask(struct fixture *f, int slots, int gpus)
{
    char members[64];
    snprintf(members, sizeof members, "\"free\":%d,\"gpus\":%d", slots, gpus);
    return fixture_post_control(f, "lease", f->next_id++, members);
}

/* The poll of a runner that was given something. */
static size_t take(struct fixture *f, int slots, int gpus, struct leased out[8])
{
    struct request *poll = ask(f, slots, gpus);
    fixture_wait(f, poll);
    return fixture_leased(poll, out, 8);
}

static const char *gpu_of(const struct leased *leased)
{
    const struct node *master = node_find(leased->node, "replicas")->first;
    const struct node *names = node_find(master, "gpuNames");
    return names != NULL ? node_string(names->first) : "";
}

static void two_engines_of_a_machine_get_different_gpus(struct fixture *f)
{
    struct leased first[8], second[8];
    be(f, "r1", 4, BOX);
    submit(f, "s", 4, "resources: {gpus: 1}");
    CHECK(fixture_await_trials(f, 1, TRIAL_REQUESTED, 4));
    CHECK(take(f, 1, 2, first) == 1);
    CHECK_TEXT(gpu_of(&first[0]), "0");
    be(f, "r2", 4, OTHER);
    CHECK(take(f, 4, 2, second) == 1);
    CHECK_TEXT(gpu_of(&second[0]), "GPU-b");
    CHECK(fixture_await_reason(f, 1, "2 of 4 wait: 4 slots, 2 GPUs"));
    /* The end at one runner is room for the other. */
    struct request *poll = ask(f, 3, 2);
    f->runner = "r1", f->boot = "boot-r1";
    fixture_tell(f, "ended", &first[0].name, "\"outcome\":\"succeeded\"");
    fixture_wait(f, poll);
    CHECK(fixture_leased(poll, second, 8) == 1);
    CHECK_TEXT(gpu_of(&second[0]), "GPU-a");
}

static void take_from_both(struct fixture *f, const char *rules,
                           const char *of_other)
{
    struct leased leased[8];
    be(f, "r1", 4, rules);
    submit(f, "s", 3, "resources: {gpus: 1}");
    CHECK(fixture_await_trials(f, 1, TRIAL_REQUESTED, 3));
    CHECK(take(f, 1, 2, leased) == 1);
    CHECK_TEXT(gpu_of(&leased[0]), "0");
    be(f, "r2", 4, of_other);
    CHECK(take(f, 4, 2, leased) == 1);
    CHECK_TEXT(gpu_of(&leased[0]), "1");
    CHECK(fixture_await_reason(f, 1, "1 of 3 wait: 4 slots, 2 GPUs"));
}

/* As where one of the runners has no nvidia-smi. */
#define NUMBERS "\"machine\":\"box\",\"gpus\":[\"0\",\"1\"]"

static void a_gpu_counts_once_beside_a_runner_with_its_number(struct fixture *f)
{
    take_from_both(f, BOX, NUMBERS);
}

static void a_gpu_counts_once_beside_a_runner_with_its_id(struct fixture *f)
{
    take_from_both(f, NUMBERS, BOX);
}

static void parts_survive_a_restart_of_the_server(struct fixture *f)
{
    struct leased leased[8];
    be(f, "r1", 8, BOX);
    submit(f, "s", 3, "resources: {gpu: 0.6}");
    CHECK(fixture_await_trials(f, 1, TRIAL_REQUESTED, 3));
    CHECK(take(f, 8, 2, leased) == 2);
    CHECK(strcmp(gpu_of(&leased[0]), gpu_of(&leased[1])) != 0);
    fixture_stop(f);
    CHECK(fixture_start(f));
    CHECK(fixture_control(f, "hello",
                          arena_printf(f->arena,
                                       "\"slots\":8,\"rules\":{%s},"
                                       "\"attempts\":[{\"study\":1,\"trial\":1,"
                                       "\"attempt\":1},{\"study\":1,"
                                       "\"trial\":2,\"attempt\":1}]",
                                       BOX))
              ->status == HT_OK);
    submit(f, "small", 2, "resources: {gpu: 0.4}");
    CHECK(fixture_await_trials(f, 2, TRIAL_REQUESTED, 2));
    CHECK(take(f, 6, 2, leased) == 2);
    CHECK(leased[0].name.study == 2 && leased[1].name.study == 2);
}

static void an_old_runner_gets_no_part_of_a_gpu(struct fixture *f)
{
    struct leased leased[8];
    be(f, "r1", 4, "\"gpus\":[\"0\"]");
    submit(f, "s", 1, "resources: {gpu: 0.5}");
    submit(f, "plain", 1, "");
    CHECK(fixture_await_trials(f, 1, TRIAL_REQUESTED, 1));
    CHECK(fixture_await_trials(f, 2, TRIAL_REQUESTED, 1));
    CHECK(take(f, 4, 1, leased) == 1 && leased[0].name.study == 2);
    CHECK(fixture_await_reason(f, 1,
                               "1 of 1 wait: no runner that may run them can "
                               "give a part of a GPU"));
}

static void a_higher_priority_is_served_first(struct fixture *f)
{
    struct leased leased[8];
    be(f, "r1", 1, "");
    submit(f, "low", 2, "priority: -5");
    submit(f, "high", 2, "priority: 7");
    CHECK(fixture_await_trials(f, 1, TRIAL_REQUESTED, 2));
    CHECK(fixture_await_trials(f, 2, TRIAL_REQUESTED, 2));
    for (int i = 0; i < 2; i++) {
        CHECK(take(f, 1, 0, leased) == 1 && leased[0].name.study == 2);
        fixture_tell(f, "ended", &leased[0].name, "\"outcome\":\"succeeded\"");
    }
    CHECK(take(f, 1, 0, leased) == 1 && leased[0].name.study == 1);
}

static void what_a_project_used_is_stored_at_the_end(struct fixture *f)
{
    struct leased leased[8];
    struct project_row row;
    be(f, "r1", 1, BOX);
    submit(f, "s", 1, "resources: {gpus: 1}");
    CHECK(fixture_await_trials(f, 1, TRIAL_REQUESTED, 1));
    CHECK(take(f, 1, 2, leased) == 1);
    fixture_nap();
    fixture_tell(f, "ended", &leased[0].name, "\"outcome\":\"succeeded\"");
    struct db *db = fixture_db(f);
    CHECK(db_project_get(db, f->arena, "local", &row, NULL) == HT_OK);
    CHECK(row.trials == 1 && row.trial_s > 0 && row.share == 1);
    /* A GPU counts as four slots. */
    CHECK(row.usage > 4.9 * row.trial_s && row.usage < 5.1 * row.trial_s);
    db_close(db);
}

int main(void)
{
    RUN_ON_CORE(two_engines_of_a_machine_get_different_gpus);
    RUN_ON_CORE(a_gpu_counts_once_beside_a_runner_with_its_number);
    RUN_ON_CORE(a_gpu_counts_once_beside_a_runner_with_its_id);
    RUN_ON_CORE(parts_survive_a_restart_of_the_server);
    RUN_ON_CORE(an_old_runner_gets_no_part_of_a_gpu);
    RUN_ON_CORE(a_higher_priority_is_served_first);
    RUN_ON_CORE(what_a_project_used_is_stored_at_the_end);
    return check_done();
}
