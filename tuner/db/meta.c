#include "tuner/db/internal.h"
#include "tuner/db/write.h"

enum ht_status db_meta_get(struct db *db, struct arena *arena, const char *key,
                           const char **value, struct ht_error *err)
{
    return db_ask_text(db, arena, value, err,
                       "SELECT value FROM meta WHERE key=?", "s", key);
}

enum ht_status db_meta_set(struct db *db, const char *key, const char *value,
                           struct ht_error *err)
{
    return db_run(db, err,
                  "INSERT INTO meta(key, value) VALUES(?, ?) "
                  "ON CONFLICT(key) DO UPDATE SET value=excluded.value",
                  "ss", key, value);
}
