/* receive.c - what comes into the store, piece by piece, and one chunk of it.
 */

#include "tuner/store/store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "proto/base/whole.h"
#include "proto/doc/json.h"
#include "tuner/base/budget.h"
#include "tuner/base/disk_room.h"
#include "tuner/store/state.h"

size_t transfer_take(struct transfer *transfer, const char *bytes, size_t len)
{
    const size_t room = STORE_PIECE - transfer->held;
    const size_t n = len < room ? len : room;
    memcpy(transfer->piece + transfer->held, bytes, n);
    transfer->held += n;
    return n;
}

static enum ht_status check_disk(const struct store *store,
                                 struct ht_error *err)
{
    const struct disk_room room = disk_room_look(store->data);
    if (room.state != DISK_RESERVED)
        return HT_OK;
    budget_exceeded(BUDGET_DISK_RESERVE);
    return ht_fail(err, HT_UNAVAILABLE,
                   "the disk of the data folder has less than %lld %% free, "
                   "which are kept for what trials report: free some",
                   (long long)budget_of(BUDGET_DISK_RESERVE));
}

/* A chunk that is there needs none. */
static enum ht_status check_room(const struct store *store,
                                 struct project *project, const char *chunk,
                                 struct ht_error *err)
{
    if (chunk != NULL && project_has(project, chunk))
        return HT_OK;
    const enum ht_status status = check_disk(store, err);
    return status == HT_OK ? project_check_room(project, 1, err) : status;
}

/* Its file, with the first bytes that are written. */
static enum ht_status open_part(struct store *store, struct transfer *transfer,
                                struct ht_error *err)
{
    char name[40];
    pthread_mutex_lock(&store->lock);
    snprintf(name, sizeof name, "%llu.part",
             (unsigned long long)store->parts++);
    pthread_mutex_unlock(&store->lock);
    const struct project_path part = project_arriving(transfer->project, name);
    transfer->fd =
        openat(store->root, part.text,
               O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0400);
    if (transfer->fd < 0)
        return project_fail("make a file", errno, err);
    transfer->part = part;
    return HT_OK;
}

void transfer_begin(struct store *store, struct transfer *transfer)
{
    pthread_mutex_lock(&store->lock);
    if (store->n_spare > 0)
        transfer->piece = store->spare[--store->n_spare];
    pthread_mutex_unlock(&store->lock);
    if (transfer->piece == NULL)
        transfer->piece = ht_xrealloc(NULL, STORE_PIECE, 1);
    sha256_init(&transfer->hash);
}

void transfer_end(struct store *store, struct transfer *transfer)
{
    char *piece = transfer->piece;
    pthread_mutex_lock(&store->lock);
    if (piece != NULL && store->n_spare < STORE_SPARE) {
        store->spare[store->n_spare++] = piece;
        piece = NULL;
    }
    pthread_mutex_unlock(&store->lock);
    free(piece);
}

enum ht_status store_begin(struct store *store, struct request *req,
                           struct ht_error *err)
{
    (void)err;
    transfer_begin(store, req->transfer);
    return HT_OK;
}

static enum ht_status open_transfer(struct store *store, struct request *req,
                                    struct ht_error *err)
{
    struct transfer *transfer = req->transfer;
    struct tree_hash hash;
    enum ht_status status =
        req->chunk != NULL ? tree_name_read(req->chunk, &hash, err) : HT_OK;
    if (status == HT_OK)
        status = store_project(store, req->scope.project, true,
                               &transfer->project, err);
    if (status == HT_OK)
        status = check_room(store, transfer->project, req->chunk, err);
    if (status == HT_OK)
        status = open_part(store, transfer, err);
    return status;
}

enum ht_status transfer_flush(struct store *store, struct request *req,
                              struct ht_error *err)
{
    struct transfer *transfer = req->transfer;
    const char *at = transfer->piece;
    const enum ht_status status =
        transfer->fd < 0 ? open_transfer(store, req, err) : HT_OK;
    if (status != HT_OK)
        return status;
    sha256_update(&transfer->hash, transfer->held, (const uint8_t *)at);
    if (!whole_write(transfer->fd, at, transfer->held))
        return project_fail("write a file", errno, err);
    transfer->bytes += (int64_t)transfer->held;
    transfer->held = 0;
    return HT_OK;
}

enum ht_status store_write(struct store *store, struct request *req,
                           struct ht_error *err)
{
    return transfer_flush(store, req, err);
}

static enum ht_status check_chunk(struct transfer *transfer, const char *chunk,
                                  struct ht_error *err)
{
    unsigned char hash[TOKEN_HASH_BYTES];
    char name[TREE_NAME];
    if (transfer->bytes == 0)
        return ht_fail(err, HT_INVALID, "a chunk has 1 to %d bytes",
                       TREE_CHUNK);
    sha256_digest(&transfer->hash, sizeof hash, hash);
    token_hex(name, hash);
    return strcmp(name, chunk) == 0
               ? HT_OK
               : ht_fail(err, HT_INVALID,
                         "the %lld bytes that came have the SHA-256 %s, not "
                         "the chunk's name",
                         (long long)transfer->bytes, name);
}

/* Never over one of that name, which may be synced already. False with errno.
 */
static bool put_in_place(struct store *store, struct transfer *transfer,
                         const struct project_path *path)
{
    const bool moved = renameat2(store->root, transfer->part.text, store->root,
                                 path->text, RENAME_NOREPLACE) == 0;
    if (moved)
        transfer->part.text[0] = '\0';
    if (moved || errno != EINVAL)
        return moved;
    /* A file system without that flag; the part goes with the transfer. */
    return linkat(store->root, transfer->part.text, store->root, path->text,
                  0) == 0;
}

static enum ht_status keep_chunk(struct store *store, struct transfer *transfer,
                                 const char *chunk, struct ht_error *err)
{
    const struct project_path path = project_arriving(transfer->project, chunk);
    enum ht_status status =
        project_check_room(transfer->project, transfer->bytes, err);
    if (status != HT_OK)
        return status;
    /* The disk begins now, so that a tree's sync has less to wait for. */
    (void)sync_file_range(transfer->fd, 0, 0, SYNC_FILE_RANGE_WRITE);
    if (put_in_place(store, transfer, &path))
        project_add(transfer->project, store->board, transfer->bytes);
    else if (errno != EEXIST)
        status = project_fail("name a file", errno, err);
    return status;
}

enum ht_status store_put_chunk(struct store *store, struct request *req,
                               struct ht_error *err)
{
    struct transfer *transfer = req->transfer;
    enum ht_status status = transfer_flush(store, req, err);
    if (status == HT_OK)
        status = check_chunk(transfer, req->chunk, err);
    if (status == HT_OK && !project_has(transfer->project, req->chunk))
        status = keep_chunk(store, transfer, req->chunk, err);
    if (status != HT_OK)
        return status;
    cJSON *object = cJSON_CreateObject();
    json_add_string(object, "chunk", req->chunk);
    json_add_int(object, "bytes", transfer->bytes);
    json_print(object, &req->reply);
    return HT_OK;
}
