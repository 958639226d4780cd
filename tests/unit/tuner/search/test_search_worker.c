/* The worker that finds points: its answers as the core gets them. */
#include "tuner/search/search_worker.h"

#include <stdatomic.h>

#include "tests/lib/core_fixture.h"
#include "tuner/core/live.h"
#include "tuner/search/study.h"

static const char spec[] =
    "spec: 1\nname: s\ngoal: maximize accuracy\n"
    "parameters:\n  lr: {type: double, min: 0, max: 1}\nseed: 7\n"
    "algorithm: random\ntrials: 2\nparallel: 1\ncommand: [./train]\n";

static struct answered {
    bool failed;
    size_t n;
    int64_t study;
    char first[64], context[64];
} answered;
static atomic_bool has_answered;

static enum ht_status store(struct core *core, const void *answer,
                            struct ht_error *err)
{
    const struct suggestions *found = answer;
    (void)core, (void)err;
    answered = (struct answered){
        .failed = found->failed, .n = found->n, .study = found->study};
    if (found->n > 0)
        snprintf(answered.first, sizeof answered.first, "%s",
                 found->items[0].params);
    if (found->context != NULL)
        snprintf(answered.context, sizeof answered.context, "%s",
                 found->context);
    atomic_store(&has_answered, true);
    return HT_OK;
}

static void give_up(struct core *core, const void *answer)
{
    (void)core, (void)answer;
}

static void ask(struct worker *worker, const struct worker_question *question)
{
    const int64_t end_ms = clock_monotonic_ms() + PATIENCE_MS;
    atomic_store(&has_answered, false);
    worker_ask(worker, question);
    while (!atomic_load(&has_answered) && clock_monotonic_ms() < end_ms)
        fixture_nap();
    CHECK(atomic_load(&has_answered));
}

static void points_come_with_the_study_and_context(struct fixture *f)
{
    static const struct worker_receiver receiver = {store, give_up};
    struct worker *worker = NULL;
    fixture_submit(f, spec);
    CHECK(fixture_await_trials(f, 1, TRIAL_REQUESTED, 1));
    CHECK(worker_start(&search_role, &receiver, f->core, core_path(f->core),
                       &worker, NULL) == HT_OK);
    ask(worker, &(struct worker_question){.study = 1, .first = 1, .n = 2});
    CHECK(!answered.failed && answered.n == 2 && answered.study == 1);
    const struct answered before = answered;
    ask(worker, &(struct worker_question){.study = 1, .first = 1, .n = 1});
    CHECK(answered.n == 1);
    CHECK_TEXT(answered.first, before.first); /* the same ordinal */
    static const char context[] = "{\"parameters\":{\"lr\":0.5}}";
    ask(worker, &(struct worker_question){
                    .study = 1, .first = 1, .n = 1, .context = context});
    CHECK_TEXT(answered.context, context);
    CHECK_TEXT(answered.first, "{\"lr\":0.5}");
    ask(worker, &(struct worker_question){.study = 77, .n = 1});
    CHECK(answered.failed && answered.study == 77);
    worker_stop(worker);
}

int main(void)
{
    RUN_ON_CORE(points_come_with_the_study_and_context);
    return check_done();
}
