/* Old lines of the audit log go, and refusals push no change out. */
#include "tuner/db/audit.h"

#include "tests/lib/db_place.h"

static void put(struct db *db, int64_t time_ms, bool refused)
{
    const struct audit_row row = {.time_ms = time_ms,
                                  .last_ms = time_ms,
                                  .count = 1,
                                  .refused = refused,
                                  .code = refused ? 401 : 200,
                                  .who = "admin",
                                  .peer = "",
                                  .forwarded = "",
                                  .action = "POST /x",
                                  .project = "",
                                  .study_name = "",
                                  .trial = "",
                                  .detail = "",
                                  .error = ""};
    int64_t id = 0;
    CHECK(db_audit_insert(db, &row, &id, NULL) == HT_OK && id > 0);
}

static void refusals_push_no_change_out(struct db_case *c)
{
    int64_t deleted = 0;
    for (int i = 0; i < 3; i++)
        put(c->db, 100, false);
    for (int i = 0; i < 10; i++)
        put(c->db, 100, true);
    const struct audit_bounds bounds = {.before_ms = 50, .most = 4, .step = 5};
    CHECK(db_audit_prune(c->db, &bounds, &deleted, NULL) == HT_OK);
    CHECK(deleted == 5);
    CHECK(db_audit_prune(c->db, &bounds, &deleted, NULL) == HT_OK);
    CHECK(deleted == 1);
    CHECK(db_place_ask(c->db, "SELECT count(*) FROM audit WHERE refused") == 4);
    CHECK(db_place_ask(c->db, "SELECT min(id) FROM audit WHERE refused") == 10);
    CHECK(db_place_ask(c->db, "SELECT count(*) FROM audit") == 7);
}

static void old_lines_go(struct db_case *c)
{
    int64_t deleted = 0;
    put(c->db, 10, false);
    put(c->db, 60, false);
    const struct audit_bounds bounds = {.before_ms = 50, .most = 9, .step = 5};
    CHECK(db_audit_prune(c->db, &bounds, &deleted, NULL) == HT_OK);
    CHECK(deleted == 1);
    CHECK(db_place_ask(c->db, "SELECT min(id) FROM audit") == 2);
}

int main(void)
{
    RUN_ON_DB(refusals_push_no_change_out);
    RUN_ON_DB(old_lines_go);
    return check_done();
}
