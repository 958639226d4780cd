/* Every pair of states: allowed exactly as docs/reliability.md says. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/lib/core_fixture.h"
#include "tuner/db/event.h"
#include "tuner/study/move.h"

/* The table of docs/reliability.md for "study", "trial" or "attempt". */
static const char *table_of(const char *thing)
{
    static char page[64 * 1024];
    char head[64];
    FILE *file = fopen("docs/reliability.md", "re");
    CHECK(file != NULL);
    if (file == NULL)
        exit(1);
    const size_t len = fread(page, 1, sizeof page - 1, file);
    fclose(file);
    page[len] = '\0';
    snprintf(head, sizeof head, "| %s | may become |", thing);
    char *table = strstr(page, head);
    CHECK(table != NULL);
    if (table == NULL)
        exit(1);
    char *end = strstr(table, "\n\n");
    if (end != NULL)
        *end = '\0';
    return table;
}

/* Whether the row of `from` has the word `to`; a state without a row has no
 * move. */
static bool page_allows(const char *table, const char *from, const char *to)
{
    char row[32];
    snprintf(row, sizeof row, "\n| %s |", from);
    const char *at = strstr(table, row);
    if (at == NULL)
        return false;
    at += strlen(row);
    const char *end = strchr(at, '\n');
    const size_t len = strlen(to);
    for (const char *word = strstr(at, to); word != NULL;
         word = strstr(word + 1, to)) {
        if (end != NULL && word >= end)
            return false;
        if (word[-1] == ' ' && (word[len] == ',' || word[len] == ' '))
            return true;
    }
    return false;
}

/* Tries every move on the rows of study 1, on the core thread. */
static enum ht_status try_studies(struct core *core, struct request *req,
                                  struct ht_error *err)
{
    const char *table = table_of("study");
    for (int from = 0; from < 9; from++)
        for (int to = 0; to < 9; to++) {
            struct study_row row;
            enum ht_status status =
                db_study_get(core_db(core), req->arena, 1, &row, err);
            if (status != HT_OK)
                return status;
            const int64_t before = row.revision;
            row.state = (enum study_state)from;
            status =
                move_study(core, &row, (enum study_state)to, "because", NULL);
            const bool allowed =
                page_allows(table, db_study_state_name((enum study_state)from),
                            db_study_state_name((enum study_state)to));
            CHECK(status == (allowed ? HT_OK : HT_INTERNAL));
            CHECK(move_study_may((enum study_state)from,
                                 (enum study_state)to) == allowed);
            db_study_get(core_db(core), req->arena, 1, &row, err);
            CHECK(row.revision == before + allowed);
            CHECK(!allowed || (row.state == (enum study_state)to &&
                               strcmp(row.reason, "because") == 0));
        }
    return ht_fail(err, HT_CONFLICT, "rolled back on purpose");
}

static enum ht_status try_trials(struct core *core, struct request *req,
                                 struct ht_error *err)
{
    const char *table = table_of("trial");
    for (int from = 0; from < TRIAL_STATES; from++)
        for (int to = 0; to < TRIAL_STATES; to++) {
            struct trial_row row;
            enum ht_status status =
                db_trial_get(core_db(core), req->arena, 1, 1, &row, err);
            if (status != HT_OK)
                return status;
            row.state = (enum trial_state)from;
            status =
                move_trial(core, &row, (enum trial_state)to, "because", NULL);
            const bool allowed =
                page_allows(table, db_trial_state_name((enum trial_state)from),
                            db_trial_state_name((enum trial_state)to));
            CHECK(status == (allowed ? HT_OK : HT_INTERNAL));
            CHECK(move_trial_may((enum trial_state)from,
                                 (enum trial_state)to) == allowed);
            db_trial_get(core_db(core), req->arena, 1, 1, &row, err);
            CHECK(!allowed || row.state == (enum trial_state)to);
        }
    return ht_fail(err, HT_CONFLICT, "rolled back on purpose");
}

static enum ht_status try_attempts(struct core *core, struct request *req,
                                   struct ht_error *err)
{
    const char *table = table_of("attempt");
    for (int from = 0; from < 4; from++)
        for (int to = 0; to < 4; to++) {
            const struct trial_name name = {1, 1, 1};
            struct attempt_row row;
            enum ht_status status =
                db_attempt_get(core_db(core), req->arena, &name, &row, err);
            if (status != HT_OK)
                return status;
            row.state = (enum attempt_state)from;
            status = move_attempt(core, &row, (enum attempt_state)to, "because",
                                  NULL);
            const bool allowed = page_allows(
                table, db_attempt_state_name((enum attempt_state)from),
                db_attempt_state_name((enum attempt_state)to));
            CHECK(status == (allowed ? HT_OK : HT_INTERNAL));
            CHECK(move_attempt_may((enum attempt_state)from,
                                   (enum attempt_state)to) == allowed);
        }
    return ht_fail(err, HT_CONFLICT, "rolled back on purpose");
}

static int64_t moment_of(struct core *core, int64_t wall_ms, int64_t *revision)
{
    CHECK(db_study_add_revision(core_db(core), 1, &wall_ms, revision, NULL) ==
          HT_OK);
    const struct event_row event = {.study = 1,
                                    .revision = *revision,
                                    .time_ms = wall_ms,
                                    .actor = "core",
                                    .kind = "study.changed",
                                    .from = "",
                                    .to = "",
                                    .reason = "",
                                    .data = ""};
    CHECK(db_event_insert(core_db(core), &event, NULL) == HT_OK);
    return wall_ms;
}

/* The clock is set back by half an hour, then by two. */
static enum ht_status set_clocks(struct core *core, struct request *req,
                                 struct ht_error *err)
{
    const int64_t hour = 3600000, start = 4102444800000; /* the year 2100 */
    int64_t first, revision, found;
    (void)req;
    CHECK(moment_of(core, start, &first) == start);
    CHECK(moment_of(core, start - hour / 2, &revision) == start);
    CHECK(revision == first + 1);
    CHECK(moment_of(core, start + 5, &revision) == start + 5);
    CHECK(db_event_seek(core_db(core), 1, revision, start, &found, NULL) ==
              HT_OK &&
          found == first);
    CHECK(db_event_seek(core_db(core), 1, revision, start + 1, &found, NULL) ==
              HT_OK &&
          found == first + 2);
    CHECK(db_event_seek(core_db(core), 1, revision, start + 6, &found, NULL) ==
              HT_OK &&
          found == revision + 1);
    CHECK(moment_of(core, start - 2 * hour, &revision) == start - 2 * hour);
    return ht_fail(err, HT_CONFLICT, "rolled back on purpose");
}

static void in_a_core(request_handler *handler)
{
    struct fixture f;
    fixture_open(&f);
    fixture_submit(&f, "spec: 1\nname: s\ngoal: maximize accuracy\n"
                       "parameters:\n  lr: [1]\nalgorithm: grid\ntrials: 1\n"
                       "command: [./train]\n");
    fixture_hello(&f, 1);
    struct leased leased = fixture_lease_one(&f);
    const int64_t before = fixture_study(&f, 1).revision;
    CHECK(fixture_call(&f, handler, NULL, NULL)->status == HT_CONFLICT);
    CHECK(fixture_study(&f, 1).revision == before);
    fixture_succeed(&f, &leased, "0.5"); /* memory and file still agree */
    CHECK(fixture_await_study(&f, 1, STUDY_SUCCEEDED));
    fixture_close(&f);
}

static void the_moments_of_a_study_fall_only_with_the_clock_by_hours(void)
{
    in_a_core(set_clocks);
}

static void studies_move_as_the_table_says(void)
{
    in_a_core(try_studies);
}

static void trials_move_as_the_table_says(void)
{
    in_a_core(try_trials);
}

static void attempts_move_as_the_table_says(void)
{
    in_a_core(try_attempts);
}

int main(void)
{
    RUN(the_moments_of_a_study_fall_only_with_the_clock_by_hours);
    RUN(studies_move_as_the_table_says);
    RUN(trials_move_as_the_table_says);
    RUN(attempts_move_as_the_table_says);
    return check_done();
}
