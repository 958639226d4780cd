/* manifest.h - a folder at one moment, a tree: its files, links and empty
 * folders as one JSON document, whose SHA-256 is the tree's name.
 *
 * One tree has one form (proto/README.md), so that two machines find the same
 * name for the same folder: the reader refuses any other. What it accepts may
 * come from an enemy and is safe to restore: sorted paths below one folder, no
 * entry below a file or a link, permission bits alone, and links that do not
 * lead out, whatever other links they pass. */
#ifndef HT_PROTO_TREE_MANIFEST_H
#define HT_PROTO_TREE_MANIFEST_H

#include <stddef.h>
#include <stdint.h>

#include "proto/base/error.h"
#include "proto/base/token.h"

struct arena;
struct text;

enum {
    TREE_CHUNK = 1024 * 1024, /* bytes: each chunk of a file but its last */
    TREE_NAME =
        TOKEN_TEXT_BYTES,  /* of a tree or a chunk in hex, with its NUL */
    TREE_MOST_PATH = 4096, /* bytes: a path, or a link's target */
    TREE_MOST_PART = 255,  /* bytes: a path's part; Linux's limit */
    TREE_MOST_ENTRIES = 1000000,
    TREE_MOST_MANIFEST = 64 * 1024 * 1024 /* bytes */
};

enum tree_kind { TREE_FILE, TREE_FOLDER, TREE_LINK };

struct tree_hash { /* of a chunk's bytes; token_hex() prints it */
    unsigned char bytes[TOKEN_HASH_BYTES];
};

struct tree_entry {
    const char *path;    /* "a/b.py" */
    enum tree_kind kind; /* a folder only when it is empty */
    unsigned mode;       /* of a file, permission bits within 0777 */
    int64_t bytes;       /* of a file */
    size_t n_chunks;     /* of a file: tree_chunks(bytes) */
    const struct tree_hash *chunks;
    const char *target; /* of a link, else NULL */
};

struct tree_manifest {
    size_t n;
    struct tree_entry *entries; /* sorted by path as bytes */
};

/* How many chunks a file of so many bytes has. */
size_t tree_chunks(int64_t bytes);
/* Bytes of the i-th chunk of a file, which has tree_chunks(bytes) > i. */
size_t tree_chunk_bytes(int64_t bytes, size_t i);

/* Reads the canonical form; entries and all they point to are the arena's.
 * HT_INVALID: it is not canonical or not safe; the sentence names the entry.
 * HT_TOO_LARGE: a limit above. */
enum ht_status tree_manifest_read(struct arena *arena, const char *bytes,
                                  size_t len, struct tree_manifest *manifest,
                                  struct ht_error *err);

/* The same without keeping: visit() has each entry in turn, valid until it
 * returns; what it returns other than HT_OK ends the reading. Memory for one
 * entry at a time is the arena's, which is reset between. */
typedef enum ht_status tree_visit(void *context, const struct tree_entry *entry,
                                  struct ht_error *err);
enum ht_status tree_manifest_visit(struct arena *arena, const char *bytes,
                                   size_t len, tree_visit *visit, void *context,
                                   struct ht_error *err);

/* Appends the canonical form of a manifest, whose entries are sorted by
 * tree_path_compare(). It checks nothing: who does not trust the entries
 * reads what it wrote. */
void tree_manifest_write(const struct tree_manifest *manifest,
                         struct text *out);
/* The order of paths, as strcmp() of their bytes. */
int tree_path_compare(const char *a, const char *b);

/* The name of the tree with this manifest. */
void tree_manifest_name(const char *bytes, size_t len, char name[TREE_NAME]);

/* Reads the name of a tree or a chunk: 64 lower-case hex digits and a NUL.
 * HT_INVALID. */
enum ht_status tree_name_read(const char *text, struct tree_hash *hash,
                              struct ht_error *err);

#endif
