#include "tuner/store/folder_name.h"

#include "tests/check.h"

static void is_called(const char *project, const char *want)
{
    char folder[FOLDER_NAME_BYTES], back[HT_MAX_NAME + 1] = "";
    CHECK(folder_name_make(project, folder, NULL) == HT_OK);
    CHECK_TEXT(folder, want);
    CHECK(folder_name_read(folder, back));
    CHECK_TEXT(back, project);
}

static void a_plain_name_is_its_own_and_others_are_digits(void)
{
    is_called("local", "local");
    is_called("a-b_2", "a-b_2");
    is_called(".", "=2e");
    is_called("..", "=2e2e");
    is_called("A", "=41");
    is_called("=41", "=3d3431");
    is_called("\xc3\xa9", "=c3a9");
}

static void no_folder_has_two_names(void)
{
    char project[HT_MAX_NAME + 1];
    static const char *const none[] = {"",      ".",    "..",  "=",
                                       "=6",    "=6c6", "=4A", "=61",
                                       "=zz41", "A",    "a b", "=00"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        CHECK(!folder_name_read(none[i], project));
}

static void a_name_that_does_not_fit_is_refused(void)
{
    char name[HT_MAX_NAME + 1], folder[FOLDER_NAME_BYTES];
    memset(name, 'X', sizeof name);
    name[HT_MAX_NAME] = '\0';
    CHECK(folder_name_make(name, folder, NULL) == HT_INVALID);
    CHECK(folder_name_make("", folder, NULL) == HT_INVALID);
    name[FOLDER_MOST_PROJECT] = '\0';
    CHECK(folder_name_make(name, folder, NULL) == HT_OK);
    CHECK(strlen(folder) == 255);
}

int main(void)
{
    RUN(a_plain_name_is_its_own_and_others_are_digits);
    RUN(no_folder_has_two_names);
    RUN(a_name_that_does_not_fit_is_refused);
    return check_done();
}
