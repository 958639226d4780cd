#include "tuner/db/changes.h"

#include "tuner/db/internal.h"

enum ht_status db_changes_keep(struct db *db, const struct changes_piece *piece,
                               int64_t *have, struct ht_error *err)
{
    enum ht_status status =
        piece->from > 0
            ? db_run(db, err,
                     "UPDATE changes SET text=text||?3 WHERE study=?1 AND "
                     "sha256=?2 AND length(CAST(text AS BLOB))=?4 AND "
                     "?4+length(CAST(?3 AS BLOB))<=?5",
                     "issii", piece->study, piece->sha256, piece->text,
                     piece->from, (int64_t)DB_CHANGES_BYTES)
            : db_run(db, err,
                     "INSERT OR IGNORE INTO changes(study, sha256, text) "
                     "SELECT ?1, ?2, ?3 WHERE "
                     "(SELECT count(*) FROM changes WHERE study=?1)<?4",
                     "issi", piece->study, piece->sha256, piece->text,
                     (int64_t)DB_MOST_CHANGES);
    if (status != HT_OK)
        return status;
    /* Without the text its beginning is wanted, unless that was refused. */
    return db_ask_integer(
        db, have, err,
        "SELECT coalesce((SELECT length(CAST(text AS BLOB)) FROM "
        "changes WHERE study=?1 AND sha256=?2), ?3)",
        "isi", piece->study, piece->sha256,
        piece->from > 0 ? (int64_t)0 : (int64_t)DB_CHANGES_BYTES);
}

enum ht_status db_changes_get(struct db *db, struct arena *arena, int64_t study,
                              const char *sha256, const char **text,
                              struct ht_error *err)
{
    return db_ask_text(db, arena, text, err,
                       "SELECT text FROM changes WHERE study=? AND sha256=?",
                       "is", study, sha256);
}
