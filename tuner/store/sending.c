#include "tuner/store/sending.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "proto/base/arena.h"
#include "proto/base/log.h"
#include "proto/base/text.h"
#include "tuner/store/manifest_file.h"
#include "tuner/store/project.h"

enum {
    WINDOW_CHUNKS = 512,       /* of one file */
    WINDOW_BYTES = 1024 * 1024 /* of all that the window holds */
};

/* Ends a visit early; reading a manifest never fails with it. */
static const enum ht_status is_full = HT_RANGE;

/* An entry in the window: `n_chunks` of its chunks from the `first` on. */
struct item {
    struct tree_entry entry;
    size_t first;
};

struct sending {
    struct sending_wanted wanted;
    struct arena *entry;  /* of one entry of a visit */
    struct arena *window; /* of what follows */
    struct item *items;
    size_t n;
    size_t at;                     /* the item that goes */
    size_t chunk;                  /* the next one of its chunks */
    bool headed;                   /* its head has gone */
    size_t visited;                /* entries of the running visit */
    size_t next_entry, next_chunk; /* where the next window begins */
    int64_t bytes;                 /* of all that goes */
    struct text head;              /* spare */
    bool ended;
};

static bool is_wanted(const struct sending *sending,
                      const struct tree_entry *entry)
{
    const char *path = sending->wanted.path;
    return path == NULL ||
           (entry->kind == TREE_FILE && strcmp(entry->path, path) == 0);
}

/* --- what goes --- */

static enum ht_status check_chunks(const struct sending *sending,
                                   const struct tree_entry *entry,
                                   struct ht_error *err)
{
    for (size_t i = 0; i < entry->n_chunks; i++) {
        char name[TREE_NAME];
        token_hex(name, entry->chunks[i].bytes);
        const struct project_path path =
            project_chunk(sending->wanted.project, name);
        const int64_t bytes = project_size(sending->wanted.project, &path);
        if (bytes != (int64_t)tree_chunk_bytes(entry->bytes, i))
            return ht_fail(err, HT_CORRUPT,
                           "the store is damaged: \"%.80s\" has lost its chunk "
                           "%.64s",
                           entry->path, name);
    }
    return HT_OK;
}

static int64_t packed_bytes(struct sending *sending,
                            const struct tree_entry *entry)
{
    text_clear(&sending->head);
    tar_head(&sending->head, entry, &sending->wanted.rules);
    return (int64_t)sending->head.len + entry->bytes +
           (int64_t)tar_padding(entry->bytes);
}

static enum ht_status plan(void *context, const struct tree_entry *entry,
                           struct ht_error *err)
{
    struct sending *sending = context;
    if (!is_wanted(sending, entry)) {
        sending->next_entry += sending->n == 0;
        return HT_OK;
    }
    sending->n = 1; /* it was found */
    sending->bytes += sending->wanted.path != NULL
                          ? entry->bytes
                          : packed_bytes(sending, entry);
    return check_chunks(sending, entry, err);
}

enum ht_status sending_new(const struct sending_wanted *wanted,
                           struct sending **sending, int64_t *bytes,
                           struct ht_error *err)
{
    struct sending *made = ht_xcalloc(1, sizeof *made);
    made->wanted = *wanted;
    made->entry = arena_new();
    made->window = arena_new();
    enum ht_status status =
        manifest_file_visit(made->entry, wanted->manifest, plan, made, err);
    if (status == HT_INVALID)
        status = ht_fail(err, HT_CORRUPT,
                         "the store is damaged: the manifest of the tree");
    if (status == HT_OK && made->n == 0 && wanted->path != NULL)
        status = ht_fail(err, HT_NOT_FOUND, "the tree has no file \"%.160s\"",
                         wanted->path);
    if (status != HT_OK) {
        sending_free(made);
        return status;
    }
    made->n = 0;
    *bytes = made->bytes + (wanted->path == NULL ? TAR_END : 0);
    *sending = made;
    return HT_OK;
}

void sending_free(struct sending *sending)
{
    if (sending == NULL)
        return;
    text_free(&sending->head);
    arena_free(sending->entry);
    arena_free(sending->window);
    free(sending);
}

/* --- the window --- */

static void add_item(struct sending *sending, const struct tree_entry *entry)
{
    struct arena *arena = sending->window;
    const size_t first = sending->next_chunk;
    const size_t left = entry->n_chunks - first;
    const size_t n = left < WINDOW_CHUNKS ? left : WINDOW_CHUNKS;
    struct tree_hash *chunks = arena_alloc(arena, n + 1, sizeof *chunks);
    if (n > 0)
        memcpy(chunks, entry->chunks + first, n * sizeof *chunks);
    sending->items =
        arena_grow(arena, sending->items, sending->n, sizeof *sending->items);
    struct item *item = &sending->items[sending->n++];
    *item = (struct item){.entry = *entry, .first = first};
    item->entry.path = arena_strdup(arena, entry->path);
    item->entry.target =
        entry->target != NULL ? arena_strdup(arena, entry->target) : NULL;
    item->entry.chunks = chunks;
    item->entry.n_chunks = n;
    if (n < left) {
        sending->next_chunk = first + n;
        return;
    }
    sending->next_chunk = 0;
    sending->next_entry++;
}

static enum ht_status gather(void *context, const struct tree_entry *entry,
                             struct ht_error *err)
{
    struct sending *sending = context;
    if (sending->visited++ < sending->next_entry)
        return HT_OK;
    add_item(sending, entry);
    const bool full = sending->wanted.path != NULL || sending->next_chunk > 0 ||
                      arena_bytes(sending->window) >= WINDOW_BYTES;
    return full ? ht_fail(err, is_full, "the window is full") : HT_OK;
}

/* What follows from next_entry and next_chunk on; none: it has ended. */
static enum ht_status fill(struct sending *sending, struct ht_error *err)
{
    arena_reset(sending->window);
    sending->items = NULL;
    sending->n = sending->at = sending->chunk = sending->visited = 0;
    const enum ht_status status = manifest_file_visit(
        sending->entry, sending->wanted.manifest, gather, sending, err);
    return status == is_full ? HT_OK : status;
}

/* --- chunks --- */

static bool read_whole(int fd, char *to, size_t len)
{
    size_t done = 0;
    ssize_t n = 1;
    while (done < len && n != 0) {
        n = read(fd, to + done, len - done);
        if (n < 0 && errno != EINTR)
            return false;
        done += n > 0 ? (size_t)n : 0;
    }
    return done == len;
}

/* Appends the `i`-th chunk of the item, for which there is room. */
static enum ht_status append_chunk(const struct sending *sending,
                                   const struct item *item, size_t i,
                                   struct text *piece, struct ht_error *err)
{
    const struct project *project = sending->wanted.project;
    const size_t len = tree_chunk_bytes(item->entry.bytes, item->first + i);
    struct tree_hash hash;
    char name[TREE_NAME];
    token_hex(name, item->entry.chunks[i].bytes);
    const struct project_path path = project_chunk(project, name);
    const int fd =
        openat(project->root, path.text, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    char *to = piece->data + piece->len;
    const bool whole = fd >= 0 && read_whole(fd, to, len);
    if (fd >= 0)
        close(fd);
    if (whole)
        token_sha256(hash.bytes, to, len);
    if (!whole || memcmp(&hash, &item->entry.chunks[i], sizeof hash) != 0) {
        log_event(LOG_ERROR, "store.damaged", "project=\"%s\" chunk=%s",
                  project->name, name);
        return ht_fail(err, HT_CORRUPT,
                       "the store is damaged: chunk %.64s of \"%.80s\"", name,
                       item->entry.path);
    }
    piece->len += len;
    piece->data[piece->len] = '\0';
    return HT_OK;
}

/* text_append() would take twice the memory. */
static void make_room(struct text *piece, size_t room)
{
    text_clear(piece);
    if (piece->cap > room)
        return;
    piece->data = ht_xrealloc(piece->data, room + 1, 1);
    piece->cap = room + 1;
}

enum ht_status sending_read(struct sending *sending, int64_t at, int64_t end,
                            struct text *piece, struct ht_error *err)
{
    const size_t chunk = (size_t)(at / TREE_CHUNK);
    const size_t skip = (size_t)(at % TREE_CHUNK);
    const struct item *item = sending->items;
    enum ht_status status = HT_OK;
    if (item == NULL || chunk < item->first ||
        chunk >= item->first + item->entry.n_chunks) {
        /* add_item() steps behind an entry whose last chunk it has. */
        sending->next_entry -= item != NULL && sending->next_chunk == 0;
        sending->next_chunk = chunk;
        status = fill(sending, err);
        item = sending->items;
    }
    make_room(piece, TREE_CHUNK);
    if (status == HT_OK)
        status = append_chunk(sending, item, chunk - item->first, piece, err);
    if (status != HT_OK)
        return status;
    const size_t left = (size_t)(end - at);
    const size_t len = piece->len - skip < left ? piece->len - skip : left;
    memmove(piece->data, piece->data + skip, len);
    piece->len = len;
    piece->data[len] = '\0';
    return HT_OK;
}

/* --- the archive --- */

static bool has_room(const struct text *piece, size_t room, size_t len)
{
    return piece->len + len <= room;
}

static void append_zeroes(struct text *piece, size_t len)
{
    static const char zeroes[TAR_END];
    text_append(piece, zeroes, len);
}

/* The head, unless the item continues an entry of the window before. */
static bool pack_head(struct sending *sending, size_t room, struct text *piece)
{
    const struct item *item = &sending->items[sending->at];
    if (sending->headed || item->first > 0)
        return true;
    text_clear(&sending->head);
    tar_head(&sending->head, &item->entry, &sending->wanted.rules);
    if (!has_room(piece, room, sending->head.len))
        return false;
    text_append(piece, sending->head.data, sending->head.len);
    sending->headed = true;
    return true;
}

/* *full: the rest of the item waits for the next piece. */
static enum ht_status pack_item(struct sending *sending, size_t room,
                                struct text *piece, bool *full,
                                struct ht_error *err)
{
    const struct item *item = &sending->items[sending->at];
    *full = !pack_head(sending, room, piece);
    while (!*full && sending->chunk < item->entry.n_chunks) {
        const size_t i = sending->chunk;
        *full = !has_room(piece, room,
                          tree_chunk_bytes(item->entry.bytes, item->first + i));
        if (*full)
            break;
        const enum ht_status status =
            append_chunk(sending, item, i, piece, err);
        if (status != HT_OK)
            return status;
        sending->chunk++;
    }
    if (*full)
        return HT_OK;
    const bool last =
        item->first + item->entry.n_chunks == tree_chunks(item->entry.bytes);
    const size_t padding = last ? tar_padding(item->entry.bytes) : 0;
    *full = !has_room(piece, room, padding);
    if (*full)
        return HT_OK;
    append_zeroes(piece, padding);
    sending->at++;
    sending->chunk = 0;
    sending->headed = false;
    return HT_OK;
}

enum ht_status sending_pack(struct sending *sending, size_t room,
                            struct text *piece, struct ht_error *err)
{
    enum ht_status status = HT_OK;
    bool full = false;
    make_room(piece, room);
    while (status == HT_OK && !full) {
        if (sending->at == sending->n && !sending->ended) {
            status = fill(sending, err);
            sending->ended = status == HT_OK && sending->n == 0;
        }
        if (status == HT_OK && sending->ended) {
            if (has_room(piece, room, TAR_END))
                append_zeroes(piece, TAR_END);
            return HT_OK;
        }
        if (status == HT_OK)
            status = pack_item(sending, room, piece, &full, err);
    }
    return status;
}
