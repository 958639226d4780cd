/* tar.h - the heads of entries in a tar archive (POSIX.1-2001, pax): ustar
 * alone where that holds the entry, else behind a pax head with what does not
 * fit. */
#ifndef HT_TUNER_STORE_TAR_H
#define HT_TUNER_STORE_TAR_H

#include <stddef.h>
#include <stdint.h>

#include "proto/tree/manifest.h"

struct text;

enum {
    TAR_BLOCK = 512,
    TAR_END = 2 * TAR_BLOCK /* zeroes behind the last entry */
};

/* What all entries of an archive have in common. */
struct tar_rules {
    const char *folder; /* they lie below it; plain ASCII, at most 155 bytes */
    int64_t written_s;  /* wall clock, the time of each entry */
};

/* Appends the head of an entry, a multiple of TAR_BLOCK. A file's bytes follow,
 * then tar_padding() zeroes. */
void tar_head(struct text *out, const struct tree_entry *entry,
              const struct tar_rules *rules);
/* Zeroes behind so many bytes of a file. */
size_t tar_padding(int64_t bytes);

#endif
