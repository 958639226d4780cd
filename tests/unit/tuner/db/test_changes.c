/* What differed from the commit of attempts: each text once in a study. */
#include "tests/lib/db_place.h"
#include "tuner/db/changes.h"
#include "tuner/db/write.h"

static const char *text_of(struct db_case *c, const char *sha256)
{
    const char *text = NULL;
    CHECK(db_changes_get(c->db, c->arena, 1, sha256, &text, NULL) == HT_OK);
    return text;
}

static void a_text_is_kept_once(struct db_case *c)
{
    CHECK(text_of(c, "aa") == NULL);
    CHECK(db_changes_keep(c->db, 1, "aa", "first", NULL) == HT_OK);
    CHECK(db_changes_keep(c->db, 1, "aa", "again", NULL) == HT_OK);
    CHECK_TEXT(text_of(c, "aa"), "first");
    CHECK(db_place_ask(c->db, "SELECT count(*) FROM changes") == 1);
}

static void a_study_keeps_a_bounded_number(struct db_case *c)
{
    for (int i = 0; i < DB_MOST_CHANGES + 5; i++)
        CHECK(db_changes_keep(c->db, 1, arena_printf(c->arena, "%d", i), "text",
                              NULL) == HT_OK);
    CHECK(db_place_ask(c->db, "SELECT count(*) FROM changes") ==
          DB_MOST_CHANGES);
    CHECK(text_of(c, arena_printf(c->arena, "%d", DB_MOST_CHANGES)) == NULL);
    CHECK_TEXT(text_of(c, "0"), "text");
}

static void they_go_with_their_study(struct db_case *c)
{
    bool left = true;
    CHECK(db_changes_keep(c->db, 1, "aa", "first", NULL) == HT_OK);
    for (int i = 0; i < 10 && left; i++)
        CHECK(db_study_erase(c->db, 1, 100, &left, NULL) == HT_OK);
    CHECK(!left);
    CHECK(db_place_ask(c->db, "SELECT count(*) FROM changes") == 0);
}

int main(void)
{
    RUN_ON_DB(a_text_is_kept_once);
    RUN_ON_DB(a_study_keeps_a_bounded_number);
    RUN_ON_DB(they_go_with_their_study);
    return check_done();
}
