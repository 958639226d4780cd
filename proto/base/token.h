/* token.h - random secrets, their hash, and comparison without timing leaks. */
#ifndef HT_PROTO_BASE_TOKEN_H
#define HT_PROTO_BASE_TOKEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    TOKEN_ADMIN_BYTES = 32, /* 256 bits: admin and runner tokens */
    TOKEN_TRIAL_BYTES = 16, /* 128 bits: a trial's fencing token */
    TOKEN_TEXT_BYTES = 65,  /* longest token in hex with its NUL */
    TOKEN_HASH_BYTES = 32   /* SHA-256 */
};

/* Fills `text` with 2*bytes lower-case hex digits from getrandom(2) and a NUL;
 * bytes is at most TOKEN_ADMIN_BYTES. Exits when the kernel has no entropy
 * call, as nothing safe could follow. */
void token_make(char text[TOKEN_TEXT_BYTES], size_t bytes);
/* From the kernel as well, good for keys; exits as token_make() does. */
uint64_t token_random64(void);

/* SHA-256 (FIPS 180-4) of the bytes. */
void token_sha256(unsigned char hash[TOKEN_HASH_BYTES], const void *data,
                  size_t len);
/* HMAC-SHA-256 (RFC 2104) of the bytes under the key. */
void token_hmac(unsigned char mac[TOKEN_HASH_BYTES], const char *key,
                const void *data, size_t len);
/* The SHA-256 of a token's text, without its NUL: the only form in which a
 * token is stored. */
void token_hash(unsigned char hash[TOKEN_HASH_BYTES], const char *text);
/* 2 * TOKEN_HASH_BYTES lower-case hex digits and a NUL. */
void token_hex(char text[TOKEN_TEXT_BYTES],
               const unsigned char hash[TOKEN_HASH_BYTES]);
/* Reads the 2 * TOKEN_HASH_BYTES digits that `text` begins with; false: there
 * are other characters. */
bool token_unhex(unsigned char hash[TOKEN_HASH_BYTES], const char *text);
/* Takes the same time wherever they differ. */
bool token_equal(const unsigned char a[TOKEN_HASH_BYTES],
                 const unsigned char b[TOKEN_HASH_BYTES]);

#endif
