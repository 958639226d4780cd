/* send.c - chunks and manifests that go, piece by piece. */

#include "tuner/store/store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/base/memory.h"
#include "tuner/store/state.h"

bool transfer_goes(const struct transfer *transfer,
                   struct transfer_range *range)
{
    if (transfer == NULL || !transfer->goes)
        return false;
    *range = transfer->range;
    return true;
}

/* Digits up to `end`; false: there are none, or too many. */
static bool read_digits(const char **at, int64_t *number)
{
    const size_t n = strspn(*at, "0123456789");
    if (n == 0 || n > 18)
        return false;
    *number = strtoll(*at, NULL, 10);
    *at += n;
    return true;
}

/* "bytes=A-B", "bytes=A-" or "bytes=-N"; anything else is as if it were not
 * there (RFC 9110, 14.2). */
enum ht_status transfer_read_range(const char *text,
                                   struct transfer_range *range,
                                   struct ht_error *err)
{
    int64_t begin = 0, end = range->total - 1;
    if (text == NULL || strncmp(text, "bytes=", 6) != 0)
        return HT_OK;
    text += 6;
    const bool has_begin = read_digits(&text, &begin);
    if (*text++ != '-')
        return HT_OK;
    int64_t number = 0;
    const bool has_end = read_digits(&text, &number);
    if (*text != '\0' || (!has_begin && !has_end) ||
        (has_begin && has_end && number < begin))
        return HT_OK;
    if (!has_begin)
        begin = number < range->total ? range->total - number : 0;
    else if (has_end && number < end)
        end = number;
    if (begin >= range->total)
        return ht_fail(err, HT_RANGE, "it has %lld bytes",
                       (long long)range->total);
    range->begin = begin;
    range->bytes = end - begin + 1;
    range->partial = true;
    return HT_OK;
}

/* --- pieces --- */

static enum ht_status read_piece(struct request *req, struct ht_error *err)
{
    struct transfer *transfer = req->transfer;
    const int64_t left =
        transfer->range.begin + transfer->range.bytes - transfer->at;
    const size_t want = left < STORE_PIECE ? (size_t)left : STORE_PIECE;
    struct text *reply = &req->reply;
    /* text_append() would take twice the memory. */
    if (reply->cap <= STORE_PIECE) {
        reply->data = ht_xrealloc(reply->data, STORE_PIECE + 1, 1);
        reply->cap = STORE_PIECE + 1;
    }
    ssize_t n;
    do {
        n = pread(transfer->fd, reply->data, want, transfer->at);
    } while (n < 0 && errno == EINTR);
    if (n <= 0)
        return ht_fail_errno(err, n < 0 ? errno : EIO,
                             "the store cannot read a file");
    reply->len = (size_t)n;
    reply->data[n] = '\0';
    transfer->at += n;
    req->more = n < left;
    return HT_OK;
}

static enum ht_status open_file(struct store *store, struct request *req,
                                const struct project_path *path,
                                struct ht_error *err)
{
    struct transfer *transfer = req->transfer;
    struct stat found;
    transfer->fd =
        openat(store->root, path->text, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (transfer->fd < 0 || fstat(transfer->fd, &found) != 0 ||
        found.st_size == 0)
        return ht_fail(err, HT_NOT_FOUND, "the project \"%.64s\" has no %s",
                       transfer->project->name,
                       req->chunk != NULL ? "such chunk" : "such tree");
    transfer->range = (struct transfer_range){.bytes = (int64_t)found.st_size,
                                              .total = (int64_t)found.st_size};
    const enum ht_status status =
        transfer_read_range(req->range, &transfer->range, err);
    transfer->at = transfer->range.begin;
    transfer->goes = status == HT_OK;
    return status;
}

static enum ht_status send(struct store *store, struct request *req,
                           bool is_tree, struct ht_error *err)
{
    struct transfer *transfer = req->transfer;
    const char *name = is_tree ? req->tree : req->chunk;
    struct tree_hash hash;
    if (transfer->goes)
        return read_piece(req, err);
    enum ht_status status = tree_name_read(name, &hash, err);
    if (status == HT_OK)
        status = store_project(store, req->scope.project, false,
                               &transfer->project, err);
    if (status != HT_OK)
        return status;
    const struct project_path path =
        is_tree ? project_tree(transfer->project, name)
                : project_chunk(transfer->project, name);
    status = open_file(store, req, &path, err);
    if (!is_tree)
        req->reply_type = "application/octet-stream";
    return status == HT_OK ? read_piece(req, err) : status;
}

enum ht_status store_get_chunk(struct store *store, struct request *req,
                               struct ht_error *err)
{
    return send(store, req, false, err);
}

enum ht_status store_get_tree(struct store *store, struct request *req,
                              struct ht_error *err)
{
    return send(store, req, true, err);
}
