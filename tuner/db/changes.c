#include "tuner/db/changes.h"

#include "tuner/db/internal.h"

enum ht_status db_changes_keep(struct db *db, int64_t study, const char *sha256,
                               const char *text, struct ht_error *err)
{
    return db_run(db, err,
                  "INSERT OR IGNORE INTO changes(study, sha256, text) "
                  "SELECT ?1, ?2, ?3 WHERE "
                  "(SELECT count(*) FROM changes WHERE study=?1)<?4",
                  "issi", study, sha256, text, (int64_t)DB_MOST_CHANGES);
}

enum ht_status db_changes_get(struct db *db, struct arena *arena, int64_t study,
                              const char *sha256, const char **text,
                              struct ht_error *err)
{
    return db_ask_text(db, arena, text, err,
                       "SELECT text FROM changes WHERE study=? AND sha256=?",
                       "is", study, sha256);
}
