/* What one peer, principal, study or attempt may take. */
#include "tuner/base/budget.h"

#include <string.h>

#include "tests/check.h"

static void a_list_changes_values_or_nothing(void)
{
    CHECK(budget_of(BUDGET_HELD) == 512);
    CHECK(budget_set("held=7,half-open=3", NULL) == HT_OK);
    CHECK(budget_of(BUDGET_HELD) == 7 && budget_of(BUDGET_HALF_OPEN) == 3);
    CHECK(budget_set("half-open=5,held=0", NULL) == HT_INVALID);
    CHECK(budget_of(BUDGET_HALF_OPEN) == 3);
}

static void a_wrong_item_is_named(void)
{
    static const struct {
        const char *list, *named;
    } wrong[] = {{"hled=7", "\"hled=7\""},
                 {"held", "\"held\""},
                 {"held=", "held must be from 1 to 100000"},
                 {"held=7x", "held must be from 1 to 100000"},
                 {"held=-1", "held must be from 1 to 100000"},
                 {"held=100001", "held must be from 1 to 100000"},
                 {"held=0000000000000000000000007", "held must be"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct ht_error err = {0};
        CHECK(budget_set(wrong[i].list, &err) == HT_INVALID);
        CHECK(strstr(err.text, wrong[i].named) != NULL);
    }
}

static void every_row_is_whole(void)
{
    for (int i = 0; i < BUDGETS; i++) {
        const struct budget_row *row = &budget_table[i];
        CHECK(row->name != NULL && row->whose != NULL && row->meaning != NULL);
        CHECK(row->least <= row->standard && row->standard <= row->most);
    }
}

static void what_was_exceeded_is_counted(void)
{
    struct text out = {0};
    budget_exceeded(BUDGET_QUESTIONS);
    budget_exceeded(BUDGET_QUESTIONS);
    budget_write(&out);
    CHECK(strstr(out.data, "hypertune_budget_exceeded_total{"
                           "budget=\"questions\"} 2\n") != NULL);
    CHECK(strstr(out.data, "hypertune_budget{budget=\"questions\"} "
                           "64\n") != NULL);
    text_free(&out);
}

int main(void)
{
    RUN(a_list_changes_values_or_nothing);
    RUN(a_wrong_item_is_named);
    RUN(every_row_is_whole);
    RUN(what_was_exceeded_is_counted);
    return check_done();
}
