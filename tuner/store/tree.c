/* tree.c - a manifest that came: its chunks are looked for, all is put on the
 * disk, and only then do chunks and manifest get the names by which they count.
 */

#include "tuner/store/store.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/base/arena.h"
#include "tuner/store/arriving.h"
#include "tuner/store/manifest_file.h"
#include "tuner/store/state.h"

enum { MOST_MISSING = 10000 };

/* One after the other; see is_slow() of store.c. */
struct putting {
    struct store *store;
    struct request *req;
    struct transfer *transfer;
    struct arena *arena; /* of one entry */
    struct tree_hash *missing;
    size_t n_missing;
};

/* --- whether all chunks are there --- */

static void note_missing(struct putting *putting, const struct tree_hash *chunk)
{
    if (putting->n_missing == MOST_MISSING)
        return;
    putting->missing = arena_grow(putting->req->arena, putting->missing,
                                  putting->n_missing, sizeof *chunk);
    putting->missing[putting->n_missing++] = *chunk;
}

/* -1: it has not come. */
static int64_t size_of(const struct project *project, const char *chunk)
{
    const struct project_path whole = project_chunk(project, chunk),
                              arriving = project_arriving(project, chunk);
    const int64_t bytes = project_size(project, &whole);
    return bytes >= 0 ? bytes : project_size(project, &arriving);
}

static enum ht_status look_for(void *context, const struct tree_entry *entry,
                               struct ht_error *err)
{
    struct putting *putting = context;
    putting->transfer->tree_files += entry->kind == TREE_FILE;
    putting->transfer->tree_bytes += entry->bytes;
    for (size_t i = 0; i < entry->n_chunks; i++) {
        char name[TREE_NAME];
        token_hex(name, entry->chunks[i].bytes);
        const int64_t bytes = size_of(putting->transfer->project, name);
        const int64_t want = (int64_t)tree_chunk_bytes(entry->bytes, i);
        if (bytes < 0)
            note_missing(putting, &entry->chunks[i]);
        else if (bytes != want)
            return ht_fail(err, HT_INVALID,
                           "(\"%.80s\"): chunks[%zu] has %lld bytes, not %lld",
                           entry->path, i, (long long)bytes, (long long)want);
    }
    return HT_OK;
}

static int compare(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(struct tree_hash));
}

/* Each once. */
static enum ht_status refuse_missing(struct putting *putting,
                                     struct ht_error *err)
{
    struct arena *arena = putting->req->arena;
    struct strings *list = arena_alloc(arena, 1, sizeof *list);
    const char **names = arena_alloc(arena, putting->n_missing, sizeof *names);
    qsort(putting->missing, putting->n_missing, sizeof *putting->missing,
          compare);
    for (size_t i = 0; i < putting->n_missing; i++) {
        char name[TREE_NAME];
        if (i > 0 &&
            compare(&putting->missing[i - 1], &putting->missing[i]) == 0)
            continue;
        token_hex(name, putting->missing[i].bytes);
        names[list->n++] = arena_strdup(arena, name);
    }
    list->items = names;
    putting->req->missing = list;
    return ht_fail(err, HT_CONFLICT,
                   "chunks of the tree have not come yet; \"missing\" names "
                   "%zu%s",
                   list->n,
                   putting->n_missing == MOST_MISSING ? ", and there are more"
                                                      : "");
}

/* --- names by which they count --- */

static enum ht_status move_chunk(const struct project *project,
                                 const char *name, struct ht_error *err)
{
    const struct project_path whole = project_chunk(project, name),
                              arriving = project_arriving(project, name);
    if (project_size(project, &whole) >= 0)
        return HT_OK;
    struct project_path folder = whole;
    *strrchr(folder.text, '/') = '\0';
    if (mkdirat(project->root, folder.text, 0700) != 0 && errno != EEXIST)
        return project_fail("make a folder", errno, err);
    return renameat(project->root, arriving.text, project->root, whole.text) ==
                   0
               ? HT_OK
               : project_fail("name a chunk", errno, err);
}

static enum ht_status move_chunks(void *context, const struct tree_entry *entry,
                                  struct ht_error *err)
{
    const struct putting *putting = context;
    enum ht_status status = HT_OK;
    for (size_t i = 0; status == HT_OK && i < entry->n_chunks; i++) {
        char name[TREE_NAME];
        token_hex(name, entry->chunks[i].bytes);
        status = move_chunk(putting->transfer->project, name, err);
    }
    return status;
}

static enum ht_status move_manifest(struct putting *putting,
                                    struct ht_error *err)
{
    struct store *store = putting->store;
    struct transfer *transfer = putting->transfer;
    const struct project_path path =
        project_tree(transfer->project, transfer->tree);
    if (project_size(transfer->project, &path) >= 0)
        return HT_OK;
    if (renameat(store->root, transfer->part.text, store->root, path.text) != 0)
        return project_fail("name a manifest", errno, err);
    transfer->part.text[0] = '\0';
    project_add(transfer->project, store->board, transfer->bytes);
    return HT_OK;
}

/* What is said to have failed once is said to be written from then on: so what
 * was not known to be on the disk has to come again. */
static void forget_arrived(struct store *store)
{
    pthread_mutex_lock(&store->projects_lock);
    struct project *project = store->projects;
    pthread_mutex_unlock(&store->projects_lock);
    for (; project != NULL; project = project->next)
        arriving_expire(project, store->board, INT64_MAX);
}

/* All that came, by whichever request, and all names, also of requests that
 * failed then. The descriptor is that of the start, since one hears
 * of errors after it was opened alone. */
static enum ht_status sync_disk(struct store *store, struct ht_error *err)
{
    if (syncfs(store->root) == 0)
        return HT_OK;
    const int failed = errno;
    forget_arrived(store);
    return project_fail("sync its disk", failed, err);
}

static enum ht_status put(struct putting *putting, struct ht_error *err)
{
    struct store *store = putting->store;
    struct transfer *transfer = putting->transfer;
    struct arena *arena = putting->arena;
    enum ht_status status =
        manifest_file_visit(arena, transfer->fd, look_for, putting, err);
    if (status == HT_OK && putting->n_missing > 0)
        return refuse_missing(putting, err);
    if (status == HT_OK)
        status = project_check_room(transfer->project, transfer->bytes, err);
    if (status == HT_OK)
        status = sync_disk(store, err);
    failpoint_reach(&store->failpoint, "store_synced");
    if (status == HT_OK)
        status =
            manifest_file_visit(arena, transfer->fd, move_chunks, putting, err);
    failpoint_reach(&store->failpoint, "store_moved");
    if (status == HT_OK)
        status = move_manifest(putting, err);
    if (status == HT_OK)
        status = sync_disk(store, err);
    failpoint_reach(&store->failpoint, "store_named");
    return status;
}

enum ht_status store_put_tree(struct store *store, struct request *req,
                              struct ht_error *err)
{
    struct transfer *transfer = req->transfer;
    unsigned char hash[TOKEN_HASH_BYTES];
    enum ht_status status = transfer_flush(store, req, err);
    if (status != HT_OK)
        return status;
    sha256_digest(&transfer->hash, sizeof hash, hash);
    token_hex(transfer->tree, hash);
    store_set_pending(store, transfer);
    struct putting putting = {
        .store = store, .req = req, .transfer = transfer, .arena = arena_new()};
    status = put(&putting, err);
    arena_free(putting.arena);
    return status;
}
