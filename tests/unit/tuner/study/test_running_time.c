/* How long a study has run, on the core thread with marks as the test sets
 * them. */
#include "tuner/study/running_time.h"

#include "tests/lib/core_fixture.h"
#include "tuner/core/live.h"

static const char spec[] =
    "spec: 1\nname: s\ngoal: maximize accuracy\n"
    "parameters:\n  lr: {type: double, min: 0, max: 1}\n"
    "algorithm: random\ntrials: 2\nparallel: 1\ncommand: [./train]\n";

static bool does(struct fixture *f, request_handler *handle)
{
    return fixture_call(f, handle, NULL, NULL)->status == HT_OK;
}

/* Study 1 has run for 2 s up to a mark 5 s ago. */
static struct live_study *mark(struct core *core)
{
    struct live_study *live = live_study(core_live(core), 1);
    live->clock_mark_ms = core_now_ms(core) - 5000;
    live->clock_used_ms = 2000;
    return live;
}

static enum ht_status used(struct core *core, struct request *req,
                           struct ht_error *err)
{
    const struct study_row row = {.id = 1, .used_ms = 1500};
    struct live_study *live = mark(core);
    (void)err;
    CHECK(running_time_used_ms(core, &row) == 7000);
    live->clock_mark_ms = 0; /* it does not run */
    CHECK(running_time_used_ms(core, &row) == 1500);
    text_puts(&req->reply, "{}");
    return HT_OK;
}

static void time_counts_from_the_mark(struct fixture *f)
{
    CHECK(does(f, used));
}

static enum ht_status stop_clock(struct core *core, struct request *req,
                                 struct ht_error *err)
{
    const struct study_row row = {.id = 1, .state = STUDY_PAUSED};
    mark(core);
    text_puts(&req->reply, "{}");
    return running_time_count(core, &row, err);
}

static enum ht_status check_stopped(struct core *core, struct request *req,
                                    struct ht_error *err)
{
    (void)err;
    CHECK(live_study(core_live(core), 1)->clock_mark_ms == 0);
    text_puts(&req->reply, "{}");
    return HT_OK;
}

static void a_pause_stops_the_clock_and_writes_it(struct fixture *f)
{
    fixture_submit(f, spec);
    CHECK(fixture_call(f, study_pause, "s", NULL)->status == HT_OK);
    CHECK(does(f, stop_clock));
    CHECK(fixture_study(f, 1).used_ms == 7000);
    CHECK(does(f, check_stopped));
}

/* Two trials without a gain, then one with it. */
static enum ht_status note_ends(struct core *core, struct request *req,
                                struct ht_error *err)
{
    struct study_row row = {0};
    enum ht_status status = HT_OK;
    mark(core);
    text_puts(&req->reply, "{}");
    for (int i = 0; i < 3 && status == HT_OK; i++) {
        CHECK(row.stale_trials == i);
        status = running_time_note(
            core, &(struct study_row){.id = 1, .stale_trials = i}, i == 2, err);
        db_study_get(core_db(core), req->arena, 1, &row, NULL);
    }
    CHECK(row.stale_trials == 0 && row.gain_ms == 7000);
    row.stale_trials = 4;
    row.gain_ms = 1;
    status = running_time_restart(core, &row, err);
    CHECK(row.stale_trials == 0 && row.gain_ms == 7000);
    return status;
}

static void trials_without_a_gain_are_counted(struct fixture *f)
{
    fixture_submit(f, spec);
    CHECK(does(f, note_ends));
}

int main(void)
{
    RUN_ON_CORE(time_counts_from_the_mark);
    RUN_ON_CORE(a_pause_stops_the_clock_and_writes_it);
    RUN_ON_CORE(trials_without_a_gain_are_counted);
    return check_done();
}
