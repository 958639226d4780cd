/* Requests in line. */
#include "tests/check.h"
#include "tuner/core/request.h"

enum { MOST = 6 };

static void push(struct request_queue *queue, struct request items[],
                 size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        request_queue_push(queue, &items[i]);
}

/* Pops all, which have to be these by their places; -1 ends them. */
static void drain(struct request_queue *queue, struct request items[],
                  const int places[])
{
    for (size_t i = 0; places[i] >= 0; i++) {
        struct request *req = request_queue_pop(queue);
        CHECK(req == &items[places[i]]);
        CHECK(req == NULL || req->next == NULL);
    }
    CHECK(request_queue_pop(queue) == NULL);
}

static void the_first_in_is_the_first_out(void)
{
    static const int want[] = {0, 1, 2, -1};
    struct request items[MOST] = {{0}};
    struct request_queue queue;
    request_queue_init(&queue);
    CHECK(request_queue_pop(&queue) == NULL);
    push(&queue, items, 0, 3);
    drain(&queue, items, want);
    push(&queue, items, 0, 3); /* also once it was empty */
    drain(&queue, items, want);
}

/* Each with 0 to 3 in either queue. */
static void one_queue_goes_before_or_behind_the_other(void)
{
    for (size_t n = 0; n < 16; n++) {
        struct request items[MOST] = {{0}};
        const size_t front = n / 4, back = n % 4;
        for (int prepends = 0; prepends < 2; prepends++) {
            struct request_queue a, b;
            int want[MOST + 1];
            request_queue_init(&a);
            request_queue_init(&b);
            push(&a, items, 0, front);
            push(&b, items, front, front + back);
            if (prepends)
                request_queue_prepend(&b, &a);
            else
                request_queue_append(&a, &b);
            CHECK(request_queue_pop(prepends ? &a : &b) == NULL);
            for (size_t i = 0; i < front + back; i++)
                want[i] = (int)i;
            want[front + back] = -1;
            drain(prepends ? &b : &a, items, want);
        }
    }
}

static void what_comes_after_a_move_is_behind_all(void)
{
    static const int want[] = {0, 1, 2, 3, -1}, other[] = {4, -1};
    struct request items[MOST] = {{0}};
    struct request_queue a, b;
    request_queue_init(&a);
    request_queue_init(&b);
    push(&a, items, 0, 2);
    push(&b, items, 2, 3);
    request_queue_append(&a, &b);
    push(&a, items, 3, 4);
    push(&b, items, 4, 5);
    drain(&a, items, want);
    drain(&b, items, other);
}

int main(void)
{
    RUN(the_first_in_is_the_first_out);
    RUN(one_queue_goes_before_or_behind_the_other);
    RUN(what_comes_after_a_move_is_behind_all);
    return check_done();
}
