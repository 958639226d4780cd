#include "tests/check.h"

#include <stdlib.h>

#include "proto/doc/json.h"
#include "runner/cluster/submission.h"
#include "runner/element/element.h"
#include "tests/lib/runner_fixture.h"

enum {
    TWO_MINUTES_MS = 2 * 60 * 1000,
    FIVE_MINUTES_MS = 5 * 60 * 1000,
    TEN_MINUTES_MS = 10 * 60 * 1000,
    HALF_AN_HOUR_MS = 30 * 60 * 1000,
    LONG_MS = 90 * 60 * 1000,
    TWO_HOURS_MS = 120 * 60 * 1000
};

static const struct slurm_partition partitions[] = {
    {.name = "main", .is_default = true, .most_ms = TWO_HOURS_MS},
    {.name = "short",
     .default_ms = FIVE_MINUTES_MS,
     .most_ms = HALF_AN_HOUR_MS},
    {.name = "endless"}};
static const struct slurm_limits limits = {.version = "22.05.8",
                                           .kill_wait_ms = 30000,
                                           .n_partitions = 3,
                                           .partitions = partitions};

static int64_t granted(const struct slurm_option *options, size_t n)
{
    const struct slurm_batch job = {.n_options = n, .options = options};
    return submission_granted_ms(&limits, &job);
}

static void an_element_has_the_time_of_its_job_or_partition(void)
{
    const struct slurm_option asked[] = {{"time", "10"}, {"time", "1:30:00"}};
    const struct slurm_option brief = {"partition", "short"};
    const struct slurm_option endless = {"partition", "endless"};
    const struct slurm_option other = {"partition", "main,short"};
    const struct slurm_option least[] = {{"time", "10"}, {"time-min", "5"}};
    CHECK(granted(NULL, 0) == TWO_HOURS_MS);
    CHECK(granted(asked, 1) == TEN_MINUTES_MS);
    CHECK(granted(asked, 2) == LONG_MS); /* the last one wins */
    CHECK(granted(&brief, 1) == FIVE_MINUTES_MS);
    CHECK(granted(&endless, 1) == 0);
    CHECK(granted(&other, 1) == 0);
    CHECK(granted(least, 2) == 0);
}

static struct study study_with(const struct slurm_need *need)
{
    static char hash[] = "hash";
    struct arena *arena = arena_new();
    const struct study study = {.plan = {.study = 7},
                                .hash = hash,
                                .text = strdup(slurm_need_write(arena, need))};
    arena_free(arena);
    return study;
}

static void a_batch_tells_its_elements_how_long_slurm_waits(void)
{
    char state[PATH_MAX];
    struct arena *arena = arena_new();
    const struct slurm_pool pool = {.count = 1};
    const struct slurm_need need = {.section = {.said = true, .time_ms = 90000},
                                    .n_pools = 1,
                                    .pools = &pool};
    struct study study = study_with(&need);
    runner_fixture_folder(state);
    const struct site site = {.state = state, .shim = "/shim"};
    const struct submission submission = {
        .site = &site, .limits = &limits, .prefix = "ht-x-", .n = 2};
    struct slurm_batch job;
    struct batch *batch = NULL;
    CHECK(submission_make(&submission, &study, arena, &job, &batch, NULL) ==
          HT_OK);
    const struct element_patience patience =
        element_patience_read(batch->folder);
    CHECK(patience.kill_wait_ms == 30000);
    CHECK(patience.limit_ms == TWO_MINUTES_MS); /* Slurm counts in minutes */
    batch_free(batch);
    free(study.text);
    arena_free(arena);
}

int main(void)
{
    json_init();
    runner_fixture_init();
    RUN(an_element_has_the_time_of_its_job_or_partition);
    RUN(a_batch_tells_its_elements_how_long_slurm_waits);
    runner_fixture_fini();
    return check_done();
}
