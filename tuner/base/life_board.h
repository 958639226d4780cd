/* life_board.h - when each running attempt last gave a sign of life: a report,
 * or something that it printed.
 *
 * The core follows attempts and looks at the due ones; log data, which
 * never pass through the core, are noted by the thread that receives them. */
#ifndef HT_TUNER_BASE_LIFE_BOARD_H
#define HT_TUNER_BASE_LIFE_BOARD_H

#include <stdbool.h>
#include <stdint.h>

struct life_board;

/* An attempt on the board; times are monotonic ms. */
struct life {
    int64_t study, trial, attempt;
    int64_t heard_ms; /* its last sign of life */
    int64_t due_ms;   /* the core looks again then */
    bool silent;      /* a sign of life makes it due at once */
};

/* Any thread may use a board, which has its own lock. */
struct life_board *life_board_new(void);
void life_board_free(struct life_board *board); /* accepts NULL */

/* Begins to follow an attempt in place of an earlier one of its trial, or
 * changes when it is due and whether it is silent. */
void life_board_set(struct life_board *board, const struct life *life);
/* Without such an attempt nothing happens, here and below. */
void life_board_drop(struct life_board *board, int64_t study, int64_t trial);
/* A sign of life of the attempt. */
void life_board_note(struct life_board *board, int64_t study, int64_t trial,
                     int64_t attempt, int64_t now_ms);

/* Any attempt that is due; false: there is none. */
bool life_board_due(struct life_board *board, int64_t now_ms,
                    struct life *life);
/* When the first one is due; INT64_MAX without any. */
int64_t life_board_deadline(struct life_board *board);

#endif
