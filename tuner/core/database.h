/* database.h - the core's connection: opened, committed, given up, and its log
 * emptied. Each commit is counted in the file and in its mark (db/mark.h), and
 * none is acknowledged once the file or its log is not in its place. Core
 * thread, or before and after it. */
#ifndef HT_TUNER_CORE_DATABASE_H
#define HT_TUNER_CORE_DATABASE_H

#include "tuner/core/internal.h"

/* Errors as db_open(); core->db is NULL then. */
enum ht_status database_open(struct core *core, struct ht_error *err);
/* From now on commits are noted in the mark, as those of core->server_id. */
enum ht_status database_mark(struct core *core, struct ht_error *err);
/* Ends the open transaction, which `wrote` or not. HT_CORRUPT: the changes are
 * durable, but in a file that may vanish. */
enum ht_status database_commit(struct core *core, bool wrote,
                               struct ht_error *err);
/* Damage was found, perhaps by a reader: where the log is not in its place, the
 * file gets what is in it, which would be gone with this process. */
void database_save_log(struct core *core);
/* Writes the log back and truncates it, where no reader is in the way. */
void database_empty_log(struct core *core);
/* Also the mark. Harmless when it is closed. */
void database_close(struct core *core);

#endif
