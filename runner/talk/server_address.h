/* server_address.h - where the server is, as it says itself over HTTP.
 *
 * A local server may come back on another port: when it does not answer where
 * it was, the server.json beside the token file is believed if the server named
 * there answers to our token. Thread-safe. */
#ifndef HT_RUNNER_TALK_SERVER_ADDRESS_H
#define HT_RUNNER_TALK_SERVER_ADDRESS_H

#include "proto/base/error.h"

struct locator;

enum { LOCATOR_URL_BYTES = 512, LOCATOR_TOKEN_BYTES = 256 };

/* Strings are copied. curl_global_init() was called before. */
struct locator *locator_new(const char *server, const char *token_file);
void locator_free(struct locator *locator); /* accepts NULL */

/* Asks the server for its control URL; blocks for some seconds at most.
 * HT_UNAUTHENTICATED  the server refuses the token
 * HT_UNAVAILABLE      no server answers, or not with what we asked
 * HT_IO               the token file cannot be read */
enum ht_status locator_find(struct locator *locator,
                            char control[LOCATOR_URL_BYTES],
                            struct ht_error *err);
/* Makes a running and every later locator_find() fail at once. */
void locator_stop(struct locator *locator);

/* Reads the token; a rotated one is taken without a restart.
 * HT_IO  the file cannot be read or holds no token */
enum ht_status locator_token(const char *token_file,
                             char token[LOCATOR_TOKEN_BYTES],
                             struct ht_error *err);

#endif
