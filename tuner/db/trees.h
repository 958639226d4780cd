/* trees.h - the tables of trees that are whole in the store (tuner/store), and
 * of what uses them. */
#ifndef HT_TUNER_DB_TREES_H
#define HT_TUNER_DB_TREES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/base/arena.h"
#include "proto/base/error.h"

struct db;

struct tree_row {
    const char *project, *tree; /* its name: 64 hex digits */
    int64_t bytes, files;       /* of all its files together; how many */
    int64_t created_ms;         /* wall clock */
    int64_t unused_ms; /* since then nothing uses it, wall clock; 0: not so */
};

enum tree_use_kind { TREE_CODE, TREE_CHECKPOINT };

/* What keeps a tree: a study's code, or a checkpoint of one of its trials. It
 * goes with its study. */
struct tree_use {
    const char *project, *tree;
    int64_t study, trial, attempt; /* trial and attempt 0: of code */
    int64_t step; /* of the report that named it; -1: the end */
    enum tree_use_kind kind;
};

/* One that is there begins its time without a use anew. */
enum ht_status db_tree_save(struct db *db, const struct tree_row *row,
                            struct ht_error *err);
enum ht_status db_tree_has(struct db *db, const char *project, const char *tree,
                           bool *has, struct ht_error *err);

/* The row, in the arena. HT_NOT_FOUND */
enum ht_status db_tree_get(struct db *db, struct arena *arena,
                           const char *project, const char *tree,
                           struct tree_row *row, struct ht_error *err);

/* Its time without a use begins anew; one in use, or none, stays as it is. */
enum ht_status db_tree_renew(struct db *db, const char *project,
                             const char *tree, int64_t now_ms,
                             struct ht_error *err);

/* HT_NOT_FOUND: the project has no such tree. */
enum ht_status db_tree_use_add(struct db *db, const struct tree_use *use,
                               struct ht_error *err);
/* Other uses of the tree stay. */
enum ht_status db_tree_use_remove(struct db *db, const struct tree_use *use,
                                  struct ht_error *err);

/* Notes since when trees have no use, and deletes what had none for
 * `grace_ms`. *n: how many were. */
enum ht_status db_tree_expire(struct db *db, int64_t now_ms, int64_t grace_ms,
                              int64_t *n, struct ht_error *err);

struct tree_name {
    const char *project, *tree;
};
struct tree_names {
    size_t n;
    struct tree_name *rows;
};
/* All trees by project, in the arena. */
enum ht_status db_tree_names(struct db *db, struct arena *arena,
                             struct tree_names *names, struct ht_error *err);
enum ht_status db_tree_count(struct db *db, int64_t *n, struct ht_error *err);

#endif
