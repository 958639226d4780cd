/* shared.c - what the threads of the store find together: projects, and trees
 * that are on their way into the database. */

#include "tuner/store/state.h"

#include <string.h>

#include "proto/base/memory.h"

enum ht_status store_project(struct store *store, const char *name, bool make,
                             struct project **project, struct ht_error *err)
{
    enum ht_status status = HT_OK;
    memory_lock(&store->projects_lock);
    struct project *found = store->projects;
    while (found != NULL && strcmp(found->name, name) != 0)
        found = found->next;
    if (found == NULL) {
        status = project_open(store->root, name, make, &found, err);
        if (status == HT_OK) {
            found->next = store->projects;
            store->projects = found;
        }
    }
    memory_unlock(&store->projects_lock);
    if (status == HT_OK)
        status = project_count(found, store->board, err);
    if (status == HT_OK)
        *project = found;
    return status;
}

void store_set_pending(struct store *store, struct transfer *transfer)
{
    pthread_mutex_lock(&store->lock);
    transfer->pending = true;
    transfer->next_pending = store->pending;
    store->pending = transfer;
    pthread_mutex_unlock(&store->lock);
}

bool store_is_pending(struct store *store, const char *project,
                      const char *tree)
{
    pthread_mutex_lock(&store->lock);
    const struct transfer *at = store->pending;
    while (at != NULL && (strcmp(at->project->name, project) != 0 ||
                          strcmp(at->tree, tree) != 0))
        at = at->next_pending;
    pthread_mutex_unlock(&store->lock);
    return at != NULL;
}
