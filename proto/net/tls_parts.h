/* tls_parts.h - what the files of TLS share: credentials in force, pins of
 * certificates. Only they include it. */
#ifndef HT_PROTO_NET_TLS_PARTS_H
#define HT_PROTO_NET_TLS_PARTS_H

#include <pthread.h>
#include <stdatomic.h>

#include <gnutls/gnutls.h>
#include <gnutls/x509.h>

#include "proto/net/tls.h"

/* What sessions begin with. Never changed once made: a reload makes others. */
struct tls_credentials {
    atomic_int users;
    gnutls_certificate_credentials_t held;
};

struct tls_server {
    char *cert, *key, *client_ca, *crl;
    bool http;
    pthread_mutex_t lock; /* of `current` */
    struct tls_credentials *current;
};

struct tls_client {
    bool has_ca; /* the certificate is verified, with pins too */
    struct tls_credentials *credentials;
    pthread_mutex_t lock; /* of `pins` */
    struct tls_pins pins;
};

struct tls_credentials *tls_credentials_share(struct tls_credentials *shared);
void tls_credentials_drop(struct tls_credentials *shared); /* accepts NULL */

/* The pin of a certificate in DER or of a parsed one; false: it has none. */
bool tls_pin_of_der(const gnutls_datum_t *der, char pin[TLS_PIN_BYTES]);
bool tls_pin_of_certificate(gnutls_x509_crt_t certificate,
                            char pin[TLS_PIN_BYTES]);
/* Of a key's SHA-256. */
bool tls_pin_write(unsigned char *hash, size_t len, char pin[TLS_PIN_BYTES]);

#endif
