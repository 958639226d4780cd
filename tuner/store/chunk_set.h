/* chunk_set.h - the chunks that trees name, by the first bytes of their hashes:
 * 8 bytes each. Two that share those keep each other, which does no harm. */
#ifndef HT_TUNER_STORE_CHUNK_SET_H
#define HT_TUNER_STORE_CHUNK_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/tree/manifest.h"

struct chunk_set {  /* all zero: empty */
    uint64_t *keys; /* 0: free */
    size_t n, cap;  /* a power of two */
};

void chunk_set_free(struct chunk_set *set);
void chunk_set_add(struct chunk_set *set, const struct tree_hash *chunk);
bool chunk_set_has(const struct chunk_set *set, const struct tree_hash *chunk);

#endif
