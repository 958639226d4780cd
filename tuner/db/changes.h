/* changes.h - what differed from the git commit that attempts ran with, each
 * text once in a study.
 *
 * Facts of an attempt name a text by its hash. */
#ifndef HT_TUNER_DB_CHANGES_H
#define HT_TUNER_DB_CHANGES_H

#include <stdint.h>

#include "proto/base/arena.h"
#include "proto/base/error.h"
#include "tuner/db/db.h"

enum {
    DB_MOST_CHANGES = 100,       /* texts of a study */
    DB_CHANGES_BYTES = 64 * 1024 /* of one */
};

/* A piece of a text. */
struct changes_piece {
    int64_t study;
    const char *sha256; /* of the whole text */
    int64_t from;       /* bytes of the text before the piece */
    const char *text;
};

/* Appends the piece when the study has all before it and nothing more. A first
 * one is kept unless the study has DB_MOST_CHANGES others: code that every
 * trial changes must not fill the database. *have: bytes of the text that are
 * kept; DB_CHANGES_BYTES when no more is wanted. */
enum ht_status db_changes_keep(struct db *db, const struct changes_piece *piece,
                               int64_t *have, struct ht_error *err);
/* NULL in *text when it was not kept. */
enum ht_status db_changes_get(struct db *db, struct arena *arena, int64_t study,
                              const char *sha256, const char **text,
                              struct ht_error *err);

#endif
