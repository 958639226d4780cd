#include "tuner/base/backup_board.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/arena.h"
#include "proto/base/clock.h"
#include "proto/doc/json.h"

struct backup_board {
    pthread_mutex_t lock; /* guards the rest */
    pthread_cond_t wake;
    bool woken;
    int64_t asked; /* requests, in all */
    int64_t taken; /* of them, by backup_board_wait() */
    char to[BACKUP_PATH_BYTES];
    struct backup_state state;
};

struct backup_board *backup_board_new(void)
{
    struct backup_board *board = ht_xcalloc(1, sizeof *board);
    pthread_mutex_init(&board->lock, NULL);
    clock_cond_init(&board->wake);
    return board;
}

void backup_board_free(struct backup_board *board)
{
    if (board == NULL)
        return;
    pthread_cond_destroy(&board->wake);
    pthread_mutex_destroy(&board->lock);
    free(board);
}

void backup_board_set(struct backup_board *board,
                      const struct backup_state *state)
{
    pthread_mutex_lock(&board->lock);
    board->state = *state;
    pthread_mutex_unlock(&board->lock);
}

struct backup_state *backup_board_get(struct backup_board *board)
{
    struct backup_state *state = ht_xcalloc(1, sizeof *state);
    if (board == NULL)
        return state;
    pthread_mutex_lock(&board->lock);
    *state = board->state;
    pthread_mutex_unlock(&board->lock);
    return state;
}

enum ht_status backup_board_ask(struct backup_board *board, const char *to,
                                int64_t *number, struct ht_error *err)
{
    if (board == NULL)
        return ht_fail(err, HT_UNIMPLEMENTED, "this server makes no backups");
    pthread_mutex_lock(&board->lock);
    const bool busy =
        board->asked > board->state.answered || board->state.making;
    if (!busy) {
        snprintf(board->to, sizeof board->to, "%s", to);
        *number = ++board->asked;
        pthread_cond_signal(&board->wake);
    }
    pthread_mutex_unlock(&board->lock);
    return busy ? ht_fail(err, HT_CONFLICT,
                          "a backup is being made; ask again when it is done")
                : HT_OK;
}

int64_t backup_board_wait(struct backup_board *board, int64_t wait_ms,
                          char to[BACKUP_PATH_BYTES])
{
    const struct timespec until = clock_in_ms(wait_ms);
    int64_t number = 0;
    pthread_mutex_lock(&board->lock);
    while (!board->woken && board->asked == board->taken)
        if (pthread_cond_timedwait(&board->wake, &board->lock, &until) != 0)
            break;
    if (!board->woken && board->asked > board->taken) {
        number = board->taken = board->asked;
        memcpy(to, board->to, BACKUP_PATH_BYTES);
    }
    pthread_mutex_unlock(&board->lock);
    return number;
}

void backup_board_wake(struct backup_board *board)
{
    pthread_mutex_lock(&board->lock);
    board->woken = true;
    pthread_cond_signal(&board->wake);
    pthread_mutex_unlock(&board->lock);
}

void backup_board_write(struct backup_board *board, cJSON *object)
{
    struct backup_state *state = backup_board_get(board);
    cJSON *backups = json_add_object(object, "backups");
    json_add_string(backups, "folder", state->folder);
    json_add_int(backups, "everyMs", state->every_ms);
    json_add_bool(backups, "making", state->making);
    if (state->made_ms > 0)
        json_add_int(backups, "madeMs", state->made_ms);
    if (state->made[0] != '\0') {
        json_add_string(backups, "made", state->made);
        json_add_int(backups, "bytes", state->bytes);
    }
    json_add_int(backups, "failures", state->failures);
    if (state->failures > 0) {
        json_add_int(backups, "lastErrorTimeMs", state->failed_ms);
        json_add_string(backups, "lastError", state->why);
    }
    json_add_int(backups, "answered", state->answered);
    if (state->answered > 0)
        json_add_string(backups, "answer", state->answer);
    free(state);
}
