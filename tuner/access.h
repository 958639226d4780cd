/* access.h - who may ask over HTTP: tokens, sessions, proxies and the names
 * that this server answers to, as the options say. */
#ifndef HT_TUNER_ACCESS_H
#define HT_TUNER_ACCESS_H

#include <stdbool.h>

#include "proto/base/error.h"

struct datadir;
struct front;
struct gate;
struct options;
struct proxies;
struct session_board;
struct sessions;
struct token_board;

struct access {
    struct gate *gate;
    struct sessions *sessions;
    struct proxies *proxies; /* NULL: behind none */
};

struct access_wanted { /* all borrowed until access_close() */
    const struct options *options;
    const struct datadir *dir;
    struct token_board *tokens;
    struct session_board *left_sessions;
    const struct front *front; /* NULL: no TLS */
    const char *host;          /* that is listened at */
    bool any_address;          /* of this machine */
    int port, public_port;     /* of loopback; of others */
};

/* HT_INVALID: an option is wrong; then nothing is open. */
enum ht_status access_open(const struct access_wanted *wanted,
                           struct access *access, struct ht_error *err);
void access_close(struct access *access);

#endif
