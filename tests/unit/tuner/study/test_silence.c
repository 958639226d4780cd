/* Trials that hang: how long they may be silent, what is not silence, and what
 * a stop for silence makes of a trial. */
#include "tuner/study/silence.h"

#include "tests/lib/core_fixture.h"
#include "tuner/base/life_board.h"

#define SPEC(more)                                                             \
    "spec: 1\nname: s\ngoal: maximize accuracy\n"                              \
    "parameters:\n  lr: {type: double, min: 0, max: 1}\n"                      \
    "algorithm: random\ntrials: 2\nparallel: 1\nretries: 1\n"                  \
    "command: [./train]\n" more

enum { NAPS = 5000 }; /* ten seconds and more */

static int64_t silence_of_s, late_by_ms; /* for the handler below */

/* The attempt 1 of trial 1 was last heard so long ago, and is due. */
static enum ht_status age(struct core *core, struct request *req,
                          struct ht_error *err)
{
    struct life_board *board = core_part(core, CORE_SILENCE);
    const int64_t now_ms = core_now_ms(core);
    (void)err;
    life_board_drop(board, 1, 1);
    life_board_set(board,
                   &(struct life){.study = 1,
                                  .trial = 1,
                                  .attempt = 1,
                                  .heard_ms = now_ms - 1000 * silence_of_s,
                                  .due_ms = now_ms - late_by_ms});
    text_puts(&req->reply, "{}");
    return HT_OK;
}

static enum ht_status looked(struct core *core, struct request *req,
                             struct ht_error *err)
{
    struct life_board *board = core_part(core, CORE_SILENCE);
    (void)err;
    text_puts(&req->reply, life_board_deadline(board) > core_now_ms(core)
                               ? "{\"y\":true}"
                               : "{}");
    return HT_OK;
}

static struct attempt_row attempt_of(struct fixture *f)
{
    struct db *db = fixture_db(f);
    const struct trial_name name = {1, 1, 1};
    struct attempt_row row = {0};
    CHECK(db_attempt_get(db, f->arena, &name, &row, NULL) == HT_OK);
    db_close(db);
    return row;
}

static bool has_looked(struct fixture *f)
{
    return node_get_bool(fixture_reply(fixture_call(f, looked, NULL, NULL)),
                         "y", false);
}

/* Whether it is silent after the next look of the core. */
static bool is_silent_after(struct fixture *f, int64_t seconds)
{
    silence_of_s = seconds;
    CHECK(fixture_call(f, age, NULL, NULL)->status == HT_OK);
    for (int i = 0; i < NAPS && !has_looked(f); i++)
        fixture_nap();
    CHECK(has_looked(f));
    return attempt_of(f).silent_ms > 0;
}

static struct leased begin(struct fixture *f, const char *spec)
{
    late_by_ms = 0;
    CHECK(fixture_submit(f, spec)->status == HT_OK);
    fixture_hello(f, 1);
    return fixture_begin(f);
}

/* Reports at these seconds, each at its own step but where it is negative. */
static void report_at(struct fixture *f, const struct leased *leased, size_t n,
                      const int64_t seconds[])
{
    int64_t step = 0;
    for (size_t i = 0; i < n; i++) {
        const int64_t at = seconds[i] < 0 ? -seconds[i] : seconds[i];
        step += seconds[i] >= 0;
        const char *record = arena_printf(
            f->arena,
            "{\"w\":\"0000000000000001\",\"n\":%zu,\"t\":%lld,\"s\":%lld,"
            "\"m\":{\"accuracy\":0.5},\"c\":\"\"}",
            i + 1, (long long)(1000 * (100 + at)), (long long)step);
        CHECK(fixture_report(f, leased->token, record)->status == HT_OK);
    }
}

static void five_times_the_median_is_silence(struct fixture *f)
{
    const struct leased leased = begin(f, SPEC(""));
    report_at(f, &leased, 3, (int64_t[]){0, 20, 40});
    CHECK(!is_silent_after(f, 36000));
    report_at(f, &leased, 4, (int64_t[]){0, 20, 40, 60});
    CHECK(!is_silent_after(f, 99));
    CHECK(is_silent_after(f, 101));
    const struct attempt_row row = attempt_of(f);
    CHECK(row.usual_ms == 20000 && !row.hung);
    CHECK_TEXT(silence_words(f->arena, &row, row.silent_ms + 120000),
               "silent for 2m, usually reports every 20s");
    CHECK(fixture_trial(f, 1, 1).state == TRIAL_ACTIVE);
}

static void short_intervals_are_a_minute(struct fixture *f)
{
    const struct leased leased = begin(f, SPEC(""));
    report_at(f, &leased, 4, (int64_t[]){0, 1, 2, 3});
    CHECK(!is_silent_after(f, 59) && is_silent_after(f, 61));
}

static void a_pause_that_it_survived_is_no_silence(struct fixture *f)
{
    const struct leased leased = begin(f, SPEC(""));
    report_at(f, &leased, 5, (int64_t[]){0, 10, 110, 120, 130});
    CHECK(!is_silent_after(f, 199) && is_silent_after(f, 201));
}

static void records_of_one_step_are_one_report(struct fixture *f)
{
    const struct leased leased = begin(f, SPEC(""));
    report_at(f, &leased, 6, (int64_t[]){0, -1, 100, -101, 200, -201});
    CHECK(!is_silent_after(f, 36000));
}

static void the_spec_may_say_how_long(struct fixture *f)
{
    begin(f, SPEC("silence: 30s\n"));
    CHECK(!is_silent_after(f, 29) && is_silent_after(f, 31));
    const struct attempt_row row = attempt_of(f);
    CHECK_TEXT(silence_words(f->arena, &row, row.silent_ms + 31000),
               "silent for 31s");
}

static void it_ends_with_the_next_report(struct fixture *f)
{
    const struct leased leased = begin(f, SPEC("silence: 30s\n"));
    CHECK(is_silent_after(f, 31));
    report_at(f, &leased, 1, (int64_t[]){0});
    for (int i = 0; i < NAPS && attempt_of(f).silent_ms > 0; i++)
        fixture_nap();
    CHECK(attempt_of(f).silent_ms == -1);
}

static void nothing_is_expected_of_a_paused_study(struct fixture *f)
{
    begin(f, SPEC("silence: 30s\n"));
    CHECK(fixture_call(f, study_pause, "s", NULL)->status == HT_OK);
    CHECK(!is_silent_after(f, 31));
}

static void nothing_is_expected_of_a_stopping_trial(struct fixture *f)
{
    begin(f, SPEC("silence: 30s\n"));
    CHECK(fixture_call_trial(f, trial_stop, "s", "1", NULL)->status == HT_OK);
    CHECK(!is_silent_after(f, 31));
}

/* The server was held up, and with it what was reported. */
static void a_late_look_waits_for_what_is_on_its_way(struct fixture *f)
{
    begin(f, SPEC("silence: 30s\n"));
    late_by_ms = 6000;
    CHECK(!is_silent_after(f, 31));
}

static struct leased hang(struct fixture *f)
{
    const struct leased leased =
        begin(f, SPEC("silence: 30s\nonSilence: stop\n"));
    CHECK(is_silent_after(f, 31) && attempt_of(f).hung);
    return leased;
}

static void a_stop_for_silence_is_a_failure(struct fixture *f)
{
    const struct leased leased = hang(f);
    const struct node *stop = node_find(
        fixture_reply(fixture_control(f, "heartbeat", "\"attempts\":[]")),
        "stop");
    CHECK(stop != NULL && stop->count == 1);
    CHECK_TEXT(node_get_string(stop->first, "reason", ""), "silent for 31s");
    fixture_end(f, &leased, "\"outcome\":\"stopped\",\"signal\":15");
    CHECK(attempt_of(f).outcome == OUTCOME_FAILED);
    CHECK_TEXT(attempt_of(f).reason, "silent for 31s");
    const struct trial_row trial = fixture_trial(f, 1, 1);
    CHECK(trial.state == TRIAL_REQUESTED && trial.failures == 1);
    CHECK(strstr(trial.reason, "silent for 31s; retry 1 of 1") != NULL);
}

static void a_person_who_stops_it_has_precedence(struct fixture *f)
{
    const struct leased leased = hang(f);
    report_at(f, &leased, 1, (int64_t[]){0});
    CHECK(fixture_call_trial(f, trial_stop, "s", "1", NULL)->status == HT_OK);
    fixture_end(f, &leased, "\"outcome\":\"stopped\",\"signal\":15");
    CHECK(attempt_of(f).outcome == OUTCOME_STOPPED);
    CHECK(fixture_trial(f, 1, 1).state == TRIAL_STOPPED);
}

static void one_that_ends_well_meanwhile_has_succeeded(struct fixture *f)
{
    const struct leased leased = hang(f);
    report_at(f, &leased, 1, (int64_t[]){0});
    fixture_end(f, &leased, "\"outcome\":\"succeeded\",\"exit\":0");
    CHECK(fixture_trial(f, 1, 1).state == TRIAL_SUCCEEDED);
}

int main(void)
{
    RUN_ON_CORE(five_times_the_median_is_silence);
    RUN_ON_CORE(short_intervals_are_a_minute);
    RUN_ON_CORE(a_pause_that_it_survived_is_no_silence);
    RUN_ON_CORE(records_of_one_step_are_one_report);
    RUN_ON_CORE(the_spec_may_say_how_long);
    RUN_ON_CORE(it_ends_with_the_next_report);
    RUN_ON_CORE(nothing_is_expected_of_a_paused_study);
    RUN_ON_CORE(nothing_is_expected_of_a_stopping_trial);
    RUN_ON_CORE(a_late_look_waits_for_what_is_on_its_way);
    RUN_ON_CORE(a_stop_for_silence_is_a_failure);
    RUN_ON_CORE(a_person_who_stops_it_has_precedence);
    RUN_ON_CORE(one_that_ends_well_meanwhile_has_succeeded);
    return check_done();
}
