#include "proto/base/token.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include <nettle/base16.h>
#include <nettle/hmac.h>
#include <nettle/memops.h>
#include <nettle/sha2.h>

static void fill_random(void *memory, size_t len)
{
    unsigned char *at = memory;
    while (len > 0) {
        ssize_t n = getrandom(at, len, 0);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            fputs("error entropy.missing\n", stderr);
            exit(1);
        }
        at += n;
        len -= (size_t)n;
    }
}

static void write_hex(char *text, const unsigned char *bytes, size_t n)
{
    base16_encode_update(text, n, bytes);
    text[BASE16_ENCODE_LENGTH(n)] = '\0';
}

void token_make(char text[TOKEN_TEXT_BYTES], size_t bytes)
{
    unsigned char secret[TOKEN_ADMIN_BYTES];
    assert(bytes <= sizeof secret);
    fill_random(secret, bytes);
    write_hex(text, secret, bytes);
    explicit_bzero(secret, sizeof secret);
}

void token_hex(char text[TOKEN_TEXT_BYTES],
               const unsigned char hash[TOKEN_HASH_BYTES])
{
    write_hex(text, hash, TOKEN_HASH_BYTES);
}

uint64_t token_random64(void)
{
    uint64_t value;
    fill_random(&value, sizeof value);
    return value;
}

void token_sha256(unsigned char hash[TOKEN_HASH_BYTES], const void *data,
                  size_t len)
{
    struct sha256_ctx context;
    sha256_init(&context);
    sha256_update(&context, len, data);
    sha256_digest(&context, TOKEN_HASH_BYTES, hash);
}

void token_hmac(unsigned char mac[TOKEN_HASH_BYTES], const char *key,
                const void *data, size_t len)
{
    struct hmac_sha256_ctx context;
    hmac_sha256_set_key(&context, strlen(key), (const uint8_t *)key);
    hmac_sha256_update(&context, len, data);
    hmac_sha256_digest(&context, TOKEN_HASH_BYTES, mac);
}

void token_hash(unsigned char hash[TOKEN_HASH_BYTES], const char *text)
{
    token_sha256(hash, text, strlen(text));
}

bool token_unhex(unsigned char hash[TOKEN_HASH_BYTES], const char *text)
{
    static const char digits[] = "0123456789abcdef";
    if (strspn(text, digits) < TOKEN_TEXT_BYTES - 1)
        return false;
    for (size_t i = 0; i < TOKEN_HASH_BYTES; i++) {
        const long high = strchr(digits, text[2 * i]) - digits;
        const long low = strchr(digits, text[2 * i + 1]) - digits;
        hash[i] = (unsigned char)(high << 4 | low);
    }
    return true;
}

bool token_equal(const unsigned char a[TOKEN_HASH_BYTES],
                 const unsigned char b[TOKEN_HASH_BYTES])
{
    return memeql_sec(a, b, TOKEN_HASH_BYTES) != 0;
}
