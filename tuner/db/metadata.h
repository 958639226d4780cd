/* metadata.h - texts that clients keep with a study and its trials.
 *
 * A text is named by its trial (0: the study's own), a namespace and a key. It
 * gets a new version, higher than all before, whenever it is written. */
#ifndef HT_TUNER_DB_METADATA_H
#define HT_TUNER_DB_METADATA_H

#include <stddef.h>
#include <stdint.h>

#include "proto/base/arena.h"
#include "proto/base/error.h"
#include "tuner/db/db.h"

/* One text; versions count over all studies of the server. */
struct metadata_row {
    int64_t version, trial; /* db_metadata_set() ignores the version */
    const char *ns, *key, *value;
};

struct metadata_list {
    size_t n;
    struct metadata_row *rows;
};

/* Adds it or replaces the one of that name; the version is assigned here. */
enum ht_status db_metadata_set(struct db *db, int64_t study,
                               const struct metadata_row *row,
                               struct ht_error *err);
/* The value by that name (its version and value are ignored); NULL in *value
 * when there is none. */
enum ht_status db_metadata_get(struct db *db, struct arena *arena,
                               int64_t study, const struct metadata_row *name,
                               const char **value, struct ht_error *err);
/* Those of a study that were written after a version. */
struct metadata_span {
    int64_t study, version;
    int64_t most; /* at once */
};
/* In the order of their versions. */
enum ht_status db_metadata_since(struct db *db, struct arena *arena,
                                 const struct metadata_span *span,
                                 struct metadata_list *list,
                                 struct ht_error *err);

/* Optuna's user attributes: namespace "optuna", key "user:NAME";
 * here the key is NAME. */
struct metadata_attributes {
    int64_t study, trial;
    int64_t most, most_bytes; /* of one value */
};
/* By name; the value of one that is longer is NULL. */
enum ht_status db_metadata_attributes(struct db *db, struct arena *arena,
                                      const struct metadata_attributes *wanted,
                                      struct metadata_list *list,
                                      struct ht_error *err);

#endif
