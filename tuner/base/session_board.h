/* session_board.h - the sessions of browsers that were left before their end.
 *
 * The core adds to it after each COMMIT; the HTTP thread asks it for every
 * request with a cookie. */
#ifndef HT_TUNER_BASE_SESSION_BOARD_H
#define HT_TUNER_BASE_SESSION_BOARD_H

#include <stdbool.h>
#include <stdint.h>

enum { SESSIONS_LEFT_MOST = 10000 };

/* A session by its number, and when its cookie ends anyway. */
struct left_session {
    int64_t id, until_s; /* wall clock */
};

struct session_board;

/* Empty at first. Any thread may use a board, which has its own lock. */
struct session_board *session_board_new(void);
void session_board_free(struct session_board *board); /* accepts NULL */

/* Adds one and removes those whose end is before `now_s`. False: there are
 * SESSIONS_LEFT_MOST others. */
bool session_board_add(struct session_board *board,
                       const struct left_session *session, int64_t now_s);
/* A board of NULL has none. */
bool session_board_has(struct session_board *board, int64_t id);

#endif
