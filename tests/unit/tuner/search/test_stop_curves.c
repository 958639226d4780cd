/* Learning curves from records: places by time, over several attempts. */
#include <sqlite3.h>

#include "algorithms/stop/early_stop.h"
#include "tests/lib/core_fixture.h"
#include "tuner/db/page_vfs.h"
#include "tuner/search/stop_curves.h"

static const char spec[] =
    "spec: 1\nname: s\ngoal: maximize accuracy\n"
    "parameters:\n  lr: {type: double, min: 0, max: 1}\n"
    "algorithm: random\ntrials: 9\nparallel: 1\nretries: 3\n"
    "command: [./train]\nearlyStopping: {rule: median, by: time}\n";

/* Sets what the clock would have said. */
static void set_times(const struct fixture *fixture)
{
    static const char sql[] =
        "UPDATE trials SET started_ms=10000;"
        "UPDATE attempts SET created_ms=10000, ended_ms=12000 WHERE n=1;"
        "UPDATE attempts SET created_ms=100000, ended_ms=103000 WHERE n=2;"
        "UPDATE attempts SET created_ms=200000 WHERE n=3;"
        "UPDATE measurements SET time_ms=11000 WHERE attempt=1;"
        "UPDATE measurements SET time_ms=102500 WHERE attempt=2;"
        "UPDATE measurements SET time_ms=200250 WHERE attempt=3;";
    char path[128];
    sqlite3 *handle;
    snprintf(path, sizeof path, "%s/hypertune.db", fixture->dir);
    CHECK(sqlite3_open_v2(path, &handle, SQLITE_OPEN_READWRITE, PAGE_VFS) ==
          SQLITE_OK);
    CHECK(sqlite3_exec(handle, sql, NULL, NULL, NULL) == SQLITE_OK);
    sqlite3_close(handle);
}

/* A trial that paused or waited for a retry has not trained meanwhile. */
static void time_between_attempts_does_not_count(struct fixture *f)
{
    f->options.retry_ms = 1;
    fixture_stop(f);
    CHECK(fixture_start(f));
    fixture_submit(f, spec);
    fixture_hello(f, 1);
    for (int attempt = 1; attempt <= 3; attempt++) {
        struct leased leased = {0};
        leased = fixture_lease_one(f);
        CHECK(leased.name.attempt == attempt);
        CHECK(fixture_tell(f, "started", &leased.name, "")->status == HT_OK);
        CHECK(fixture_report(f, leased.token,
                             fixture_record(f, 1, attempt, "0.5"))
                  ->status == HT_OK);
        if (attempt < 3)
            fixture_end_as(f, &leased, "\"outcome\":\"failed\",\"exit\":1");
    }
    fixture_stop(f);
    set_times(f);
    struct db *db = fixture_db(f);
    struct stop_curves *curves = stop_curves_new(1);
    size_t at;
    CHECK(stop_curves_read(curves, db, NULL) == HT_OK);
    CHECK(stop_curves_find(curves, 1, &at));
    const struct stop_curve *curve = &stop_curves_study(curves)->curves[at];
    CHECK(curve->n == 3);
    CHECK(curve->points[0].at == 1 && curve->points[1].at == 4.5);
    CHECK(curve->points[2].at == 5.25);
    stop_curves_free(curves);
    db_close(db);
}

/* What `--continue` sends. */
static void change_rule(struct fixture *fixture, const char *from,
                        const char *to)
{
    const char *job = fixture_study(fixture, 1).spec;
    const char *at = strstr(job, from);
    CHECK(at != NULL);
    const char *body =
        arena_printf(fixture->arena, "{\"job\":%.*s%s%s}", (int)(at - job), job,
                     to, at + strlen(from));
    CHECK(fixture_call(fixture, study_change, "s", body)->status == HT_OK);
}

static void a_changed_rule_holds_at_once(struct fixture *f)
{
    fixture_submit(f, spec);
    fixture_hello(f, 1);
    struct leased leased = fixture_begin(f);
    CHECK(fixture_report(f, leased.token, fixture_record(f, 1, 7, "0.5"))
              ->status == HT_OK);
    struct db *db = fixture_db(f);
    struct stop_curves *curves = stop_curves_new(1);
    size_t at;
    CHECK(stop_curves_read(curves, db, NULL) == HT_OK);
    CHECK(stop_curves_study(curves)->options->by_time);
    change_rule(f,
                "\"medianAutomatedStoppingSpec\":{\"useElapsedDuration\":"
                "true}",
                "\"decayCurveStoppingSpec\":{}");
    CHECK(stop_curves_read(curves, db, NULL) == HT_OK);
    CHECK(stop_curves_study(curves)->options->rule == EARLY_DECAY);
    CHECK(stop_curves_find(curves, 1, &at));
    CHECK(stop_curves_study(curves)->curves[at].points[0].at == 7);
    stop_curves_free(curves);
    db_close(db);
}

int main(void)
{
    RUN_ON_CORE(time_between_attempts_does_not_count);
    RUN_ON_CORE(a_changed_rule_holds_at_once);
    return check_done();
}
