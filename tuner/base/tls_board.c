#include "tuner/base/tls_board.h"

#include <pthread.h>
#include <stdlib.h>

#include "proto/base/arena.h"

struct tls_board {
    pthread_mutex_t lock;
    struct tls_state state;
};

struct tls_board *tls_board_new(void)
{
    struct tls_board *board = ht_xcalloc(1, sizeof *board);
    pthread_mutex_init(&board->lock, NULL);
    return board;
}

void tls_board_free(struct tls_board *board)
{
    if (board == NULL)
        return;
    pthread_mutex_destroy(&board->lock);
    free(board);
}

void tls_board_set(struct tls_board *board, const struct tls_state *state)
{
    pthread_mutex_lock(&board->lock);
    board->state = *state;
    pthread_mutex_unlock(&board->lock);
}

void tls_board_get(struct tls_board *board, struct tls_state *state)
{
    pthread_mutex_lock(&board->lock);
    *state = board->state;
    pthread_mutex_unlock(&board->lock);
}
