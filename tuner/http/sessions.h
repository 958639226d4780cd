/* sessions.h - browsers that are logged in, and the links for logging in.
 *
 * A browser's cookie contains its roles and their end, signed with a key made
 * from the admin token. So nothing is stored, it is valid after a restart of
 * the server, and a new token ends every session. A link carries a code that
 * works once. One thread at a time. */
#ifndef HT_TUNER_HTTP_SESSIONS_H
#define HT_TUNER_HTTP_SESSIONS_H

#include <stdbool.h>
#include <stdint.h>

/* Before the cookie's name where it came by https: then a browser takes it by
 * https alone, from no other host and for no other. */
#define SESSION_SECURE_PREFIX "__Host-"

struct sessions;

enum {
    SESSION_CODE_MS = 10 * 60 * 1000, /* a link works so long, once */
    SESSION_SECONDS = 30 * 24 * 3600, /* of a cookie */
    SESSION_CODE_BYTES = 33,          /* with the NUL, as all of these */
    SESSION_NAME_BYTES = 24,
    SESSION_COOKIE_BYTES = 96
};

/* `secret`, the admin token, is not kept: only a key made of it is. */
struct sessions *sessions_new(const char *secret);
void sessions_free(struct sessions *sessions); /* accepts NULL */

/* Name of the cookie. Browsers keep cookies by host, whatever the port, so two
 * servers of one host need different names. */
const char *sessions_name(const struct sessions *sessions);

/* A code for one login with these roles. Times are monotonic. Of many unused
 * links only the newest few work. */
void sessions_invite(struct sessions *sessions, unsigned roles, int64_t now_ms,
                     char code[SESSION_CODE_BYTES]);
/* Uses the code up. False: wrong, used or too old. */
bool sessions_redeem(struct sessions *sessions, const char *code,
                     int64_t now_ms, unsigned *roles);

/* A cookie's value with these roles; times are wall clock in seconds. */
void sessions_seal(const struct sessions *sessions, unsigned roles,
                   int64_t now_s, char cookie[SESSION_COOKIE_BYTES]);
/* The roles of a cookie's value; 0 when it is not ours or too old. */
unsigned sessions_open(const struct sessions *sessions, const char *cookie,
                       int64_t now_s);

#endif
