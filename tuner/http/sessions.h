/* sessions.h - browsers that are logged in, and the links for logging in.
 *
 * A browser's cookie contains a number of its own, its end and the SHA-256 of
 * the token that opened it, signed with a key made from the admin token. So it
 * opens what that token opens at the moment, and nothing once the token is
 * revoked, expired or replaced; it is valid after a restart of the server, and
 * a new admin token ends every session. Only a session that was left before its
 * end is stored, see session_board.h. A link carries a code that works once.
 * One thread at a time. */
#ifndef HT_TUNER_HTTP_SESSIONS_H
#define HT_TUNER_HTTP_SESSIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/token.h"

/* Before the cookie's name where it came by https: then a browser takes it by
 * https alone, from no other host and for no other. */
#define SESSION_SECURE_PREFIX "__Host-"

struct sessions;
struct session_board;

enum {
    SESSION_CODE_MS = 10 * 60 * 1000, /* a link works so long, once */
    SESSION_SECONDS = 30 * 24 * 3600, /* of a cookie */
    SESSION_CODE_BYTES = 33,          /* with the NUL, as all of these */
    SESSION_NAME_BYTES = 24,
    SESSION_COOKIE_BYTES = 192
};

/* What a cookie says. */
struct session {
    int64_t id; /* > 0 */
    int64_t until_s;
    unsigned char token[TOKEN_HASH_BYTES]; /* SHA-256 of what opened it */
};

/* `secret`, the admin token, is not kept: only a key made of it is. The board
 * is borrowed; NULL: no session was left. */
struct sessions *sessions_new(const char *secret, struct session_board *left);
void sessions_free(struct sessions *sessions); /* accepts NULL */

/* Name of the cookie. Browsers keep cookies by host, whatever the port, so two
 * servers of one host need different names. */
const char *sessions_name(const struct sessions *sessions);

/* A code for one login by that token. Times are monotonic. Of many unused links
 * only the newest few work. */
void sessions_invite(struct sessions *sessions,
                     const unsigned char token[TOKEN_HASH_BYTES],
                     int64_t now_ms, char code[SESSION_CODE_BYTES]);
/* Uses the code up. False: wrong, used or too old. */
bool sessions_redeem(struct sessions *sessions, const char *code,
                     int64_t now_ms, unsigned char token[TOKEN_HASH_BYTES]);

/* The cookie of a new session; times are wall clock in seconds. */
void sessions_seal(const struct sessions *sessions,
                   const unsigned char token[TOKEN_HASH_BYTES], int64_t now_s,
                   char cookie[SESSION_COOKIE_BYTES]);
/* False: the cookie is not ours, too old, or its session was left. */
bool sessions_open(const struct sessions *sessions, const char *cookie,
                   int64_t now_s, struct session *session);

#endif
