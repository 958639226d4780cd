/* The certificates of a server, and whom a client trusts. */
#include "proto/net/tls.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/base/arena.h"
#include "proto/base/secret_file.h"
#include "proto/net/tls_parts.h"

/* ---- pins ---- */

enum { HASH_BYTES = 32 };

bool tls_pin_write(unsigned char *hash, size_t len, char pin[TLS_PIN_BYTES])
{
    const gnutls_datum_t raw = {hash, (unsigned)len};
    gnutls_datum_t text;
    if (len != HASH_BYTES || gnutls_base64_encode2(&raw, &text) < 0)
        return false;
    (void)snprintf(pin, TLS_PIN_BYTES, "%s%.*s", TLS_PIN_SCHEME, (int)text.size,
                   (const char *)text.data);
    gnutls_free(text.data);
    return true;
}

bool tls_pin_of_certificate(gnutls_x509_crt_t certificate,
                            char pin[TLS_PIN_BYTES])
{
    unsigned char hash[HASH_BYTES];
    size_t len = sizeof hash;
    return gnutls_x509_crt_get_key_id(certificate, GNUTLS_KEYID_USE_SHA256,
                                      hash, &len) == 0 &&
           tls_pin_write(hash, len, pin);
}

bool tls_pin_of_der(const gnutls_datum_t *der, char pin[TLS_PIN_BYTES])
{
    gnutls_x509_crt_t certificate;
    if (gnutls_x509_crt_init(&certificate) < 0)
        return false;
    const bool found =
        gnutls_x509_crt_import(certificate, der, GNUTLS_X509_FMT_DER) == 0 &&
        tls_pin_of_certificate(certificate, pin);
    gnutls_x509_crt_deinit(certificate);
    return found;
}

/* ---- credentials ---- */

static struct tls_credentials *new_credentials(void)
{
    struct tls_credentials *made = ht_xcalloc(1, sizeof *made);
    atomic_init(&made->users, 1);
    if (gnutls_certificate_allocate_credentials(&made->held) < 0)
        ht_out_of_memory();
    return made;
}

struct tls_credentials *tls_credentials_share(struct tls_credentials *shared)
{
    atomic_fetch_add(&shared->users, 1);
    return shared;
}

void tls_credentials_drop(struct tls_credentials *shared)
{
    if (shared == NULL || atomic_fetch_sub(&shared->users, 1) > 1)
        return;
    gnutls_certificate_free_credentials(shared->held);
    free(shared);
}

static enum ht_status check_readable(const char *file, struct ht_error *err)
{
    return access(file, R_OK) == 0
               ? HT_OK
               : ht_fail_errno(err, errno, "cannot read %s", file);
}

enum ht_status tls_check_key_file(const char *file, struct ht_error *err)
{
    struct stat found;
    const enum ht_status status = check_readable(file, err);
    if (status != HT_OK)
        return status;
    if (stat(file, &found) == 0 && (found.st_mode & S_IRWXO) != 0)
        return ht_fail(err, HT_INVALID,
                       "all users of this machine may use the key %.150s: "
                       "chmod o= it",
                       file);
    return HT_OK;
}

static enum ht_status load_pair(struct tls_credentials *credentials,
                                const char *cert, const char *key,
                                struct ht_error *err)
{
    enum ht_status status = check_readable(cert, err);
    if (status == HT_OK)
        status = tls_check_key_file(key, err);
    if (status != HT_OK)
        return status;
    struct text secret = {0};
    gnutls_datum_t chain = {NULL, 0};
    status = secret_file_read(key, &secret, err);
    if (status == HT_OK) {
        const gnutls_datum_t pem = {(unsigned char *)secret.data,
                                    (unsigned)secret.len};
        int code = gnutls_load_file(cert, &chain);
        if (code == 0)
            code = gnutls_certificate_set_x509_key_mem(
                credentials->held, &chain, &pem, GNUTLS_X509_FMT_PEM);
        if (code < 0)
            status = ht_fail(err, HT_INVALID, "%.100s and %.100s: %s", cert,
                             key, gnutls_strerror(code));
    }
    gnutls_free(chain.data);
    secret_wipe(&secret);
    return status;
}

static enum ht_status load_ca(struct tls_credentials *credentials,
                              const char *ca, struct ht_error *err)
{
    const enum ht_status status = check_readable(ca, err);
    if (status != HT_OK)
        return status;
    const int n = gnutls_certificate_set_x509_trust_file(credentials->held, ca,
                                                         GNUTLS_X509_FMT_PEM);
    if (n <= 0)
        return ht_fail(err, HT_INVALID, "%s holds no certificate in PEM", ca);
    return HT_OK;
}

/* A file that is there must be whole: else what was revoked would be valid. */
static enum ht_status load_crl(struct tls_credentials *credentials,
                               const char *crl, struct ht_error *err)
{
    if (access(crl, F_OK) != 0 && errno == ENOENT)
        return HT_OK;
    const enum ht_status status = check_readable(crl, err);
    if (status != HT_OK)
        return status;
    const int n = gnutls_certificate_set_x509_crl_file(credentials->held, crl,
                                                       GNUTLS_X509_FMT_PEM);
    if (n <= 0)
        return ht_fail(err, HT_INVALID,
                       "%s holds no list of revoked certificates of its "
                       "authority in PEM",
                       crl);
    return HT_OK;
}

/* ---- server ---- */

static enum ht_status load_server(const struct tls_server *server,
                                  struct tls_credentials **credentials,
                                  struct ht_error *err)
{
    struct tls_credentials *made = new_credentials();
    enum ht_status status = load_pair(made, server->cert, server->key, err);
    if (status == HT_OK && server->client_ca != NULL)
        status = load_ca(made, server->client_ca, err);
    if (status == HT_OK && server->crl != NULL)
        status = load_crl(made, server->crl, err);
    if (status == HT_OK)
        *credentials = made;
    else
        tls_credentials_drop(made);
    return status;
}

static char *copy(const char *text)
{
    return text != NULL ? ht_xstrdup(text) : NULL;
}

enum ht_status tls_server_open(const struct tls_server_settings *settings,
                               struct tls_server **server, struct ht_error *err)
{
    struct tls_server *made = ht_xcalloc(1, sizeof *made);
    made->cert = ht_xstrdup(settings->cert);
    made->key = ht_xstrdup(settings->key);
    made->client_ca = copy(settings->client_ca);
    made->crl = copy(settings->crl);
    made->http = settings->http;
    pthread_mutex_init(&made->lock, NULL);
    const enum ht_status status = load_server(made, &made->current, err);
    if (status == HT_OK)
        *server = made;
    else
        tls_server_free(made);
    return status;
}

enum ht_status tls_server_reload(struct tls_server *server,
                                 struct ht_error *err)
{
    struct tls_credentials *made;
    const enum ht_status status = load_server(server, &made, err);
    if (status != HT_OK)
        return status;
    pthread_mutex_lock(&server->lock);
    struct tls_credentials *const old = server->current;
    server->current = made;
    pthread_mutex_unlock(&server->lock);
    tls_credentials_drop(old);
    return HT_OK;
}

void tls_server_free(struct tls_server *server)
{
    if (server == NULL)
        return;
    tls_credentials_drop(server->current);
    pthread_mutex_destroy(&server->lock);
    free(server->cert);
    free(server->key);
    free(server->client_ca);
    free(server->crl);
    free(server);
}

/* ---- client ---- */

static enum ht_status load_client(const struct tls_client_settings *settings,
                                  struct tls_client *client,
                                  struct ht_error *err)
{
    enum ht_status status = HT_OK;
    if (settings->pins != NULL)
        status = tls_pins_read(settings->pins, &client->pins, err);
    if (status == HT_OK && settings->ca != NULL)
        status = load_ca(client->credentials, settings->ca, err);
    if (status == HT_OK && (settings->cert == NULL) != (settings->key == NULL))
        status = ht_fail(err, HT_INVALID,
                         "a certificate and its key are given together");
    if (status == HT_OK && settings->cert != NULL && settings->key != NULL)
        status =
            load_pair(client->credentials, settings->cert, settings->key, err);
    client->has_ca = settings->ca != NULL;
    if (settings->ca == NULL && client->pins.n == 0)
        (void)gnutls_certificate_set_x509_system_trust(
            client->credentials->held);
    return status;
}

enum ht_status tls_client_open(const struct tls_client_settings *settings,
                               struct tls_client **client, struct ht_error *err)
{
    struct tls_client *made = ht_xcalloc(1, sizeof *made);
    made->credentials = new_credentials();
    pthread_mutex_init(&made->lock, NULL);
    const enum ht_status status = load_client(settings, made, err);
    if (status == HT_OK)
        *client = made;
    else
        tls_client_free(made);
    return status;
}

enum ht_status tls_client_set_pins(struct tls_client *client, const char *pins,
                                   struct ht_error *err)
{
    struct tls_pins read;
    const enum ht_status status = tls_pins_read(pins, &read, err);
    if (status != HT_OK)
        return status;
    pthread_mutex_lock(&client->lock);
    client->pins = read;
    pthread_mutex_unlock(&client->lock);
    return HT_OK;
}

void tls_client_free(struct tls_client *client)
{
    if (client == NULL)
        return;
    tls_credentials_drop(client->credentials);
    pthread_mutex_destroy(&client->lock);
    free(client);
}
