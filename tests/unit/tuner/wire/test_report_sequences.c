/* Random sequences of reports against a model: in any order, repeated and late
 * ones end in the same rows, and after a trial's end they change nothing.
 *
 * HYPERTUNE_SEQUENCES: how many, by default 12, each of one trial.
 * HYPERTUNE_SEED: what they are drawn from. */
#include <stdlib.h>

#include "tests/lib/core_fixture.h"
#include "tests/lib/draw.h"

enum {
    WRITERS = 3,
    SEQS = 40,
    MOST_MESSAGES = 60,
    LATE = 3,
    RESTART_EVERY = 5
};

static const char spec[] = "spec: 1\nname: s\ngoal: maximize accuracy\n"
                           "parameters:\n  lr: {type: double, min: 0, max: 1}\n"
                           "algorithm: random\ntrials: 100000\nparallel: 1\n"
                           "command: [./train]\n";

/* What one trial has reported: the first record of a number counts. */
struct model {
    bool has[WRITERS][SEQS + 1];
    int64_t step[WRITERS][SEQS + 1];
    int value[WRITERS][SEQS + 1];
};

static int64_t model_have(const struct model *model, int writer)
{
    int64_t seq = 0;
    while (seq < SEQS && model->has[writer][seq + 1])
        seq++;
    return seq;
}

/* The objective that LAST selects: by step, then time, which the writer and
 * the number make unique. -1: none */
static int model_last(const struct model *model)
{
    int64_t best_step = -1, best_time = -1;
    int value = -1;
    for (int writer = 0; writer < WRITERS; writer++)
        for (int64_t seq = 1; seq <= SEQS; seq++) {
            const int64_t step = model->step[writer][seq];
            const int64_t time = writer * 1000 + seq;
            if (!model->has[writer][seq] || step < best_step ||
                (step == best_step && time < best_time))
                continue;
            best_step = step;
            best_time = time;
            value = model->value[writer][seq];
        }
    return value;
}

/* Appends up to five records; the model learns them when `counts`. */
static void draw_records(struct draw *draw, struct model *model, bool counts,
                         bool named[WRITERS], struct text *out)
{
    const int n = 1 + (int)draw_below(draw, 5);
    for (int i = 0; i < n; i++) {
        const int writer = (int)draw_below(draw, WRITERS);
        const int64_t seq = 1 + (int64_t)draw_below(draw, SEQS);
        const int64_t step = (int64_t)draw_below(draw, 50);
        const int value = (int)draw_below(draw, 1000);
        text_printf(out,
                    "%s{\"w\":\"000000000000000%d\",\"n\":%lld,\"t\":%lld,"
                    "\"s\":%lld,\"m\":{\"accuracy\":%d}}",
                    i == 0 ? "" : ",", writer + 1, (long long)seq,
                    (long long)(writer * 1000 + seq), (long long)step, value);
        named[writer] = true;
        if (!counts || model->has[writer][seq])
            continue;
        model->has[writer][seq] = true;
        model->step[writer][seq] = step;
        model->value[writer][seq] = value;
    }
}

static void send_random(struct fixture *fixture, const struct leased *leased,
                        struct draw *draw, struct model *model)
{
    struct text records = {0};
    bool named[WRITERS] = {false};
    draw_records(draw, model, true, named, &records);
    struct request *req = fixture_report(fixture, leased->token, records.data);
    text_free(&records);
    CHECK(req->status == HT_OK);
    for (int writer = 0; writer < WRITERS; writer++) {
        char key[17];
        snprintf(key, sizeof key, "%016d", writer + 1);
        CHECK(node_get_int(node_find(fixture_reply(req), "have"), key, -1) ==
              (named[writer] ? model_have(model, writer) : -1));
    }
}

/* From the trial, whose token has ended, and from its runner. */
static void send_late(struct fixture *fixture, const struct leased *leased,
                      struct draw *draw)
{
    struct text records = {0};
    bool named[WRITERS];
    draw_records(draw, NULL, false, named, &records);
    CHECK(fixture_report(fixture, leased->token, records.data)->status ==
          HT_NOT_FOUND);
    CHECK(fixture_tell(fixture, "report", &leased->name,
                       arena_printf(fixture->arena,
                                    "\"replica\":\"master-0\",\"records\":[%s]",
                                    records.data))
              ->status == HT_NOT_FOUND);
    text_free(&records);
}

static void check_rows(struct fixture *fixture, int64_t trial,
                       const struct model *model)
{
    struct measurement_list list = {0};
    struct db *db = fixture_db(fixture);
    size_t expected = 0;
    CHECK(db_measurement_list(db, fixture->arena, 1, trial, 100000, &list,
                              NULL) == HT_OK);
    CHECK(db_measurement_check(db, NULL) == HT_OK);
    db_close(db);
    for (int writer = 0; writer < WRITERS; writer++)
        for (int seq = 1; seq <= SEQS; seq++)
            expected += model->has[writer][seq];
    CHECK(list.n == expected);
    for (size_t i = 0; i < list.n; i++) {
        const struct measurement_row *row = &list.rows[i];
        CHECK(row->step == model->step[row->writer - 1][row->seq]);
        CHECK(strtol(strchr(row->metrics, ':') + 1, NULL, 10) ==
              model->value[row->writer - 1][row->seq]);
    }
}

static void play(struct fixture *f, struct draw *draw)
{
    struct model model = {0};
    const struct leased leased = fixture_begin(f);
    const int64_t trial = leased.name.trial;
    const int messages = 1 + (int)draw_below(draw, MOST_MESSAGES);
    for (int i = 0; i < messages; i++)
        send_random(f, &leased, draw, &model);
    fixture_end(f, &leased, "\"outcome\":\"succeeded\"");
    for (int i = 0; i < LATE; i++)
        send_late(f, &leased, draw);
    const struct trial_row row = fixture_trial(f, 1, trial);
    CHECK(row.state == TRIAL_SUCCEEDED);
    CHECK(row.objective == model_last(&model));
    check_rows(f, trial, &model);
}

static uint64_t number_of(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    return text == NULL ? otherwise : strtoull(text, NULL, 10);
}

static void any_order_of_records_ends_in_the_same_rows(void)
{
    const uint64_t sequences = number_of("HYPERTUNE_SEQUENCES", 12);
    const uint64_t seed = number_of("HYPERTUNE_SEED", 1);
    struct fixture f;
    for (uint64_t i = 0; i < sequences; i++) {
        /* The answers of a fixture stay until its end: not too many. */
        if (i % RESTART_EVERY == 0) {
            if (i > 0)
                fixture_close(&f);
            fixture_open(&f);
            fixture_submit(&f, spec);
            fixture_hello(&f, 1);
        }
        struct draw draw = {.arena = f.arena,
                            .place = {.seed = seed, .ordinal = i}};
        play(&f, &draw);
    }
    fixture_close(&f);
}

int main(void)
{
    RUN(any_order_of_records_ends_in_the_same_rows);
    return check_done();
}
