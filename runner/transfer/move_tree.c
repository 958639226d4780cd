#include "runner/transfer/move_tree.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/base/arena.h"
#include "proto/base/file_tree.h"
#include "proto/transfer/transfer.h"
#include "proto/tree/walk.h"
#include "runner/base/site.h"
#include "runner/transfer/snapshot.h"
#include "runner/transfer/transfers.h"

/* Then the caller decides: a newer checkpoint may be there. */
enum { PATIENCE_MS = 60 * 1000, MOST_COPIED = 256 * 1024 * 1024 };

struct finder { /* what a transfer asks for the server */
    const struct transfers_settings *settings;
    const struct move_tree *move;
    struct transfers_server server;
};

static enum ht_status find_server(void *context, struct transfer_server *server,
                                  struct ht_error *err)
{
    struct finder *finder = context;
    struct transfers_server *found = &finder->server;
    const enum ht_status status =
        finder->settings->find(finder->settings->context, found, err);
    if (status == HT_OK)
        *server = (struct transfer_server){
            .url = found->url, .token = found->token, .trust = found->trust};
    return status;
}

static void say_moved(void *context, int64_t bytes, int64_t of)
{
    const struct move_tree *move = ((const struct finder *)context)->move;
    if (move->moved != NULL)
        move->moved(move->context, bytes, of);
}

static struct transfer_settings settings_of(const struct move_tree *move,
                                            struct finder *finder)
{
    finder->settings = move->settings;
    finder->move = move;
    return (struct transfer_settings){.find = find_server,
                                      .context = finder,
                                      .project = move->project,
                                      .patience_ms = PATIENCE_MS,
                                      .stopped = move->given_up,
                                      .lanes = move->lanes,
                                      .moved = say_moved};
}

/* --- sending --- */

static enum ht_status walk_and_send(const struct move_tree *move,
                                    char tree[TREE_NAME], int64_t *bytes,
                                    struct ht_error *err)
{
    static const struct walk_rules rules = {.code = false};
    struct arena *arena = arena_new();
    struct finder finder;
    const struct transfer_settings settings = settings_of(move, &finder);
    struct walked walked;
    struct transfer_sent sent = {0};
    enum ht_status status =
        walk_folder(arena, move->scratch, &rules, &walked, err);
    if (status == HT_OK && walked.manifest.n == 0)
        status = ht_fail(err, HT_NOT_FOUND, "%s is empty", move->checkpoints);
    if (status == HT_OK)
        status = transfer_send(&settings, move->scratch, &walked.manifest, tree,
                               &sent, err);
    *bytes = sent.bytes;
    arena_free(arena);
    return status;
}

enum ht_status move_tree_send(const struct move_tree *move, const char *path,
                              char tree[TREE_NAME], int64_t *bytes,
                              struct ht_error *err)
{
    *bytes = 0;
    file_tree_remove(move->scratch, NULL, NULL); /* of a try before */
    enum ht_status status =
        snapshot_make(move->checkpoints, path, move->scratch, err);
    if (status == HT_OK)
        status = walk_and_send(move, tree, bytes, err);
    file_tree_remove(move->scratch, NULL, NULL);
    return status;
}

static enum ht_status take_folders(const struct move_tree *move,
                                   const struct strings *names,
                                   struct ht_error *err)
{
    struct arena *arena = arena_new();
    enum ht_status status = HT_OK;
    int64_t may_copy = MOST_COPIED;
    size_t n = 0;
    if (mkdir(move->scratch, 0700) != 0)
        status = ht_fail_errno(err, errno, "cannot make %s", move->scratch);
    for (size_t i = 0; status == HT_OK && i < names->n; i++) {
        const char *name = names->items[i];
        status = snapshot_freeze(
            arena_printf(arena, "%s/%s", move->checkpoints, name),
            arena_printf(arena, "%s/%s", move->scratch, name), &may_copy, err);
        n += status == HT_OK;
        if (status == HT_NOT_FOUND)
            status = HT_OK;
    }
    if (status == HT_OK && n == 0)
        status = ht_fail(err, HT_NOT_FOUND, "nothing is left in %s",
                         move->checkpoints);
    arena_free(arena);
    return status;
}

enum ht_status move_tree_send_folders(const struct move_tree *move,
                                      const struct strings *names,
                                      char tree[TREE_NAME],
                                      struct ht_error *err)
{
    int64_t bytes;
    file_tree_remove(move->scratch, NULL, NULL);
    enum ht_status status = take_folders(move, names, err);
    if (status == HT_OK)
        status = walk_and_send(move, tree, &bytes, err);
    file_tree_remove(move->scratch, NULL, NULL);
    return status;
}

/* --- fetching --- */

struct owner {
    int folder;
    uid_t uid;
    gid_t gid;
};

/* The folders on the path to it, too. */
static bool give(const struct owner *owner, const char *path)
{
    char part[TREE_MOST_PATH + 1];
    for (const char *slash = strchr(path, '/'); slash != NULL;
         slash = strchr(slash + 1, '/')) {
        (void)snprintf(part, sizeof part, "%.*s", (int)(slash - path), path);
        if (fchownat(owner->folder, part, owner->uid, owner->gid,
                     AT_SYMLINK_NOFOLLOW) != 0)
            return false;
    }
    return fchownat(owner->folder, path, owner->uid, owner->gid,
                    AT_SYMLINK_NOFOLLOW) == 0;
}

/* Each trial of a runner that is root has a user of its own, who gets what
 * another of these users has left (runner/shim/confine.c). */
static enum ht_status give_all(const struct move_tree *move, const char *folder,
                               struct ht_error *err)
{
    const struct guest *guest = &move->settings->site->guest;
    if (guest->first_uid == 0 || geteuid() != 0)
        return HT_OK;
    static const struct walk_rules rules = {.code = false};
    struct arena *arena = arena_new();
    struct walked walked;
    const struct owner owner = {
        .folder = open(folder, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC),
        .uid = (uid_t)guest->first_uid,
        .gid = (gid_t)(guest->gid != 0 ? guest->gid : guest->first_uid)};
    enum ht_status status = walk_folder(arena, folder, &rules, &walked, err);
    for (size_t i = 0; status == HT_OK && i < walked.manifest.n; i++)
        if (!give(&owner, walked.manifest.entries[i].path))
            status = ht_fail_errno(err, errno, "cannot give %.200s to a trial",
                                   walked.manifest.entries[i].path);
    if (owner.folder >= 0)
        close(owner.folder);
    arena_free(arena);
    return status;
}

/* The trial has not begun, so nothing works in its folder; what was there is of
 * an earlier attempt. */
static enum ht_status put_in_place(const struct move_tree *move,
                                   const char *arrived, const char *former,
                                   struct ht_error *err)
{
    file_tree_remove(former, NULL, NULL);
    if (rename(move->checkpoints, former) != 0 && errno != ENOENT)
        return ht_fail_errno(err, errno, "cannot move %s", move->checkpoints);
    if (rename(arrived, move->checkpoints) != 0)
        return ht_fail_errno(err, errno, "cannot make %s", move->checkpoints);
    file_tree_remove(former, NULL, NULL);
    return HT_OK;
}

enum ht_status move_tree_fetch(const struct move_tree *move, const char *tree,
                               struct ht_error *err)
{
    static const struct restore_rules rules = {.readable = true, .sync = true};
    struct arena *arena = arena_new();
    struct finder finder;
    const struct transfer_settings settings = settings_of(move, &finder);
    const char *arrived = move->scratch;
    const char *former = arena_printf(arena, "%s.before", move->scratch);
    file_tree_remove(arrived, NULL, NULL);
    enum ht_status status =
        transfer_fetch(&settings, tree, arrived, &rules, err);
    if (status == HT_OK)
        status = give_all(move, arrived, err);
    if (status == HT_OK && atomic_load(move->given_up))
        status = ht_fail(err, HT_UNAVAILABLE, "it is not wanted any more");
    if (status == HT_OK)
        status = put_in_place(move, arrived, former, err);
    if (status != HT_OK)
        file_tree_remove(arrived, NULL, NULL);
    arena_free(arena);
    return status;
}
