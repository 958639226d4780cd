/* Notes and tags: what a tag is, and how a set of them is one text. */
#include "tuner/db/notes.h"

#include "tests/lib/db_place.h"
#include "tuner/db/metadata.h"

static void a_tag_is_a_word_that_needs_no_quotes(void)
{
    static const char *const good[] = {"a", "7", "Good", "v1.2-rc_3"};
    static const char *const bad[] = {"",         "-a",  ".a",       "_a",
                                      "a b",      "a,b", "a=b",      "a\n",
                                      "\303\244", "a*",  "<script>", "a/b"};
    char longest[NOTES_MOST_TAG + 2] = {0};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        CHECK(notes_is_tag(good[i]));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        CHECK(!notes_is_tag(bad[i]));
    for (size_t i = 0; i < NOTES_MOST_TAG; i++)
        longest[i] = 'x';
    CHECK(notes_is_tag(longest));
    longest[NOTES_MOST_TAG] = 'x';
    CHECK(!notes_is_tag(longest));
}

static const char *joined(struct arena *arena, const char *words,
                          const char *more, const char *less)
{
    const struct strings all[] = {notes_tags_split(arena, words),
                                  notes_tags_split(arena, more),
                                  notes_tags_split(arena, less)};
    return notes_tags_join(arena, &all[0], &all[1], &all[2]);
}

static void a_set_is_one_text_in_one_order(void)
{
    struct arena *arena = arena_new();
    CHECK_TEXT(joined(arena, "", "", ""), "");
    CHECK_TEXT(joined(arena, "  b a  b ", "", ""), "a b");
    CHECK_TEXT(joined(arena, "a c", "b c", "a"), "b c");
    CHECK_TEXT(joined(arena, "a", "b", "a b c"), "");
    arena_free(arena);
}

static const char *get(struct db_case *c, int64_t trial, const char *key)
{
    const char *value = "not asked";
    CHECK(db_notes_get(c->db, c->arena, &(struct notes_name){1, trial, key},
                       &value, NULL) == HT_OK);
    return value;
}

static void each_trial_and_the_study_have_their_own(struct db_case *c)
{
    const struct metadata_row rows[] = {
        {.trial = 0, .ns = NOTES_NS, .key = NOTES_NOTE, .value = "of all"},
        {.trial = 3, .ns = NOTES_NS, .key = NOTES_TAGS, .value = "a b"},
        {.trial = 3, .ns = "mine", .key = NOTES_NOTE, .value = "a client's"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        CHECK(db_metadata_set(c->db, 1, &rows[i], NULL) == HT_OK);
    CHECK_TEXT(get(c, 0, NOTES_NOTE), "of all");
    CHECK_TEXT(get(c, 3, NOTES_NOTE), "");
    CHECK_TEXT(get(c, 3, NOTES_TAGS), "a b");
    CHECK_TEXT(get(c, 0, NOTES_TAGS), "");
}

int main(void)
{
    RUN(a_tag_is_a_word_that_needs_no_quotes);
    RUN(a_set_is_one_text_in_one_order);
    RUN_ON_DB(each_trial_and_the_study_have_their_own);
    return check_done();
}
