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

enum { DB_MOST_CHANGES = 100 }; /* texts of a study */

/* Keeps the text unless the study has it or DB_MOST_CHANGES others: code that
 * every trial changes must not fill the database. */
enum ht_status db_changes_keep(struct db *db, int64_t study, const char *sha256,
                               const char *text, struct ht_error *err);
/* NULL in *text when it was not kept. */
enum ht_status db_changes_get(struct db *db, struct arena *arena, int64_t study,
                              const char *sha256, const char **text,
                              struct ht_error *err);

#endif
