/* files.c - the files of a trial's tree for people: their list, one of them, or
 * all as a tar archive. What a file is called comes from foreign programs: it
 * is looked for in the manifest, and never opened here. */

#include "tuner/store/store.h"

#include <fcntl.h>
#include <string.h>
#include <strings.h>

#include "proto/base/arena.h"
#include "proto/doc/json.h"
#include "tuner/store/manifest_file.h"
#include "tuner/store/sending.h"
#include "tuner/store/state.h"

enum { LIST_BYTES = 1024 * 1024 }; /* of a page, about */

/* The tree that the core has found; it stays until the request has ended.
 * HT_NOT_FOUND  it has gone meanwhile */
static enum ht_status open_tree(struct store *store, struct request *req,
                                struct ht_error *err)
{
    struct transfer *transfer = req->transfer;
    const struct tree_found *found = req->found;
    enum ht_status status =
        store_project(store, found->project, false, &transfer->project, err);
    if (status != HT_OK)
        return status;
    memcpy(transfer->tree, found->tree, sizeof transfer->tree);
    store_set_pending(store, transfer);
    const struct project_path path =
        project_tree(transfer->project, transfer->tree);
    transfer->fd =
        openat(store->root, path.text, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (transfer->fd < 0)
        return ht_fail(err, HT_NOT_FOUND,
                       "the store has no tree %.64s any more", transfer->tree);
    return manifest_file_check(transfer->fd, transfer->tree, err);
}

/* --- the list --- */

struct listing {
    const struct tree_found *found;
    cJSON *files;
    int64_t n, listed; /* entries seen, and in the list */
    size_t bytes;      /* of the list, about */
    bool left;         /* there are more */
};

static enum ht_status list_entry(void *context, const struct tree_entry *entry,
                                 struct ht_error *err)
{
    struct listing *listing = context;
    (void)err;
    if (listing->n++ < listing->found->after || listing->left)
        return HT_OK;
    if (listing->listed == listing->found->limit ||
        listing->bytes >= LIST_BYTES) {
        listing->left = true;
        return HT_OK;
    }
    cJSON *item = json_push_object(listing->files);
    json_add_string(item, "path", entry->path);
    if (entry->kind == TREE_FILE)
        json_add_int(item, "bytes", entry->bytes);
    else if (entry->kind == TREE_LINK)
        json_add_string(item, "link", entry->target);
    else
        json_add_bool(item, "folder", true);
    listing->bytes += strlen(entry->path) + 40;
    listing->listed++;
    return HT_OK;
}

enum ht_status store_list_files(struct store *store, struct request *req,
                                struct ht_error *err)
{
    struct listing listing = {.found = req->found};
    struct arena *arena;
    enum ht_status status = open_tree(store, req, err);
    if (status != HT_OK)
        return status;
    cJSON *object = cJSON_CreateObject();
    listing.files = json_add_array(object, "files");
    arena = arena_new();
    status = manifest_file_visit(arena, req->transfer->fd, list_entry, &listing,
                                 err);
    arena_free(arena);
    if (listing.left)
        json_add_int(object, "next", req->found->after + listing.listed);
    if (status == HT_OK)
        json_print(object, &req->reply);
    else
        cJSON_Delete(object);
    return status;
}

/* --- what goes --- */

/* Types that a page shows as images; all else is bytes to be saved. */
static const char *type_of(const char *path)
{
    static const char *const types[][2] = {{".png", "image/png"},
                                           {".jpg", "image/jpeg"},
                                           {".jpeg", "image/jpeg"},
                                           {".gif", "image/gif"},
                                           {".webp", "image/webp"}};
    const char *dot = strrchr(path, '.');
    for (size_t i = 0; dot != NULL && i < sizeof types / sizeof *types; i++)
        if (strcasecmp(dot, types[i][0]) == 0)
            return types[i][1];
    return "application/octet-stream";
}

static enum ht_status begin(struct store *store, struct request *req,
                            const char *path, struct ht_error *err)
{
    struct transfer *transfer = req->transfer;
    const struct tree_found *found = req->found;
    enum ht_status status = open_tree(store, req, err);
    if (status != HT_OK)
        return status;
    const struct sending_wanted wanted = {
        .project = transfer->project,
        .manifest = transfer->fd,
        .path = path,
        .rules = {found->title, found->stored_ms / 1000}};
    struct transfer_range *range = &transfer->range;
    status = sending_new(&wanted, &transfer->sending, &range->total, err);
    if (status != HT_OK)
        return status;
    range->bytes = range->total;
    if (path != NULL)
        status = transfer_read_range(req->range, range, err);
    transfer->at = range->begin;
    transfer->goes = status == HT_OK;
    return status;
}

static enum ht_status next_piece(struct request *req, const char *path,
                                 struct ht_error *err)
{
    struct transfer *transfer = req->transfer;
    const int64_t end = transfer->range.begin + transfer->range.bytes;
    enum ht_status status = HT_OK;
    if (transfer->at == end)
        return HT_OK; /* an empty file */
    if (path != NULL)
        status = sending_read(transfer->sending, transfer->at, end, &req->reply,
                              err);
    else
        status = sending_pack(transfer->sending, STORE_PIECE, &req->reply, err);
    if (status != HT_OK)
        return status;
    transfer->at += (int64_t)req->reply.len;
    req->more = transfer->at < end;
    return HT_OK;
}

enum ht_status store_get_file(struct store *store, struct request *req,
                              struct ht_error *err)
{
    const char *path = request_query(req, "path");
    if (path == NULL)
        return ht_fail(err, HT_INVALID, "the query lacks path, a file's");
    if (req->transfer->goes)
        return next_piece(req, path, err);
    const char *slash = strrchr(path, '/');
    req->reply_type = type_of(path);
    req->reply_name = slash != NULL ? slash + 1 : path;
    const enum ht_status status = begin(store, req, path, err);
    return status == HT_OK ? next_piece(req, path, err) : status;
}

enum ht_status store_get_archive(struct store *store, struct request *req,
                                 struct ht_error *err)
{
    if (req->transfer->goes)
        return next_piece(req, NULL, err);
    req->reply_type = "application/x-tar";
    req->reply_name = arena_printf(req->arena, "%s.tar", req->found->title);
    const enum ht_status status = begin(store, req, NULL, err);
    return status == HT_OK ? next_piece(req, NULL, err) : status;
}
