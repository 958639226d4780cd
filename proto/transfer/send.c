/* send.c - a tree to a server: what is missing there, then the manifest. */

#include "proto/transfer/transfer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "proto/base/arena.h"
#include "proto/doc/diag.h"
#include "proto/doc/node.h"
#include "proto/transfer/exchange.h"
#include "proto/tree/beneath.h"

enum {
    ASKED = 10000,             /* chunks in one question */
    MOST_ANSWER = 1024 * 1024, /* bytes: that many names */
    ANSWER_S = 60,             /* for a chunk */
    COMMIT_S = 900,            /* until all is on the server's disk */
    ROUNDS = 5                 /* in which chunks may have vanished there */
};

struct part { /* a chunk of the tree, where it is first */
    const struct tree_hash *hash;
    size_t entry, index;
    bool missing; /* at the server */
};

struct sending {
    const struct transfer_settings *settings;
    const struct tree_manifest *manifest;
    const char *folder;
    struct exchanges *exchanges;
    int top, fd; /* fd: of the file `open_entry`, or -1 */
    size_t open_entry;
    size_t n, next;
    struct part *parts;          /* by hash */
    const struct part **ordered; /* by file */
    char *buffers[EXCHANGE_LANES];
    const struct part *in_lane[EXCHANGE_LANES];
    int64_t of; /* bytes that the server lacks, or lacked */
    struct transfer_sent *sent;
};

/* ---- the chunks, each once ---- */

static int by_hash(const void *a, const void *b)
{
    const struct part *first = a, *second = b;
    const int order = memcmp(first->hash, second->hash, sizeof *first->hash);
    if (order != 0)
        return order;
    if (first->entry != second->entry)
        return first->entry < second->entry ? -1 : 1;
    return first->index < second->index ? -1 : first->index > second->index;
}

static int by_file(const void *a, const void *b)
{
    const struct part *first = *(const struct part *const *)a;
    const struct part *second = *(const struct part *const *)b;
    if (first->entry != second->entry)
        return first->entry < second->entry ? -1 : 1;
    return first->index < second->index ? -1 : first->index > second->index;
}

static void list_parts(struct sending *sending)
{
    const struct tree_manifest *manifest = sending->manifest;
    size_t n = 0, all = 0;
    for (size_t i = 0; i < manifest->n; i++)
        all += manifest->entries[i].n_chunks;
    struct part *parts = ht_xcalloc(all + 1, sizeof *parts);
    for (size_t i = 0; i < manifest->n; i++)
        for (size_t k = 0; k < manifest->entries[i].n_chunks; k++)
            parts[n++] = (struct part){.hash = &manifest->entries[i].chunks[k],
                                       .entry = i,
                                       .index = k};
    qsort(parts, n, sizeof *parts, by_hash);
    size_t kept = 0;
    for (size_t i = 0; i < n; i++)
        if (i == 0 || memcmp(parts[i].hash, parts[kept - 1].hash,
                             sizeof *parts[i].hash) != 0)
            parts[kept++] = parts[i];
    sending->n = kept;
    sending->parts = parts;
    sending->ordered = ht_xcalloc(kept + 1, sizeof(const struct part *));
    for (size_t i = 0; i < kept; i++)
        sending->ordered[i] = &parts[i];
    qsort(sending->ordered, kept, sizeof(const struct part *), by_file);
}

/* ---- what the server has ---- */

static struct part *find_part(const struct sending *sending, const char *name)
{
    struct tree_hash hash;
    if (tree_name_read(name, &hash, NULL) != HT_OK)
        return NULL;
    size_t low = 0, high = sending->n;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (memcmp(sending->parts[middle].hash, &hash, sizeof hash) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low < sending->n &&
                   memcmp(sending->parts[low].hash, &hash, sizeof hash) == 0
               ? &sending->parts[low]
               : NULL;
}

static enum ht_status note_missing(struct sending *sending,
                                   const struct text *answer,
                                   struct ht_error *err)
{
    struct diag diag;
    struct arena *arena = arena_new();
    diag_init(&diag, arena, "answer", NULL, 0);
    const struct node *root =
        node_read_json(arena, text_string(answer), answer->len, &diag);
    const struct node *missing = node_find(root, "missing");
    if (missing == NULL) /* of a refusal: beside its sentence */
        missing = node_find(node_find(root, "error"), "missing");
    enum ht_status status =
        missing != NULL ? HT_OK
                        : ht_fail(err, HT_CORRUPT,
                                  "the server does not say what is missing");
    NODE_EACH (item, node_items(missing)) {
        struct part *part = find_part(sending, node_string(item));
        if (part != NULL)
            part->missing = true;
    }
    arena_free(arena);
    return status;
}

static enum ht_status ask_some(struct sending *sending, size_t from, size_t to,
                               struct ht_error *err)
{
    struct text body = {0}, answer = {0};
    char hex[TREE_NAME];
    text_puts(&body, "{\"chunks\":[");
    for (size_t i = from; i < to; i++) {
        token_hex(hex, sending->parts[i].hash->bytes);
        text_printf(&body, "%s\"%s\"", i > from ? "," : "", hex);
    }
    text_puts(&body, "]}");
    const struct exchange request = {.method = "POST",
                                     .path = "chunks:missing",
                                     .type = EXCHANGE_JSON,
                                     .body = body.data,
                                     .len = body.len,
                                     .most = MOST_ANSWER,
                                     .wait_s = ANSWER_S};
    enum ht_status status =
        exchanges_call(sending->exchanges, &request, &answer, NULL, err);
    if (status == HT_OK)
        status = note_missing(sending, &answer, err);
    text_free(&body);
    text_free(&answer);
    return status;
}

/* ---- the chunks ---- */

static enum ht_status fail_changed(const struct sending *sending, size_t entry,
                                   struct ht_error *err)
{
    return ht_fail(err, HT_CONFLICT, "%.80s/%.120s changed while it was sent",
                   sending->folder, sending->manifest->entries[entry].path);
}

static enum ht_status read_part(struct sending *sending,
                                const struct part *part, char *buffer,
                                size_t len, struct ht_error *err)
{
    const char *path = sending->manifest->entries[part->entry].path;
    if (sending->fd < 0 || sending->open_entry != part->entry) {
        if (sending->fd >= 0)
            close(sending->fd);
        sending->open_entry = part->entry;
        sending->fd = beneath_open(sending->top, path,
                                   O_RDONLY | O_NONBLOCK | O_NOCTTY, 0);
        if (sending->fd < 0)
            return fail_changed(sending, part->entry, err);
    }
    for (size_t have = 0; have < len;) {
        const ssize_t n = pread(sending->fd, buffer + have, len - have,
                                (off_t)part->index * TREE_CHUNK + (off_t)have);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return ht_fail_errno(err, errno, "cannot read %.80s/%.120s",
                                 sending->folder, path);
        if (n == 0)
            return fail_changed(sending, part->entry, err);
        have += (size_t)n;
    }
    return HT_OK;
}

static enum ht_status next_part(void *context, struct exchange *exchange,
                                bool *has, struct ht_error *err)
{
    struct sending *sending = context;
    while (sending->next < sending->n &&
           !sending->ordered[sending->next]->missing)
        sending->next++;
    *has = sending->next < sending->n;
    if (!*has)
        return HT_OK;
    const struct part *part = sending->ordered[sending->next++];
    char *buffer = sending->buffers[exchange->lane];
    char hex[TREE_NAME];
    token_hex(hex, part->hash->bytes);
    (void)snprintf(exchange->path, sizeof exchange->path, "chunks/%s", hex);
    exchange->method = "PUT";
    exchange->type = EXCHANGE_BYTES;
    exchange->body = buffer;
    exchange->len = tree_chunk_bytes(
        sending->manifest->entries[part->entry].bytes, part->index);
    exchange->most = MOST_ANSWER;
    exchange->wait_s = ANSWER_S;
    sending->in_lane[exchange->lane] = part;
    return read_part(sending, part, buffer, exchange->len, err);
}

static void say_moved(const struct sending *sending)
{
    const struct transfer_settings *settings = sending->settings;
    if (settings->moved != NULL)
        settings->moved(settings->context, sending->sent->bytes, sending->of);
}

static enum ht_status take_part(void *context, struct exchange *exchange,
                                struct ht_error *err)
{
    struct sending *sending = context;
    const struct part *part = sending->in_lane[exchange->lane];
    struct tree_hash hash;
    if (exchange->code < 300) {
        sending->sent->chunks++;
        sending->sent->bytes += (int64_t)exchange->len;
        say_moved(sending);
        return HT_OK;
    }
    token_sha256(hash.bytes, exchange->body, exchange->len);
    return memcmp(&hash, part->hash, sizeof hash) != 0
               ? fail_changed(sending, part->entry, err)
               : exchange_refusal(exchange, err);
}

static void count_missing(struct sending *sending)
{
    sending->of = sending->sent->bytes;
    for (size_t i = 0; i < sending->n; i++) {
        const struct part *part = &sending->parts[i];
        if (part->missing)
            sending->of += (int64_t)tree_chunk_bytes(
                sending->manifest->entries[part->entry].bytes, part->index);
    }
}

static enum ht_status send_parts(struct sending *sending, struct ht_error *err)
{
    const struct exchange_source source = {sending, next_part, take_part};
    sending->next = 0;
    count_missing(sending);
    say_moved(sending);
    const enum ht_status status =
        exchanges_run(sending->exchanges, &source, err);
    for (size_t i = 0; i < sending->n; i++)
        sending->parts[i].missing = false;
    return status;
}

/* ---- all together ---- */

/* *code is 409 when chunks are missing, which are noted. */
static enum ht_status send_manifest(struct sending *sending,
                                    const struct text *manifest, long *code,
                                    struct ht_error *err)
{
    struct text answer = {0};
    const struct exchange request = {.method = "POST",
                                     .path = "trees",
                                     .type = EXCHANGE_JSON,
                                     .body = manifest->data,
                                     .len = manifest->len,
                                     .most = TREE_MOST_MANIFEST,
                                     .wait_s = COMMIT_S};
    enum ht_status status =
        exchanges_call(sending->exchanges, &request, &answer, code, err);
    if (status == HT_OK && *code == 409)
        status = note_missing(sending, &answer, err);
    text_free(&answer);
    return status;
}

static enum ht_status send_all(struct sending *sending,
                               const struct text *manifest,
                               struct ht_error *err)
{
    enum ht_status status = HT_OK;
    for (size_t i = 0; status == HT_OK && i < sending->n; i += ASKED)
        status = ask_some(sending, i,
                          i + ASKED < sending->n ? i + ASKED : sending->n, err);
    for (int round = 0; status == HT_OK && round < ROUNDS; round++) {
        long code = 0;
        status = send_parts(sending, err);
        if (status == HT_OK)
            status = send_manifest(sending, manifest, &code, err);
        if (status != HT_OK || code != 409)
            return status;
    }
    return status == HT_OK ? ht_fail(err, HT_UNAVAILABLE,
                                     "the server loses what it was sent")
                           : status;
}

enum ht_status transfer_send(const struct transfer_settings *settings,
                             const char *folder,
                             const struct tree_manifest *manifest,
                             char tree[TREE_NAME], struct transfer_sent *sent,
                             struct ht_error *err)
{
    struct sending sending = {.settings = settings,
                              .manifest = manifest,
                              .folder = folder,
                              .fd = -1,
                              .sent = sent};
    struct text text = {0};
    *sent = (struct transfer_sent){0};
    sending.top = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (sending.top < 0)
        return ht_fail_errno(err, errno, "cannot open %.200s", folder);
    for (size_t i = 0; i < EXCHANGE_LANES; i++)
        sending.buffers[i] = ht_xcalloc(TREE_CHUNK, 1);
    tree_manifest_write(manifest, &text);
    tree_manifest_name(text.data, text.len, tree);
    list_parts(&sending);
    sending.exchanges = exchanges_new(settings);
    const enum ht_status status = send_all(&sending, &text, err);
    exchanges_free(sending.exchanges);
    for (size_t i = 0; i < EXCHANGE_LANES; i++)
        free(sending.buffers[i]);
    free(sending.parts);
    free(sending.ordered);
    text_free(&text);
    if (sending.fd >= 0)
        close(sending.fd);
    close(sending.top);
    return status;
}
