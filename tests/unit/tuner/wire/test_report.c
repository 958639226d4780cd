/* Records: stored once, counted right, whatever order they come in. */
#include <stdlib.h>

#include "tests/lib/core_fixture.h"
#include "tuner/base/budget.h"

static const char spec[] = "spec: 1\nname: s\ngoal: maximize accuracy\n"
                           "parameters:\n  lr: {type: double, min: 0, max: 1}\n"
                           "algorithm: random\ntrials: 9\nparallel: 1\n"
                           "command: [./train]\n";

static struct leased begin(struct fixture *fixture)
{
    fixture_open(fixture);
    fixture_submit(fixture, spec);
    fixture_hello(fixture, 1);
    return fixture_begin(fixture);
}

static struct measurement_list stored(struct fixture *fixture)
{
    struct measurement_list list = {0};
    struct db *db = fixture_db(fixture);
    CHECK(db_measurement_list(db, fixture->arena, 1, 1, 100000, &list, NULL) ==
          HT_OK);
    CHECK(db_measurement_check(db, NULL) == HT_OK);
    db_close(db);
    return list;
}

static int64_t have(struct request *req, const char *writer)
{
    return node_get_int(node_find(fixture_reply(req), "have"), writer, -1);
}

static void a_repeat_changes_nothing(void)
{
    struct fixture f;
    const struct leased leased = begin(&f);
    struct request *first =
        fixture_report(&f, leased.token, fixture_record(&f, 1, 1, "0.5"));
    struct request *again =
        fixture_report(&f, leased.token, fixture_record(&f, 1, 7, "0.9"));
    CHECK(again->status == HT_OK);
    CHECK_TEXT(again->reply.data, first->reply.data);
    const struct measurement_list list = stored(&f);
    CHECK(list.n == 1 && list.rows[0].step == 1);
    CHECK_TEXT(list.rows[0].metrics, "{\"accuracy\":0.5}");
    CHECK(fixture_latest(&f, 1, 1).step == 1);
    fixture_close(&f);
}

static void have_is_the_end_of_the_unbroken_run(void)
{
    struct fixture f;
    const struct leased leased = begin(&f);
    static const int64_t order[] = {2, 3, 5, 1, 4};
    static const int64_t after[] = {0, 0, 0, 3, 5};
    for (int i = 0; i < 5; i++) {
        struct request *req = fixture_report(
            &f, leased.token, fixture_record(&f, order[i], order[i], "0.5"));
        CHECK(have(req, "0000000000000001") == after[i]);
    }
    fixture_close(&f);
}

static void foreign_records_have_no_run(void)
{
    struct fixture f;
    const struct leased leased = begin(&f);
    struct request *req = fixture_report(
        &f, leased.token,
        "{\"w\":\"0000000000000000\",\"n\":4611686018427387904,\"t\":1,"
        "\"m\":{\"accuracy\":0.5}},"
        "{\"w\":\"ffffffffffffffff\",\"n\":1,\"t\":2,"
        "\"m\":{\"accuracy\":0.6}}");
    CHECK(have(req, "0000000000000000") == -1);
    CHECK(have(req, "ffffffffffffffff") == 1);
    const struct measurement_list list = stored(&f);
    CHECK(list.n == 2);
    CHECK(list.rows[0].step == 1 && list.rows[1].step == 2);
    CHECK(list.rows[1].writer == UINT64_MAX);
    fixture_close(&f);
}

static void one_wrong_record_stores_none(void)
{
    struct fixture f;
    const struct leased leased = begin(&f);
    struct request *req =
        fixture_report(&f, leased.token,
                       arena_printf(f.arena, "%s,{\"w\":\"1\"}",
                                    fixture_record(&f, 1, 1, "0.5")));
    CHECK(req->status == HT_INVALID);
    CHECK(stored(&f).n == 0);
    CHECK(fixture_latest(&f, 1, 1).metrics == NULL);
    fixture_close(&f);
}

static void bad_replicas_and_tokens_are_refused(void)
{
    struct fixture f;
    const struct leased leased = begin(&f);
    CHECK(fixture_tell(&f, "report", &leased.name,
                       "\"replica\":\"../x\",\"records\":[]")
              ->status == HT_INVALID);
    CHECK(fixture_report(&f, "short", "")->status == HT_DENIED);
    CHECK(fixture_report(&f, "00000000000000000000000000000000", "")->status ==
          HT_NOT_FOUND);
    fixture_close(&f);
}

static void should_stop_answers_the_trial(void)
{
    struct fixture f;
    const struct leased leased = begin(&f);
    const char *message = arena_printf(
        f.arena, "{\"v\":1,\"type\":\"should-stop\",\"token\":\"%s\",\"id\":9}",
        leased.token);
    struct request *req = fixture_call(&f, report_handle, NULL, message);
    CHECK_TEXT(req->reply.data,
               "{\"v\":1,\"id\":9,\"status\":\"ok\",\"stop\":false,"
               "\"reason\":\"\"}");
    CHECK(fixture_call(&f, study_stop, "s", NULL)->status == HT_OK);
    req = fixture_call(&f, report_handle, NULL, message);
    CHECK_TEXT(req->reply.data, "{\"v\":1,\"id\":9,\"status\":\"ok\","
                                "\"stop\":true,\"reason\":\"stopped by "
                                "user\"}");
    fixture_close(&f);
}

static size_t count_kind(struct fixture *f, const char *kind)
{
    struct db *db = fixture_db(f);
    struct event_list events = {0};
    size_t n = 0;
    CHECK(db_event_list(db, f->arena, 1, 0, 10000, &events, NULL) == HT_OK);
    for (size_t i = 0; i < events.n; i++)
        n += strcmp(events.rows[i].kind, kind) == 0;
    db_close(db);
    return n;
}

static void many_records_make_one_event_a_second(void)
{
    struct fixture f;
    const struct leased leased = begin(&f);
    for (int i = 1; i <= 20; i++)
        fixture_report(&f, leased.token, fixture_record(&f, i, i, "0.5"));
    const int64_t end_ms = clock_monotonic_ms() + PATIENCE_MS;
    CHECK(count_kind(&f, "trial.measured") == 1);
    while (count_kind(&f, "trial.measured") < 2 &&
           clock_monotonic_ms() < end_ms)
        fixture_nap();
    struct db *db = fixture_db(&f);
    struct event_list events = {0};
    CHECK(db_event_list(db, f.arena, 1, 0, 10000, &events, NULL) == HT_OK);
    CHECK_TEXT(events.rows[events.n - 1].data,
               "{\"step\":20,\"metrics\":{\"accuracy\":0.5}}");
    db_close(db);
    fixture_close(&f);
}

/* --- beyond a budget --- */

static struct leased begin_with(struct fixture *fixture, const char *spec_of,
                                const char *budgets)
{
    CHECK(budget_set(budgets, NULL) == HT_OK);
    fixture_open(fixture);
    fixture_submit(fixture, spec_of);
    fixture_hello(fixture, 1);
    return fixture_begin(fixture);
}

static void end_with(struct fixture *fixture)
{
    fixture_close(fixture);
    CHECK(budget_set("replica-records=100000,replica-rate=100,"
                     "replica-bytes=16777216",
                     NULL) == HT_OK);
}

/* Reports numbers `from` to `to`, each one's step and value the number. */
static struct request *
report_numbers(struct fixture *f, const struct leased *leased, int from, int to)
{
    struct text records = {0};
    for (int i = from; i <= to; i++)
        text_printf(&records, "%s%s", i == from ? "" : ",",
                    fixture_record(f, i, i, arena_printf(f->arena, "%d", i)));
    struct request *req = fixture_report(f, leased->token, records.data);
    text_free(&records);
    return req;
}

/* Which numbers are stored of 1 to 40 when 10 are the budget; the writer is 1.
 */
static bool is_kept(int64_t seq)
{
    return seq <= 10 || (seq <= 20 && (seq + 1) % 2 == 0) || (seq + 1) % 4 == 0;
}

static void expect_kept(struct fixture *f)
{
    const struct measurement_list list = stored(f);
    size_t n = 0;
    for (int seq = 1; seq <= 40; seq++)
        n += is_kept(seq);
    CHECK(list.n == n);
    for (size_t i = 0; i < list.n; i++)
        CHECK(is_kept(list.rows[i].seq));
}

static void records_beyond_the_budget_are_thinned_by_their_number(void)
{
    struct fixture f;
    const struct leased leased = begin_with(&f, spec, "replica-records=10");
    for (int i = 1; i <= 40; i += 8)
        report_numbers(&f, &leased, i, i + 7);
    expect_kept(&f);
    struct request *req = report_numbers(&f, &leased, 1, 40);
    CHECK(have(req, "0000000000000001") == 40);
    CHECK(node_get_int(fixture_reply(req), "thin", 0) == 1);
    expect_kept(&f);
    CHECK(count_kind(&f, "trial.warned") == 1);
    end_with(&f);
}

static void a_rate_and_bytes_are_budgets_too(void)
{
    static const char *const budgets[] = {"replica-rate=1",
                                          "replica-bytes=8192"};
    for (int i = 0; i < 2; i++) {
        struct fixture f;
        const struct leased leased = begin_with(&f, spec, budgets[i]);
        report_numbers(&f, &leased, 1, 60);
        CHECK(stored(&f).n == 60);
        report_numbers(&f, &leased, 61, 400);
        const size_t n = stored(&f).n;
        CHECK(n > 90 && n < 260);
        CHECK(count_kind(&f, "trial.warned") == 1);
        end_with(&f);
    }
}

static void the_last_value_counts_though_it_was_dropped(void)
{
    struct fixture f;
    const struct leased leased = begin_with(&f, spec, "replica-records=10");
    report_numbers(&f, &leased, 1, 40);
    CHECK(!is_kept(40) && fixture_latest(&f, 1, 1).step < 40);
    fixture_end(&f, &leased, "\"outcome\":\"succeeded\"");
    CHECK(fixture_trial(&f, 1, 1).objective == 40);
    CHECK(fixture_trial(&f, 1, 1).final_step == 40);
    CHECK(fixture_latest(&f, 1, 1).step == 40);
    CHECK(stored(&f).n > 0); /* and all that is named is there */
    end_with(&f);
}

/* The best step's other goal is dropped as well, before it or after it. */
static void the_best_step_counts_though_it_was_dropped(void)
{
    static const char two[] =
        "spec: 1\nname: s\ngoal: [maximize accuracy, minimize loss]\n"
        "parameters:\n  lr: {type: double, min: 0, max: 1}\n"
        "algorithm: random\ntrials: 9\nparallel: 1\n"
        "selection: best\ncommand: [./train]\n";
    for (int first = 0; first < 2; first++) {
        struct fixture f;
        const struct leased leased = begin_with(&f, two, "replica-records=4");
        for (int i = 1; i <= 64; i++) {
            const bool accuracy = i % 2 == first;
            const int step = (i + 1) / 2;
            const int value = accuracy ? (step == 29 ? 99 : step % 7) : step;
            fixture_report(
                &f, leased.token,
                arena_printf(f.arena,
                             "{\"w\":\"0000000000000001\",\"n\":%d,\"t\":%d,"
                             "\"s\":%d,\"m\":{\"%s\":%d}}",
                             i, i, step, accuracy ? "accuracy" : "loss",
                             value));
        }
        fixture_end(&f, &leased, "\"outcome\":\"succeeded\"");
        const struct trial_row trial = fixture_trial(&f, 1, 1);
        CHECK(trial.objective == 99 && trial.final_step == 29);
        CHECK_TEXT(trial.final_metrics, "{\"accuracy\":99,\"loss\":29}");
        end_with(&f);
    }
}

int main(void)
{
    RUN(a_repeat_changes_nothing);
    RUN(have_is_the_end_of_the_unbroken_run);
    RUN(foreign_records_have_no_run);
    RUN(one_wrong_record_stores_none);
    RUN(bad_replicas_and_tokens_are_refused);
    RUN(should_stop_answers_the_trial);
    RUN(many_records_make_one_event_a_second);
    RUN(records_beyond_the_budget_are_thinned_by_their_number);
    RUN(a_rate_and_bytes_are_budgets_too);
    RUN(the_last_value_counts_though_it_was_dropped);
    RUN(the_best_step_counts_though_it_was_dropped);
    return check_done();
}
