/* What the core keeps between transactions: entries by id, and what a rollback
 * takes back. */
#include "tuner/core/live.h"

#include <stdlib.h>

#include "proto/base/arena.h"
#include "tests/check.h"
#include "tuner/base/budget.h"

static void an_entry_is_made_once_and_stays(void)
{
    struct live *live = live_new();
    struct live_study *study = live_study(live, 7);
    CHECK(study->id == 7 && study->look_at_ms == LIVE_NEVER);
    CHECK(live_study(live, 7) == study);
    CHECK(live_find_trial(live, 7, 1) == NULL);
    struct live_trial *trial = live_trial(live, 7, 1);
    CHECK(live_find_trial(live, 7, 1) == trial && trial->study == 7);
    live_drop_trial(live, 7, 1);
    live_drop_trial(live, 7, 1); /* there is none any more */
    CHECK(live_find_trial(live, 7, 1) == NULL);
    live_free(live);
}

/* Some are in one bucket: ids that differ by their number, 1024. */
static void every_entry_is_walked_once(void)
{
    struct live *live = live_new();
    int64_t sum = 0, trials = 0;
    for (int64_t id = 1; id <= 3000; id++)
        live_study(live, id);
    for (int64_t id = 1; id <= 3000; id++)
        live_trial(live, 1, id);
    const struct live_study *study = NULL;
    while ((study = live_next_study(live, study)) != NULL)
        sum += study->id;
    const struct live_trial *trial = NULL;
    while ((trial = live_next_trial(live, trial)) != NULL)
        trials += trial->trial;
    CHECK(sum == INT64_C(3000) * 3001 / 2 && trials == sum);
    live_drop_study(live, 1025);
    CHECK(live_next_study(live, NULL) != NULL);
    live_free(live);
}

static void a_new_boot_of_a_runner_forgets_what_the_old_one_was_sent(void)
{
    struct live *live = live_new();
    struct live_runner *runner = live_runner(live, "r", "one");
    runner->answers[2] = (struct live_answer){.id = 3, .text = ht_xstrdup("a")};
    runner->sent_stops = ht_xcalloc(1, sizeof *runner->sent_stops);
    runner->n_sent_stops = 1;
    CHECK(live_runner(live, "r", "one") == runner);
    CHECK(runner->answers[2].id == 3 && runner->n_sent_stops == 1);
    CHECK(live_runner(live, "r", "two") == runner);
    CHECK(runner->answers[2].id == 0 && runner->n_sent_stops == 0);
    CHECK(live_find_runner(live, "other") == NULL);
    live_free(live);
}

static void a_runner_counts_while_it_is_online(void)
{
    struct live *live = live_new();
    live_runner(live, "a", "x")->slots = 8;
    CHECK(!live_has_runner(live));
    live_runner(live, "b", "x")->online = true;
    CHECK(live_has_runner(live));
    live_free(live);
}

static const char spec[] =
    "{\"displayName\":\"s\",\"maxTrialCount\":3,\"parallelTrialCount\":1,"
    "\"studySpec\":{\"metrics\":[{\"metricId\":\"a\",\"goal\":\"MAXIMIZE\"}],"
    "\"parameters\":[{\"parameterId\":\"x\",\"doubleValueSpec\":"
    "{\"minValue\":0,\"maxValue\":1}}]},\"trialJobSpec\":{\"workerPoolSpecs\":"
    "[{\"containerSpec\":{\"imageUri\":\"i\"}}]}}";

static void a_rollback_takes_back_jobs_and_its_own_answers(void)
{
    struct live *live = live_new();
    const struct study_row row = {.id = 1, .spec = spec};
    const struct job *job = NULL;
    struct live_runner *runner = live_runner(live, "r", "one");
    CHECK(live_job(live, &row, &job, NULL) == HT_OK);
    CHECK(job != NULL && job->max_trials == 3);
    runner->answers[0] = (struct live_answer){
        .seen = 5, .id = 5, .transaction = 9, .text = ht_xstrdup("a")};
    runner->answers[1] = (struct live_answer){
        .seen = 4, .id = 4, .transaction = 8, .text = ht_xstrdup("b")};
    live_forget_rows(live, 9);
    CHECK(live_study(live, 1)->job == NULL);
    CHECK(runner->answers[0].seen == 5 && runner->answers[0].id == 0);
    CHECK(runner->answers[1].id == 4);
    live_free(live);
}

static void a_spec_that_cannot_be_read_leaves_no_job(void)
{
    struct live *live = live_new();
    const struct study_row row = {.id = 1, .spec = "no JSON"};
    const struct job *job = NULL;
    CHECK(live_job(live, &row, &job, NULL) != HT_OK && job == NULL);
    live_free(live);
}

static void use(struct live *live, int64_t id)
{
    const struct study_row row = {.id = id, .spec = spec};
    const struct job *job;
    CHECK(live_job(live, &row, &job, NULL) == HT_OK);
}

/* Studies 1 to n with a job, and how many bytes each takes. */
static size_t use_all(struct live *live, int64_t n)
{
    for (int64_t id = 1; id <= n; id++)
        use(live, id);
    return live_study(live, 1)->bytes;
}

static void jobs_used_longest_ago_are_dropped(void)
{
    struct live *live = live_new();
    const size_t each = use_all(live, 2);
    const int64_t fit = (1 << 20) / (int64_t)each;
    CHECK(budget_set("study-memory=1048576", NULL) == HT_OK);
    use_all(live, fit + 2);
    live_use(live, live_study(live, 2));
    live_trim(live, true);
    CHECK(live_find_job(live, 1) == NULL && live_find_job(live, 3) == NULL);
    CHECK(live_find_job(live, 2) != NULL && live_find_job(live, 4) != NULL);
    live_drop_study(live, 4);
    use(live, 1);
    live_trim(live, true);
    CHECK(live_find_job(live, 5) != NULL);
    live_free(live);
}

static void found_points_are_dropped_only_when_that_is_allowed(void)
{
    struct live *live = live_new();
    struct live_study *study = live_study(live, 1000);
    study->stock =
        (struct live_suggestion){.arena = arena_new(), .searches_left = 3};
    live_use(live, study);
    use_all(live, (2 << 20) / (int64_t)use_all(live, 2) + 1);
    live_trim(live, false);
    CHECK(study->stock.arena != NULL && live_find_job(live, 1) == NULL);
    use(live, 1);
    live_trim(live, true);
    CHECK(study->stock.arena == NULL && study->stock.searches_left == 0);
    CHECK(study->bytes == 0 && live_find_job(live, 1) != NULL);
    live_free(live);
}

int main(void)
{
    RUN(an_entry_is_made_once_and_stays);
    RUN(every_entry_is_walked_once);
    RUN(a_new_boot_of_a_runner_forgets_what_the_old_one_was_sent);
    RUN(a_runner_counts_while_it_is_online);
    RUN(a_rollback_takes_back_jobs_and_its_own_answers);
    RUN(a_spec_that_cannot_be_read_leaves_no_job);
    RUN(jobs_used_longest_ago_are_dropped);
    RUN(found_points_are_dropped_only_when_that_is_allowed);
    return check_done();
}
