/* trust.h - how a client makes sure that a server is the one that it means,
 * before it gets the token. */
#ifndef HT_PROTO_NET_TRUST_H
#define HT_PROTO_NET_TRUST_H

#include <stdbool.h>

#include "proto/base/error.h"

/* Strings are borrowed. Without `ca` and `pin` the system's authorities and the
 * name of the host decide; a pin alone decides without both. */
struct trust {
    const char *ca;  /* file of the authority, or NULL */
    const char *pin; /* "sha256//BASE64" of a public key, several by ';' */
    const char *cert, *key; /* files of what the client shows itself, which the
                               server may ask for; NULL: nothing */
    bool insecure;          /* the token may go over http to another machine */
};

/* Before the first request to `url`; `has_token`: one would be sent.
 * HT_DENIED   the token would go over the network in clear
 * HT_INVALID  a pin is malformed, a certificate is given without its key, or
 *             all users of this machine may use that
 * HT_IO       a file is not there */
enum ht_status trust_check(const struct trust *trust, const char *url,
                           bool has_token, struct ht_error *err);

/* Sets it on a curl handle. */
void trust_apply(const struct trust *trust, void *easy);

/* Is a CURLcode that of a server that is not trusted? */
bool trust_is_lacking(int curl_code);
/* Do curl's words for a failure say that the server refuses the client's
 * certificate, or misses it? Then HT_DENIED with what to do, else HT_OK. */
enum ht_status trust_check_refusal(const char *url, const char *words,
                                   struct ht_error *err);

#endif
