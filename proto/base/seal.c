#include "proto/base/seal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <nettle/base64.h>
#include <nettle/chacha-poly1305.h>
#include <nettle/memops.h>

#include "proto/base/arena.h"
#include "proto/base/token.h"

static const char prefix[] = "sealed:1:";
enum {
    PREFIX_LEN = sizeof prefix - 1,
    ID_LEN = SEAL_ID_BYTES - 1,
    HEAD_LEN = PREFIX_LEN + ID_LEN + 1, /* with the colon */
    NONCE = CHACHA_POLY1305_NONCE_SIZE,
    TAG = CHACHA_POLY1305_DIGEST_SIZE
};

/* ---- keys ---- */

static void name_key(struct seal_key *key)
{
    static const char purpose[] = "hypertune seal";
    unsigned char bytes[sizeof purpose + SEAL_KEY_BYTES];
    unsigned char hash[TOKEN_HASH_BYTES];
    char hex[TOKEN_TEXT_BYTES];
    memcpy(bytes, purpose, sizeof purpose);
    memcpy(bytes + sizeof purpose, key->bytes, SEAL_KEY_BYTES);
    token_sha256(hash, bytes, sizeof bytes);
    token_hex(hex, hash);
    snprintf(key->id, sizeof key->id, "%.8s", hex);
    explicit_bzero(bytes, sizeof bytes);
}

static enum ht_status read_digits(int fd, const char *file,
                                  struct seal_key *key, struct ht_error *err)
{
    enum { DIGITS = 2 * SEAL_KEY_BYTES };
    char text[DIGITS + 3] = "";
    const ssize_t n = read(fd, text, sizeof text - 1);
    if (n < 0)
        return ht_fail_errno(err, errno, "cannot read the key %s", file);
    const bool read =
        token_unhex(key->bytes, text) &&
        (n == DIGITS || (n == DIGITS + 1 && text[DIGITS] == '\n'));
    explicit_bzero(text, sizeof text);
    if (!read)
        return ht_fail(err, HT_PRECONDITION,
                       "%s holds no key: it is 64 hex digits, as openssl rand "
                       "-hex 32 prints",
                       file);
    name_key(key);
    return HT_OK;
}

enum ht_status seal_key_read(const char *file, bool is_private,
                             struct seal_key *key, struct ht_error *err)
{
    struct stat found;
    const int fd = open(file, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &found) != 0) {
        const int failed = errno;
        if (fd >= 0)
            close(fd);
        return ht_fail_errno(err, failed, "cannot read the key %s", file);
    }
    enum ht_status status = HT_OK;
    if (is_private && (found.st_mode & 077) != 0)
        status = ht_fail(err, HT_PRECONDITION,
                         "the key %s is open to other users (mode %03o): chmod "
                         "600 it",
                         file, (unsigned)found.st_mode & 0777);
    else
        status = read_digits(fd, file, key, err);
    close(fd);
    return status;
}

/* ---- texts ---- */

bool seal_is_on(const char *text)
{
    return strncmp(text, prefix, PREFIX_LEN) == 0;
}

bool seal_is_by(const char *text, const struct seal_key *key)
{
    return key != NULL && seal_is_on(text) &&
           strncmp(text + PREFIX_LEN, key->id, ID_LEN) == 0 &&
           text[PREFIX_LEN + ID_LEN] == ':';
}

static void begin(struct chacha_poly1305_ctx *context,
                  const struct seal_key *key, const unsigned char *nonce,
                  const char *name)
{
    chacha_poly1305_set_key(context, key->bytes);
    chacha_poly1305_set_nonce(context, nonce);
    chacha_poly1305_update(context, strlen(name), (const uint8_t *)name);
}

static void make_nonce(unsigned char nonce[NONCE])
{
    const uint64_t random[2] = {token_random64(), token_random64()};
    memcpy(nonce, random, NONCE);
}

void seal_close(const struct seal_key *key, const char *name, const char *bytes,
                size_t len, struct text *sealed)
{
    struct chacha_poly1305_ctx context;
    const size_t whole = NONCE + len + TAG;
    unsigned char *closed = ht_xcalloc(whole, 1);
    char *base64 = ht_xcalloc(BASE64_ENCODE_RAW_LENGTH(whole) + 1, 1);
    make_nonce(closed);
    begin(&context, key, closed, name);
    chacha_poly1305_encrypt(&context, len, closed + NONCE,
                            (const uint8_t *)bytes);
    chacha_poly1305_digest(&context, TAG, closed + NONCE + len);
    base64_encode_raw(base64, whole, closed);
    text_printf(sealed, "%s%s:%s\n", prefix, key->id, base64);
    explicit_bzero(&context, sizeof context);
    free(base64);
    free(closed);
}

/* Its bytes, malloc'ed; NULL: it is no Base64, or too short. */
static unsigned char *decode(const char *base64, size_t *len)
{
    struct base64_decode_ctx context;
    const size_t n = strcspn(base64, "\n");
    unsigned char *bytes = ht_xcalloc(BASE64_DECODE_LENGTH(n) + 1, 1);
    base64_decode_init(&context);
    if (base64_decode_update(&context, len, bytes, n, base64) != 0 &&
        base64_decode_final(&context) != 0 && *len >= NONCE + TAG)
        return bytes;
    free(bytes);
    return NULL;
}

static bool decrypt(const struct seal_key *key, const char *name,
                    const unsigned char *closed, size_t whole,
                    struct text *bytes)
{
    struct chacha_poly1305_ctx context;
    unsigned char tag[TAG];
    const size_t len = whole - NONCE - TAG;
    unsigned char *open = ht_xcalloc(len + 1, 1);
    begin(&context, key, closed, name);
    chacha_poly1305_decrypt(&context, len, open, closed + NONCE);
    chacha_poly1305_digest(&context, TAG, tag);
    const bool right = memeql_sec(tag, closed + NONCE + len, TAG) != 0;
    if (right)
        text_append(bytes, (const char *)open, len);
    explicit_bzero(open, len);
    explicit_bzero(&context, sizeof context);
    free(open);
    return right;
}

enum ht_status seal_open(struct seal_keys keys, const char *name,
                         const char *sealed, struct text *bytes,
                         struct ht_error *err)
{
    const struct seal_key *key = seal_is_by(sealed, keys.key)   ? keys.key
                                 : seal_is_by(sealed, keys.old) ? keys.old
                                                                : NULL;
    const char *id = sealed + PREFIX_LEN;
    const int id_len = (int)strnlen(id, ID_LEN);
    if (key == NULL && keys.key == NULL)
        return ht_fail(err, HT_PRECONDITION,
                       "%s is sealed with the key %.*s: give it by --key-file",
                       name, id_len, id);
    if (key == NULL)
        return ht_fail(err, HT_PRECONDITION,
                       "%s is sealed with the key %.*s, and --key-file is the "
                       "key %s",
                       name, id_len, id, keys.key->id);
    size_t whole = 0;
    unsigned char *closed = decode(sealed + HEAD_LEN, &whole);
    const bool opened =
        closed != NULL && decrypt(key, name, closed, whole, bytes);
    free(closed);
    return opened ? HT_OK
                  : ht_fail(err, HT_INVALID,
                            "%s was changed since it was sealed, or is another "
                            "sealed file under this name",
                            name);
}
