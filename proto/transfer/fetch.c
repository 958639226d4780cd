/* fetch.c - a tree from a server: its manifest, then what that names. */

#include "proto/transfer/transfer.h"

#include <stdio.h>
#include <string.h>

#include "proto/base/arena.h"
#include "proto/transfer/exchange.h"

enum {
    ANSWER_S = 60,
    DAMAGED = 3 /* times that bytes may be wrong before the server's are */
};

struct fetching {
    struct restore *restore;
    struct restore_chunk in_lane[EXCHANGE_LANES];
    int damaged;
};

static enum ht_status next_chunk(void *context, struct exchange *exchange,
                                 bool *has, struct ht_error *err)
{
    struct fetching *fetching = context;
    struct restore_chunk *chunk = &fetching->in_lane[exchange->lane];
    char hex[TREE_NAME];
    const enum ht_status status =
        restore_next(fetching->restore, chunk, has, err);
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

static enum ht_status fetch_chunks(struct exchanges *exchanges,
                                   const struct tree_manifest *manifest,
                                   const char *folder,
                                   const struct restore_rules *rules,
                                   struct ht_error *err)
{
    struct fetching fetching = {.damaged = 0};
    enum ht_status status =
        restore_begin(manifest, folder, rules, &fetching.restore, err);
    if (status != HT_OK)
        return status;
    const struct exchange_source source = {&fetching, next_chunk, take_chunk};
    status = exchanges_run(exchanges, &source, err);
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
    struct tree_manifest manifest;
    struct exchanges *exchanges = exchanges_new(settings);
    enum ht_status status =
        fetch_manifest(exchanges, arena, tree, &manifest, err);
    if (status == HT_OK)
        status = fetch_chunks(exchanges, &manifest, folder, rules, err);
    exchanges_free(exchanges);
    arena_free(arena);
    return status;
}
