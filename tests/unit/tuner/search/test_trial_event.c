/* What events say of a trial's result, and trials that are gone since. */
#include "tuner/search/trial_event.h"

#include "tests/lib/db_place.h"
#include "tuner/db/write.h"

static void moves_change_what_is_known(void)
{
    static const struct {
        const char *kind, *from, *to;
        enum trial_change change;
        bool takes_back;
    } cases[] = {
        {"trial.created", "", "REQUESTED", TRIAL_CHANGE_CREATED, false},
        {"trial.moved", "REQUESTED", "ACTIVE", TRIAL_CHANGE_NONE, false},
        {"trial.moved", "ACTIVE", "SUCCEEDED", TRIAL_CHANGE_ENDED, false},
        {"trial.moved", "STOPPING", "PAUSED", TRIAL_CHANGE_ENDED, false},
        {"trial.moved", "FAILED", "REQUESTED", TRIAL_CHANGE_REOPENED, true},
        {"trial.moved", "PAUSED", "STOPPED", TRIAL_CHANGE_ENDED, true},
        {"trial.deleted", "ACTIVE", "", TRIAL_CHANGE_DELETED, true},
        {"study.changed", "", "", TRIAL_CHANGE_NONE, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct event_row event = {
            .kind = cases[i].kind, .from = cases[i].from, .to = cases[i].to};
        CHECK(trial_event_change(&event) == cases[i].change);
        CHECK(trial_event_takes_back(&event) == cases[i].takes_back);
    }
    const struct event_row paused = {.kind = "trial.moved", .to = "PAUSED"};
    CHECK(trial_event_went_to(&paused, TRIAL_PAUSED));
    CHECK(!trial_event_went_to(&paused, TRIAL_STOPPED));
}

static void put(struct db *db, int64_t revision, int64_t trial,
                const char *kind, const char *data)
{
    const struct event_row row = {.study = 1,
                                  .revision = revision,
                                  .actor = "core",
                                  .kind = kind,
                                  .trial = trial,
                                  .from = "",
                                  .to = "",
                                  .reason = "",
                                  .data = data};
    CHECK(db_event_insert(db, &row, NULL) == HT_OK);
}

static enum trial_known find(struct db_case *c, int64_t trial, int64_t until,
                             struct trial_row *row)
{
    const struct event_row event = {.study = 1, .revision = 1, .trial = trial};
    enum trial_known known = TRIAL_IS_LOST;
    CHECK(trial_event_find(c->db, c->arena, &event, until, row, &known, NULL) ==
          HT_OK);
    return known;
}

static void a_deleted_trial_is_known_until_then(struct db_case *c)
{
    struct trial_row row = {0};
    db_place_put(c->db, 1, TRIAL_SUCCEEDED, 0.5);
    put(c->db, 5, 2, "trial.deleted", "{\"x\":0.25}");
    put(c->db, 6, 3, "trial.deleted", "");
    CHECK(find(c, 1, 4, &row) == TRIAL_IS_KNOWN && row.objective == 0.5);
    CHECK(find(c, 2, 4, &row) == TRIAL_IS_KNOWN);
    CHECK(row.id == 2 && row.study == 1 && !row.has_objective);
    CHECK_TEXT(row.params, "{\"x\":0.25}");
    CHECK(find(c, 2, 5, &row) == TRIAL_IS_GONE);
    CHECK(find(c, 2, INT64_MAX, &row) == TRIAL_IS_GONE);
    CHECK(find(c, 3, 5, &row) == TRIAL_IS_LOST);
    CHECK(find(c, 3, 6, &row) == TRIAL_IS_GONE);
}

int main(void)
{
    RUN(moves_change_what_is_known);
    RUN_ON_DB(a_deleted_trial_is_known_until_then);
    return check_done();
}
