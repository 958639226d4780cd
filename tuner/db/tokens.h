/* tokens.h - the table of named tokens. */
#ifndef HT_TUNER_DB_TOKENS_H
#define HT_TUNER_DB_TOKENS_H

#include "proto/base/arena.h"
#include "proto/base/error.h"
#include "tuner/base/token_board.h"

struct db;

struct token_list {
    size_t n;
    struct token_row *rows;
};

/* By id; in the arena. */
enum ht_status db_token_list(struct db *db, struct arena *arena,
                             struct token_list *list, struct ht_error *err);
/* HT_NOT_FOUND. */
enum ht_status db_token_get(struct db *db, struct arena *arena,
                            const char *name, struct token_row *row,
                            struct ht_error *err);
/* The name of the token that belongs to the runner; NULL: none. */
enum ht_status db_token_of_runner(struct db *db, struct arena *arena,
                                  const char *runner, const char **name,
                                  struct ht_error *err);
/* Writes the row in place of that with its id; an id of 0 gets the next one. */
enum ht_status db_token_save(struct db *db, struct token_row *row,
                             struct ht_error *err);
enum ht_status db_token_delete(struct db *db, int64_t id, struct ht_error *err);

#endif
