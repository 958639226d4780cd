/* fetch.c - a tree from a server: its manifest, then what that names. */

#include "proto/transfer/transfer.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "proto/base/arena.h"
#include "proto/transfer/exchange.h"
#include "proto/tree/beneath.h"

enum {
    ANSWER_S = 60,
    DAMAGED = 3 /* times that bytes may be wrong before the server's are */
};

struct fetching {
    const struct transfer_settings *settings;
    const struct tree_manifest *manifest;
    int have;          /* folder of an earlier fetch, or -1 */
    char *buffer;      /* for a chunk of its files */
    int64_t bytes, of; /* that have come, of all */
    struct restore *restore;
    struct restore_chunk in_lane[EXCHANGE_LANES];
    int damaged;
};

static void note_bytes(struct fetching *fetching, size_t bytes)
{
    const struct transfer_settings *settings = fetching->settings;
    fetching->bytes += (int64_t)bytes;
    if (settings->moved != NULL)
        settings->moved(settings->context, fetching->bytes, fetching->of);
}

/* Whether an earlier fetch has the chunk, which then is in place. */
static bool put_from_before(struct fetching *fetching,
                            const struct restore_chunk *chunk)
{
    if (fetching->have < 0)
        return false;
    const int fd = beneath_open(fetching->have,
                                fetching->manifest->entries[chunk->entry].path,
                                O_RDONLY | O_NONBLOCK | O_NOCTTY, 0);
    if (fd < 0)
        return false;
    const ssize_t n = pread(fd, fetching->buffer, chunk->bytes,
                            (off_t)chunk->index * TREE_CHUNK);
    close(fd);
    if (n != (ssize_t)chunk->bytes ||
        restore_put(fetching->restore, chunk, fetching->buffer, chunk->bytes,
                    NULL) != HT_OK)
        return false;
    note_bytes(fetching, chunk->bytes);
    return true;
}

static enum ht_status next_chunk(void *context, struct exchange *exchange,
                                 bool *has, struct ht_error *err)
{
    struct fetching *fetching = context;
    struct restore_chunk *chunk = &fetching->in_lane[exchange->lane];
    char hex[TREE_NAME];
    enum ht_status status;
    do {
        status = restore_next(fetching->restore, chunk, has, err);
    } while (status == HT_OK && *has && put_from_before(fetching, chunk));
    if (status != HT_OK || !*has)
        return status;
    token_hex(hex, chunk->hash->bytes);
    (void)snprintf(exchange->path, sizeof exchange->path, "chunks/%s", hex);
    exchange->method = "GET";
    exchange->most = TREE_CHUNK;
    exchange->wait_s = ANSWER_S;
    return HT_OK;
}

static enum ht_status take_chunk(void *context, struct exchange *exchange,
                                 struct ht_error *err)
{
    struct fetching *fetching = context;
    if (exchange->code >= 300)
        return exchange_refusal(exchange, err);
    const enum ht_status status =
        restore_put(fetching->restore, &fetching->in_lane[exchange->lane],
                    text_string(&exchange->answer), exchange->answer.len, err);
    if (status == HT_OK)
        note_bytes(fetching, exchange->answer.len);
    return status == HT_CORRUPT && ++fetching->damaged < DAMAGED
               ? HT_UNAVAILABLE
               : status;
}

static enum ht_status fetch_manifest(struct exchanges *exchanges,
                                     struct arena *arena, const char *tree,
                                     struct tree_manifest *manifest,
                                     struct ht_error *err)
{
    struct text answer = {0};
    char name[TREE_NAME];
    struct exchange request = {
        .method = "GET", .most = TREE_MOST_MANIFEST, .wait_s = ANSWER_S};
    (void)snprintf(request.path, sizeof request.path, "trees/%s", tree);
    enum ht_status status =
        exchanges_call(exchanges, &request, &answer, NULL, err);
    if (status != HT_OK)
        return status;
    tree_manifest_name(text_string(&answer), answer.len, name);
    if (strcmp(name, tree) != 0)
        status = ht_fail(err, HT_CORRUPT,
                         "the manifest of tree %s has another hash", tree);
    else
        status =
            tree_manifest_read(arena, answer.data, answer.len, manifest, err);
    text_free(&answer);
    return status;
}

static enum ht_status fetch_chunks(const struct transfer_settings *settings,
                                   struct exchanges *exchanges,
                                   const struct tree_manifest *manifest,
                                   const char *folder,
                                   const struct restore_rules *rules,
                                   struct ht_error *err)
{
    struct fetching fetching = {
        .settings = settings, .manifest = manifest, .have = -1};
    for (size_t i = 0; i < manifest->n; i++)
        fetching.of += manifest->entries[i].bytes;
    enum ht_status status =
        restore_begin(manifest, folder, rules, &fetching.restore, err);
    if (status != HT_OK)
        return status;
    const struct exchange_source source = {&fetching, next_chunk, take_chunk};
    if (settings->have != NULL)
        fetching.have = open(settings->have,
                             O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fetching.have >= 0)
        fetching.buffer = ht_xcalloc(TREE_CHUNK, 1);
    status = exchanges_run(exchanges, &source, err);
    if (fetching.have >= 0)
        close(fetching.have);
    free(fetching.buffer);
    if (status == HT_OK)
        status = restore_end(fetching.restore, err);
    restore_free(fetching.restore);
    return status;
}

enum ht_status transfer_fetch(const struct transfer_settings *settings,
                              const char tree[TREE_NAME], const char *folder,
                              const struct restore_rules *rules,
                              struct ht_error *err)
{
    struct arena *arena = arena_new();
    struct tree_manifest manifest = {0};
    struct exchanges *exchanges = exchanges_new(settings);
    enum ht_status status =
        fetch_manifest(exchanges, arena, tree, &manifest, err);
    if (status == HT_OK)
        status =
            fetch_chunks(settings, exchanges, &manifest, folder, rules, err);
    exchanges_free(exchanges);
    arena_free(arena);
    return status;
}
