/* token_board.h - the named tokens in memory: who has which secret.
 *
 * The core changes it after each COMMIT; the HTTP thread and the core ask it
 * for every request. It has no secrets, only their SHA-256. */
#ifndef HT_TUNER_BASE_TOKEN_BOARD_H
#define HT_TUNER_BASE_TOKEN_BOARD_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/limits.h"
#include "proto/base/token.h"

enum {
    TOKENS_MOST = 1000,   /* rows, revoked ones too */
    TOKEN_NAME_BYTES = 64 /* with the NUL */
};

enum token_role { /* as stored */
                  TOKEN_OF_ADMIN,
                  TOKEN_OF_SUBMITTER,
                  TOKEN_OF_READER,
                  TOKEN_OF_RUNNER,
                  TOKEN_OF_JOINER, /* makes one token of a runner, once */
                  TOKEN_OF_SHARE,  /* looks at one study */
                  TOKEN_ROLES
};

/* A named token; times are wall clock in ms, 0: none. */
struct token_row {
    int64_t id;
    char name[TOKEN_NAME_BYTES];
    enum token_role role;
    char project[HT_MAX_NAME + 1]; /* the only one it may use; "": all */
    char runner[HT_MAX_NAME + 1];  /* the id that it belongs to; "": none yet */
    char created_by[TOKEN_NAME_BYTES];
    unsigned char hash[TOKEN_HASH_BYTES];     /* of the secret */
    unsigned char old_hash[TOKEN_HASH_BYTES]; /* of the one before it */
    int64_t old_until_ms; /* the old secret is valid before it */
    int64_t created_ms, expires_ms, revoked_ms;
    int64_t study; /* id of the only one it may see; 0: all */
};

enum token_verdict {
    TOKEN_UNKNOWN,
    TOKEN_VALID,
    TOKEN_EXPIRED,
    TOKEN_REVOKED,
    TOKEN_REPLACED /* the old secret, after its time */
};

struct token_board;

/* No rows at first. Any thread may use a board, which has its own lock. */
struct token_board *token_board_new(void);
void token_board_free(struct token_board *board); /* accepts NULL */

/* Copies the row in place of the one with its id. False: there are TOKENS_MOST
 * others. */
bool token_board_put(struct token_board *board, const struct token_row *row);
/* Without such a row nothing happens. */
void token_board_drop(struct token_board *board, int64_t id);

/* The verdict about a secret by its SHA-256; *row is its token unless it is
 * unknown. A board of NULL has no rows, here and below. */
enum token_verdict
token_board_find(struct token_board *board,
                 const unsigned char secret[TOKEN_HASH_BYTES], int64_t now_ms,
                 struct token_row *row);
/* Whether a token, be it revoked, belongs to that runner. */
bool token_board_has_runner(struct token_board *board, const char *runner);

/* "admin": a role's name. */
const char *token_role_name(enum token_role role);

#endif
