/* Texts that clients keep with a study and its trials. */
#include "tuner/db/metadata.h"

#include "tests/lib/db_place.h"

static void set(struct db *db, int64_t trial, const char *key,
                const char *value)
{
    const struct metadata_row row = {
        .trial = trial, .ns = "mine", .key = key, .value = value};
    CHECK(db_metadata_set(db, 1, &row, NULL) == HT_OK);
}

/* The text, or NULL. */
static const char *get(struct db_case *c, int64_t trial, const char *ns,
                       const char *key)
{
    const struct metadata_row name = {.trial = trial, .ns = ns, .key = key};
    const char *value = "not asked";
    CHECK(db_metadata_get(c->db, c->arena, 1, &name, &value, NULL) == HT_OK);
    return value;
}

static void a_text_is_named_by_trial_namespace_and_key(struct db_case *c)
{
    set(c->db, 0, "note", "of the study");
    set(c->db, 2, "note", "");
    CHECK_TEXT(get(c, 0, "mine", "note"), "of the study");
    CHECK_TEXT(get(c, 2, "mine", "note"), "");
    CHECK(get(c, 1, "mine", "note") == NULL);
    CHECK(get(c, 0, "other", "note") == NULL);
    CHECK(get(c, 0, "mine", "notes") == NULL);
}

static struct metadata_list since(struct db_case *c, int64_t version,
                                  int64_t most)
{
    struct metadata_list list = {0};
    const struct metadata_span span = {
        .study = 1, .version = version, .most = most};
    CHECK(db_metadata_since(c->db, c->arena, &span, &list, NULL) == HT_OK);
    return list;
}

static void
a_text_that_is_written_again_gets_a_higher_version(struct db_case *c)
{
    set(c->db, 0, "a", "1");
    set(c->db, 0, "b", "2");
    const struct metadata_list before = since(c, 0, 9);
    CHECK(before.n == 2);
    set(c->db, 0, "a", "3");
    const struct metadata_list after = since(c, 0, 9);
    CHECK(after.n == 2);
    if (before.n != 2 || after.n != 2)
        return;
    CHECK_TEXT(after.rows[0].key, "b");
    CHECK(after.rows[0].version == before.rows[1].version);
    CHECK_TEXT(after.rows[1].value, "3");
    CHECK(after.rows[1].version > before.rows[1].version);
}

static void a_reader_follows_by_version_page_by_page(struct db_case *c)
{
    set(c->db, 0, "a", "1");
    set(c->db, 1, "a", "2");
    set(c->db, 2, "a", "3");
    struct metadata_list page = since(c, 0, 2);
    CHECK(page.n == 2);
    if (page.n != 2)
        return;
    CHECK(page.rows[0].trial == 0 && page.rows[1].trial == 1);
    page = since(c, page.rows[1].version, 2);
    CHECK(page.n == 1 && page.rows[0].trial == 2);
    CHECK(since(c, page.rows[0].version, 2).n == 0);
}

static void a_study_that_does_not_exist_keeps_nothing(struct db_case *c)
{
    const struct metadata_row row = {.ns = "", .key = "a", .value = "1"};
    CHECK(db_metadata_set(c->db, 2, &row, NULL) != HT_OK);
    CHECK(since(c, 0, 9).n == 0);
}

static struct metadata_list attributes(struct db_case *c, int64_t trial,
                                       int64_t most, int64_t most_bytes)
{
    struct metadata_list list = {0};
    const struct metadata_attributes wanted = {1, trial, most, most_bytes};
    CHECK(db_metadata_attributes(c->db, c->arena, &wanted, &list, NULL) ==
          HT_OK);
    return list;
}

static void user_attributes_are_those_of_optuna_by_name(struct db_case *c)
{
    static const char *const keys[] = {"user:b", "system:a", "user:a:b",
                                       "user",   "users:c",  "user:"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const struct metadata_row row = {
            .trial = 1, .ns = "optuna", .key = keys[i], .value = "\303\244"};
        CHECK(db_metadata_set(c->db, 1, &row, NULL) == HT_OK);
    }
    set(c->db, 1, "user:mine", "1");
    const struct metadata_list all = attributes(c, 1, 9, 2);
    CHECK(all.n == 3);
    CHECK(attributes(c, 0, 9, 2).n == 0);
    CHECK(attributes(c, 1, 2, 2).n == 2);
    const struct metadata_list short_ones = attributes(c, 1, 9, 1);
    CHECK(short_ones.n == 3);
    if (all.n != 3 || short_ones.n != 3)
        return;
    CHECK_TEXT(all.rows[0].key, "");
    CHECK_TEXT(all.rows[1].key, "a:b");
    CHECK_TEXT(all.rows[2].key, "b");
    CHECK_TEXT(all.rows[2].value, "\303\244");
    CHECK(short_ones.rows[2].value == NULL); /* its bytes count */
}

int main(void)
{
    RUN_ON_DB(a_text_is_named_by_trial_namespace_and_key);
    RUN_ON_DB(a_text_that_is_written_again_gets_a_higher_version);
    RUN_ON_DB(a_reader_follows_by_version_page_by_page);
    RUN_ON_DB(a_study_that_does_not_exist_keeps_nothing);
    RUN_ON_DB(user_attributes_are_those_of_optuna_by_name);
    return check_done();
}
