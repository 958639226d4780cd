/* webhook_board.h - the webhooks that exist, and the state of their deliveries.
 *
 * The thread of webhooks writes it, any other reads. It has no addresses and no
 * keys. */
#ifndef HT_TUNER_BASE_WEBHOOK_BOARD_H
#define HT_TUNER_BASE_WEBHOOK_BOARD_H

#include <cjson/cJSON.h>

#include "proto/base/arena.h"
#include "proto/doc/diag.h"
#include "proto/job/job.h"

struct webhook_board;

/* What is known of one webhook; copied with its texts. */
struct webhook_row {
    const char *name;
    const char *studies; /* a pattern of names (* and ?) */
    unsigned on;         /* bits 1 << enum notify_event */
    int64_t pending;     /* deliveries that wait */
    int64_t given_up;    /* deliveries, in all */
    int64_t failures;    /* attempts in a row */
    int64_t taken_ms;    /* the last success, wall clock; 0: never */
    int64_t failed_ms;   /* the last failure; 0: never */
    const char *why;     /* it failed, or "" */
};
struct webhook_rows {
    size_t n;
    struct webhook_row *items;
    const char *complaint; /* why webhooks.json is not in force, or NULL */
};

/* No rows at first. Any thread may use a board, which has its own lock. */
struct webhook_board *webhook_board_new(void);
void webhook_board_free(struct webhook_board *board); /* accepts NULL */

/* Copies the rows to the board, and from the board into the arena. */
void webhook_board_set(struct webhook_board *board,
                       const struct webhook_rows *rows);
struct webhook_rows webhook_board_get(struct webhook_board *board,
                                      struct arena *arena);

/* Adds "webhooks", and "webhooksError" where there is a complaint. */
void webhook_board_write(struct webhook_board *board, struct arena *arena,
                         cJSON *object);

/* Checks `notify` of a job; `at` begins the paths, such as "hypertune." A
 * webhook that does not exist is an error; one that sends little or nothing of
 * this study a warning. A board of NULL has none. */
void webhook_board_check(struct webhook_board *board, const struct job *job,
                         const char *at, struct diag *errors,
                         struct diag *warnings);

#endif
