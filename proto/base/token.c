#include "proto/base/token.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "proto/base/arena.h"

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
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < n; i++) {
        text[2 * i] = digits[bytes[i] >> 4];
        text[2 * i + 1] = digits[bytes[i] & 15];
    }
    text[2 * n] = '\0';
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

/* ---- SHA-256, names as in FIPS 180-4 ---- */

enum { BLOCK = 64 };

static const uint32_t round_constants[BLOCK] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1,
    0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3,
    0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
    0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
    0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
    0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
    0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
    0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
    0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t rotr(uint32_t x, int n)
{
    return x >> n | x << (32 - n);
}

static void expand(uint32_t w[BLOCK], const unsigned char block[BLOCK])
{
    for (size_t t = 0; t < 16; t++)
        w[t] = (uint32_t)block[4 * t] << 24 | (uint32_t)block[4 * t + 1] << 16 |
               (uint32_t)block[4 * t + 2] << 8 | block[4 * t + 3];
    for (size_t t = 16; t < BLOCK; t++) {
        uint32_t s0 = rotr(w[t - 15], 7) ^ rotr(w[t - 15], 18) ^ w[t - 15] >> 3;
        uint32_t s1 = rotr(w[t - 2], 17) ^ rotr(w[t - 2], 19) ^ w[t - 2] >> 10;
        w[t] = s1 + w[t - 7] + s0 + w[t - 16];
    }
}

static void compress(uint32_t state[8], const unsigned char block[BLOCK])
{
    uint32_t w[BLOCK], v[8]; /* v: a, b, c, d, e, f, g, h */
    expand(w, block);
    memcpy(v, state, sizeof v);
    for (size_t t = 0; t < BLOCK; t++) {
        uint32_t sum1 = rotr(v[4], 6) ^ rotr(v[4], 11) ^ rotr(v[4], 25);
        uint32_t ch = (v[4] & v[5]) ^ (~v[4] & v[6]);
        uint32_t t1 = v[7] + sum1 + ch + round_constants[t] + w[t];
        uint32_t sum0 = rotr(v[0], 2) ^ rotr(v[0], 13) ^ rotr(v[0], 22);
        uint32_t maj = (v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]);
        memmove(v + 1, v, 7 * sizeof *v);
        v[4] += t1;
        v[0] = t1 + sum0 + maj;
    }
    for (size_t i = 0; i < 8; i++)
        state[i] += v[i];
}

/* The last one or two blocks: rest of the message, 0x80, zeros, bit length. */
static void finish(uint32_t state[8], const unsigned char *rest, size_t len)
{
    unsigned char pad[2 * BLOCK] = {0};
    size_t n = len % BLOCK;
    size_t size = n < BLOCK - 8 ? BLOCK : 2 * BLOCK;
    if (n > 0)
        memcpy(pad, rest, n);
    pad[n] = 0x80;
    for (size_t i = 0; i < 8; i++)
        pad[size - 1 - i] = (unsigned char)((uint64_t)len * 8 >> 8 * i);
    for (size_t at = 0; at < size; at += BLOCK)
        compress(state, pad + at);
}

void token_sha256(unsigned char hash[TOKEN_HASH_BYTES], const void *data,
                  size_t len)
{
    uint32_t state[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                         0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    const unsigned char *at = data;
    for (size_t i = 0; i < len / BLOCK; i++, at += BLOCK)
        compress(state, at);
    finish(state, at, len);
    for (size_t i = 0; i < TOKEN_HASH_BYTES; i++)
        hash[i] = (unsigned char)(state[i / 4] >> (24 - 8 * (i % 4)));
}

/* Names as in RFC 2104: H(K xor opad, H(K xor ipad, text)). */
void token_hmac(unsigned char mac[TOKEN_HASH_BYTES], const char *key,
                const void *data, size_t len)
{
    unsigned char k[BLOCK] = {0}, outer[BLOCK + TOKEN_HASH_BYTES];
    unsigned char *inner = ht_xcalloc(BLOCK + len, 1);
    const size_t key_len = strlen(key);
    if (key_len > BLOCK)
        token_hash(k, key);
    for (size_t i = 0; i < key_len && key_len <= BLOCK; i++)
        k[i] = (unsigned char)key[i];
    for (size_t i = 0; i < BLOCK; i++) {
        inner[i] = k[i] ^ 0x36;
        outer[i] = k[i] ^ 0x5c;
    }
    memcpy(inner + BLOCK, data, len);
    token_sha256(outer + BLOCK, inner, BLOCK + len);
    token_sha256(mac, outer, sizeof outer);
    free(inner);
}

void token_hash(unsigned char hash[TOKEN_HASH_BYTES], const char *text)
{
    token_sha256(hash, text, strlen(text));
}

bool token_equal(const unsigned char a[TOKEN_HASH_BYTES],
                 const unsigned char b[TOKEN_HASH_BYTES])
{
    unsigned difference = 0;
    for (size_t i = 0; i < TOKEN_HASH_BYTES; i++)
        difference |= (unsigned)(a[i] ^ b[i]);
    return difference == 0;
}
