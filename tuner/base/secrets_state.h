/* secrets_state.h - what GET /hypertune/v1/server says of the secrets at rest.
 */
#ifndef HT_TUNER_BASE_SECRETS_STATE_H
#define HT_TUNER_BASE_SECRETS_STATE_H

enum { SECRETS_LIST_BYTES = 160 };

/* As it was at the start of the server. */
struct secrets_state {
    char key[16];                   /* name of the key; "": there is none */
    char plain[SECRETS_LIST_BYTES]; /* files with secrets in plain, by blanks */
};

#endif
