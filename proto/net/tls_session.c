/* tls_session.c - one TLS session over a socket that never blocks. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <gnutls/gnutls.h>
#include <gnutls/x509.h>

#include "proto/base/arena.h"
#include "proto/net/tls.h"
#include "proto/net/tls_parts.h"

struct tls_session {
    gnutls_session_t held; /* NULL: it cannot be used */
    struct tls_credentials *credentials;
    bool is_client, verifies; /* the certificate, not only its key */
    char *host;               /* of a client's server */
    struct tls_pins pins;
    char pin[TLS_PIN_BYTES]; /* of the peer */
    struct ht_error why;     /* the peer was refused */
};

/* Neither RSA key exchange nor CBC nor SHA-1, whatever the system's default. */
static const char priorities[] =
    "SECURE128:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2:-KX-ALL:+ECDHE-ECDSA:"
    "+ECDHE-RSA:-CIPHER-ALL:+AES-128-GCM:+AES-256-GCM:+CHACHA20-POLY1305:"
    "-MAC-ALL:+AEAD:-SIGN-RSA-SHA1:-SIGN-ECDSA-SHA1:%SAFE_RENEGOTIATION";

static gnutls_priority_t priority;

static void make_priority(void)
{
    if (gnutls_priority_init(&priority, priorities, NULL) < 0)
        priority = NULL;
}

/* ---- whom one talks to ---- */

static int refuse(struct tls_session *session, const char *text)
{
    (void)ht_fail(&session->why, HT_UNAUTHENTICATED, "%s", text);
    return GNUTLS_E_CERTIFICATE_VERIFICATION_ERROR;
}

static bool has_pin(const struct tls_pins *pins, const char *pin)
{
    for (size_t i = 0; i < pins->n; i++) {
        if (strcmp(pins->items[i], pin) == 0)
            return true;
    }
    return false;
}

static const char *name_fault(unsigned status)
{
    if ((status & GNUTLS_CERT_EXPIRED) != 0)
        return "the certificate has expired: renew it on the server";
    if ((status & GNUTLS_CERT_NOT_ACTIVATED) != 0)
        return "the certificate is not valid yet: compare the clocks";
    if ((status & GNUTLS_CERT_UNEXPECTED_OWNER) != 0)
        return "the certificate names another host: use a name it has, or make "
               "one with this name";
    if ((status & GNUTLS_CERT_SIGNER_NOT_FOUND) != 0)
        return "the certificate is not signed by a CA that is trusted here: "
               "give its CA with --ca or its pin with --pin";
    return "the certificate is not valid";
}

static int verify_chain(struct tls_session *session)
{
    static unsigned char server[] = GNUTLS_KP_TLS_WWW_SERVER;
    static unsigned char client[] = GNUTLS_KP_TLS_WWW_CLIENT;
    gnutls_typed_vdata_st wanted[2] = {
        {.type = GNUTLS_DT_KEY_PURPOSE_OID,
         .data = session->is_client ? server : client},
        {.type = GNUTLS_DT_DNS_HOSTNAME,
         .data = (unsigned char *)session->host}};
    unsigned status = 0;
    const int code = gnutls_certificate_verify_peers(
        session->held, wanted, session->is_client ? 2 : 1, &status);
    if (code < 0)
        return refuse(session, gnutls_strerror(code));
    return status == 0 ? 0 : refuse(session, name_fault(status));
}

/* Called by GnuTLS within the handshake. */
static int verify(gnutls_session_t held)
{
    struct tls_session *session = gnutls_session_get_ptr(held);
    unsigned n = 0;
    const gnutls_datum_t *shown = gnutls_certificate_get_peers(held, &n);
    if (n == 0) /* GnuTLS refuses that itself where one is required */
        return session->is_client ? refuse(session, "no certificate is shown")
                                  : 0;
    if (!tls_pin_of_der(&shown[0], session->pin))
        return refuse(session, "the certificate cannot be read");
    if (session->pins.n > 0 && !has_pin(&session->pins, session->pin))
        return refuse(session,
                      "the server's key is none of the pins: it is another "
                      "server, or its key was changed; compare with "
                      "`hypertune tls show` there");
    return session->verifies ? verify_chain(session) : 0;
}

/* ---- begin and end ---- */

static struct tls_session *begin(struct tls_credentials *credentials, int fd,
                                 unsigned role)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)pthread_once(&once, make_priority);
    struct tls_session *made = ht_xcalloc(1, sizeof *made);
    made->credentials = credentials;
    made->is_client = role == GNUTLS_CLIENT;
    if (priority == NULL ||
        gnutls_init(&made->held, role | GNUTLS_NONBLOCK | GNUTLS_NO_SIGNAL |
                                     GNUTLS_NO_TICKETS) < 0) {
        made->held = NULL;
        return made;
    }
    gnutls_session_set_ptr(made->held, made);
    (void)gnutls_priority_set(made->held, priority);
    (void)gnutls_credentials_set(made->held, GNUTLS_CRD_CERTIFICATE,
                                 credentials->held);
    gnutls_session_set_verify_function(made->held, verify);
    gnutls_transport_set_int(made->held, fd);
    /* The relay's deadlines count. */
    gnutls_handshake_set_timeout(made->held, 0);
    return made;
}

struct tls_session *tls_accept(struct tls_server *server, int fd)
{
    pthread_mutex_lock(&server->lock);
    struct tls_credentials *credentials =
        tls_credentials_share(server->current);
    pthread_mutex_unlock(&server->lock);
    struct tls_session *made = begin(credentials, fd, GNUTLS_SERVER);
    made->verifies = server->client_ca != NULL;
    if (made->held == NULL)
        return made;
    gnutls_certificate_server_set_request(
        made->held, server->require_client ? GNUTLS_CERT_REQUIRE
                    : server->http         ? GNUTLS_CERT_IGNORE
                                           : GNUTLS_CERT_REQUEST);
    static const gnutls_datum_t http = {(unsigned char *)"http/1.1", 8};
    if (server->http)
        (void)gnutls_alpn_set_protocols(made->held, &http, 1, 0);
    return made;
}

static bool is_address(const char *host)
{
    unsigned char bytes[sizeof(struct in6_addr)];
    return inet_pton(AF_INET, host, bytes) == 1 ||
           inet_pton(AF_INET6, host, bytes) == 1;
}

struct tls_session *tls_connect(struct tls_client *client, int fd,
                                const char *host)
{
    struct tls_session *made =
        begin(tls_credentials_share(client->credentials), fd, GNUTLS_CLIENT);
    made->host = ht_xstrdup(host);
    pthread_mutex_lock(&client->lock);
    made->pins = client->pins;
    pthread_mutex_unlock(&client->lock);
    made->verifies = client->has_ca || made->pins.n == 0;
    if (made->held != NULL && !is_address(host))
        (void)gnutls_server_name_set(made->held, GNUTLS_NAME_DNS, host,
                                     strlen(host));
    return made;
}

static enum tls_result fail(struct tls_session *session, int code,
                            struct ht_error *err)
{
    if (session->why.text[0] != '\0')
        (void)ht_fail(err, session->why.status, "%s", session->why.text);
    else if (code == GNUTLS_E_FATAL_ALERT_RECEIVED)
        (void)ht_fail(err, HT_UNAVAILABLE,
                      "the peer refused the TLS handshake: %s",
                      gnutls_alert_get_name(gnutls_alert_get(session->held)));
    else
        (void)ht_fail(err, HT_UNAVAILABLE, "the TLS handshake failed: %s",
                      gnutls_strerror(code));
    (void)gnutls_alert_send_appropriate(session->held, code);
    return TLS_FAILED;
}

static enum tls_result wanted(const struct tls_session *session)
{
    return gnutls_record_get_direction(session->held) != 0 ? TLS_WANT_WRITE
                                                           : TLS_WANT_READ;
}

enum tls_result tls_handshake(struct tls_session *session, struct ht_error *err)
{
    enum { WARNINGS = 4 }; /* that a peer may send */
    if (session->held == NULL) {
        (void)ht_fail(err, HT_INTERNAL, "GnuTLS refuses the ciphers");
        return TLS_FAILED;
    }
    int code = GNUTLS_E_INTERRUPTED;
    for (int i = 0; i < WARNINGS && code < 0; i++) {
        code = gnutls_handshake(session->held);
        if (code == GNUTLS_E_AGAIN)
            return wanted(session);
        if (code < 0 && gnutls_error_is_fatal(code) != 0)
            break;
    }
    return code >= 0 ? TLS_DONE : fail(session, code, err);
}

const char *tls_peer_pin(const struct tls_session *session)
{
    return session->pin;
}

void tls_session_free(struct tls_session *session)
{
    if (session == NULL)
        return;
    if (session->held != NULL)
        gnutls_deinit(session->held);
    tls_credentials_drop(session->credentials);
    free(session->host);
    free(session);
}

/* ---- bytes ---- */

static ssize_t give_errno(ssize_t code)
{
    errno = code == GNUTLS_E_AGAIN || code == GNUTLS_E_INTERRUPTED ? EAGAIN
                                                                   : ECONNRESET;
    return -1;
}

ssize_t tls_recv(struct tls_session *session, void *bytes, size_t len)
{
    const ssize_t n = gnutls_record_recv(session->held, bytes, len);
    return n >= 0 ? n : give_errno(n);
}

ssize_t tls_send(struct tls_session *session, const void *bytes, size_t len)
{
    const ssize_t n = gnutls_record_send(session->held, bytes, len);
    return n >= 0 ? n : give_errno(n);
}

bool tls_has_more(const struct tls_session *session)
{
    return gnutls_record_check_pending(session->held) > 0;
}

enum tls_result tls_end(struct tls_session *session)
{
    const int code = gnutls_bye(session->held, GNUTLS_SHUT_WR);
    if (code == GNUTLS_E_AGAIN || code == GNUTLS_E_INTERRUPTED)
        return TLS_WANT_WRITE;
    return code == 0 ? TLS_DONE : TLS_FAILED;
}
