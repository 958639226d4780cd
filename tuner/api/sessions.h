/* sessions.h - sessions of browsers that are left before their end. */
#ifndef HT_TUNER_API_SESSIONS_H
#define HT_TUNER_API_SESSIONS_H

#include "tuner/core/request.h"

/* Puts all of the database on the board; at the start. */
enum ht_status session_recover(struct core *core, struct ht_error *err);

/* Ends req->session.
 * HT_LIMIT  SESSIONS_LEFT_MOST others were left and have not ended yet */
request_handler session_leave;

#endif
