/* What differed from the commit of attempts: each text once in a study. */
#include <string.h>

#include "tests/lib/db_place.h"
#include "tuner/db/changes.h"
#include "tuner/db/write.h"

static const char *text_of(struct db_case *c, const char *sha256)
{
    const char *text = NULL;
    CHECK(db_changes_get(c->db, c->arena, 1, sha256, &text, NULL) == HT_OK);
    return text;
}

static int64_t keep(struct db_case *c, const char *sha256, int64_t from,
                    const char *text)
{
    const struct changes_piece piece = {1, sha256, from, text};
    int64_t have = -1;
    CHECK(db_changes_keep(c->db, &piece, &have, NULL) == HT_OK);
    return have;
}

static void a_text_is_kept_once(struct db_case *c)
{
    CHECK(text_of(c, "aa") == NULL);
    CHECK(keep(c, "aa", 0, "first") == 5);
    CHECK(keep(c, "aa", 0, "again, and longer") == 5);
    CHECK_TEXT(text_of(c, "aa"), "first");
    CHECK(db_place_ask(c->db, "SELECT count(*) FROM changes") == 1);
}

static void pieces_are_appended_once_and_in_order(struct db_case *c)
{
    CHECK(keep(c, "aa", 5, "lost") == 0);
    CHECK(text_of(c, "aa") == NULL);
    CHECK(keep(c, "aa", 0, "h\xc3\xa9llo") == 6);
    CHECK(keep(c, "aa", 7, "gap") == 6);
    for (int i = 0; i < 2; i++)
        CHECK(keep(c, "aa", 6, " world") == 12);
    CHECK_TEXT(text_of(c, "aa"), "h\xc3\xa9llo world");
}

static void a_text_has_a_bounded_length(struct db_case *c)
{
    char most[DB_CHANGES_BYTES + 1];
    memset(most, 'x', DB_CHANGES_BYTES);
    most[DB_CHANGES_BYTES] = '\0';
    CHECK(keep(c, "aa", 0, most) == DB_CHANGES_BYTES);
    CHECK(keep(c, "aa", DB_CHANGES_BYTES, "more") == DB_CHANGES_BYTES);
}

static void a_study_keeps_a_bounded_number(struct db_case *c)
{
    for (int i = 0; i < DB_MOST_CHANGES; i++)
        CHECK(keep(c, arena_printf(c->arena, "%d", i), 0, "text") == 4);
    /* Nothing more is wanted of the next. */
    CHECK(keep(c, "next", 0, "text") == DB_CHANGES_BYTES);
    CHECK(db_place_ask(c->db, "SELECT count(*) FROM changes") ==
          DB_MOST_CHANGES);
    CHECK(text_of(c, "next") == NULL);
    CHECK_TEXT(text_of(c, "0"), "text");
}

static void they_go_with_their_study(struct db_case *c)
{
    bool left = true;
    CHECK(keep(c, "aa", 0, "first") == 5);
    for (int i = 0; i < 10 && left; i++)
        CHECK(db_study_erase(c->db, 1, 100, &left, NULL) == HT_OK);
    CHECK(!left);
    CHECK(db_place_ask(c->db, "SELECT count(*) FROM changes") == 0);
}

int main(void)
{
    RUN_ON_DB(a_text_is_kept_once);
    RUN_ON_DB(pieces_are_appended_once_and_in_order);
    RUN_ON_DB(a_text_has_a_bounded_length);
    RUN_ON_DB(a_study_keeps_a_bounded_number);
    RUN_ON_DB(they_go_with_their_study);
    return check_done();
}
