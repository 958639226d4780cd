#include "tuner/base/session_board.h"

#include <pthread.h>
#include <stdlib.h>

#include "proto/base/arena.h"

/* By number. */
struct session_board {
    pthread_mutex_t lock;
    size_t n;
    struct left_session rows[SESSIONS_LEFT_MOST];
};

struct session_board *session_board_new(void)
{
    struct session_board *board = ht_xcalloc(1, sizeof *board);
    pthread_mutex_init(&board->lock, NULL);
    return board;
}

void session_board_free(struct session_board *board)
{
    if (board == NULL)
        return;
    pthread_mutex_destroy(&board->lock);
    free(board);
}

static void drop_old(struct session_board *board, int64_t now_s)
{
    size_t kept = 0;
    for (size_t i = 0; i < board->n; i++)
        if (board->rows[i].until_s >= now_s)
            board->rows[kept++] = board->rows[i];
    board->n = kept;
}

static int by_id(const void *a, const void *b)
{
    const struct left_session *first = a, *second = b;
    return (first->id > second->id) - (first->id < second->id);
}

static bool has(const struct session_board *board, int64_t id)
{
    const struct left_session wanted = {.id = id};
    return bsearch(&wanted, board->rows, board->n, sizeof *board->rows,
                   by_id) != NULL;
}

bool session_board_add(struct session_board *board,
                       const struct left_session *session, int64_t now_s)
{
    pthread_mutex_lock(&board->lock);
    drop_old(board, now_s);
    const bool is_there = has(board, session->id);
    const bool fits = is_there || board->n < SESSIONS_LEFT_MOST;
    if (fits && !is_there) {
        size_t at = board->n++;
        for (; at > 0 && board->rows[at - 1].id > session->id; at--)
            board->rows[at] = board->rows[at - 1];
        board->rows[at] = *session;
    }
    pthread_mutex_unlock(&board->lock);
    return fits;
}

bool session_board_has(struct session_board *board, int64_t id)
{
    if (board == NULL)
        return false;
    pthread_mutex_lock(&board->lock);
    const bool found = has(board, id);
    pthread_mutex_unlock(&board->lock);
    return found;
}
