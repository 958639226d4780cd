/* Whose turn it is: owners, their studies, costs, and quick beside slow. */
#include <string.h>

#include "tests/check.h"
#include "tuner/core/fair_queue.h"

enum { ITEMS = 400 };

struct scene {
    struct fair_queue *queue;
    struct fair_item items[ITEMS];
    size_t n;
};

static void push(struct scene *scene, uint64_t owner, uint64_t study,
                 int64_t expected_us, bool slow)
{
    CHECK(scene->n < ITEMS);
    struct fair_item *item = &scene->items[scene->n++];
    *item = (struct fair_item){.owner = owner,
                               .study = study,
                               .expected_us = expected_us,
                               .slow = slow};
    fair_queue_push(scene->queue, item);
}

/* Pops one that costs so much; returns its owner and study as OOSS, 0: none. */
static int take(struct scene *scene, int64_t cost_us, bool slow)
{
    const struct fair_item *item = fair_queue_pop(scene->queue, slow);
    if (item == NULL)
        return 0;
    fair_queue_charge(scene->queue, item, cost_us);
    return (int)(item->owner * 100 + item->study);
}

static void run(void (*test)(struct scene *scene))
{
    static struct scene scene;
    memset(&scene, 0, sizeof scene);
    scene.queue = fair_queue_new();
    test(&scene);
    fair_queue_free(scene.queue);
}

static void one_study_has_the_order_of_coming(struct scene *scene)
{
    for (int i = 0; i < 5; i++)
        push(scene, 1, 1, 0, i % 2 == 0);
    CHECK(fair_queue_length(scene->queue) == 5);
    for (size_t i = 0; i < 5; i++)
        CHECK(fair_queue_pop(scene->queue, true) == &scene->items[i]);
    CHECK(fair_queue_pop(scene->queue, true) == NULL);
    CHECK(fair_queue_length(scene->queue) == 0);
}

/* Twenty long ones of one user delay one short one of another by one only. */
static void a_newcomer_waits_for_one_answer_at_most(struct scene *scene)
{
    for (int i = 0; i < 20; i++)
        push(scene, 1, 1, 0, false);
    for (int i = 0; i < 10; i++)
        CHECK(take(scene, 2000000, true) == 101);
    push(scene, 2, 7, 0, false);
    push(scene, 2, 7, 0, false);
    CHECK(take(scene, 1000, true) == 207);
    CHECK(take(scene, 1000, true) == 207);
    CHECK(take(scene, 1000, true) == 101);
}

static void cost_decides_not_the_number(struct scene *scene)
{
    int of_cheap = 0;
    for (int i = 0; i < 100; i++) {
        push(scene, 1, 1, 0, false);
        push(scene, 2, 1, 0, false);
    }
    for (int i = 0; i < 110; i++) {
        const struct fair_item *item = fair_queue_pop(scene->queue, true);
        const bool cheap = item->owner == 2;
        fair_queue_charge(scene->queue, item, cheap ? 1000 : 10000);
        of_cheap += cheap;
    }
    CHECK(of_cheap >= 99 && of_cheap <= 100);
}

/* Many studies give an owner no larger share. */
static void owners_come_before_their_studies(struct scene *scene)
{
    int of_one = 0;
    for (uint64_t study = 1; study <= 50; study++)
        push(scene, 1, study, 0, false);
    for (int i = 0; i < 10; i++)
        push(scene, 2, 1, 0, false);
    for (int i = 0; i < 20; i++)
        of_one += take(scene, 1000, true) / 100 == 1;
    CHECK(of_one >= 9 && of_one <= 11);
}

static void studies_of_one_owner_alternate(struct scene *scene)
{
    for (int i = 0; i < 10; i++)
        push(scene, 1, 1, 0, false);
    push(scene, 1, 2, 0, false);
    CHECK(take(scene, 5000, true) == 101);
    CHECK(take(scene, 10, true) == 102);
    CHECK(take(scene, 5000, true) == 101);
}

/* What nobody else waited for is no debt, and idle time no credit. */
static void the_past_counts_neither_way(struct scene *scene)
{
    for (int i = 0; i < 50; i++) {
        push(scene, 1, 1, 0, false);
        take(scene, 1000000, true);
    }
    for (int i = 0; i < 20; i++) {
        push(scene, 1, 1, 0, false);
        push(scene, 2, 1, 0, false);
    }
    int of_two = 0;
    for (int i = 0; i < 20; i++)
        of_two += take(scene, 1000000, true) / 100 == 2;
    CHECK(of_two >= 9 && of_two <= 11);
}

/* Work that has begun counts before it is over. */
static void what_runs_counts_as_expected(struct scene *scene)
{
    push(scene, 1, 1, 900, false);
    push(scene, 1, 1, 900, false);
    push(scene, 2, 1, 900, false);
    CHECK(fair_queue_pop(scene->queue, true) == &scene->items[0]);
    CHECK(fair_queue_pop(scene->queue, true) == &scene->items[2]);
    CHECK(fair_queue_pop(scene->queue, true) == &scene->items[1]);
}

static void quick_ones_pass_where_slow_ones_must_wait(struct scene *scene)
{
    push(scene, 1, 1, 0, true);
    push(scene, 1, 2, 0, true);
    push(scene, 1, 1, 0, false);
    CHECK(fair_queue_slow_of(scene->queue, 1) == 2);
    CHECK(fair_queue_slow_of(scene->queue, 2) == 0);
    CHECK(fair_queue_pop(scene->queue, false) == &scene->items[2]);
    CHECK(fair_queue_pop(scene->queue, false) == NULL);
    CHECK(fair_queue_pop(scene->queue, true) == &scene->items[1]);
    CHECK(fair_queue_slow_of(scene->queue, 1) == 1);
}

static bool is_item(const struct fair_item *item, const void *wanted)
{
    return item == wanted;
}

/* More owners than are remembered: none is lost. */
static void many_owners_come_and_go(struct scene *scene)
{
    for (int round = 0; round < 2; round++) {
        for (uint64_t i = 0; i < 100; i++)
            push(scene, i, i % 7, 0, false);
        CHECK(fair_queue_has(scene->queue, 99, 1, is_item,
                             &scene->items[scene->n - 1]));
        CHECK(!fair_queue_has(scene->queue, 98, 1, is_item,
                              &scene->items[scene->n - 1]));
        bool seen[100] = {false};
        const struct fair_item *item;
        while ((item = fair_queue_pop(scene->queue, true)) != NULL) {
            CHECK(!seen[item->owner]);
            seen[item->owner] = true;
            fair_queue_charge(scene->queue, item, 50);
        }
        for (size_t i = 0; i < 100; i++)
            CHECK(seen[i]);
    }
}

static void names_have_keys(struct scene *scene)
{
    (void)scene;
    CHECK(fair_key("ann") == fair_key("ann"));
    CHECK(fair_key("ann") != fair_key("bob"));
    CHECK(fair_key(NULL) == fair_key(""));
}

#define RUN_SCENE(test) RUN_CALL(test, run(test))

int main(void)
{
    RUN_SCENE(one_study_has_the_order_of_coming);
    RUN_SCENE(a_newcomer_waits_for_one_answer_at_most);
    RUN_SCENE(cost_decides_not_the_number);
    RUN_SCENE(owners_come_before_their_studies);
    RUN_SCENE(studies_of_one_owner_alternate);
    RUN_SCENE(the_past_counts_neither_way);
    RUN_SCENE(what_runs_counts_as_expected);
    RUN_SCENE(quick_ones_pass_where_slow_ones_must_wait);
    RUN_SCENE(many_owners_come_and_go);
    RUN_SCENE(names_have_keys);
    return check_done();
}
