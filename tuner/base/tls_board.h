/* tls_board.h - how this server is reached by TLS: its public addresses, and
 * the keys that it has now and will have next. */
#ifndef HT_TUNER_BASE_TLS_BOARD_H
#define HT_TUNER_BASE_TLS_BOARD_H

#include <stdint.h>

#include "proto/net/tls.h"

enum { TLS_URL_BYTES = 320 };

struct tls_state {
    char https[TLS_URL_BYTES];   /* "": HTTP is plain, behind a proxy */
    char report[TLS_URL_BYTES];  /* tls+tcp://HOST:PORT */
    char control[TLS_URL_BYTES]; /* the same */
    char ca[4096];               /* file of its authority; "": not ours */
    char pins[TLS_PINS * TLS_PIN_BYTES]; /* by ';' */
    int64_t ends_ms; /* wall time of the certificate's end */
};

struct tls_board;

struct tls_board *tls_board_new(void);
void tls_board_free(struct tls_board *board); /* accepts NULL */
/* Copies. Any thread. */
void tls_board_set(struct tls_board *board, const struct tls_state *state);
void tls_board_get(struct tls_board *board, struct tls_state *state);

#endif
