/* move_tree.c - a folder to a server's store or from there, as the command and
 * the runner do it.
 *
 *     move_tree send URL TOKEN CA FOLDER
 *     move_tree fetch URL TOKEN CA FOLDER TREE
 *
 * CA may be "". Prints the tree, the chunks and bytes that were sent, and the
 * milliseconds of the walk and of the transfer. */

#include <stdio.h>
#include <string.h>

#include <curl/curl.h>

#include "proto/base/arena.h"
#include "proto/base/clock.h"
#include "proto/transfer/transfer.h"
#include "proto/tree/walk.h"

enum { PATIENCE_MS = 60000 };

static enum ht_status find(void *context, struct transfer_server *server,
                           struct ht_error *err)
{
    char **argv = context;
    (void)err;
    *server = (struct transfer_server){
        .url = argv[2],
        .token = argv[3],
        .trust = {.ca = argv[4][0] != '\0' ? argv[4] : NULL}};
    return HT_OK;
}

static enum ht_status send_folder(const struct transfer_settings *settings,
                                  const char *folder, struct ht_error *err)
{
    const struct walk_rules rules = {.code = false};
    struct arena *arena = arena_new();
    struct transfer_sent sent;
    struct walked walked;
    char tree[TREE_NAME] = "";
    const int64_t begin = clock_monotonic_ms();
    enum ht_status status = walk_folder(arena, folder, &rules, &walked, err);
    const int64_t walk_end = clock_monotonic_ms();
    if (status == HT_OK)
        status =
            transfer_send(settings, folder, &walked.manifest, tree, &sent, err);
    if (status == HT_OK)
        printf("tree=%s chunks=%zu bytes=%lld walk_ms=%lld ms=%lld\n", tree,
               sent.chunks, (long long)sent.bytes,
               (long long)(walk_end - begin),
               (long long)(clock_monotonic_ms() - walk_end));
    arena_free(arena);
    return status;
}

static enum ht_status fetch_folder(const struct transfer_settings *settings,
                                   const char *folder, const char *tree,
                                   struct ht_error *err)
{
    const struct restore_rules rules = {.sync = true};
    const int64_t begin = clock_monotonic_ms();
    const enum ht_status status =
        transfer_fetch(settings, tree, folder, &rules, err);
    if (status == HT_OK)
        printf("tree=%s ms=%lld\n", tree,
               (long long)(clock_monotonic_ms() - begin));
    return status;
}

int main(int argc, char **argv)
{
    struct ht_error err;
    const struct transfer_settings settings = {.find = find,
                                               .context = argv,
                                               .project = "local",
                                               .patience_ms = PATIENCE_MS};
    if (argc < 6)
        return 2;
    curl_global_init(CURL_GLOBAL_DEFAULT);
    const enum ht_status status =
        argc == 6 ? send_folder(&settings, argv[5], &err)
                  : fetch_folder(&settings, argv[5], argv[6], &err);
    if (status != HT_OK)
        (void)fprintf(stderr, "%s\n", err.text);
    curl_global_cleanup();
    return status == HT_OK ? 0 : 1;
}
