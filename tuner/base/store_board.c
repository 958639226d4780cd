#include "tuner/base/store_board.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "proto/base/memory.h"

struct store_board {
    _Atomic int64_t bytes;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool held;
};

struct store_board *store_board_new(void)
{
    struct store_board *board = ht_xcalloc(1, sizeof *board);
    pthread_mutex_init(&board->lock, NULL);
    pthread_cond_init(&board->changed, NULL);
    return board;
}

void store_board_free(struct store_board *board)
{
    if (board == NULL)
        return;
    pthread_cond_destroy(&board->changed);
    pthread_mutex_destroy(&board->lock);
    free(board);
}

void store_board_add(struct store_board *board, int64_t bytes)
{
    atomic_fetch_add(&board->bytes, bytes);
}

int64_t store_board_bytes(const struct store_board *board)
{
    return atomic_load(&board->bytes);
}

void store_board_hold(struct store_board *board)
{
    pthread_mutex_lock(&board->lock);
    while (board->held)
        pthread_cond_wait(&board->changed, &board->lock);
    board->held = true;
    pthread_mutex_unlock(&board->lock);
}

bool store_board_try_hold(struct store_board *board)
{
    pthread_mutex_lock(&board->lock);
    const bool free = !board->held;
    board->held = true;
    pthread_mutex_unlock(&board->lock);
    return free;
}

void store_board_let_go(struct store_board *board)
{
    pthread_mutex_lock(&board->lock);
    board->held = false;
    pthread_cond_signal(&board->changed);
    pthread_mutex_unlock(&board->lock);
}
