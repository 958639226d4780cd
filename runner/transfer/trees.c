#include "runner/transfer/trees.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "proto/base/clock.h"
#include "proto/base/file_tree.h"
#include "proto/base/log.h"
#include "runner/base/disk.h"

enum {
    UNUSED = 3, /* trees that stay without a user */
    PATIENCE_MS = 600000
};

struct tree {
    struct tree *next; /* the newest first */
    char name[TREE_NAME];
    char *project;
    size_t users;
    enum trees_state state;
    struct ht_error err;
};

struct trees {
    const struct trees_settings *settings;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wanted;
    struct tree *first;
    atomic_bool stopped;
};

const char *trees_folder(struct arena *arena, const char *state,
                         const char *tree)
{
    return arena_printf(arena, "%s/code/%s", state, tree);
}

/* ---- the list; locked ---- */

static struct tree *find_tree(const struct trees *trees, const char *name)
{
    struct tree *tree = trees->first;
    while (tree != NULL && strcmp(tree->name, name) != 0)
        tree = tree->next;
    return tree;
}

static struct tree *find_pending(const struct trees *trees)
{
    struct tree *last = NULL; /* who has waited longest */
    for (struct tree *tree = trees->first; tree != NULL; tree = tree->next)
        if (tree->state == TREES_PENDING && tree->users > 0)
            last = tree;
    return last;
}

static struct tree *add_tree(struct trees *trees, const char *name)
{
    struct tree *tree = ht_xcalloc(1, sizeof *tree);
    (void)snprintf(tree->name, sizeof tree->name, "%s", name);
    tree->next = trees->first;
    trees->first = tree;
    return tree;
}

static void free_tree(struct tree *tree)
{
    free(tree->project);
    free(tree);
}

/* Takes one out of the list that is to go; NULL: the rest may stay. */
static struct tree *take_unused(struct trees *trees)
{
    struct tree **link = &trees->first, **last = NULL;
    size_t unused = 0;
    for (; *link != NULL; link = &(*link)->next) {
        if ((*link)->users > 0)
            continue;
        unused++;
        last = link;
    }
    if (unused <= UNUSED || last == NULL)
        return NULL;
    struct tree *tree = *last;
    *last = tree->next;
    return tree;
}

/* ---- the thread ---- */

static enum ht_status fetch(struct trees *trees, const struct tree *tree,
                            struct ht_error *err)
{
    const struct transfer_settings settings = {
        .find = trees->settings->find,
        .context = trees->settings->context,
        .project = tree->project,
        .patience_ms = PATIENCE_MS,
        .stopped = &trees->stopped,
    };
    /* Trials may have users of their own. */
    const struct restore_rules rules = {.readable = true, .sync = true};
    struct arena *arena = arena_new();
    const char *folder =
        trees_folder(arena, trees->settings->state, tree->name);
    const char *new = arena_printf(arena, "%s.new", folder);
    const int64_t began = clock_monotonic_ms();
    (void)file_tree_remove(new, NULL, NULL);
    enum ht_status status =
        transfer_fetch(&settings, tree->name, new, &rules, err);
    if (status == HT_OK && rename(new, folder) != 0)
        status = ht_fail_errno(err, errno, "cannot rename %s", new);
    if (status == HT_OK)
        log_event(LOG_INFO, "tree.fetched", "tree=%s ms=%lld", tree->name,
                  (long long)(clock_monotonic_ms() - began));
    else
        (void)file_tree_remove(new, NULL, NULL);
    arena_free(arena);
    return status;
}

static void remove_unused(struct trees *trees)
{
    for (;;) {
        memory_lock(&trees->lock);
        struct tree *tree = take_unused(trees);
        memory_unlock(&trees->lock);
        if (tree == NULL)
            return;
        struct arena *arena = arena_new();
        (void)file_tree_remove(
            trees_folder(arena, trees->settings->state, tree->name), NULL,
            NULL);
        arena_free(arena);
        free_tree(tree);
    }
}

/* While it is fetched its users cannot free it: see trees_leave(). */
static void *run(void *context)
{
    struct trees *trees = context;
    memory_lock(&trees->lock);
    while (!atomic_load(&trees->stopped)) {
        struct tree *tree = find_pending(trees);
        if (tree == NULL) {
            pthread_cond_wait(&trees->wanted, &trees->lock);
            continue;
        }
        struct ht_error err = {.status = HT_OK};
        tree->users++;
        memory_unlock(&trees->lock);
        const enum ht_status status = fetch(trees, tree, &err);
        memory_lock(&trees->lock);
        tree->users--;
        tree->err = err;
        tree->state = status == HT_OK ? TREES_READY : TREES_FAILED;
        memory_unlock(&trees->lock);
        remove_unused(trees);
        memory_lock(&trees->lock);
    }
    memory_unlock(&trees->lock);
    return NULL;
}

/* ---- the begin and the end ---- */

/* Those of an earlier run; what was not complete goes. */
static void scan(struct trees *trees, const char *path)
{
    DIR *dir = opendir(path);
    struct dirent *entry;
    while (dir != NULL && (entry = readdir(dir)) != NULL) {
        struct tree_hash hash;
        if (entry->d_name[0] == '.')
            continue;
        if (tree_name_read(entry->d_name, &hash, NULL) == HT_OK) {
            add_tree(trees, entry->d_name)->state = TREES_READY;
            continue;
        }
        struct arena *arena = arena_new();
        (void)file_tree_remove(
            arena_printf(arena, "%s/%s", path, entry->d_name), NULL, NULL);
        arena_free(arena);
    }
    if (dir != NULL)
        closedir(dir);
}

/* Any user of the machine may pass the folder: the one above is private, and
 * a trial's sandbox shows it one tree. */
static enum ht_status make_folder(struct trees *trees, struct ht_error *err)
{
    struct arena *arena = arena_new();
    const char *path = arena_printf(arena, "%s/code", trees->settings->state);
    enum ht_status status = disk_make_folder(path, err);
    if (status == HT_OK && chmod(path, 0711) != 0)
        status = ht_fail_errno(err, errno, "cannot open up %s", path);
    if (status == HT_OK)
        scan(trees, path);
    arena_free(arena);
    return status;
}

static void free_all(struct trees *trees)
{
    while (trees->first != NULL) {
        struct tree *next = trees->first->next;
        free_tree(trees->first);
        trees->first = next;
    }
    pthread_cond_destroy(&trees->wanted);
    pthread_mutex_destroy(&trees->lock);
    free(trees);
}

enum ht_status trees_start(const struct trees_settings *settings,
                           struct trees **trees, struct ht_error *err)
{
    struct trees *made = ht_xcalloc(1, sizeof *made);
    made->settings = settings;
    pthread_mutex_init(&made->lock, NULL);
    clock_cond_init(&made->wanted);
    atomic_init(&made->stopped, false);
    enum ht_status status = make_folder(made, err);
    if (status == HT_OK) {
        const int code = pthread_create(&made->thread, NULL, run, made);
        if (code != 0)
            status = ht_fail_errno(err, code, "no thread for trees");
    }
    if (status == HT_OK)
        *trees = made;
    else
        free_all(made);
    return status;
}

void trees_stop(struct trees *trees)
{
    if (trees == NULL)
        return;
    atomic_store(&trees->stopped, true);
    memory_lock(&trees->lock);
    pthread_cond_signal(&trees->wanted);
    memory_unlock(&trees->lock);
    pthread_join(trees->thread, NULL);
    free_all(trees);
}

/* ---- for attempts ---- */

void trees_want(struct trees *trees, const char *project, const char *name)
{
    memory_lock(&trees->lock);
    struct tree *tree = find_tree(trees, name);
    if (tree == NULL) {
        tree = add_tree(trees, name);
        tree->state = TREES_PENDING;
    }
    if (tree->project == NULL)
        tree->project = ht_xstrdup(project);
    if (tree->state == TREES_FAILED)
        tree->state = TREES_PENDING;
    tree->users++;
    pthread_cond_signal(&trees->wanted);
    memory_unlock(&trees->lock);
}

void trees_leave(struct trees *trees, const char *name)
{
    memory_lock(&trees->lock);
    struct tree *tree = find_tree(trees, name);
    if (tree != NULL && tree->users > 0)
        tree->users--;
    memory_unlock(&trees->lock);
}

enum trees_state trees_look(struct trees *trees, const char *name,
                            struct ht_error *err)
{
    memory_lock(&trees->lock);
    const struct tree *tree = find_tree(trees, name);
    const enum trees_state state = tree != NULL ? tree->state : TREES_PENDING;
    if (state == TREES_FAILED && err != NULL)
        *err = tree->err;
    memory_unlock(&trees->lock);
    return state;
}
