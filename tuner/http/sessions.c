#include "tuner/http/sessions.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/arena.h"
#include "proto/base/token.h"
#include "tuner/base/session_board.h"

enum { INVITATIONS = 32, CODE_BYTES = 16 };

struct invitation {
    unsigned char hash[TOKEN_HASH_BYTES];  /* of its code */
    unsigned char token[TOKEN_HASH_BYTES]; /* of its maker */
    int64_t until_ms;                      /* 0: used, or none */
};

struct sessions {
    char key[TOKEN_TEXT_BYTES];
    char name[SESSION_NAME_BYTES];
    struct session_board *left; /* or NULL */
    struct invitation invitations[INVITATIONS];
    size_t next; /* the oldest one, which the next replaces */
};

struct sessions *sessions_new(const char *secret, struct session_board *left)
{
    static const char purpose[] = "hypertune session key";
    unsigned char key[TOKEN_HASH_BYTES], name[TOKEN_HASH_BYTES];
    char text[TOKEN_TEXT_BYTES];
    struct sessions *sessions = ht_xcalloc(1, sizeof *sessions);
    sessions->left = left;
    token_hmac(key, secret, purpose, sizeof purpose - 1);
    token_hex(sessions->key, key);
    token_hash(name, sessions->key);
    token_hex(text, name);
    snprintf(sessions->name, sizeof sessions->name, "hypertune-%.8s", text);
    return sessions;
}

void sessions_free(struct sessions *sessions)
{
    if (sessions != NULL)
        explicit_bzero(sessions, sizeof *sessions);
    free(sessions);
}

const char *sessions_name(const struct sessions *sessions)
{
    return sessions->name;
}

/* --- links --- */

void sessions_invite(struct sessions *sessions,
                     const unsigned char token[TOKEN_HASH_BYTES],
                     int64_t now_ms, char code[SESSION_CODE_BYTES])
{
    struct invitation *made = &sessions->invitations[sessions->next];
    char text[TOKEN_TEXT_BYTES];
    token_make(text, CODE_BYTES);
    token_hash(made->hash, text);
    memcpy(made->token, token, TOKEN_HASH_BYTES);
    made->until_ms = now_ms + SESSION_CODE_MS;
    sessions->next = (sessions->next + 1) % INVITATIONS;
    memcpy(code, text, SESSION_CODE_BYTES);
}

bool sessions_redeem(struct sessions *sessions, const char *code,
                     int64_t now_ms, unsigned char token[TOKEN_HASH_BYTES])
{
    unsigned char hash[TOKEN_HASH_BYTES];
    token_hash(hash, code);
    for (size_t i = 0; i < INVITATIONS; i++) {
        struct invitation *found = &sessions->invitations[i];
        if (found->until_ms == 0 || !token_equal(found->hash, hash))
            continue;
        const bool in_time = now_ms <= found->until_ms;
        found->until_ms = 0;
        memcpy(token, found->token, TOKEN_HASH_BYTES);
        return in_time;
    }
    return false;
}

/* --- cookies: ID.UNTIL.TOKEN.SEAL, all in hex --- */

void sessions_seal(const struct sessions *sessions,
                   const unsigned char token[TOKEN_HASH_BYTES], int64_t now_s,
                   char cookie[SESSION_COOKIE_BYTES])
{
    unsigned char mac[TOKEN_HASH_BYTES];
    char seal[TOKEN_TEXT_BYTES], of[TOKEN_TEXT_BYTES];
    const uint64_t id = token_random64() >> 1 | 1; /* > 0, as int64_t too */
    token_hex(of, token);
    const int len =
        snprintf(cookie, SESSION_COOKIE_BYTES, "%" PRIx64 ".%" PRIx64 ".%s", id,
                 (uint64_t)(now_s + SESSION_SECONDS), of);
    token_hmac(mac, sessions->key, cookie, (size_t)len);
    token_hex(seal, mac);
    snprintf(cookie + len, (size_t)(SESSION_COOKIE_BYTES - len), ".%s", seal);
}

static bool is_sealed(const struct sessions *sessions, const char *cookie,
                      size_t len, const char *seal)
{
    unsigned char mac[TOKEN_HASH_BYTES], ours[TOKEN_HASH_BYTES],
        theirs[TOKEN_HASH_BYTES];
    char text[TOKEN_TEXT_BYTES];
    token_hmac(mac, sessions->key, cookie, len);
    token_hex(text, mac);
    /* Hashed, so that the comparison takes the same time for any guess. */
    token_hash(ours, text);
    token_hash(theirs, seal);
    return token_equal(ours, theirs);
}

static bool read_cookie(const char *cookie, const char *end,
                        struct session *session)
{
    char *at;
    session->id = (int64_t)strtoull(cookie, &at, 16);
    if (session->id <= 0 || *at != '.')
        return false;
    session->until_s = (int64_t)strtoull(at + 1, &at, 16);
    return *at == '.' && end - at == TOKEN_TEXT_BYTES &&
           token_unhex(session->token, at + 1);
}

bool sessions_open(const struct sessions *sessions, const char *cookie,
                   int64_t now_s, struct session *session)
{
    const char *dot = strrchr(cookie, '.');
    return dot != NULL &&
           is_sealed(sessions, cookie, (size_t)(dot - cookie), dot + 1) &&
           read_cookie(cookie, dot, session) && now_s <= session->until_s &&
           !session_board_has(sessions->left, session->id);
}
