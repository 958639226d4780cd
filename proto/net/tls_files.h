/* tls_files.h - makes keys and certificates, and what a certificate's file
 * says.
 *
 * Keys are P-256. A file is written beside and renamed, so that a reader finds
 * the old or the new one whole; keys are readable by the owner only. */
#ifndef HT_PROTO_NET_TLS_FILES_H
#define HT_PROTO_NET_TLS_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/base/error.h"
#include "proto/net/tls.h"

/* A new key in PEM. HT_IO */
enum ht_status tls_make_key(const char *key_file, struct ht_error *err);

/* A new CA with its own key, for `days`; `name` is shown to people. HT_IO */
enum ht_status tls_make_ca(const char *cert_file, const char *key_file,
                           const char *name, int days, struct ht_error *err);

struct tls_certificate {
    const char *cert, *key; /* files; the key is made unless it exists, so a
                               renewal keeps the pin */
    const char *ca, *ca_key;
    const char *name;         /* common name */
    const char *const *hosts; /* DNS names and IP addresses, n of them */
    size_t n_hosts;
    int days;
    bool is_client; /* to be shown by a client, not by a server */
};

/* Signs a certificate and writes it, followed by that of the CA.
 * HT_IO       a file cannot be read or written
 * HT_INVALID  the CA's files are no certificate and key, a host is no name */
enum ht_status tls_make_certificate(const struct tls_certificate *wanted,
                                    struct ht_error *err);

/* Adds the first certificate of the file `cert` to the list of revoked ones,
 * which is made unless it exists and is signed by the CA for as long as that is
 * valid.
 * HT_IO       a file cannot be read or written
 * HT_INVALID  it holds something else than wanted */
enum ht_status tls_revoke(const char *crl_file, const char *cert,
                          const char *ca, const char *ca_key,
                          struct ht_error *err);

/* The pin of the first certificate, else of the key, of a PEM file.
 * HT_IO, HT_INVALID as above */
enum ht_status tls_pin_of_file(const char *file, char pin[TLS_PIN_BYTES],
                               struct ht_error *err);

struct tls_file_facts {
    char pin[TLS_PIN_BYTES];
    char fingerprint[96]; /* SHA-256 of the certificate: "AB:CD:..." */
    char name[256];       /* distinguished name */
    int64_t begins, ends; /* wall time, ms */
    char hosts[2048];     /* DNS names and addresses, by ','; as many as fit */
};
/* Of the first certificate of a PEM file. HT_IO, HT_INVALID as above */
enum ht_status tls_facts_of_file(const char *file, struct tls_file_facts *facts,
                                 struct ht_error *err);

#endif
