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
    bool alerted;             /* the peer knows why it was refused */
    char *host;               /* of a client's server */
    struct tls_pins pins;
    char name[TLS_NAME_BYTES]; /* of a client that was accepted */
    struct ht_error why;       /* the peer was refused */
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

struct fault {
    unsigned flag;
    gnutls_alert_description_t alert;
    const char *of_server, *of_client; /* the certificate */
};

static const struct fault *find_fault(unsigned status)
{
    static const struct fault faults[] = {
        /* One of the same name has signed with another key. */
        {GNUTLS_CERT_SIGNER_NOT_FOUND | GNUTLS_CERT_SIGNATURE_FAILURE,
         GNUTLS_A_UNKNOWN_CA,
         "is not signed by a CA that is trusted here: give its CA with --ca or "
         "its pin with --pin",
         "is not signed by a CA that is accepted here"},
        {GNUTLS_CERT_REVOKED, GNUTLS_A_CERTIFICATE_REVOKED, "is revoked",
         "is revoked"},
        {GNUTLS_CERT_EXPIRED, GNUTLS_A_CERTIFICATE_EXPIRED,
         "has expired: renew it on the server", "has expired"},
        {GNUTLS_CERT_NOT_ACTIVATED, GNUTLS_A_CERTIFICATE_EXPIRED,
         "is not valid yet: compare the clocks",
         "is not valid yet: compare the clocks"},
        {GNUTLS_CERT_UNEXPECTED_OWNER, GNUTLS_A_BAD_CERTIFICATE,
         "names another host: use a name it has, or make one with this name",
         ""},
        {GNUTLS_CERT_PURPOSE_MISMATCH, GNUTLS_A_UNSUPPORTED_CERTIFICATE,
         "is not one for servers", "is not one for clients"},
        {0, GNUTLS_A_BAD_CERTIFICATE, "is not valid", "is not valid"}};
    const struct fault *at = faults;
    while (at->flag != 0 && (status & at->flag) == 0)
        at++;
    return at;
}

/* What a stranger wrote into a certificate ends up in lines of the log. GnuTLS
 * escapes what RFC 4514 says. */
static void write_name(char name[TLS_NAME_BYTES], const char *text, size_t len)
{
    size_t n = 0;
    for (size_t i = 0; i < len && n + 1 < TLS_NAME_BYTES; i++) {
        if (text[i] == '\\')
            continue;
        const bool fine = text[i] >= ' ' && text[i] <= '~' && text[i] != '"';
        name[n++] = (char)(fine ? text[i] : '?');
    }
    name[n] = '\0';
}

static bool name_client(const gnutls_datum_t *der, char name[TLS_NAME_BYTES])
{
    char text[256];
    size_t len = sizeof text;
    gnutls_x509_crt_t crt;
    if (gnutls_x509_crt_init(&crt) < 0)
        return false;
    bool named = gnutls_x509_crt_import(crt, der, GNUTLS_X509_FMT_DER) == 0 &&
                 gnutls_x509_crt_get_dn_by_oid(crt, GNUTLS_OID_X520_COMMON_NAME,
                                               0, 0, text, &len) == 0;
    if (!named) {
        len = sizeof text;
        named = gnutls_x509_crt_get_subject_alt_name(
                    crt, 0, text, &len, NULL) == GNUTLS_SAN_DNSNAME;
    }
    if (!named && tls_pin_of_certificate(crt, text)) {
        len = strlen(text);
        named = true;
    }
    gnutls_x509_crt_deinit(crt);
    if (named)
        write_name(name, text, len);
    return named;
}

/* An alert tells the peer what it must change. */
static int refuse_certificate(struct tls_session *session, unsigned status)
{
    const struct fault *fault = find_fault(status);
    const char *text = session->is_client ? fault->of_server : fault->of_client;
    (void)gnutls_alert_send(session->held, GNUTLS_AL_FATAL, fault->alert);
    session->alerted = true;
    (void)ht_fail(&session->why, HT_UNAUTHENTICATED, "the %scertificate%s%s %s",
                  session->is_client ? "" : "client's ",
                  session->name[0] != '\0' ? " of " : "", session->name, text);
    return GNUTLS_E_CERTIFICATE_VERIFICATION_ERROR;
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
    return status == 0 ? 0 : refuse_certificate(session, status);
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
    char pin[TLS_PIN_BYTES];
    if (session->is_client ? !tls_pin_of_der(&shown[0], pin)
                           : !name_client(&shown[0], session->name))
        return refuse(session, "the certificate cannot be read");
    if (session->pins.n > 0 && !tls_pins_have(&session->pins, pin))
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
    gnutls_certificate_server_set_request(made->held, server->client_ca != NULL
                                                          ? GNUTLS_CERT_REQUIRE
                                                          : GNUTLS_CERT_IGNORE);
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
    else if (!session->is_client && (code == GNUTLS_E_NO_CERTIFICATE_FOUND ||
                                     code == GNUTLS_E_CERTIFICATE_REQUIRED))
        (void)ht_fail(err, HT_UNAUTHENTICATED,
                      "the client shows no certificate");
    else if (code == GNUTLS_E_FATAL_ALERT_RECEIVED)
        (void)ht_fail(err, HT_UNAVAILABLE,
                      "the peer refused the TLS handshake: %s",
                      gnutls_alert_get_name(gnutls_alert_get(session->held)));
    else
        (void)ht_fail(err, HT_UNAVAILABLE, "the TLS handshake failed: %s",
                      gnutls_strerror(code));
    if (!session->alerted)
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

const char *tls_client_name(const struct tls_session *session)
{
    return session->name;
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
