#include "tuner/db/specs.h"

#include "tuner/db/db.h"
#include "tuner/db/internal.h"

enum ht_status db_spec_keep(struct db *db, int64_t study, int64_t revision,
                            const char *spec, struct ht_error *err)
{
    return db_run(db, err,
                  "INSERT INTO specs(study, revision, spec) VALUES(?, ?, ?)",
                  "iis", study, revision, spec);
}

enum ht_status db_spec_changed(struct db *db, int64_t study, int64_t until,
                               int64_t *revision, struct ht_error *err)
{
    return db_ask_integer(
        db, revision, err,
        "SELECT max(revision) FROM specs WHERE study=? AND revision<=?", "ii",
        study, until);
}

enum ht_status db_spec_then(struct db *db, struct arena *arena, int64_t study,
                            int64_t until, struct study_row *row,
                            struct ht_error *err)
{
    const char *spec;
    enum ht_status status = db_study_get(db, arena, study, row, err);
    if (status == HT_OK)
        status = db_ask_text(db, arena, &spec, err,
                             "SELECT spec FROM specs WHERE study=? AND "
                             "revision>? ORDER BY revision LIMIT 1",
                             "ii", study, until);
    if (status == HT_OK && spec != NULL)
        row->spec = spec;
    return status;
}
