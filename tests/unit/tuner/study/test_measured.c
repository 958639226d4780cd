/* The event trial.measured: at most one a second for each trial. */
#include "tuner/study/measured.h"

#include "tests/lib/core_fixture.h"
#include "tuner/core/live.h"

enum { FAR_MS = 1000000 }; /* no tick of the core comes so soon */

static const char spec[] =
    "spec: 1\nname: s\ngoal: maximize accuracy\n"
    "parameters:\n  lr: {type: double, min: 0, max: 1}\n"
    "algorithm: random\ntrials: 2\nparallel: 1\ncommand: [./train]\n";

static int64_t count_events(struct fixture *f, const char *actor)
{
    struct db *db = fixture_db(f);
    struct event_list list = {0};
    int64_t n = 0;
    CHECK(db_event_list(db, f->arena, 1, 0, 1000, &list, NULL) == HT_OK);
    for (size_t i = 0; i < list.n; i++)
        n += strcmp(list.rows[i].kind, "trial.measured") == 0 &&
             strcmp(list.rows[i].actor, actor) == 0;
    db_close(db);
    return n;
}

/* The last event is of a moment to come: a new one has to wait. */
static enum ht_status note_later(struct core *core, struct request *req,
                                 struct ht_error *err)
{
    struct trial_row trial = {0};
    const enum ht_status status =
        db_trial_get(core_db(core), req->arena, 1, 1, &trial, err);
    if (status != HT_OK)
        return status;
    live_trial(core_live(core), 1, 1)->measured_at_ms =
        core_now_ms(core) + FAR_MS;
    core_act_for(core, "writer");
    text_puts(&req->reply, "{}");
    return measured_note(core, &trial, err);
}

static enum ht_status look(struct core *core, struct request *req,
                           struct ht_error *err)
{
    const struct live_trial *live = live_trial(core_live(core), 1, 1);
    (void)err;
    CHECK(live->measured_due);
    CHECK(measured_deadline(core) == live->measured_at_ms + 1000);
    text_puts(&req->reply, "{}");
    return HT_OK;
}

static enum ht_status tick_after_a_second(struct core *core,
                                          struct request *req,
                                          struct ht_error *err)
{
    live_trial(core_live(core), 1, 1)->measured_at_ms =
        core_now_ms(core) - 1000;
    text_puts(&req->reply, "{}");
    return measured_tick(core, err);
}

static enum ht_status look_again(struct core *core, struct request *req,
                                 struct ht_error *err)
{
    (void)err;
    CHECK(!live_trial(core_live(core), 1, 1)->measured_due);
    CHECK(measured_deadline(core) == LIVE_NEVER);
    text_puts(&req->reply, "{}");
    return HT_OK;
}

static bool does(struct fixture *f, request_handler *handle)
{
    return fixture_call(f, handle, NULL, NULL)->status == HT_OK;
}

static void
values_within_a_second_make_an_event_later_by_their_actor(struct fixture *f)
{
    fixture_submit(f, spec);
    fixture_hello(f, 1);
    const struct leased leased = fixture_begin(f);
    fixture_report(f, leased.token, fixture_record(f, 1, 1, "0.5"));
    CHECK(count_events(f, "trial") == 1);
    CHECK(does(f, note_later) && does(f, look));
    CHECK(count_events(f, "writer") == 0);
    CHECK(does(f, tick_after_a_second) && does(f, look_again));
    CHECK(count_events(f, "writer") == 1);
}

static enum ht_status due_of_nothing(struct core *core, struct request *req,
                                     struct ht_error *err)
{
    struct live_trial *live = live_trial(core_live(core), 1, 99);
    live->measured_due = true;
    live->measured_at_ms = core_now_ms(core) - 1000;
    text_puts(&req->reply, "{}");
    const enum ht_status status = measured_tick(core, err);
    CHECK(!live->measured_due);
    return status;
}

static void a_trial_that_was_deleted_makes_no_event(struct fixture *f)
{
    fixture_submit(f, spec);
    CHECK(does(f, due_of_nothing));
}

int main(void)
{
    RUN_ON_CORE(values_within_a_second_make_an_event_later_by_their_actor);
    RUN_ON_CORE(a_trial_that_was_deleted_makes_no_event);
    return check_done();
}
