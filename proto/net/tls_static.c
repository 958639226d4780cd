/* tls_static.c - the client's half of tls.h by mbedTLS, for static programs:
 * GnuTLS has no static library in Debian. What links it leaves tls.c and
 * tls_session.c out.
 *
 * TLS 1.2 alone, for mbedTLS 2.28 has no other, with the same ciphers and the
 * same judgement of a server. It shows no certificate itself. */
#include "proto/net/tls.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <mbedtls/base64.h>
#include <mbedtls/ctr_drbg.h>
#include <mbedtls/entropy.h>
#include <mbedtls/error.h>
#include <mbedtls/net_sockets.h>
#include <mbedtls/pk.h>
#include <mbedtls/sha256.h>
#include <mbedtls/ssl.h>
#include <mbedtls/x509_crt.h>

#include "proto/base/arena.h"

/* What sessions begin with, never changed once made. */
struct trusted {
    atomic_int users;
    mbedtls_entropy_context entropy;
    mbedtls_ctr_drbg_context random;
    mbedtls_x509_crt authorities;
    mbedtls_ssl_config config;
};

struct tls_client {
    struct trusted *trusted;
    struct tls_pins pins;
    bool verifies; /* the certificate, not only its key */
};

struct tls_session {
    mbedtls_ssl_context held;
    struct trusted *trusted;
    int fd;
    int begun;     /* what the library said; 0: the session can be used */
    bool verifies; /* the certificate, not only its key */
    bool accepted; /* the server's key and name were looked at */
    unsigned char address[sizeof(struct in6_addr)];
    size_t address_len; /* 0: the host is a name */
    struct tls_pins pins;
    struct ht_error why; /* the server was refused */
};

/* ---- whom a client trusts ---- */

static void drop(struct trusted *trusted)
{
    if (trusted == NULL || atomic_fetch_sub(&trusted->users, 1) > 1)
        return;
    mbedtls_ssl_config_free(&trusted->config);
    mbedtls_x509_crt_free(&trusted->authorities);
    mbedtls_ctr_drbg_free(&trusted->random);
    mbedtls_entropy_free(&trusted->entropy);
    free(trusted);
}

static int configure(struct trusted *trusted, bool verifies)
{
    /* As those of tls_session.c. */
    static const int ciphers[] = {
        MBEDTLS_TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256,
        MBEDTLS_TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
        MBEDTLS_TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384,
        MBEDTLS_TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
        MBEDTLS_TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256,
        MBEDTLS_TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
        0};
    static const int hashes[] = {MBEDTLS_MD_SHA256, MBEDTLS_MD_SHA384,
                                 MBEDTLS_MD_SHA512, MBEDTLS_MD_NONE};
    mbedtls_ssl_config *config = &trusted->config;
    const int code = mbedtls_ssl_config_defaults(config, MBEDTLS_SSL_IS_CLIENT,
                                                 MBEDTLS_SSL_TRANSPORT_STREAM,
                                                 MBEDTLS_SSL_PRESET_DEFAULT);
    if (code != 0)
        return code;
    mbedtls_ssl_conf_min_version(config, MBEDTLS_SSL_MAJOR_VERSION_3,
                                 MBEDTLS_SSL_MINOR_VERSION_3);
    mbedtls_ssl_conf_ciphersuites(config, ciphers);
    mbedtls_ssl_conf_sig_hashes(config, hashes);
    mbedtls_ssl_conf_session_tickets(config,
                                     MBEDTLS_SSL_SESSION_TICKETS_DISABLED);
    mbedtls_ssl_conf_legacy_renegotiation(config,
                                          MBEDTLS_SSL_LEGACY_BREAK_HANDSHAKE);
    mbedtls_ssl_conf_rng(config, mbedtls_ctr_drbg_random, &trusted->random);
    /* With pins alone the session's own look decides, see judge(). */
    mbedtls_ssl_conf_authmode(config, verifies ? MBEDTLS_SSL_VERIFY_REQUIRED
                                               : MBEDTLS_SSL_VERIFY_OPTIONAL);
    mbedtls_ssl_conf_ca_chain(config, &trusted->authorities, NULL);
    return mbedtls_ctr_drbg_seed(&trusted->random, mbedtls_entropy_func,
                                 &trusted->entropy, NULL, 0);
}

static struct trusted *new_trusted(void)
{
    struct trusted *made = ht_xcalloc(1, sizeof *made);
    atomic_init(&made->users, 1);
    mbedtls_entropy_init(&made->entropy);
    mbedtls_ctr_drbg_init(&made->random);
    mbedtls_x509_crt_init(&made->authorities);
    mbedtls_ssl_config_init(&made->config);
    return made;
}

static bool has_authorities(const struct trusted *trusted)
{
    return trusted->authorities.raw.p != NULL;
}

static enum ht_status load_ca(struct trusted *trusted, const char *ca,
                              struct ht_error *err)
{
    if (access(ca, R_OK) != 0)
        return ht_fail_errno(err, errno, "cannot read %s", ca);
    (void)mbedtls_x509_crt_parse_file(&trusted->authorities, ca);
    return has_authorities(trusted)
               ? HT_OK
               : ht_fail(err, HT_INVALID, "%s holds no certificate in PEM", ca);
}

/* Debian's and SUSE's place, then Red Hat's. */
static void load_system(struct trusted *trusted)
{
    static const char *const files[] = {"/etc/ssl/certs/ca-certificates.crt",
                                        "/etc/ssl/ca-bundle.pem",
                                        "/etc/pki/tls/certs/ca-bundle.crt"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (!has_authorities(trusted))
            (void)mbedtls_x509_crt_parse_file(&trusted->authorities, files[i]);
}

static enum ht_status load(const struct tls_client_settings *settings,
                           struct tls_client *client, struct ht_error *err)
{
    enum ht_status status = HT_OK;
    if (settings->cert != NULL || settings->key != NULL)
        return ht_fail(err, HT_INVALID, "no certificate can be shown here");
    if (settings->pins != NULL)
        status = tls_pins_read(settings->pins, &client->pins, err);
    if (status == HT_OK && settings->ca != NULL)
        status = load_ca(client->trusted, settings->ca, err);
    if (status != HT_OK)
        return status;
    client->verifies = settings->ca != NULL || client->pins.n == 0;
    if (settings->ca == NULL && client->pins.n == 0)
        load_system(client->trusted);
    const int code = configure(client->trusted, client->verifies);
    return code == 0 ? HT_OK
                     : ht_fail(err, HT_IO, "mbedTLS cannot begin: -0x%04X",
                               (unsigned)-code);
}

enum ht_status tls_client_open(const struct tls_client_settings *settings,
                               struct tls_client **client, struct ht_error *err)
{
    struct tls_client *made = ht_xcalloc(1, sizeof *made);
    made->trusted = new_trusted();
    const enum ht_status status = load(settings, made, err);
    if (status == HT_OK)
        *client = made;
    else
        tls_client_free(made);
    return status;
}

void tls_client_free(struct tls_client *client)
{
    if (client == NULL)
        return;
    drop(client->trusted);
    free(client);
}

/* ---- whom one talks to ---- */

static bool find_pin(mbedtls_x509_crt *certificate, char pin[TLS_PIN_BYTES])
{
    enum { HASH_BYTES = 32, MOST_BYTES = 4096 };
    unsigned char der[MOST_BYTES], hash[HASH_BYTES], base64[TLS_PIN_BYTES];
    size_t len;
    /* At the end of the buffer. */
    const int n =
        mbedtls_pk_write_pubkey_der(&certificate->pk, der, MOST_BYTES);
    if (n <= 0 ||
        mbedtls_sha256_ret(der + MOST_BYTES - n, (size_t)n, hash, 0) != 0 ||
        mbedtls_base64_encode(base64, sizeof base64, &len, hash, HASH_BYTES) !=
            0)
        return false;
    (void)snprintf(pin, TLS_PIN_BYTES, TLS_PIN_SCHEME "%s",
                   (const char *)base64);
    return true;
}

/* mbedTLS 2.28 compares names alone. */
static bool has_address(const struct tls_session *session,
                        const mbedtls_x509_crt *certificate)
{
    const int tag = MBEDTLS_ASN1_CONTEXT_SPECIFIC | MBEDTLS_X509_SAN_IP_ADDRESS;
    const mbedtls_x509_sequence *at = &certificate->subject_alt_names;
    while (at != NULL &&
           (at->buf.tag != tag || at->buf.len != session->address_len ||
            memcmp(at->buf.p, session->address, at->buf.len) != 0))
        at = at->next;
    return at != NULL;
}

/* Called by mbedTLS for each certificate of the chain, the server's own is the
 * last one. What it returns ends the handshake whatever the mode. */
static int judge(void *context, mbedtls_x509_crt *certificate, int depth,
                 uint32_t *flags)
{
    struct tls_session *session = context;
    char pin[TLS_PIN_BYTES];
    if (depth > 0)
        return 0;
    if (session->pins.n > 0 &&
        (!find_pin(certificate, pin) || !tls_pins_have(&session->pins, pin))) {
        (void)ht_fail(&session->why, HT_UNAUTHENTICATED,
                      "the server's key is none of the pins: it is another "
                      "server, or its key was changed; compare with "
                      "`hypertune tls show` there");
        return MBEDTLS_ERR_X509_FATAL_ERROR;
    }
    if (session->verifies && session->address_len > 0 &&
        !has_address(session, certificate))
        *flags |= MBEDTLS_X509_BADCERT_CN_MISMATCH;
    session->accepted = true;
    return 0;
}

static const char *find_fault(uint32_t flags)
{
    static const struct {
        uint32_t flag;
        const char *text;
    } faults[] = {
        {MBEDTLS_X509_BADCERT_NOT_TRUSTED, "is not signed by a CA that is "
                                           "trusted here"},
        {MBEDTLS_X509_BADCERT_EXPIRED, "has expired: renew it on the server"},
        {MBEDTLS_X509_BADCERT_FUTURE, "is not valid yet: compare the clocks"},
        {MBEDTLS_X509_BADCERT_CN_MISMATCH,
         "names another host: use a name it has, or make one with this name"},
        {MBEDTLS_X509_BADCERT_KEY_USAGE | MBEDTLS_X509_BADCERT_EXT_KEY_USAGE |
             MBEDTLS_X509_BADCERT_NS_CERT_TYPE,
         "is not one for servers"},
        {UINT32_MAX, "is not valid"}};
    size_t i = 0;
    while ((faults[i].flag & flags) == 0)
        i++;
    return faults[i].text;
}

/* ---- begin and end ---- */

static int send_bytes(void *context, const unsigned char *bytes, size_t len)
{
    const struct tls_session *session = context;
    const ssize_t n = send(session->fd, bytes, len, MSG_NOSIGNAL);
    if (n >= 0)
        return (int)n;
    return errno == EAGAIN || errno == EINTR ? MBEDTLS_ERR_SSL_WANT_WRITE
                                             : MBEDTLS_ERR_NET_SEND_FAILED;
}

static int recv_bytes(void *context, unsigned char *bytes, size_t len)
{
    const struct tls_session *session = context;
    const ssize_t n = recv(session->fd, bytes, len, 0);
    if (n >= 0)
        return (int)n;
    return errno == EAGAIN || errno == EINTR ? MBEDTLS_ERR_SSL_WANT_READ
                                             : MBEDTLS_ERR_NET_RECV_FAILED;
}

static size_t read_address(const char *host, unsigned char address[])
{
    if (inet_pton(AF_INET, host, address) == 1)
        return sizeof(struct in_addr);
    return inet_pton(AF_INET6, host, address) == 1 ? sizeof(struct in6_addr)
                                                   : 0;
}

struct tls_session *tls_connect(struct tls_client *client, int fd,
                                const char *host)
{
    struct tls_session *made = ht_xcalloc(1, sizeof *made);
    made->trusted = client->trusted;
    atomic_fetch_add(&made->trusted->users, 1);
    made->fd = fd;
    made->verifies = client->verifies;
    made->pins = client->pins;
    made->address_len = read_address(host, made->address);
    mbedtls_ssl_init(&made->held);
    made->begun = mbedtls_ssl_setup(&made->held, &made->trusted->config);
    if (made->begun == 0 && made->address_len == 0)
        made->begun = mbedtls_ssl_set_hostname(&made->held, host);
    mbedtls_ssl_set_verify(&made->held, judge, made);
    mbedtls_ssl_set_bio(&made->held, made, send_bytes, recv_bytes, NULL);
    return made;
}

/* Nothing here makes a server. */
struct tls_session *tls_accept(struct tls_server *server, int fd)
{
    (void)server;
    (void)fd;
    abort();
}

const char *tls_client_name(const struct tls_session *session)
{
    (void)session; /* is a client's */
    return "";
}

void tls_session_free(struct tls_session *session)
{
    if (session == NULL)
        return;
    mbedtls_ssl_free(&session->held);
    drop(session->trusted);
    free(session);
}

static enum tls_result fail(const struct tls_session *session, int code,
                            struct ht_error *err)
{
    const uint32_t flags = mbedtls_ssl_get_verify_result(&session->held);
    char text[128] = "";
    if (session->why.text[0] != '\0')
        (void)ht_fail(err, session->why.status, "%s", session->why.text);
    else if (code == MBEDTLS_ERR_X509_CERT_VERIFY_FAILED ||
             (code == MBEDTLS_ERR_SSL_BAD_HS_CERTIFICATE &&
              (flags & MBEDTLS_X509_BADCERT_EXT_KEY_USAGE) != 0))
        (void)ht_fail(err, HT_UNAUTHENTICATED, "the certificate %s",
                      find_fault(flags));
    else {
        mbedtls_strerror(code, text, sizeof text);
        (void)ht_fail(err, HT_UNAVAILABLE, "the TLS handshake failed: %s",
                      text);
    }
    return TLS_FAILED;
}

enum tls_result tls_handshake(struct tls_session *session, struct ht_error *err)
{
    const int code = session->begun != 0
                         ? session->begun
                         : mbedtls_ssl_handshake(&session->held);
    if (code == MBEDTLS_ERR_SSL_WANT_READ)
        return TLS_WANT_READ;
    if (code == MBEDTLS_ERR_SSL_WANT_WRITE)
        return TLS_WANT_WRITE;
    if (code != 0)
        return fail(session, code, err);
    return session->accepted
               ? TLS_DONE
               : fail(session, MBEDTLS_ERR_SSL_NO_CLIENT_CERTIFICATE, err);
}

/* ---- bytes ---- */

static ssize_t give_errno(int code)
{
    errno =
        code == MBEDTLS_ERR_SSL_WANT_READ || code == MBEDTLS_ERR_SSL_WANT_WRITE
            ? EAGAIN
            : ECONNRESET;
    return -1;
}

ssize_t tls_recv(struct tls_session *session, void *bytes, size_t len)
{
    const int n = mbedtls_ssl_read(&session->held, bytes, len);
    if (n == MBEDTLS_ERR_SSL_PEER_CLOSE_NOTIFY)
        return 0;
    return n > 0 ? n : give_errno(n); /* 0: closed without a word */
}

ssize_t tls_send(struct tls_session *session, const void *bytes, size_t len)
{
    const int n = mbedtls_ssl_write(&session->held, bytes, len);
    return n >= 0 ? n : give_errno(n);
}

bool tls_has_more(const struct tls_session *session)
{
    return mbedtls_ssl_check_pending(&session->held) != 0;
}

enum tls_result tls_end(struct tls_session *session)
{
    const int code = mbedtls_ssl_close_notify(&session->held);
    if (code == MBEDTLS_ERR_SSL_WANT_READ || code == MBEDTLS_ERR_SSL_WANT_WRITE)
        return TLS_WANT_WRITE;
    return code == 0 ? TLS_DONE : TLS_FAILED;
}
