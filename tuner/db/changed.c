#include "tuner/db/changed.h"

#include "tuner/db/internal.h"

enum ht_status db_changed_trials(struct db *db, struct arena *arena,
                                 int64_t study, int64_t since,
                                 struct id_list *list, struct ht_error *err)
{
    return db_ask_ids(db, arena, list, err,
                      "SELECT DISTINCT trial FROM events WHERE study=? "
                      "AND revision>? AND trial>0 ORDER BY trial",
                      "ii", study, since);
}
