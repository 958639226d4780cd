#include "tests/check.h"

#include <stdlib.h>

#include "proto/base/clock.h"
#include "proto/doc/json.h"
#include "proto/job/slurm.h"
#include "runner/attempt/attempts.h"
#include "runner/base/disk.h"
#include "tests/lib/attempt_fixture.h"
#include "tests/lib/runner_fixture.h"

static const char no_slurm[] = "tests/e2e/test_slurm_engine.py runs it";

static bool has_slurm(void)
{
    return getenv("SLURM_CONF") != NULL; /* of a cluster that a test started */
}

struct stage {
    struct attempt_fixture fixture;
    struct attempts attempts;
    char need[1024];
    char refused[512]; /* of the last tick */
};

static void stage_open_with(struct stage *stage, const char *script,
                            const struct job_slurm *section)
{
    attempt_fixture_open(&stage->fixture, script, NULL);
    struct site *site = &stage->fixture.site;
    site->elastic = true;
    site->gpus.n = 0;
    site->slots = 4;
    site->runner = "0123456789abcdef";
    struct arena *arena = arena_new();
    const struct slurm_pool pool = {.count = 1};
    const struct slurm_need need = {
        .section = *section, .n_pools = 1, .pools = &pool, .grace_ms = 2000};
    (void)snprintf(stage->need, sizeof stage->need, "%s",
                   slurm_need_write(arena, &need));
    arena_free(arena);
}

static void stage_open(struct stage *stage, const char *script)
{
    static const struct job_slurm nothing = {.said = true};
    stage_open_with(stage, script, &nothing);
}

static void begin_runner(struct stage *stage)
{
    struct ht_error err = {.text = ""};
    CHECK(engine_slurm.open(&stage->fixture.site, &err) == HT_OK);
    attempts_init(&stage->attempts, &stage->fixture.site, &engine_slurm);
    attempts_scan(&stage->attempts);
}

static void end_runner(struct stage *stage)
{
    attempts_fini(&stage->attempts);
    engine_slurm.close();
}

static void stage_want(struct stage *stage, int64_t slots)
{
    const struct engine_wanted wanted = {
        .study = 2, .slots = slots, .need = "hash", .is = stage->need};
    engine_slurm.elastic->want(&wanted, 1);
}

/* Lets the engine look after its slots; those of the study. */
static struct engine_slots tick(struct stage *stage)
{
    struct engine_slots found = {.study = 0};
    struct arena *arena = arena_new();
    const struct engine_slots *slots;
    engine_slurm.elastic->tick(clock_monotonic_ms());
    attempts_tick(&stage->attempts, 1, true);
    const size_t n = engine_slurm.elastic->look(arena, &slots);
    for (size_t i = 0; i < n; i++)
        if (slots[i].study == 2)
            found = slots[i];
    found.need = NULL;
    (void)snprintf(stage->refused, sizeof stage->refused, "%s",
                   found.refused != NULL ? found.refused : "");
    arena_free(arena);
    return found;
}

static void an_attempt_runs_in_an_element_that_asks(void)
{
    struct stage stage;
    if (!has_slurm())
        SKIP(no_slurm);
    stage_open(&stage, "echo of $SLURM_ARRAY_TASK_ID; exit 3");
    begin_runner(&stage);
    stage_want(&stage, 1);
    UNTIL(tick(&stage).asking == 1);
    attempts_start(&stage.attempts, attempt_fixture_parse(&stage.fixture));
    struct attempt *attempt = stage.attempts.first;
    UNTIL((tick(&stage), attempt->ended));
    CHECK(attempt->ending.outcome == OUTCOME_FAILED);
    CHECK(attempt->ending.exit == 3);
    UNTIL(tick(&stage).asking == 1); /* the same element again */
    engine_slurm.elastic->want(NULL, 0);
    UNTIL(tick(&stage).study == 0); /* it has ended */
    end_runner(&stage);
    attempt_fixture_close(&stage.fixture);
}

static void a_restarted_runner_finds_slots_and_attempts(void)
{
    struct stage stage;
    if (!has_slurm())
        SKIP(no_slurm);
    stage_open(&stage, "until [ -e go ]; do sleep 0.1; done; exit 4");
    begin_runner(&stage);
    stage_want(&stage, 2);
    UNTIL(tick(&stage).asking == 2);
    attempts_start(&stage.attempts, attempt_fixture_parse(&stage.fixture));
    CHECK(tick(&stage).asking == 1);
    UNTIL((tick(&stage), attempt_is_started(stage.attempts.first)));
    end_runner(&stage);
    begin_runner(&stage);
    CHECK(attempts_count(&stage.attempts) == 1);
    attempts_adopt(&stage.attempts, stage.attempts.first);
    UNTIL(tick(&stage).asking == 1);
    stage_want(&stage, 1);
    UNTIL(tick(&stage).asking == 0); /* given back */
    CHECK(!stage.attempts.first->ended);
    CHECK(disk_mark(stage.fixture.replica, "go", NULL) == HT_OK);
    UNTIL((tick(&stage), stage.attempts.first->ended));
    CHECK(stage.attempts.first->ending.exit == 4);
    engine_slurm.elastic->want(NULL, 0);
    UNTIL(tick(&stage).study == 0);
    end_runner(&stage);
    attempt_fixture_close(&stage.fixture);
}

static void a_removed_attempt_leaves_its_element(void)
{
    struct stage stage;
    if (!has_slurm())
        SKIP(no_slurm);
    stage_open(&stage, "sleep 1000");
    begin_runner(&stage);
    stage_want(&stage, 1);
    UNTIL(tick(&stage).asking == 1);
    attempts_start(&stage.attempts, attempt_fixture_parse(&stage.fixture));
    UNTIL((tick(&stage), attempt_is_started(stage.attempts.first)));
    attempts_drop(&stage.attempts, stage.attempts.first);
    engine_slurm.elastic->want(NULL, 0);
    UNTIL(tick(&stage).study == 0);
    end_runner(&stage);
    attempt_fixture_close(&stage.fixture);
}

/* The reason is Slurm's, and nothing is left behind. */
static void a_refused_batch_says_why(void)
{
    struct stage stage;
    if (!has_slurm())
        SKIP(no_slurm);
    stage_open_with(&stage, "exit 0",
                    &(struct job_slurm){.said = true, .partition = "none"});
    begin_runner(&stage);
    stage_want(&stage, 2);
    UNTIL((tick(&stage), strstr(stage.refused, "nvalid partition") != NULL));
    printf("# %s\n", stage.refused);
    engine_slurm.elastic->want(NULL, 0);
    UNTIL(tick(&stage).study == 0);
    end_runner(&stage);
    attempt_fixture_close(&stage.fixture);
}

static void an_element_that_dies_before_it_asks_says_why(void)
{
    static const char *const modules[] = {"no-such-module"};
    struct stage stage;
    if (!has_slurm())
        SKIP(no_slurm);
    stage_open_with(&stage, "exit 0",
                    &(struct job_slurm){.said = true, .modules = {1, modules}});
    begin_runner(&stage);
    stage_want(&stage, 2);
    UNTIL(
        (tick(&stage), strstr(stage.refused, "ended before it asked") != NULL));
    printf("# %s\n", stage.refused);
    engine_slurm.elastic->want(NULL, 0);
    UNTIL(tick(&stage).study == 0);
    end_runner(&stage);
    attempt_fixture_close(&stage.fixture);
}

static void a_folder_that_slurm_cannot_name_is_refused(void)
{
    struct ht_error err = {.text = ""};
    const struct site site = {.state = "/tmp/a\\b"};
    CHECK(engine_slurm.open(&site, &err) == HT_INVALID);
    CHECK(strstr(err.text, "has a backslash") != NULL);
}

int main(void)
{
    json_init();
    runner_fixture_init();
    RUN(an_attempt_runs_in_an_element_that_asks);
    RUN(a_restarted_runner_finds_slots_and_attempts);
    RUN(a_removed_attempt_leaves_its_element);
    RUN(a_refused_batch_says_why);
    RUN(an_element_that_dies_before_it_asks_says_why);
    RUN(a_folder_that_slurm_cannot_name_is_refused);
    runner_fixture_fini();
    return check_done();
}
