/* Keys and certificates in files. */
#include "proto/net/tls_files.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <gnutls/crypto.h>

#include "proto/base/arena.h"
#include "proto/base/secret_file.h"
#include "proto/base/whole.h"
#include "proto/net/tls_parts.h"

enum { SERIAL_BYTES = 16, CERT_MODE = 0644 };
enum { EARLIER_S = 3600 }; /* a clock may be wrong by that */

static enum ht_status fail_tls(struct ht_error *err, int code, const char *file)
{
    return ht_fail(err, HT_INVALID, "%s: %s", file, gnutls_strerror(code));
}

/* ---- files ---- */

static enum ht_status write_all(int fd, const gnutls_datum_t *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!whole_write(fd, bytes[i].data, bytes[i].size))
            return HT_IO;
    }
    return fsync(fd) == 0 ? HT_OK : HT_IO;
}

static enum ht_status write_file(const char *file, const gnutls_datum_t *bytes,
                                 size_t n, struct ht_error *err)
{
    struct arena *arena = arena_new();
    const char *beside = arena_printf(arena, "%s.new", file);
    (void)unlink(beside);
    const int fd =
        open(beside, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
             CERT_MODE);
    enum ht_status status = fd >= 0 ? write_all(fd, bytes, n) : HT_IO;
    if (status == HT_OK && rename(beside, file) != 0)
        status = HT_IO;
    if (status != HT_OK)
        status = ht_fail_errno(err, errno, "cannot write %s", file);
    if (fd >= 0)
        close(fd);
    if (status != HT_OK && fd >= 0)
        (void)unlink(beside);
    arena_free(arena);
    return status;
}

/* The caller frees the bytes by gnutls_free(). */
static enum ht_status read_file(const char *file, gnutls_datum_t *bytes,
                                struct ht_error *err)
{
    const int code = gnutls_load_file(file, bytes);
    return code == 0 ? HT_OK
                     : ht_fail_errno(err, errno != 0 ? errno : EIO,
                                     "cannot read %s", file);
}

/* ---- keys ---- */

static enum ht_status generate_key(gnutls_x509_privkey_t key, const char *file,
                                   struct ht_error *err)
{
    int code = gnutls_x509_privkey_generate(
        key, GNUTLS_PK_ECDSA, GNUTLS_CURVE_TO_BITS(GNUTLS_ECC_CURVE_SECP256R1),
        0);
    gnutls_datum_t pem = {NULL, 0};
    if (code == 0)
        code = gnutls_x509_privkey_export2_pkcs8(key, GNUTLS_X509_FMT_PEM, NULL,
                                                 GNUTLS_PKCS_PLAIN, &pem);
    if (code < 0)
        return fail_tls(err, code, file);
    const enum ht_status status =
        secret_file_write(file, (const char *)pem.data, pem.size, err);
    gnutls_memset(pem.data, 0, pem.size);
    gnutls_free(pem.data);
    return status;
}

static enum ht_status load_key(gnutls_x509_privkey_t key, const char *file,
                               struct ht_error *err)
{
    struct text secret = {0};
    enum ht_status status = secret_file_read(file, &secret, err);
    const gnutls_datum_t pem = {(unsigned char *)secret.data,
                                (unsigned)secret.len};
    const int code = status == HT_OK
                         ? gnutls_x509_privkey_import2(
                               key, &pem, GNUTLS_X509_FMT_PEM, NULL, 0)
                         : 0;
    if (code < 0)
        status = fail_tls(err, code, file);
    secret_wipe(&secret);
    return status;
}

static gnutls_x509_privkey_t new_key(void)
{
    gnutls_x509_privkey_t key;
    if (gnutls_x509_privkey_init(&key) < 0)
        ht_out_of_memory();
    return key;
}

static gnutls_x509_crt_t new_crt(void)
{
    gnutls_x509_crt_t crt;
    if (gnutls_x509_crt_init(&crt) < 0)
        ht_out_of_memory();
    return crt;
}

enum ht_status tls_make_key(const char *key_file, struct ht_error *err)
{
    gnutls_x509_privkey_t key = new_key();
    const enum ht_status status = generate_key(key, key_file, err);
    gnutls_x509_privkey_deinit(key);
    return status;
}

/* ---- certificates ---- */

static int set_common(gnutls_x509_crt_t crt, gnutls_x509_privkey_t key,
                      const char *name, int days)
{
    unsigned char serial[SERIAL_BYTES];
    const time_t now = time(NULL);
    int code = gnutls_rnd(GNUTLS_RND_NONCE, serial, sizeof serial);
    serial[0] = (unsigned char)((serial[0] & 0x7f) | 0x40); /* positive */
    if (code == 0)
        code = gnutls_x509_crt_set_version(crt, 3);
    if (code == 0)
        code = gnutls_x509_crt_set_serial(crt, serial, sizeof serial);
    if (code == 0)
        code = gnutls_x509_crt_set_activation_time(crt, now - EARLIER_S);
    if (code == 0)
        code = gnutls_x509_crt_set_expiration_time(crt,
                                                   now + (time_t)days * 86400);
    if (code == 0)
        code = gnutls_x509_crt_set_dn_by_oid(crt, GNUTLS_OID_X520_COMMON_NAME,
                                             0, name, (unsigned)strlen(name));
    if (code == 0)
        code = gnutls_x509_crt_set_key(crt, key);
    unsigned char id[64];
    size_t len = sizeof id;
    if (code == 0)
        code = gnutls_x509_crt_get_key_id(crt, GNUTLS_KEYID_USE_SHA1, id, &len);
    return code != 0 ? code : gnutls_x509_crt_set_subject_key_id(crt, id, len);
}

static enum ht_status write_crt(const char *file, gnutls_x509_crt_t crt,
                                gnutls_x509_crt_t issuer, struct ht_error *err)
{
    gnutls_datum_t pem[2] = {{NULL, 0}, {NULL, 0}};
    int code = gnutls_x509_crt_export2(crt, GNUTLS_X509_FMT_PEM, &pem[0]);
    if (code == 0 && issuer != crt)
        code = gnutls_x509_crt_export2(issuer, GNUTLS_X509_FMT_PEM, &pem[1]);
    const enum ht_status status =
        code < 0 ? fail_tls(err, code, file)
                 : write_file(file, pem, issuer != crt ? 2 : 1, err);
    gnutls_free(pem[0].data);
    gnutls_free(pem[1].data);
    return status;
}

enum ht_status tls_make_ca(const char *cert_file, const char *key_file,
                           const char *name, int days, struct ht_error *err)
{
    gnutls_x509_privkey_t key = new_key();
    gnutls_x509_crt_t crt = new_crt();
    enum ht_status status = generate_key(key, key_file, err);
    int code = 0;
    if (status == HT_OK)
        code = set_common(crt, key, name, days);
    if (code == 0)
        code = gnutls_x509_crt_set_basic_constraints(crt, 1, 0);
    if (code == 0)
        code = gnutls_x509_crt_set_key_usage(crt, GNUTLS_KEY_KEY_CERT_SIGN |
                                                      GNUTLS_KEY_CRL_SIGN);
    if (code == 0 && status == HT_OK)
        code = gnutls_x509_crt_sign2(crt, crt, key, GNUTLS_DIG_SHA256, 0);
    if (status == HT_OK && code < 0)
        status = fail_tls(err, code, cert_file);
    if (status == HT_OK)
        status = write_crt(cert_file, crt, crt, err);
    gnutls_x509_crt_deinit(crt);
    gnutls_x509_privkey_deinit(key);
    return status;
}

static int set_host(gnutls_x509_crt_t crt, const char *host)
{
    unsigned char bytes[sizeof(struct in6_addr)];
    if (inet_pton(AF_INET, host, bytes) == 1)
        return gnutls_x509_crt_set_subject_alt_name(
            crt, GNUTLS_SAN_IPADDRESS, bytes, 4, GNUTLS_FSAN_APPEND);
    if (inet_pton(AF_INET6, host, bytes) == 1)
        return gnutls_x509_crt_set_subject_alt_name(
            crt, GNUTLS_SAN_IPADDRESS, bytes, 16, GNUTLS_FSAN_APPEND);
    return gnutls_x509_crt_set_subject_alt_name(crt, GNUTLS_SAN_DNSNAME, host,
                                                (unsigned)strlen(host),
                                                GNUTLS_FSAN_APPEND);
}

static int set_leaf(gnutls_x509_crt_t crt, gnutls_x509_privkey_t key,
                    const struct tls_certificate *wanted)
{
    int code = set_common(crt, key, wanted->name, wanted->days);
    for (size_t i = 0; i < wanted->n_hosts && code == 0; i++)
        code = set_host(crt, wanted->hosts[i]);
    if (code == 0)
        code = gnutls_x509_crt_set_basic_constraints(crt, 0, -1);
    if (code == 0)
        code = gnutls_x509_crt_set_key_usage(crt, GNUTLS_KEY_DIGITAL_SIGNATURE);
    if (code == 0)
        code = gnutls_x509_crt_set_key_purpose_oid(
            crt,
            wanted->is_client ? GNUTLS_KP_TLS_WWW_CLIENT
                              : GNUTLS_KP_TLS_WWW_SERVER,
            0);
    return code;
}

/* No client accepts a certificate without a host, or with a malformed one. */
static enum ht_status check_hosts(const struct tls_certificate *wanted,
                                  struct ht_error *err)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyz"
                                  "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.:-*_";
    for (size_t i = 0; i < wanted->n_hosts; i++) {
        const char *host = wanted->hosts[i];
        if (host[0] == '\0' || host[strspn(host, allowed)] != '\0' ||
            strlen(host) > 253)
            return ht_fail(err, HT_INVALID,
                           "\"%.100s\" is no DNS name or IP address", host);
    }
    return HT_OK;
}

static enum ht_status load_crt(gnutls_x509_crt_t crt, const char *file,
                               struct ht_error *err)
{
    gnutls_datum_t bytes;
    enum ht_status status = read_file(file, &bytes, err);
    if (status != HT_OK)
        return status;
    const int code = gnutls_x509_crt_import(crt, &bytes, GNUTLS_X509_FMT_PEM);
    if (code < 0)
        status = fail_tls(err, code, file);
    gnutls_free(bytes.data);
    return status;
}

enum ht_status tls_make_certificate(const struct tls_certificate *wanted,
                                    struct ht_error *err)
{
    enum ht_status status = check_hosts(wanted, err);
    if (status != HT_OK)
        return status;
    gnutls_x509_privkey_t key = new_key(), ca_key = new_key();
    gnutls_x509_crt_t crt = new_crt(), ca = new_crt();
    status = load_crt(ca, wanted->ca, err);
    if (status == HT_OK)
        status = load_key(ca_key, wanted->ca_key, err);
    if (status == HT_OK)
        status = access(wanted->key, F_OK) == 0
                     ? load_key(key, wanted->key, err)
                     : generate_key(key, wanted->key, err);
    if (status == HT_OK) {
        int code = set_leaf(crt, key, wanted);
        if (code == 0)
            code = gnutls_x509_crt_sign2(crt, ca, ca_key, GNUTLS_DIG_SHA256, 0);
        if (code < 0)
            status = fail_tls(err, code, wanted->cert);
    }
    if (status == HT_OK)
        status = write_crt(wanted->cert, crt, ca, err);
    gnutls_x509_crt_deinit(ca);
    gnutls_x509_crt_deinit(crt);
    gnutls_x509_privkey_deinit(ca_key);
    gnutls_x509_privkey_deinit(key);
    return status;
}

/* ---- revocation ---- */

static enum ht_status load_crl(gnutls_x509_crl_t crl, const char *file,
                               struct ht_error *err)
{
    gnutls_datum_t bytes;
    if (access(file, F_OK) != 0 && errno == ENOENT)
        return HT_OK;
    enum ht_status status = read_file(file, &bytes, err);
    if (status != HT_OK)
        return status;
    const int code = gnutls_x509_crl_import(crl, &bytes, GNUTLS_X509_FMT_PEM);
    if (code < 0)
        status = fail_tls(err, code, file);
    gnutls_free(bytes.data);
    return status;
}

/* One that is no longer up to date would refuse every client. */
static int sign_crl(gnutls_x509_crl_t crl, gnutls_x509_crt_t crt,
                    gnutls_x509_crt_t ca, gnutls_x509_privkey_t ca_key)
{
    const time_t now = time(NULL);
    int code = gnutls_x509_crl_set_version(crl, 2);
    if (code == 0)
        code = gnutls_x509_crl_set_crt(crl, crt, now);
    if (code == 0)
        code = gnutls_x509_crl_set_this_update(crl, now - EARLIER_S);
    if (code == 0)
        code = gnutls_x509_crl_set_next_update(
            crl, gnutls_x509_crt_get_expiration_time(ca));
    if (code == 0)
        code = gnutls_x509_crl_sign2(crl, ca, ca_key, GNUTLS_DIG_SHA256, 0);
    return code;
}

static enum ht_status write_crl(const char *file, gnutls_x509_crl_t crl,
                                struct ht_error *err)
{
    gnutls_datum_t pem = {NULL, 0};
    const int code = gnutls_x509_crl_export2(crl, GNUTLS_X509_FMT_PEM, &pem);
    const enum ht_status status =
        code < 0 ? fail_tls(err, code, file) : write_file(file, &pem, 1, err);
    gnutls_free(pem.data);
    return status;
}

enum ht_status tls_revoke(const char *crl_file, const char *cert,
                          const char *ca, const char *ca_key,
                          struct ht_error *err)
{
    gnutls_x509_privkey_t key = new_key();
    gnutls_x509_crt_t crt = new_crt(), issuer = new_crt();
    gnutls_x509_crl_t crl;
    if (gnutls_x509_crl_init(&crl) < 0)
        ht_out_of_memory();
    enum ht_status status = load_crt(crt, cert, err);
    if (status == HT_OK)
        status = load_crt(issuer, ca, err);
    if (status == HT_OK)
        status = load_key(key, ca_key, err);
    if (status == HT_OK)
        status = load_crl(crl, crl_file, err);
    if (status == HT_OK) {
        const int code = sign_crl(crl, crt, issuer, key);
        status = code < 0 ? fail_tls(err, code, crl_file)
                          : write_crl(crl_file, crl, err);
    }
    gnutls_x509_crl_deinit(crl);
    gnutls_x509_crt_deinit(issuer);
    gnutls_x509_crt_deinit(crt);
    gnutls_x509_privkey_deinit(key);
    return status;
}

/* ---- facts ---- */

/* Appends the host unless the list is full. */
static void add_host(struct tls_file_facts *facts, const char *host)
{
    const size_t len = strlen(facts->hosts), left = sizeof facts->hosts - len;
    if (strlen(host) + 2 <= left)
        (void)snprintf(facts->hosts + len, left, "%s%s", len > 0 ? "," : "",
                       host);
}

static void read_hosts(gnutls_x509_crt_t crt, struct tls_file_facts *facts)
{
    for (unsigned i = 0;; i++) {
        char name[256] = "", text[INET6_ADDRSTRLEN];
        size_t len = sizeof name - 1;
        const int kind =
            gnutls_x509_crt_get_subject_alt_name(crt, i, name, &len, NULL);
        if (kind < 0 && kind != GNUTLS_E_SHORT_MEMORY_BUFFER)
            return;
        if (kind == GNUTLS_SAN_DNSNAME && strlen(name) == len)
            add_host(facts, name);
        else if (kind == GNUTLS_SAN_IPADDRESS && (len == 4 || len == 16) &&
                 inet_ntop(len == 4 ? AF_INET : AF_INET6, name, text,
                           sizeof text) != NULL)
            add_host(facts, text);
    }
}

enum ht_status tls_facts_of_file(const char *file, struct tls_file_facts *facts,
                                 struct ht_error *err)
{
    struct tls_file_facts read = {.begins = 0};
    unsigned char hash[32] = {0};
    size_t len = sizeof hash, name_len = sizeof read.name;
    gnutls_x509_crt_t crt = new_crt();
    enum ht_status status = load_crt(crt, file, err);
    if (status == HT_OK &&
        (!tls_pin_of_certificate(crt, read.pin) ||
         gnutls_x509_crt_get_fingerprint(crt, GNUTLS_DIG_SHA256, hash, &len) <
             0 ||
         gnutls_x509_crt_get_dn(crt, read.name, &name_len) < 0))
        status = ht_fail(err, HT_INVALID, "%s cannot be read", file);
    if (status == HT_OK) {
        for (size_t i = 0; i < len; i++)
            (void)snprintf(read.fingerprint + 3 * i, 4, "%02X%s", hash[i],
                           i + 1 < len ? ":" : "");
        read_hosts(crt, &read);
        read.begins = 1000 * (int64_t)gnutls_x509_crt_get_activation_time(crt);
        read.ends = 1000 * (int64_t)gnutls_x509_crt_get_expiration_time(crt);
        *facts = read;
    }
    gnutls_x509_crt_deinit(crt);
    return status;
}

static enum ht_status pin_of_key(const char *file, char pin[TLS_PIN_BYTES],
                                 struct ht_error *err)
{
    unsigned char hash[32];
    size_t len = sizeof hash;
    gnutls_x509_privkey_t key = new_key();
    enum ht_status status = load_key(key, file, err);
    if (status == HT_OK && (gnutls_x509_privkey_get_key_id(
                                key, GNUTLS_KEYID_USE_SHA256, hash, &len) < 0 ||
                            !tls_pin_write(hash, len, pin)))
        status = ht_fail(err, HT_INVALID, "%s cannot be read", file);
    gnutls_x509_privkey_deinit(key);
    return status;
}

enum ht_status tls_pin_of_file(const char *file, char pin[TLS_PIN_BYTES],
                               struct ht_error *err)
{
    struct tls_file_facts facts;
    struct ht_error why;
    const enum ht_status status = tls_facts_of_file(file, &facts, &why);
    if (status == HT_OK) {
        memcpy(pin, facts.pin, sizeof facts.pin);
        return HT_OK;
    }
    return status == HT_IO ? ht_fail(err, status, "%s", why.text)
                           : pin_of_key(file, pin, err);
}
