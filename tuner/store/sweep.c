#include "tuner/store/sweep.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/base/arena.h"
#include "proto/base/clock.h"
#include "proto/base/log.h"
#include "tuner/base/store_board.h"
#include "tuner/db/db.h"
#include "tuner/db/trees.h"
#include "tuner/store/arriving.h"
#include "tuner/store/chunk_set.h"
#include "tuner/store/manifest_file.h"
#include "tuner/store/state.h"

/* For a transfer that is cut and continued. */
enum { ARRIVING_MS = 24 * 3600 * 1000 };

struct sweeping {
    struct store *store;
    struct project *project;
    struct db *db;
    struct arena *entry; /* of one entry of a manifest */
    struct chunk_set named;
    int64_t removed; /* files */
};

/* --- what each folder lists --- */

typedef enum ht_status visitor(struct sweeping *sweeping, int folder,
                               const char *name, struct ht_error *err);

/* Calls visit() for each entry that has the name of a tree or a chunk, or with
 * `two` two digits. A folder that is not there has none. */
static enum ht_status visit_folder(struct sweeping *sweeping, const char *name,
                                   bool two, visitor *visit,
                                   struct ht_error *err)
{
    const struct project_path path = project_path(sweeping->project, name);
    const int fd = openat(sweeping->store->root, path.text,
                          O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *folder = fd >= 0 ? fdopendir(fd) : NULL;
    const struct dirent *one;
    enum ht_status status = HT_OK;
    while (folder != NULL && status == HT_OK &&
           (one = readdir(folder)) != NULL) {
        const size_t len = strspn(one->d_name, "0123456789abcdef");
        if (one->d_name[len] == '\0' && len == (two ? 2 : TREE_NAME - 1))
            status = visit(sweeping, fd, one->d_name, err);
    }
    if (folder != NULL)
        closedir(folder);
    return status;
}

static void remove_file(struct sweeping *sweeping, int folder, const char *name)
{
    struct stat found;
    if (fstatat(folder, name, &found, AT_SYMLINK_NOFOLLOW) != 0 ||
        unlinkat(folder, name, 0) != 0)
        return;
    project_add(sweeping->project, sweeping->store->board,
                -(int64_t)found.st_size);
    sweeping->removed++;
}

/* --- manifests --- */

static enum ht_status name_chunks(void *context, const struct tree_entry *entry,
                                  struct ht_error *err)
{
    struct sweeping *sweeping = context;
    (void)err;
    for (size_t i = 0; i < entry->n_chunks; i++)
        chunk_set_add(&sweeping->named, &entry->chunks[i]);
    return HT_OK;
}

/* In this order: what is not pending any more has its row. */
static enum ht_status find_keeper(const struct sweeping *sweeping,
                                  const char *tree, bool *kept,
                                  struct ht_error *err)
{
    const char *project = sweeping->project->name;
    *kept = store_is_pending(sweeping->store, project, tree);
    return *kept ? HT_OK : db_tree_has(sweeping->db, project, tree, kept, err);
}

static enum ht_status sweep_tree(struct sweeping *sweeping, int folder,
                                 const char *name, struct ht_error *err)
{
    bool kept = true;
    enum ht_status status = find_keeper(sweeping, name, &kept, err);
    if (status == HT_OK && !kept)
        remove_file(sweeping, folder, name);
    if (status != HT_OK || !kept)
        return status;
    const int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return ht_fail(err, HT_IO, "cannot read the manifest %s", name);
    status =
        manifest_file_visit(sweeping->entry, fd, name_chunks, sweeping, err);
    close(fd);
    return status == HT_OK ? HT_OK
                           : ht_wrap(err, status, "manifest %.64s", name);
}

/* --- chunks --- */

static enum ht_status sweep_chunk(struct sweeping *sweeping, int folder,
                                  const char *name, struct ht_error *err)
{
    struct tree_hash hash;
    const enum ht_status status = tree_name_read(name, &hash, err);
    if (status == HT_OK && !chunk_set_has(&sweeping->named, &hash))
        remove_file(sweeping, folder, name);
    return status;
}

static enum ht_status sweep_chunks(struct sweeping *sweeping, int folder,
                                   const char *name, struct ht_error *err)
{
    const char path[] = {'c', 'h', 'u',     'n',     'k',
                         's', '/', name[0], name[1], '\0'};
    (void)folder;
    return visit_folder(sweeping, path, false, sweep_chunk, err);
}

/* --- projects --- */

static enum ht_status sweep_project(struct sweeping *sweeping,
                                    struct ht_error *err)
{
    enum ht_status status =
        visit_folder(sweeping, "trees", false, sweep_tree, err);
    if (status == HT_OK)
        status = visit_folder(sweeping, "chunks", true, sweep_chunks, err);
    arriving_expire(sweeping->project, sweeping->store->board,
                    clock_wall_ms() - ARRIVING_MS);
    return status;
}

static void sweep_one(struct store *store, struct db *db, const char *name)
{
    struct ht_error err;
    struct sweeping sweeping = {.store = store, .db = db, .entry = arena_new()};
    enum ht_status status =
        store_project(store, name, false, &sweeping.project, &err);
    if (status == HT_OK)
        status = sweep_project(&sweeping, &err);
    if (status != HT_OK)
        log_event(LOG_ERROR, "store.not_swept", "project=\"%s\" why=\"%s\"",
                  name, err.text);
    else if (sweeping.removed > 0)
        log_event(LOG_INFO, "store.swept", "project=\"%s\" removed=%lld", name,
                  (long long)sweeping.removed);
    chunk_set_free(&sweeping.named);
    arena_free(sweeping.entry);
}

static void sweep_all(struct store *store, struct db *db)
{
    const int fd = openat(store->root, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *projects = fd >= 0 ? fdopendir(fd) : NULL;
    const struct dirent *one;
    char name[HT_MAX_NAME + 1];
    while (projects != NULL && (one = readdir(projects)) != NULL)
        if (one->d_name[0] != '.' && folder_name_read(one->d_name, name))
            sweep_one(store, db, name);
    if (projects != NULL)
        closedir(projects);
}

/* A backup copies: the next tick asks again. */
enum ht_status store_sweep(struct store *store, struct request *req,
                           struct ht_error *err)
{
    struct db *db = NULL;
    (void)req;
    store->holds = store_board_try_hold(store->board);
    atomic_store(&store->sweep_skipped, !store->holds);
    if (!store->holds)
        return HT_OK;
    const enum ht_status status = db_open_readonly(store->database, &db, err);
    if (status == HT_OK)
        sweep_all(store, db);
    else
        log_event(LOG_ERROR, "store.not_swept", "why=\"%s\"", err->text);
    db_close(db);
    return status;
}

void sweep_end(struct store *store)
{
    pthread_mutex_lock(&store->lock);
    store->sweep_queued = false;
    pthread_mutex_unlock(&store->lock);
    if (store->holds)
        store_board_let_go(store->board);
    store->holds = false;
}
