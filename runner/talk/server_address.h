/* server_address.h - the server's control address, asked over HTTP.
 *
 * A local server may restart on another port: when it does not answer, the
 * address in server.json beside the token file is used if the server there
 * accepts the runner's token. Thread-safe. */
#ifndef HT_RUNNER_TALK_SERVER_ADDRESS_H
#define HT_RUNNER_TALK_SERVER_ADDRESS_H

#include "proto/base/error.h"
#include "proto/net/trust.h"

struct server_address;
struct uplink;

enum {
    SERVER_URL_BYTES = 512,
    SERVER_TOKEN_BYTES = 256,
    SERVER_PINS_BYTES = 1024
};

/* Strings are copied, `uplink` is borrowed, and so are the strings of `trust`.
 * curl_global_init() was called before. */
struct server_address *server_address_new(const char *server,
                                          const char *token_file,
                                          const struct trust *trust,
                                          struct uplink *uplink);
void server_address_free(struct server_address *address); /* accepts NULL */

/* Asks the server for its addresses, aims the uplink there, and gets the URL
 * for control messages; blocks for some seconds at most.
 * HT_UNAUTHENTICATED  the server refuses the token
 * HT_DENIED           the token would go over the network in clear, or the
 *                     server is not the trusted one
 * HT_UNAVAILABLE      no server answers, or not with a control URL
 * HT_IO               the token file cannot be read */
enum ht_status server_address_find(struct server_address *address,
                                   char control[SERVER_URL_BYTES],
                                   struct ht_error *err);
/* Where HTTP requests go now, and what they need. */
struct server_found {
    char url[SERVER_URL_BYTES], token[SERVER_TOKEN_BYTES];
    char pins[SERVER_PINS_BYTES];
    struct trust trust; /* its pin is the above */
};

/* As it is known now; sends nothing, but waits for a server_address_find() that
 * runs.
 * HT_IO  the token file cannot be read or holds no token */
enum ht_status server_address_get(struct server_address *address,
                                  struct server_found *found,
                                  struct ht_error *err);
/* Makes a running and every later server_address_find() fail at once. */
void server_address_stop(struct server_address *address);

/* Reads the token, which may have been rotated.
 * HT_IO  the file cannot be read or holds no token */
enum ht_status server_address_token(const char *token_file,
                                    char token[SERVER_TOKEN_BYTES],
                                    struct ht_error *err);

#endif
