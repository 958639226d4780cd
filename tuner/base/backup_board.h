/* backup_board.h - the state of the server's backups, and requests for one at
 * once.
 *
 * The thread of backups writes it, any other reads and asks. */
#ifndef HT_TUNER_BASE_BACKUP_BOARD_H
#define HT_TUNER_BASE_BACKUP_BOARD_H

#include <stdbool.h>
#include <stdint.h>

#include <cjson/cJSON.h>

#include "proto/base/error.h"

struct backup_board;

enum { BACKUP_PATH_BYTES = 4096, BACKUP_WHY_BYTES = 256 };

/* Paths are absolute. */
struct backup_state {
    int64_t every_ms;               /* between scheduled ones; 0: there are
                                       none */
    char folder[BACKUP_PATH_BYTES]; /* where they appear */
    bool making;
    /* the newest one */
    char made[BACKUP_PATH_BYTES]; /* "": none since the start */
    int64_t made_ms;              /* wall clock, as all others; 0: never */
    int64_t bytes;
    /* in a row, scheduled or asked for */
    int64_t failures;
    int64_t failed_ms;
    char why[BACKUP_WHY_BYTES];
    /* requests, which have numbers from 1 */
    int64_t answered;               /* the newest one that is done */
    char answer[BACKUP_PATH_BYTES]; /* what it made; "": it failed, see why */
};

struct backup_board *backup_board_new(void);
void backup_board_free(struct backup_board *board); /* accepts NULL */

void backup_board_set(struct backup_board *board,
                      const struct backup_state *state);
/* The caller frees *state, which is large, with free(). A board of NULL knows
 * of none. */
struct backup_state *backup_board_get(struct backup_board *board);

/* Asks for a backup in the folder `to` ("": where scheduled ones appear);
 * *number of the request.
 * HT_CONFLICT       one is being made or waits already
 * HT_UNIMPLEMENTED  the board is NULL */
enum ht_status backup_board_ask(struct backup_board *board, const char *to,
                                int64_t *number, struct ht_error *err);
/* For the one thread that makes them: waits until one is asked for, that long,
 * or until backup_board_wake(). Returns the number of the request, 0: none. */
int64_t backup_board_wait(struct backup_board *board, int64_t wait_ms,
                          char to[BACKUP_PATH_BYTES]);
void backup_board_wake(struct backup_board *board);

/* Adds the member "backups", for GET /hypertune/v1/server. */
void backup_board_write(struct backup_board *board, cJSON *object);

#endif
