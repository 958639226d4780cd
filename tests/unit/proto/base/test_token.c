#include <stdlib.h>

#include "proto/base/token.h"
#include "tests/check.h"

static void hashed(const void *data, size_t len, const char *want)
{
    unsigned char hash[TOKEN_HASH_BYTES];
    char text[2 * TOKEN_HASH_BYTES + 1];
    token_sha256(hash, data, len);
    for (size_t i = 0; i < sizeof hash; i++)
        snprintf(text + 2 * i, 3, "%02x", (unsigned)hash[i]);
    CHECK_TEXT(text, want);
}

/* The examples of FIPS 180-4's SHA-256 and NIST's long message. */
static void hashes_are_those_of_the_standard(void)
{
    hashed("abc", 3,
           "ba7816bf8f01cfea414140de5dae2223"
           "b00361a396177a9cb410ff61f20015ad");
    hashed("", 0,
           "e3b0c44298fc1c149afbf4c8996fb924"
           "27ae41e4649b934ca495991b7852b855");
    hashed("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 56,
           "248d6a61d20638b8e5c026930c3e6039"
           "a33ce45964ff2167f6ecedd419db06c1");
    enum { MILLION = 1000000 };
    char *as = malloc(MILLION);
    memset(as, 'a', MILLION);
    hashed(as, MILLION,
           "cdc76e5c9914fb9281a1c7e284d73e67"
           "f1809a48a497200e046d39ccc7112cd0");
    free(as);
}

/* Lengths around the block size take other ways through the padding; the
 * hashes are those of coreutils' sha256sum. */
static void padding_is_right_at_every_edge(void)
{
    char xs[128];
    memset(xs, 'x', sizeof xs);
    hashed(xs, 55,
           "d5e285683cd4efc02d021a5c62014694"
           "958901005d6f71e89e0989fac77e4072");
    hashed(xs, 56,
           "04c26261370ee7541549d16dee320c72"
           "3e3fd14671e66a099afe0a377c16888e");
    hashed(xs, 63,
           "75220b47218278e656f2013bb8f0c455"
           "a25eaf01e86c64924e9d48d89776d6f2");
    hashed(xs, 64,
           "7ce100971f64e7001e8fe5a51973ecdf"
           "e1ced42befe7ee8d5fd6219506b5393c");
    hashed(xs, 65,
           "9537c5fdf120482f7d58d25e9ed583f5"
           "2c02b4e304ea814db1633ad565aed7e9");
    hashed(xs, 119,
           "000b48d4edf0fa7bee3c6236ecd2785b"
           "aa5db4eeb8bb54341b029e0d9fa5fb0c");
    hashed(xs, 120,
           "13f05a0b594787f5ecd315edc96141bd"
           "3243203d1b7d4f0836f37308b276ba98");
}

static void a_tokens_hash_is_that_of_its_text(void)
{
    unsigned char a[TOKEN_HASH_BYTES], b[TOKEN_HASH_BYTES];
    token_hash(a, "abc");
    token_sha256(b, "abc", 3);
    CHECK(token_equal(a, b));
}

static void equality_sees_every_byte(void)
{
    unsigned char a[TOKEN_HASH_BYTES], b[TOKEN_HASH_BYTES];
    token_hash(a, "secret");
    for (size_t i = 0; i < TOKEN_HASH_BYTES; i++) {
        memcpy(b, a, sizeof b);
        b[i] ^= 0x80;
        CHECK(!token_equal(a, b));
    }
}

static void sealed(const char *key, const char *data, const char *want)
{
    unsigned char mac[TOKEN_HASH_BYTES];
    char text[TOKEN_TEXT_BYTES];
    token_hmac(mac, key, data, strlen(data));
    token_hex(text, mac);
    CHECK_TEXT(text, want);
}

/* Test case 2 of RFC 4231; the keys of the other two are as long as a block
 * and longer, their seals those of Python's hmac. */
static void seals_are_those_of_the_standard(void)
{
    char key[101] = "";
    sealed("Jefe", "what do ya want for nothing?",
           "5bdcc146bf60754e6a042426089575c7"
           "5a003f089d2739839dec58b964ec3843");
    memset(key, 'k', 64);
    sealed(key, "block",
           "1b7ee2f78bbad5f9d29e0b4e5f639ae0"
           "46d13e1763f1ebc7a439089c128f294a");
    memset(key, 'k', 100);
    sealed(key, "longer than a block",
           "0778aaa1a01766e6369f9e44945a2b11"
           "1ae8cdf21c31421d517915da7bb0eab3");
}

static void tokens_are_hexadecimal_and_differ(void)
{
    char a[TOKEN_TEXT_BYTES], b[TOKEN_TEXT_BYTES];
    token_make(a, TOKEN_ADMIN_BYTES);
    token_make(b, TOKEN_ADMIN_BYTES);
    CHECK(strlen(a) == 64 && strspn(a, "0123456789abcdef") == 64);
    CHECK(strcmp(a, b) != 0);
    token_make(a, TOKEN_TRIAL_BYTES);
    CHECK(strlen(a) == 32 && strspn(a, "0123456789abcdef") == 32);
    CHECK(token_random64() != token_random64());
}

int main(void)
{
    RUN(hashes_are_those_of_the_standard);
    RUN(padding_is_right_at_every_edge);
    RUN(a_tokens_hash_is_that_of_its_text);
    RUN(equality_sees_every_byte);
    RUN(seals_are_those_of_the_standard);
    RUN(tokens_are_hexadecimal_and_differ);
    return check_done();
}
