#include "tuner/core/database.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tuner/db/db.h"

enum ht_status database_open(struct core *core, struct ht_error *err)
{
    struct db *db;
    int64_t commits;
    enum ht_status status = db_open(core->path, &db, err);
    if (status != HT_OK)
        return status;
    /* A commit that seemed to fail may be there. */
    status = mark_commits(db, &commits, err);
    if (status != HT_OK) {
        db_close(db);
        return status;
    }
    core->mark.commits = commits;
    core->db = db;
    return HT_OK;
}

enum ht_status database_mark(struct core *core, struct ht_error *err)
{
    struct mark before;
    enum ht_status status = mark_read(core->path, &before, err);
    if (status == HT_OK)
        status = mark_open(core->path, &core->mark_fd, err);
    if (status != HT_OK)
        return status;
    core->mark.base = before.base;
    memcpy(core->mark.server_id, core->server_id, sizeof core->server_id);
    mark_put(core->mark_fd, &core->mark);
    return HT_OK;
}

enum ht_status database_commit(struct core *core, bool wrote,
                               struct ht_error *err)
{
    enum ht_status status =
        wrote ? mark_count(core->db, core->mark.commits + 1, err) : HT_OK;
    if (status == HT_OK)
        status = db_commit(core->db, err);
    if (status != HT_OK)
        return status;
    status = db_check_place(core->db, err);
    if (status != HT_OK) {
        database_save_log(core);
        return status;
    }
    if (wrote) {
        core->mark.commits++;
        mark_put(core->mark_fd, &core->mark);
    }
    return HT_OK;
}

void database_save_log(struct core *core)
{
    if (core->db != NULL && db_check_place(core->db, NULL) != HT_OK)
        db_checkpoint(core->db, true, NULL);
}

void database_empty_log(struct core *core)
{
    db_checkpoint(core->db, true, NULL);
    if (!db_log_is_empty(core->db))
        return;
    core->mark.base = core->mark.commits;
    mark_put(core->mark_fd, &core->mark);
}

void database_close(struct core *core)
{
    db_close(core->db);
    core->db = NULL;
    if (core->mark_fd >= 0)
        close(core->mark_fd);
    core->mark_fd = -1;
}
