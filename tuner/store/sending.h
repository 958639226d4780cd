/* sending.h - a file of a tree, or all of its files as a tar archive, on their
 * way out: which bytes come next.
 *
 * The manifest of a tree may have 64 MiB, so only a part of it, the window, is
 * in memory. Each chunk is read whole and has the hash that the manifest names
 * before a byte of it goes. Threads of the store. */
#ifndef HT_TUNER_STORE_SENDING_H
#define HT_TUNER_STORE_SENDING_H

#include <stdint.h>

#include "proto/base/error.h"
#include "tuner/store/tar.h"

struct project;
struct sending;
struct text;

/* `path`: the only file, NULL: all. Strings are borrowed, and `manifest`, a
 * descriptor, until sending_free(). */
struct sending_wanted {
    const struct project *project;
    int manifest;
    const char *path;
    struct tar_rules rules;
};

/* Finds what goes: *bytes of it. All of its chunks are there, of their lengths.
 * HT_NOT_FOUND  the tree has no such file
 * HT_CORRUPT    a chunk or the manifest is damaged; the sentence names it */
enum ht_status sending_new(const struct sending_wanted *wanted,
                           struct sending **sending, int64_t *bytes,
                           struct ht_error *err);
void sending_free(struct sending *sending); /* accepts NULL */

/* Replaces `piece` by bytes of the file from `at` on, before `end`: at least
 * one, and at most what remains of their chunk. HT_CORRUPT, HT_IO */
enum ht_status sending_read(struct sending *sending, int64_t at, int64_t end,
                            struct text *piece, struct ht_error *err);
/* Replaces `piece` by the next bytes of the archive, at most `room` of them,
 * which is TREE_CHUNK or more. HT_CORRUPT, HT_IO */
enum ht_status sending_pack(struct sending *sending, size_t room,
                            struct text *piece, struct ht_error *err);

#endif
