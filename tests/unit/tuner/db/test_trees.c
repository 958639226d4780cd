/* Trees that are kept, and what keeps them. */
#include "tuner/db/trees.h"

#include "tests/lib/db_place.h"
#include "tuner/db/write.h"

enum { HOUR_MS = 3600000 };
#define A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define B "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"

static void save(struct db *db, const char *project, const char *tree,
                 int64_t now_ms)
{
    const struct tree_row row = {.project = project,
                                 .tree = tree,
                                 .bytes = 5,
                                 .files = 1,
                                 .created_ms = now_ms};
    CHECK(db_tree_save(db, &row, NULL) == HT_OK);
}

static bool has(struct db *db, const char *project, const char *tree)
{
    bool found = false;
    CHECK(db_tree_has(db, project, tree, &found, NULL) == HT_OK);
    return found;
}

static int64_t expire(struct db *db, int64_t now_ms)
{
    int64_t n = -1;
    CHECK(db_tree_expire(db, now_ms, HOUR_MS, &n, NULL) == HT_OK);
    return n;
}

static const struct tree_use code = {
    .project = "local", .tree = A, .study = 1, .kind = TREE_CODE};
static const struct tree_use checkpoint = {.project = "local",
                                           .tree = A,
                                           .study = 1,
                                           .trial = 7,
                                           .attempt = 2,
                                           .step = -1,
                                           .kind = TREE_CHECKPOINT};

static void a_tree_without_a_use_is_kept_for_an_hour(struct db_case *c)
{
    save(c->db, "local", A, 1000);
    save(c->db, "other", A, 1000 + HOUR_MS / 2);
    CHECK(expire(c->db, 999 + HOUR_MS) == 0);
    CHECK(expire(c->db, 1000 + HOUR_MS) == 1);
    CHECK(!has(c->db, "local", A) && has(c->db, "other", A));
}

static void a_tree_that_comes_again_has_its_hour_anew(struct db_case *c)
{
    save(c->db, "local", A, 1000);
    save(c->db, "local", A, 1000 + HOUR_MS / 2);
    CHECK(expire(c->db, 1000 + HOUR_MS) == 0);
    CHECK(db_place_ask(c->db, "SELECT created_ms FROM trees") == 1000);
}

static void a_tree_that_is_asked_for_has_its_hour_anew(struct db_case *c)
{
    save(c->db, "local", A, 1000);
    save(c->db, "local", B, 1000);
    CHECK(db_tree_renew(c->db, "local", A, 1000 + HOUR_MS / 2, NULL) == HT_OK);
    CHECK(db_tree_renew(c->db, "other", B, 1000 + HOUR_MS / 2, NULL) == HT_OK);
    CHECK(expire(c->db, 1000 + HOUR_MS) == 1);
    CHECK(has(c->db, "local", A) && !has(c->db, "local", B));
}

static void a_use_keeps_a_tree_until_an_hour_after_its_end(struct db_case *c)
{
    save(c->db, "local", A, 1000);
    CHECK(db_tree_use_add(c->db, &code, NULL) == HT_OK);
    CHECK(db_tree_use_add(c->db, &code, NULL) == HT_OK);
    CHECK(db_tree_use_add(c->db, &checkpoint, NULL) == HT_OK);
    CHECK(expire(c->db, 5 * (int64_t)HOUR_MS) == 0);
    CHECK(db_tree_use_remove(c->db, &checkpoint, NULL) == HT_OK);
    CHECK(expire(c->db, 9 * (int64_t)HOUR_MS) == 0);
    CHECK(db_tree_use_remove(c->db, &code, NULL) == HT_OK);
    CHECK(expire(c->db, 10 * (int64_t)HOUR_MS) == 0); /* seen now */
    CHECK(expire(c->db, 11 * (int64_t)HOUR_MS - 1) == 0);
    CHECK(expire(c->db, 11 * (int64_t)HOUR_MS) == 1);
}

static void only_a_tree_that_is_there_can_be_used(struct db_case *c)
{
    struct ht_error err;
    save(c->db, "other", A, 1000);
    CHECK(db_tree_use_add(c->db, &code, &err) == HT_NOT_FOUND);
    CHECK(strstr(err.text, "\"local\"") != NULL);
}

static void the_uses_of_a_study_go_with_it(struct db_case *c)
{
    bool left = true;
    save(c->db, "local", A, 1000);
    CHECK(db_tree_use_add(c->db, &code, NULL) == HT_OK);
    CHECK(db_tree_use_add(c->db, &checkpoint, NULL) == HT_OK);
    while (left)
        CHECK(db_study_erase(c->db, 1, 1, &left, NULL) == HT_OK);
    CHECK(db_place_ask(c->db, "SELECT count(*) FROM tree_uses") == 0);
    CHECK(has(c->db, "local", A));
}

static void all_trees_are_listed_by_project(struct db_case *c)
{
    struct tree_names names;
    int64_t n;
    save(c->db, "z", A, 1);
    save(c->db, "local", B, 1);
    save(c->db, "local", A, 1);
    CHECK(db_tree_count(c->db, &n, NULL) == HT_OK && n == 3);
    CHECK(db_tree_names(c->db, c->arena, &names, NULL) == HT_OK);
    CHECK(names.n == 3);
    if (names.n != 3)
        return;
    CHECK_TEXT(names.rows[0].tree, A);
    CHECK_TEXT(names.rows[1].tree, B);
    CHECK_TEXT(names.rows[2].project, "z");
}

int main(void)
{
    RUN_ON_DB(a_tree_without_a_use_is_kept_for_an_hour);
    RUN_ON_DB(a_tree_that_comes_again_has_its_hour_anew);
    RUN_ON_DB(a_tree_that_is_asked_for_has_its_hour_anew);
    RUN_ON_DB(a_use_keeps_a_tree_until_an_hour_after_its_end);
    RUN_ON_DB(only_a_tree_that_is_there_can_be_used);
    RUN_ON_DB(the_uses_of_a_study_go_with_it);
    RUN_ON_DB(all_trees_are_listed_by_project);
    return check_done();
}
