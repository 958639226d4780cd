/* fleet_open.c - what a fleet finds of an earlier run of the runner, and its
 * end. */

#include "runner/cluster/fleet.h"

#include <dirent.h>
#include <stdlib.h>

#include "proto/base/clock.h"
#include "proto/base/log.h"
#include "runner/cluster/fleet_state.h"

/* Without batch.json it was never submitted, or its removal had begun. */
static void read_one(struct fleet *fleet, const char *name)
{
    struct ht_error err;
    struct batch *batch = NULL;
    const enum ht_status status =
        batch_read(fleet->site->state, name, &batch, &err);
    if (status != HT_OK) {
        log_event(LOG_WARN, "batch.debris", "name=%s reason=\"%s\"", name,
                  err.text);
        if (status == HT_NOT_FOUND)
            batch_clear(fleet->site->state, name);
        return;
    }
    for (int i = 0; i < batch->n; i++)
        batch_look(batch, i);
    far_watch(fleet->far, NAMES_BATCH, batch->folder, NULL, false);
    batch->next = fleet->first;
    fleet->first = batch;
    study_get(&fleet->studies, batch->study);
    log_event(LOG_INFO, "batch.found", "name=%s job=%lld elements=%d",
              batch->name, (long long)batch->job, batch->n);
}

static void read_batches(struct fleet *fleet)
{
    struct arena *arena = arena_new();
    DIR *dir = opendir(batch_root(arena, fleet->site->state));
    struct dirent *entry;
    while (dir != NULL && (entry = readdir(dir)) != NULL)
        if (entry->d_name[0] != '.')
            read_one(fleet, entry->d_name);
    if (dir != NULL)
        closedir(dir);
    arena_free(arena);
}

enum ht_status fleet_open(const struct fleet_settings *settings,
                          struct slurm *slurm, struct fleet **fleet,
                          struct ht_error *err)
{
    struct fleet *made = ht_xcalloc(1, sizeof *made);
    made->site = settings->site;
    made->defaults = settings->defaults;
    made->far = settings->far;
    submission_prefix(made->prefix, settings->site->runner);
    const enum ht_status status =
        clerk_start(slurm, made->prefix, &made->clerk, err);
    if (status != HT_OK) {
        free(made);
        return status;
    }
    avoided_read(&made->avoided, made->site->state, clock_monotonic_ms());
    read_batches(made);
    *fleet = made;
    return HT_OK;
}

void fleet_close(struct fleet *fleet)
{
    if (fleet == NULL)
        return;
    clerk_stop(fleet->clerk);
    while (fleet->first != NULL) {
        struct batch *next = fleet->first->next;
        batch_free(fleet->first);
        fleet->first = next;
    }
    study_free_all(fleet->studies);
    avoided_fini(&fleet->avoided);
    free(fleet);
}
