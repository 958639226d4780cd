#include "runner/far/far.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "proto/base/clock.h"
#include "proto/job/metrics_file.h"
#include "proto/tree/walk.h"
#include "runner/base/order.h"
#include "runner/base/safe_path.h"
#include "runner/far/parts.h"

enum { SETTLE_MS = 8000 };

/* ---- begin and end ---- */

enum ht_status far_name_kit(const struct site *site, const char *without,
                            struct arena *arena, const char **kit,
                            struct ht_error *err)
{
    const struct walk_rules rules = {.without = without};
    struct arena *scratch = arena_new();
    struct walked walked;
    struct text text = {0};
    char name[TREE_NAME];
    enum ht_status status = HT_OK;
    *kit = NULL;
    if (site->kit != NULL)
        status = walk_folder(scratch, site->kit, &rules, &walked, err);
    if (status == HT_OK && site->kit != NULL) {
        tree_manifest_write(&walked.manifest, &text);
        tree_manifest_name(text.data, text.len, name);
        *kit = arena_printf(arena, "kit/%s", name);
    }
    text_free(&text);
    arena_free(scratch);
    return status;
}

static void free_watch(struct far_watch *watch)
{
    for (size_t i = 0; i < watch->n; i++)
        free(watch->sent[i].path);
    free(watch->sent);
    free(watch->folder);
    free(watch->extra);
    free(watch);
}

static void free_far(struct far *far)
{
    while (far->first != NULL) {
        struct far_watch *next = far->first->next;
        free_watch(far->first);
        far->first = next;
    }
    while (far->trees != NULL) {
        struct far_tree *next = far->trees->next;
        free(far->trees->folder);
        free(far->trees->path);
        free(far->trees);
        far->trees = next;
    }
    far_pull_free(far->pull);
    if (far->state >= 0)
        close(far->state);
    if (far->wake >= 0)
        close(far->wake);
    far->way->end(far->context);
    text_free(&far->queue);
    free(far->root);
    arena_free(far->arena);
    free(far);
}

static enum ht_status prepare(struct far *far, struct ht_error *err)
{
    const struct site *site = far->site;
    far->state = open(site->state, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (far->state < 0)
        return ht_fail_errno(err, errno, "%s", site->state);
    far->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (far->wake < 0)
        return ht_fail_errno(err, errno, "cannot make an eventfd");
    return HT_OK;
}

enum ht_status far_open(const struct far_settings *settings, struct far **far,
                        struct ht_error *err)
{
    struct far *made = ht_xcalloc(1, sizeof *made);
    *made = (struct far){.site = settings->site,
                         .arena = arena_new(),
                         .way = settings->way,
                         .context = settings->context,
                         .state = -1,
                         .wake = -1};
    made->name = arena_strdup(made->arena, settings->name);
    if (settings->kit != NULL)
        made->kit = arena_strdup(made->arena, settings->kit);
    made->kit_without = settings->kit_without;
    const enum ht_status status = prepare(made, err);
    if (status != HT_OK) {
        free_far(made);
        return status;
    }
    pthread_mutex_init(&made->lock, NULL);
    clock_cond_init(&made->changed);
    (void)snprintf(made->fault, sizeof made->fault,
                   "connects to %.200s, for the files there", settings->name);
    const int code = pthread_create(&made->thread, NULL, far_link, made);
    if (code != 0) {
        free_far(made);
        return ht_fail_errno(err, code, "cannot start a thread");
    }
    *far = made;
    return HT_OK;
}

static void wake(struct far *far)
{
    pthread_cond_broadcast(&far->changed);
    (void)eventfd_write(far->wake, 1);
}

void far_stop(struct far *far)
{
    if (far == NULL)
        return;
    pthread_mutex_lock(&far->lock);
    far->stopping = true;
    wake(far);
    pthread_mutex_unlock(&far->lock);
}

void far_close(struct far *far)
{
    if (far == NULL)
        return;
    far_stop(far);
    pthread_join(far->thread, NULL);
    pthread_cond_destroy(&far->changed);
    pthread_mutex_destroy(&far->lock);
    free_far(far);
}

static bool wait_until(struct far *far, int64_t until_ms)
{
    const int64_t left = until_ms - clock_monotonic_ms();
    if (left <= 0 || far->stopping)
        return false;
    const struct timespec until = clock_in_ms(left);
    pthread_cond_timedwait(&far->changed, &far->lock, &until);
    return true;
}

static void show(struct far *far, struct site *site)
{
    struct arena *arena = far->arena;
    site->seen_state = arena_strdup(arena, far->root);
    if (far->way->program != NULL)
        site->shim = far->way->program(far->context, arena, far->root);
    if (far->kit == NULL)
        return;
    site->kit = arena_printf(arena, "%s/%s", far->root, far->kit);
    site->programs = arena_printf(arena, "%s/bin", site->kit);
}

enum ht_status far_wait(struct far *far, int64_t wait_ms, struct site *site,
                        struct ht_error *err)
{
    const int64_t until_ms = clock_monotonic_ms() + wait_ms;
    enum ht_status status = HT_OK;
    if (far == NULL)
        return HT_OK;
    pthread_mutex_lock(&far->lock);
    while (far->root == NULL && wait_until(far, until_ms))
        continue;
    if (far->root != NULL)
        show(far, site);
    else
        status = ht_fail(err, HT_UNAVAILABLE, "%s", far->fault);
    pthread_mutex_unlock(&far->lock);
    return status;
}

/* ---- the list; the lock is held ---- */

void far_queue(struct far *far, const struct frame *frame)
{
    frame_write(&far->queue, frame);
    (void)eventfd_write(far->wake, 1);
}

static bool is_synced(const struct far *far)
{
    return far->connection != 0 && far->synced == far->connection;
}

static const char *relative(const struct far *far, const char *folder)
{
    return safe_path_rest(far->site->state, folder);
}

struct far_watch *far_find(struct far *far, const char *path)
{
    for (struct far_watch *watch = far->first; watch != NULL;
         watch = watch->next) {
        const size_t len = strlen(watch->folder);
        if (strncmp(path, watch->folder, len) == 0 &&
            (path[len] == '/' || path[len] == '\0'))
            return watch;
    }
    return NULL;
}

/* ---- from the supervising thread ---- */

/* An answer comes after what it names. */
void far_tick(struct far *far)
{
    if (far == NULL)
        return;
    pthread_mutex_lock(&far->lock);
    if (far->connection != 0 && !is_synced(far)) {
        for (int is = NAMES_ATTEMPT; is <= NAMES_BATCH; is++)
            for (struct far_watch *watch = far->first; watch != NULL;
                 watch = watch->next)
                if ((int)watch->is == is)
                    far_tell(far, watch);
        far->synced = far->connection;
        wake(far);
    }
    pthread_mutex_unlock(&far->lock);
}

void far_watch(struct far *far, enum names_folder is, const char *folder,
               const char *extra, bool fresh)
{
    if (far == NULL)
        return;
    const char *path = relative(far, folder);
    pthread_mutex_lock(&far->lock);
    if (path != NULL && far_find(far, path) == NULL) {
        struct far_watch *watch = ht_xcalloc(1, sizeof *watch);
        *watch = (struct far_watch){.next = far->first,
                                    .is = is,
                                    .fresh = fresh,
                                    .folder = ht_xstrdup(path),
                                    .extra = ht_xstrdup(extra ? extra : "")};
        far->first = watch;
        if (is_synced(far))
            far_tell(far, watch);
    }
    pthread_mutex_unlock(&far->lock);
}

void far_put(struct far *far, const char *folder)
{
    if (far == NULL)
        return;
    const char *path = relative(far, folder);
    pthread_mutex_lock(&far->lock);
    struct far_watch *watch = path != NULL ? far_find(far, path) : NULL;
    if (watch != NULL && is_synced(far)) {
        far_put_ours(far, watch, path);
    }
    pthread_mutex_unlock(&far->lock);
}

/* What there is no connection for is removed at the begin of the next one: it
 * is not here any more then. */
void far_remove(struct far *far, const char *folder)
{
    if (far == NULL)
        return;
    const char *path = relative(far, folder);
    pthread_mutex_lock(&far->lock);
    struct far_watch **link = &far->first;
    while (*link != NULL && strcmp((*link)->folder, path) != 0)
        link = &(*link)->next;
    struct far_watch *watch = *link;
    if (watch != NULL) {
        *link = watch->next;
        free_watch(watch);
    }
    if (far->connection != 0) {
        far_queue(far, &(struct frame){.kind = FRAME_FORGET, .path = path});
        far_queue(far, &(struct frame){.kind = FRAME_REMOVE, .path = path});
    }
    pthread_mutex_unlock(&far->lock);
}

static bool is_kit(const struct far *far, const char *path)
{
    return far->kit != NULL && strcmp(path, far->kit) == 0;
}

enum far_state far_tree(struct far *far, const char *folder, const char *path)
{
    if (far == NULL || path == NULL)
        return FAR_READY;
    pthread_mutex_lock(&far->lock);
    struct far_tree *tree = far->trees;
    while (tree != NULL && strcmp(tree->path, path) != 0)
        tree = tree->next;
    if (tree == NULL) {
        tree = ht_xcalloc(1, sizeof *tree);
        *tree = (struct far_tree){
            .next = far->trees,
            .folder = ht_xstrdup(folder),
            .without = is_kit(far, path) ? far->kit_without : NULL,
            .path = ht_xstrdup(path)};
        far->trees = tree;
        (void)eventfd_write(far->wake, 1);
    }
    const enum far_state state = tree->state;
    pthread_mutex_unlock(&far->lock);
    return state;
}

uint64_t far_looks(struct far *far)
{
    if (far == NULL)
        return 0;
    pthread_mutex_lock(&far->lock);
    const uint64_t looks = far->looks;
    pthread_mutex_unlock(&far->lock);
    return looks;
}

void far_fault(struct far *far, char text[FAR_FAULT_BYTES])
{
    text[0] = '\0';
    if (far == NULL)
        return;
    pthread_mutex_lock(&far->lock);
    memcpy(text, far->fault, FAR_FAULT_BYTES);
    pthread_mutex_unlock(&far->lock);
}

enum ht_status far_settle(struct far *far, struct ht_error *err)
{
    const int64_t until_ms = clock_monotonic_ms() + SETTLE_MS;
    bool settled = false;
    if (far == NULL)
        return HT_OK;
    pthread_mutex_lock(&far->lock);
    while (!is_synced(far) && wait_until(far, until_ms))
        continue;
    if (is_synced(far)) {
        const uint64_t connection = far->connection;
        const uint64_t number = ++far->asked;
        far_queue(far, &(struct frame){.kind = FRAME_ASK, .number = number});
        while (far->connection == connection && far->answered < number &&
               wait_until(far, until_ms))
            continue;
        settled = far->connection == connection && far->answered >= number;
    }
    enum ht_status status = HT_OK;
    if (!settled)
        status =
            ht_fail(err, HT_UNAVAILABLE, "%s",
                    far->fault[0] != '\0' ? far->fault : "it does not answer");
    pthread_mutex_unlock(&far->lock);
    return status;
}

const char *far_extra(const struct order *order)
{
    const struct replica_order *master = &order->replicas[0];
    const char *name = order->metrics_file;
    const char *rest = name != NULL ? metrics_file_in_trial(name) : NULL;
    const char *below = "";
    if (name == NULL || (rest == NULL && name[0] == '/'))
        return NULL;
    if (rest == NULL && master->workdir != NULL) {
        if (!order->own_workdir)
            return NULL;
        below = "work/";
    }
    return arena_printf(order->arena, "%s/%s%s", master->name, below,
                        rest != NULL ? rest : name);
}
