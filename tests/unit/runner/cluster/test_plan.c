#include "tests/check.h"

#include <stdio.h>

#include "proto/base/arena.h"
#include "proto/base/text.h"
#include "runner/cluster/plan.h"

enum { MOST = 64, NOW = 100000 };

/* Slots are written as a text: '.' gone, 'w' waits, 'b' busy, 'a' asks. */
struct case_batch {
    int64_t study;
    const char *need, *slots;
    bool unknown;
};

static enum plan_slot slots[8][MOST];
static struct plan_batch batches[8];

static void read_batch(size_t i, const struct case_batch *from)
{
    static const char letters[] = ".wba";
    const int n = (int)strlen(from->slots);
    for (int k = 0; k < n; k++)
        slots[i][k] =
            (enum plan_slot)(strchr(letters, from->slots[k]) - letters);
    batches[i] = (struct plan_batch){.study = from->study,
                                     .need = from->need,
                                     .known = !from->unknown,
                                     .n = n,
                                     .slots = slots[i]};
}

/* The steps as a text: "submit 1x5", "cancel 0:2-4", "end 0:1". */
static const char *plan(struct arena *arena, struct plan_study *studies,
                        size_t n_studies, const struct case_batch *from,
                        size_t n_batches, int most_array, int64_t most_slots)
{
    struct text out = {0};
    for (size_t i = 0; i < n_batches; i++)
        read_batch(i, &from[i]);
    const struct plan_fleet fleet = {.n_studies = n_studies,
                                     .n_batches = n_batches,
                                     .studies = studies,
                                     .batches = batches,
                                     .most_slots = most_slots,
                                     .most_array = most_array};
    size_t n;
    const struct plan_step *steps = plan_make(arena, &fleet, NOW, &n);
    for (size_t i = 0; i < n; i++) {
        const struct plan_step *step = &steps[i];
        if (i > 0)
            text_puts(&out, ", ");
        if (step->kind == PLAN_SUBMIT)
            text_printf(&out, "submit %zux%d", step->of, step->last);
        else
            text_printf(&out, "%s %zu:%d-%d",
                        step->kind == PLAN_CANCEL ? "cancel" : "end", step->of,
                        step->first, step->last);
    }
    return text_take(&out, arena);
}

#define STUDY(number, slots_wanted, hash)                                      \
    {                                                                          \
        .study = (number), .wanted = (slots_wanted), .need = (hash),           \
        .surplus_at = 1                                                        \
    }

static void a_study_of_one_batch_gets_what_it_wants_and_no_more(void)
{
    static const struct {
        int64_t wanted;
        struct case_batch batch;
        int most_array;
        const char *steps;
    } cases[] = {
        {4, {7, "n", "", false}, 0, "submit 0x4"},
        {4, {7, "n", "....", false}, 0, "submit 0x4"},
        {4, {7, "n", "ww", false}, 0, "submit 0x2"},
        {4, {7, "n", "wb.a", false}, 0, "submit 0x1"},
        {4, {7, "n", "wbba", false}, 0, ""},
        {4, {7, "n", "ww", true}, 0, ""}, /* one submission at a time */
        {4, {7, "n", "", false}, 3, "submit 0x3"},
        {2, {7, "n", "bbww", false}, 0, "cancel 0:2-3"},
        {3, {7, "n", "bbww", false}, 0, "cancel 0:3-3"},
        {1,
         {7, "n", "wbwaw", false},
         0,
         "cancel 0:4-4, cancel 0:2-2, cancel 0:0-0, end 0:3-3"},
        {0, {7, "n", "bb", false}, 0, ""}, /* a trial is not ended */
        {0, {7, "n", "ba", false}, 0, "end 0:1-1"},
        {0, {7, "n", "ww", true}, 0, ""},
        {2,
         {7, "old", "wab.", false},
         0,
         "cancel 0:0-0, end 0:1-1, submit 0x1"},
    };
    struct arena *arena = arena_new();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct plan_study study = STUDY(7, cases[i].wanted, "n");
        CHECK_TEXT(plan(arena, &study, 1, &cases[i].batch, 1,
                        cases[i].most_array, 100),
                   cases[i].steps);
    }
    arena_free(arena);
}

static void surplus_must_last(void)
{
    struct arena *arena = arena_new();
    const struct case_batch batch = {7, "n", "ww", false};
    struct plan_study study = {.study = 7, .wanted = 1, .need = "n"};
    CHECK_TEXT(plan(arena, &study, 1, &batch, 1, 0, 100), "");
    CHECK(study.surplus_at == NOW);
    study.surplus_at = NOW - PLAN_SURPLUS_MS;
    CHECK_TEXT(plan(arena, &study, 1, &batch, 1, 0, 100), "cancel 0:1-1");
    study.wanted = 2;
    CHECK_TEXT(plan(arena, &study, 1, &batch, 1, 0, 100), "");
    CHECK(study.surplus_at == 0);
    arena_free(arena);
}

static void refused_studies_wait_and_then_ask_for_less(void)
{
    struct arena *arena = arena_new();
    struct plan_study study = {
        .study = 7, .wanted = 8, .need = "n", .try_at = NOW + 1, .most = 2};
    CHECK_TEXT(plan(arena, &study, 1, NULL, 0, 0, 100), "");
    study.try_at = NOW;
    CHECK_TEXT(plan(arena, &study, 1, NULL, 0, 0, 100), "submit 0x2");
    arena_free(arena);
}

static void all_studies_together_keep_to_the_runners_slots(void)
{
    struct arena *arena = arena_new();
    const struct case_batch two[] = {{7, "n", "bb", false},
                                     {8, "m", "w.", false}};
    struct plan_study studies[] = {STUDY(7, 4, "n"), STUDY(8, 4, "m")};
    CHECK_TEXT(plan(arena, studies, 2, two, 2, 0, 6), "submit 0x2, submit 1x1");
    CHECK_TEXT(plan(arena, studies, 2, two, 2, 0, 3), "");
    arena_free(arena);
}

/* After a restart, before the server has said what is wanted. */
static void a_study_without_a_need_keeps_its_slots_for_a_moment(void)
{
    struct arena *arena = arena_new();
    const struct case_batch batch = {7, "n", "wab", false};
    struct plan_study study = {.study = 7};
    CHECK_TEXT(plan(arena, &study, 1, &batch, 1, 0, 100), "");
    study.surplus_at = NOW - PLAN_SURPLUS_MS;
    CHECK_TEXT(plan(arena, &study, 1, &batch, 1, 0, 100),
               "cancel 0:0-0, end 0:1-1");
    arena_free(arena);
}

static void many_slots_cost_few_batches(void)
{
    struct arena *arena = arena_new();
    struct plan_study study = STUDY(7, 1000, "n");
    struct case_batch made[8];
    char all[MOST + 1];
    size_t n = 0;
    memset(all, 'w', MOST);
    all[MOST] = '\0';
    study.wanted = 4 * MOST;
    while (n < 8 &&
           strcmp(plan(arena, &study, 1, made, n, MOST, 1000), "") != 0)
        made[n++] = (struct case_batch){7, "n", all, false};
    CHECK(n == 4);
    arena_free(arena);
}

int main(void)
{
    RUN(a_study_of_one_batch_gets_what_it_wants_and_no_more);
    RUN(surplus_must_last);
    RUN(refused_studies_wait_and_then_ask_for_less);
    RUN(all_studies_together_keep_to_the_runners_slots);
    RUN(a_study_without_a_need_keeps_its_slots_for_a_moment);
    RUN(many_slots_cost_few_batches);
    return check_done();
}
