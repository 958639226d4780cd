/* The board of signs of life: who is due, and what a note changes. */
#include "tuner/base/life_board.h"

#include "tests/check.h"

static const struct life early = {1, 1, 1, .heard_ms = 10, .due_ms = 50};
static const struct life late = {1, 2, 1, .heard_ms = 10, .due_ms = 90};

static void the_first_that_is_due_comes_first(void)
{
    struct life_board *board = life_board_new();
    struct life life;
    CHECK(life_board_deadline(board) == INT64_MAX);
    CHECK(!life_board_due(board, INT64_MAX, &life));
    life_board_set(board, &late);
    life_board_set(board, &early);
    CHECK(life_board_deadline(board) == 50);
    CHECK(!life_board_due(board, 49, &life));
    CHECK(life_board_due(board, 95, &life) && life.trial == 1);
    life_board_drop(board, 1, 1);
    CHECK(life_board_due(board, 95, &life) && life.trial == 2);
    life_board_drop(board, 1, 9);
    life_board_free(board);
}

static void a_note_is_of_its_attempt_alone(void)
{
    struct life_board *board = life_board_new();
    struct life life;
    life_board_set(board, &early);
    life_board_note(board, 1, 1, 2, 40);
    life_board_note(board, 1, 2, 1, 40);
    CHECK(life_board_due(board, 50, &life) && life.heard_ms == 10);
    life_board_note(board, 1, 1, 1, 40);
    CHECK(life_board_due(board, 50, &life) && life.heard_ms == 40);
    life_board_free(board);
}

static void a_silent_one_is_due_with_its_next_note(void)
{
    struct life_board *board = life_board_new();
    struct life life = early;
    life.silent = true;
    life_board_set(board, &life);
    CHECK(!life_board_due(board, 20, &life));
    life_board_note(board, 1, 1, 1, 20);
    CHECK(life_board_due(board, 20, &life) && life.heard_ms == 20);
    life_board_free(board);
}

/* It was heard between the core's look and what the core made of it. */
static void what_was_heard_meanwhile_counts(void)
{
    struct life_board *board = life_board_new();
    struct life life = early;
    life_board_set(board, &early);
    life_board_note(board, 1, 1, 1, 40);
    life.silent = true;
    life_board_set(board, &life);
    CHECK(life_board_due(board, 45, &life) && life.heard_ms == 40);
    life = early;
    life.attempt = 2;
    life_board_set(board, &life);
    CHECK(life_board_due(board, 60, &life) && life.heard_ms == 10);
    life_board_free(board);
}

int main(void)
{
    RUN(the_first_that_is_due_comes_first);
    RUN(a_note_is_of_its_attempt_alone);
    RUN(a_silent_one_is_due_with_its_next_note);
    RUN(what_was_heard_meanwhile_counts);
    return check_done();
}
