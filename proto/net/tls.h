/* tls.h - TLS: the certificate that a server shows, whom a client trusts, and
 * one session over a socket that never blocks.
 *
 * By GnuTLS; static programs link the client's half by mbedTLS in its place,
 * see tls_static.c.
 *
 * TLS 1.2 and 1.3 with ECDHE and AEAD ciphers only; no renegotiation, no
 * compression, no session tickets. A pin is the SHA-256 of a public key's
 * SubjectPublicKeyInfo, written as curl writes it: sha256//BASE64. */
#ifndef HT_PROTO_NET_TLS_H
#define HT_PROTO_NET_TLS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "proto/base/error.h"

enum {
    TLS_PIN_BYTES = 64, /* a text with its NUL */
    TLS_PINS = 8,       /* of a list */
    TLS_NAME_BYTES = 128
};

/* HT_INVALID  all users of this machine may use the key
 * HT_IO       it cannot be read */
enum ht_status tls_check_key_file(const char *file, struct ht_error *err);

/* ---- what a server shows ---- */

struct tls_server;

struct tls_server_settings { /* strings are copied */
    const char *cert, *key;  /* PEM files; the certificate first, then its
                                chain */
    const char *client_ca;   /* PEM file: a client needs a certificate for
                                clients that is signed by one of it; NULL:
                                clients are not asked for one */
    const char *crl;         /* PEM file of those revoked, which may not exist
                                yet; NULL: none */
    bool http;               /* offer http/1.1 by ALPN */
};

/* HT_IO       a file cannot be read
 * HT_INVALID  it holds no certificate or key, they do not belong together, or
 *             all users of this machine may use the key */
enum ht_status tls_server_open(const struct tls_server_settings *settings,
                               struct tls_server **server,
                               struct ht_error *err);
/* Reads the files again, for sessions that begin afterwards; others continue.
 * On failure nothing changes. Any thread. */
enum ht_status tls_server_reload(struct tls_server *server,
                                 struct ht_error *err);
/* Sessions may outlive it. Accepts NULL. */
void tls_server_free(struct tls_server *server);

/* ---- whom a client trusts ---- */

struct tls_client;

struct tls_client_settings { /* strings are copied */
    const char *pins;        /* as tls_pins_read() takes them; NULL: none */
    const char *ca;          /* PEM file; NULL: the system's, without pins */
    const char *cert, *key;  /* what it shows itself; NULL: nothing */
};

/* With pins the server's key must be one of them, and then nothing else counts
 * unless a CA is given, too. Without pins the certificate must be signed by the
 * CA (or one of the system's), be valid now and name the host.
 * HT_IO       a file cannot be read
 * HT_INVALID  a pin or file has not that form */
enum ht_status tls_client_open(const struct tls_client_settings *settings,
                               struct tls_client **client,
                               struct ht_error *err);
/* Replaces the pins for later sessions. Any thread. HT_INVALID as above. */
enum ht_status tls_client_set_pins(struct tls_client *client, const char *pins,
                                   struct ht_error *err);
/* Sessions may outlive it. Accepts NULL. */
void tls_client_free(struct tls_client *client);

/* ---- pins ---- */

#define TLS_PIN_SCHEME "sha256//"

struct tls_pins {
    size_t n;
    char items[TLS_PINS][TLS_PIN_BYTES];
};

/* Reads "sha256//BASE64;sha256//BASE64". HT_INVALID names the wrong one. */
enum ht_status tls_pins_read(const char *text, struct tls_pins *pins,
                             struct ht_error *err);
bool tls_pins_have(const struct tls_pins *pins, const char *pin);

/* ---- one session: called by one thread ---- */

struct tls_session;

enum tls_result { TLS_DONE, TLS_WANT_READ, TLS_WANT_WRITE, TLS_FAILED };

/* The socket is borrowed, connected (or connecting) and non-blocking. NULL
 * never; a later call fails. `host` is who the certificate must name. */
struct tls_session *tls_accept(struct tls_server *server, int fd);
struct tls_session *tls_connect(struct tls_client *client, int fd,
                                const char *host);
/* One step. TLS_FAILED: the error says why and, to a client, what to do;
 * HT_UNAUTHENTICATED: the peer's certificate is missing or not accepted, which
 * the peer learns by an alert. */
enum tls_result tls_handshake(struct tls_session *session,
                              struct ht_error *err);
/* After the handshake, of a client that showed a certificate: its common name,
 * else its first DNS name, else its pin, in printable ASCII without quotes. ""
 * of others. */
const char *tls_client_name(const struct tls_session *session);
/* As recv() and send(): -1 with EAGAIN for later; 0 of tls_recv() only when the
 * peer has said that it ends. A socket closed without that is ECONNRESET.
 * After EAGAIN tls_send() must be called with the same bytes again. */
ssize_t tls_recv(struct tls_session *session, void *bytes, size_t len);
ssize_t tls_send(struct tls_session *session, const void *bytes, size_t len);
/* True when bytes were received that the socket will not announce. */
bool tls_has_more(const struct tls_session *session);
/* Tells the peer that nothing more comes: TLS_WANT_WRITE: call it again. The
 * other direction continues. */
enum tls_result tls_end(struct tls_session *session);
void tls_session_free(struct tls_session *session); /* accepts NULL */

#endif
