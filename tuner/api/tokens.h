/* tokens.h - named tokens: made, listed, rotated, revoked, deleted. */
#ifndef HT_TUNER_API_TOKENS_H
#define HT_TUNER_API_TOKENS_H

#include "tuner/core/request.h"

/* Puts all tokens of the database on the board; at the start. */
enum ht_status token_recover(struct core *core, struct ht_error *err);

/* Revokes the shares of a study, whose number another one may get. */
enum ht_status token_end_study(struct core *core, struct arena *arena,
                               int64_t study, struct ht_error *err);

/* For admins. Create and rotate answer with the secret, which nothing stores;
 * the others show everything but it. */
request_handler token_create, token_show, token_revoke, token_rotate,
    token_delete;

/* Makes the join token that asks the token of a runner, whose secret's SHA-256
 * the body has.
 * HT_INVALID       there is no such hash, or another token has it
 * HT_PRECONDITION  it was used meanwhile */
request_handler token_join;

#endif
