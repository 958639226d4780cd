/* seal.h - secrets that are stored encrypted, under a key that is stored
 * elsewhere.
 *
 * A sealed text is "sealed:1:KEY:BASE64" and a line end: KEY names the key,
 * what is in Base64 is a random nonce and the output of ChaCha20-Poly1305 (RFC
 * 8439). It belongs to a name, and opens as nothing else. */
#ifndef HT_PROTO_BASE_SEAL_H
#define HT_PROTO_BASE_SEAL_H

#include <stdbool.h>
#include <stddef.h>

#include "proto/base/error.h"
#include "proto/base/text.h"

enum {
    SEAL_KEY_BYTES = 32,
    SEAL_ID_BYTES = 9 /* 8 hex digits and a NUL */
};

struct seal_key {
    unsigned char bytes[SEAL_KEY_BYTES];
    char id[SEAL_ID_BYTES]; /* from its hash: says nothing of the key */
};

/* The keys of a process: NULL: it has none. */
struct seal_keys {
    const struct seal_key *key; /* seals, and opens */
    const struct seal_key *old; /* only opens */
};

/* Reads 64 hex digits, and perhaps a line end.
 * HT_IO            the file cannot be read
 * HT_PRECONDITION  it holds something else, or `is_private` and users other
 *                  than its owner may read it */
enum ht_status seal_key_read(const char *file, bool is_private,
                             struct seal_key *key, struct ht_error *err);

bool seal_is_on(const char *text);
/* Whether it is sealed with that key. */
bool seal_is_by(const char *text, const struct seal_key *key);
/* Appends the sealed text. */
void seal_close(const struct seal_key *key, const char *name, const char *bytes,
                size_t len, struct text *sealed);
/* Appends what was sealed.
 * HT_PRECONDITION  it was by a key that is not here
 * HT_INVALID       it was changed, or belongs to another name */
enum ht_status seal_open(struct seal_keys keys, const char *name,
                         const char *sealed, struct text *bytes,
                         struct ht_error *err);

#endif
