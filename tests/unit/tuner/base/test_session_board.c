#include "tuner/base/session_board.h"

#include "tests/check.h"

static void has_what_was_added_and_nothing_else(void)
{
    struct session_board *board = session_board_new();
    for (int64_t id = 1; id <= 99; id += 2) {
        const struct left_session row = {(id * 37) % 101, 5000};
        CHECK(session_board_add(board, &row, 0));
        CHECK(session_board_add(board, &row, 0));
        CHECK(session_board_has(board, row.id));
    }
    for (int64_t id = 1; id <= 99; id += 2)
        CHECK(session_board_has(board, (id * 37) % 101));
    for (int64_t id = 2; id <= 99; id += 2)
        CHECK(!session_board_has(board, (id * 37) % 101));
    CHECK(!session_board_has(NULL, 1));
    session_board_free(board);
}

static void a_full_one_takes_more_when_some_have_ended(void)
{
    struct session_board *board = session_board_new();
    for (int64_t id = 1; id <= SESSIONS_LEFT_MOST; id++) {
        const struct left_session row = {id, id <= 10 ? 100 : 200};
        CHECK(session_board_add(board, &row, 0));
    }
    const struct left_session more = {SESSIONS_LEFT_MOST + 1, 200};
    CHECK(!session_board_add(board, &more, 100));
    CHECK(!session_board_has(board, more.id));
    CHECK(session_board_has(board, 1));
    CHECK(session_board_add(board, &more, 101));
    CHECK(session_board_has(board, more.id));
    CHECK(!session_board_has(board, 10) && session_board_has(board, 11));
    session_board_free(board);
}

int main(void)
{
    RUN(has_what_was_added_and_nothing_else);
    RUN(a_full_one_takes_more_when_some_have_ended);
    return check_done();
}
