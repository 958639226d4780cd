/* Events of a study: which of them its log has, and which trials changed. */
#include "tuner/db/event.h"

#include "tests/lib/db_place.h"

/* Revision n of study 1, at n * 10 ms. */
static void put(struct db *db, int64_t revision, const char *kind,
                int64_t trial, const char *to)
{
    const struct event_row row = {.study = 1,
                                  .revision = revision,
                                  .time_ms = revision * 10,
                                  .actor = "core",
                                  .kind = kind,
                                  .trial = trial,
                                  .from = "",
                                  .to = to,
                                  .reason = "",
                                  .data = ""};
    CHECK(db_event_insert(db, &row, NULL) == HT_OK);
}

static void put_all(struct db *db)
{
    put(db, 1, "study.created", 0, "RUNNING");
    put(db, 2, "trial.moved", 5, "ACTIVE");
    put(db, 3, "trial.measured", 5, "");
    put(db, 4, "attempt.moved", 5, "RUNNING");
    put(db, 5, "trial.moved", 2, "ACTIVE");
    put(db, 6, "attempt.moved", 5, "ENDED");
    put(db, 7, "trial.measured", 2, "");
}

static int64_t step(struct db *db, int64_t revision, bool down)
{
    struct event_head head = {.revision = -1};
    const enum ht_status status =
        db_event_step(db, 1, revision, down, &head, NULL);
    CHECK(status == HT_OK || (status == HT_NOT_FOUND && head.revision == -1));
    CHECK(status != HT_OK || head.time_ms == head.revision * 10);
    return head.revision;
}

static void a_log_skips_measurements_and_starts_of_attempts(struct db_case *c)
{
    put_all(c->db);
    CHECK(step(c->db, 1, false) == 1);
    CHECK(step(c->db, 3, false) == 5);
    CHECK(step(c->db, 6, false) == 6);
    CHECK(step(c->db, 7, false) == -1);
    CHECK(step(c->db, 7, true) == 6);
    CHECK(step(c->db, 4, true) == 2);
    CHECK(step(c->db, 0, true) == -1);
}

static void a_moment_leads_to_the_first_revision_from_then_on(struct db_case *c)
{
    int64_t revision = 0;
    put_all(c->db);
    CHECK(db_event_seek(c->db, 1, 7, 0, &revision, NULL) == HT_OK);
    CHECK(revision == 1);
    CHECK(db_event_seek(c->db, 1, 7, 30, &revision, NULL) == HT_OK);
    CHECK(revision == 3);
    CHECK(db_event_seek(c->db, 1, 7, 31, &revision, NULL) == HT_OK);
    CHECK(revision == 4);
    CHECK(db_event_seek(c->db, 1, 7, 71, &revision, NULL) == HT_OK);
    CHECK(revision == 8);
}

/* A restore skips some. */
static void a_moment_is_found_among_skipped_revisions(struct db_case *c)
{
    int64_t revision = 0;
    const struct event_row late = {.study = 1,
                                   .revision = 100000,
                                   .time_ms = 900,
                                   .actor = "core",
                                   .kind = "study.warned",
                                   .from = "",
                                   .to = "",
                                   .reason = "",
                                   .data = ""};
    put_all(c->db);
    CHECK(db_event_insert(c->db, &late, NULL) == HT_OK);
    CHECK(db_event_seek(c->db, 1, 100000, 30, &revision, NULL) == HT_OK);
    CHECK(revision == 3);
    CHECK(db_event_seek(c->db, 1, 100000, 71, &revision, NULL) == HT_OK);
    CHECK(revision > 7 && revision <= 100000);
    CHECK(db_event_seek(c->db, 1, 100000, 901, &revision, NULL) == HT_OK);
    CHECK(revision == 100001);
}

static void trials_of_later_events_come_once_by_id(struct db_case *c)
{
    struct id_list list;
    put_all(c->db);
    CHECK(db_changed_trials(c->db, c->arena, 1, 0, &list, NULL) == HT_OK);
    CHECK(list.n == 2 && list.ids[0] == 2 && list.ids[1] == 5);
    CHECK(db_changed_trials(c->db, c->arena, 1, 6, &list, NULL) == HT_OK);
    CHECK(list.n == 1 && list.ids[0] == 2);
    CHECK(db_changed_trials(c->db, c->arena, 1, 7, &list, NULL) == HT_OK);
    CHECK(list.n == 0);
    CHECK(db_changed_trials(c->db, c->arena, 2, 0, &list, NULL) == HT_OK);
    CHECK(list.n == 0);
}

static void an_event_comes_back_as_it_was_stored(struct db_case *c)
{
    struct event_list list;
    const struct event_row row = {.study = 1,
                                  .revision = 1,
                                  .time_ms = 4,
                                  .actor = "runner a",
                                  .kind = "trial.moved",
                                  .trial = 3,
                                  .attempt = 2,
                                  .from = "ACTIVE",
                                  .to = "FAILED",
                                  .reason = "exit 1",
                                  .data = "{}"};
    CHECK(db_event_insert(c->db, &row, NULL) == HT_OK);
    CHECK(db_event_insert(c->db, &row, NULL) != HT_OK); /* one of each */
    CHECK(db_event_list(c->db, c->arena, 1, 0, 9, &list, NULL) == HT_OK);
    CHECK(list.n == 1);
    if (list.n != 1)
        return;
    const struct event_row *got = &list.rows[0];
    CHECK(got->revision == 1 && got->time_ms == 4);
    CHECK(got->trial == 3 && got->attempt == 2);
    CHECK_TEXT(got->actor, "runner a");
    CHECK_TEXT(got->from, "ACTIVE");
    CHECK_TEXT(got->to, "FAILED");
    CHECK_TEXT(got->reason, "exit 1");
    CHECK_TEXT(got->data, "{}");
}

static void a_deletion_is_found_behind_an_event(struct db_case *c)
{
    struct event_row gone = {0};
    put_all(c->db);
    put(c->db, 8, "trial.deleted", 2, "");
    put(c->db, 9, "trial.deleted", 5, "");
    struct event_row event = {.study = 1, .revision = 2, .trial = 5};
    CHECK(db_event_deletion(c->db, c->arena, &event, &gone, NULL) == HT_OK);
    CHECK(gone.revision == 9);
    CHECK_TEXT(gone.data, "");
    event.revision = 9;
    CHECK(db_event_deletion(c->db, c->arena, &event, &gone, NULL) ==
          HT_NOT_FOUND);
}

int main(void)
{
    RUN_ON_DB(a_log_skips_measurements_and_starts_of_attempts);
    RUN_ON_DB(a_moment_leads_to_the_first_revision_from_then_on);
    RUN_ON_DB(a_moment_is_found_among_skipped_revisions);
    RUN_ON_DB(trials_of_later_events_come_once_by_id);
    RUN_ON_DB(an_event_comes_back_as_it_was_stored);
    RUN_ON_DB(a_deletion_is_found_behind_an_event);
    return check_done();
}
