/* Entries of jobs in the order of time, in both directions. */
#include "tuner/logs/entry_walk.h"

#include <stdio.h>

#include "tests/lib/db_place.h"
#include "tuner/db/write.h"
#include "tuner/logs/db_logs.h"
#include "tuner/logs/entry_jobs.h"
#include "tuner/logs/logs.h"

/* Study 1 has two events and, between them, one chunk of two lines. */
struct place {
    struct db_case *c;
    struct logs *logs;
    char path[96];
    struct entry_job job;
};

static void put_event(struct db *db, int64_t revision, int64_t time_ms,
                      const char *kind, const char *to)
{
    const struct event_row event = {.study = 1,
                                    .revision = revision,
                                    .time_ms = time_ms,
                                    .kind = kind,
                                    .actor = "core",
                                    .from = "",
                                    .to = to,
                                    .reason = "",
                                    .data = ""};
    CHECK(db_event_insert(db, &event, NULL) == HT_OK);
}

static void open_place(struct place *place, struct db_case *c)
{
    static const struct log_key key = {1, 4, 1, "master-0", "stderr"};
    static const struct log_chunk chunk = {
        .raw = 8, .data = "one\ntwo\n", .len = 8};
    struct db *db;
    *place = (struct place){.c = c,
                            .job = {.study = 1,
                                    .revision = 2,
                                    .kind = JOB_TUNING,
                                    .project = "p",
                                    .id = "1",
                                    .names = {"s", "1"}}};
    put_event(c->db, 1, 1000, "study.created", "RUNNING");
    put_event(c->db, 2, 3000, "study.moved", "SUCCEEDED");
    snprintf(place->path, sizeof place->path, "%s/logs.db", c->place.dir);
    CHECK(db_logs_open(place->path, true, &db, NULL) == HT_OK);
    CHECK(db_logs_insert(db, &key, &chunk, 2000000, NULL) == HT_OK);
    db_close(db);
    CHECK(logs_start(place->path, &place->logs, NULL) == HT_OK);
}

static void close_place(struct place *place)
{
    logs_stop(place->logs);
    db_place_remove(place->c->place.dir, "logs");
}

/* The texts of all entries from a moment to another, with | between groups. */
static const char *walk(struct place *place, bool down, int64_t from_us,
                        int64_t until_us)
{
    struct arena *arena = place->c->arena;
    const struct entry_jobs jobs = {1, &place->job};
    const struct entry_range range = {
        .jobs = &jobs,
        .from = down ? (struct entry_key){from_us, ENTRY_EVENT, INT64_MAX,
                                          INT64_MAX, 0}
                     : (struct entry_key){.us = from_us},
        .until_us = until_us,
        .down = down};
    const char *all = "";
    struct entry_walk *at;
    struct entry_group group;
    CHECK(entry_walk_open(place->c->db, place->logs, arena, &range, &at,
                          NULL) == HT_OK);
    enum ht_status status;
    while ((status = entry_walk_next(at, arena, &group, NULL)) == HT_OK) {
        for (size_t i = 0; i < group.n; i++)
            all = arena_printf(arena, "%s%s,", all, group.items[i].text);
        all = arena_printf(arena, "%s|", all);
    }
    CHECK(status == HT_NOT_FOUND);
    return all;
}

#define CREATED "The job is queued,|"
#define LINES "one,two,|"
#define ENDED "The job has succeeded,|"

static void chunks_and_events_are_merged_by_time(struct db_case *c)
{
    struct place place;
    open_place(&place, c);
    CHECK_TEXT(walk(&place, false, 0, INT64_MAX), CREATED LINES ENDED);
    CHECK_TEXT(walk(&place, true, INT64_MAX / 2, 0), ENDED LINES CREATED);
    close_place(&place);
}

static void a_walk_begins_and_ends_where_it_is_asked_to(struct db_case *c)
{
    struct place place;
    open_place(&place, c);
    CHECK_TEXT(walk(&place, false, 2000000, INT64_MAX), LINES ENDED);
    CHECK_TEXT(walk(&place, false, 2000001, INT64_MAX), ENDED);
    CHECK_TEXT(walk(&place, false, 0, 2000000), CREATED LINES);
    CHECK_TEXT(walk(&place, true, 2000000, 0), LINES CREATED);
    CHECK_TEXT(walk(&place, true, 1999999, 0), CREATED);
    CHECK_TEXT(walk(&place, true, 3000999, 2000001), ENDED);
    close_place(&place);
}

static void an_entry_of_a_line_has_its_trial_and_severity(struct db_case *c)
{
    struct place place;
    struct entry_walk *at;
    struct entry_group group = {0};
    open_place(&place, c);
    const struct entry_jobs jobs = {1, &place.job};
    const struct entry_range range = {
        .jobs = &jobs, .from = {.us = 2000000}, .until_us = INT64_MAX};
    CHECK(entry_walk_open(c->db, place.logs, c->arena, &range, &at, NULL) ==
          HT_OK);
    CHECK(entry_walk_next(at, c->arena, &group, NULL) == HT_OK);
    CHECK(group.n == 2);
    if (group.n == 2) {
        const struct entry *second = &group.items[1];
        CHECK(second->trial == 4 && second->attempt == 1);
        CHECK(second->key.us == 2000000 && second->key.line == 1);
        CHECK_TEXT(second->severity, "ERROR");
        CHECK_TEXT(second->task, "workerpool0-0");
    }
    close_place(&place);
}

int main(void)
{
    RUN_ON_DB(chunks_and_events_are_merged_by_time);
    RUN_ON_DB(a_walk_begins_and_ends_where_it_is_asked_to);
    RUN_ON_DB(an_entry_of_a_line_has_its_trial_and_severity);
    return check_done();
}
