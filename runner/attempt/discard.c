#include "runner/attempt/discard.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "proto/base/file_tree.h"
#include "proto/base/log.h"
#include "runner/attempt/outputs.h"
#include "runner/base/safe_path.h"

enum item_state { WAITING, DONE, REPORTED };

struct entry {
    struct discard_item item;
    char *output_dir; /* NULL: the runner's folder */
    bool rewrite_gcs;
    enum item_state state;
    struct entry *next;
};

struct discard {
    const struct site *site;
    pthread_t thread;
    pthread_mutex_t lock; /* guards all below */
    pthread_cond_t wake;
    struct entry *first;
    bool ending;
};

/* ---- removing ---- */

/* Through the descriptor, so that no link of a trial is followed. */
static void remove_folders(struct arena *arena, int folder)
{
    for (size_t i = 0; i < OUTPUT_FOLDERS; i++)
        file_tree_remove(arena_printf(arena, "/proc/self/fd/%d/%s", folder,
                                      output_folders[i].value),
                         NULL, NULL);
}

/* False when it may not be removed. */
static bool remove_outputs(const struct site *site, const struct entry *entry)
{
    struct arena *arena = arena_new();
    const struct order order = {
        .key = {entry->item.study, entry->item.trial, 1},
        .output_dir = entry->output_dir,
        .rewrite_gcs = entry->rewrite_gcs,
    };
    const char *folder = outputs_here(arena, site, &order);
    if (site->far) /* they are at the cluster */
        folder = NULL;
    const char *root = folder != NULL ? outputs_root(site, folder) : NULL;
    if (root != NULL) {
        const int fd = safe_path_open(root, safe_path_rest(root, folder));
        if (fd >= 0) {
            remove_folders(arena, fd);
            close(fd);
            rmdir(folder);
        } else if (errno != ENOENT) {
            root = NULL;
        }
    }
    log_event(root != NULL ? LOG_INFO : LOG_WARN,
              root != NULL ? "outputs.discarded" : "outputs.kept",
              "study=%lld trial=%lld folder=%s", (long long)entry->item.study,
              (long long)entry->item.trial,
              folder != NULL              ? folder
              : entry->output_dir != NULL ? entry->output_dir
                                          : "at the cluster");
    arena_free(arena);
    return root != NULL;
}

static struct entry *find_waiting(struct discard *discard)
{
    struct entry *entry = discard->first;
    while (entry != NULL && entry->state != WAITING)
        entry = entry->next;
    return entry;
}

/* Only this thread frees entries that wait. */
static void *work(void *context)
{
    struct discard *discard = context;
    pthread_mutex_lock(&discard->lock);
    while (!discard->ending) {
        struct entry *entry = find_waiting(discard);
        if (entry == NULL) {
            pthread_cond_wait(&discard->wake, &discard->lock);
            continue;
        }
        pthread_mutex_unlock(&discard->lock);
        const bool removed = remove_outputs(discard->site, entry);
        pthread_mutex_lock(&discard->lock);
        entry->item.kept = !removed;
        entry->state = DONE;
    }
    pthread_mutex_unlock(&discard->lock);
    return NULL;
}

/* ---- start and stop ---- */

enum ht_status discard_start(const struct site *site, struct discard **discard,
                             struct ht_error *err)
{
    struct discard *made = ht_xcalloc(1, sizeof *made);
    made->site = site;
    pthread_mutex_init(&made->lock, NULL);
    pthread_cond_init(&made->wake, NULL);
    const int failed = pthread_create(&made->thread, NULL, work, made);
    if (failed != 0) {
        free(made);
        return ht_fail_errno(err, failed, "no thread to remove outputs");
    }
    *discard = made;
    return HT_OK;
}

static void free_entry(struct entry *entry)
{
    free(entry->output_dir);
    free(entry);
}

void discard_stop(struct discard *discard)
{
    if (discard == NULL)
        return;
    pthread_mutex_lock(&discard->lock);
    discard->ending = true;
    pthread_cond_signal(&discard->wake);
    pthread_mutex_unlock(&discard->lock);
    pthread_join(discard->thread, NULL);
    while (discard->first != NULL) {
        struct entry *next = discard->first->next;
        free_entry(discard->first);
        discard->first = next;
    }
    pthread_cond_destroy(&discard->wake);
    pthread_mutex_destroy(&discard->lock);
    free(discard);
}

/* ---- from the supervising thread ---- */

static struct entry *make_entry(const struct discard_request *request)
{
    struct entry *entry = ht_xcalloc(1, sizeof *entry);
    entry->item = (struct discard_item){request->study, request->trial, false};
    entry->output_dir =
        request->output_dir != NULL ? ht_xstrdup(request->output_dir) : NULL;
    entry->rewrite_gcs = request->rewrite_gcs;
    return entry;
}

void discard_ask(struct discard *discard, const struct discard_request *request)
{
    pthread_mutex_lock(&discard->lock);
    struct entry **link = &discard->first;
    while (*link != NULL && ((*link)->item.study != request->study ||
                             (*link)->item.trial != request->trial))
        link = &(*link)->next;
    if (*link == NULL) {
        *link = make_entry(request);
        pthread_cond_signal(&discard->wake);
    }
    pthread_mutex_unlock(&discard->lock);
}

size_t discard_report(struct discard *discard, struct discard_item items[],
                      size_t most)
{
    size_t n = 0;
    pthread_mutex_lock(&discard->lock);
    struct entry *entry = discard->first;
    for (; entry != NULL && n < most; entry = entry->next) {
        if (entry->state == WAITING)
            continue;
        entry->state = REPORTED;
        items[n++] = entry->item;
    }
    pthread_mutex_unlock(&discard->lock);
    return n;
}

void discard_confirm(struct discard *discard)
{
    pthread_mutex_lock(&discard->lock);
    struct entry **link = &discard->first;
    while (*link != NULL) {
        struct entry *entry = *link;
        if (entry->state != REPORTED) {
            link = &entry->next;
            continue;
        }
        *link = entry->next;
        free_entry(entry);
    }
    pthread_mutex_unlock(&discard->lock);
}
