/* Names of Google's fields in both spellings. */
#include "tuner/ask/field_name.h"

#include "tests/check.h"

static bool is(const char *text, const char *name)
{
    return field_name_is(text, strlen(text), name, strlen(name));
}

static void both_spellings_name_a_field(void)
{
    CHECK(is("displayName", "displayName"));
    CHECK(is("display_name", "displayName"));
    CHECK(is("max_trial_count", "maxTrialCount"));
    CHECK(is("state", "state"));
}

static void a_spelling_of_another_kind_names_none(void)
{
    CHECK(!is("displayname", "displayName"));
    CHECK(!is("Display_Name", "displayName"));
    CHECK(!is("display__name", "displayName"));
    CHECK(!is("display_", "display"));
    CHECK(!is("display", "displayName"));
    CHECK(!is("displayNames", "displayName"));
}

static void a_name_is_found_at_the_start_of_a_text(void)
{
    CHECK(field_name_match("display_name=a", "displayName") == 12);
    CHECK(field_name_match("displayName=a", "displayName") == 11);
    CHECK(field_name_match("state", "displayName") == 0);
    CHECK(field_name_match("", "state") == 0);
}

int main(void)
{
    RUN(both_spellings_name_a_field);
    RUN(a_spelling_of_another_kind_names_none);
    RUN(a_name_is_found_at_the_start_of_a_text);
    return check_done();
}
