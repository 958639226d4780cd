/* store_board.h - how much the store (tuner/store) has, and the right to remove
 * from it, which a backup takes away while it copies. Any thread. */
#ifndef HT_TUNER_BASE_STORE_BOARD_H
#define HT_TUNER_BASE_STORE_BOARD_H

#include <stdbool.h>
#include <stdint.h>

struct store_board;

struct store_board *store_board_new(void);
void store_board_free(struct store_board *board); /* accepts NULL */

/* Bytes of all projects' files, as far as they have been counted. */
void store_board_add(struct store_board *board, int64_t bytes);
int64_t store_board_bytes(const struct store_board *board);

/* Until store_board_let_go() nothing is removed; waits for who removes. */
void store_board_hold(struct store_board *board);
/* The same at once; false: another one has it. */
bool store_board_try_hold(struct store_board *board);
void store_board_let_go(struct store_board *board);

#endif
