#include "runner/attempt/prepare_processes.h"

#include <errno.h>
#include <unistd.h>

#include "runner/attempt/prepare.h"
#include "runner/base/folder.h"

/* Arguments for the entry point of an image are not a command. */
static enum ht_status check_commands(const struct order *order,
                                     struct ht_error *err)
{
    for (size_t i = 0; i < order->n_replicas; i++) {
        const struct replica_order *replica = &order->replicas[i];
        if (replica->image != NULL && replica->entry_words == 0)
            return ht_fail(err, HT_PRECONDITION,
                           "image %.128s needs a container engine; this runner "
                           "starts processes: give a command",
                           replica->image);
    }
    return HT_OK;
}

/* An earlier trial may have removed it. */
static enum ht_status check_workdir(struct arena *arena, const char *workdir,
                                    struct ht_error *err)
{
    char reason[HT_MAX_REASON];
    /* Only in a folder there is a ".". */
    if (workdir == NULL ||
        access(arena_printf(arena, "%s/.", workdir), X_OK) == 0)
        return HT_OK;
    folder_describe_workdir(errno, workdir, reason);
    return ht_fail(err, HT_PRECONDITION, "%s", reason);
}

enum ht_status prepare_processes(const struct engine_place *place,
                                 prepare_adapt *adapt, struct ht_error *err)
{
    const struct order *order = place->order;
    enum ht_status status = check_commands(order, err);
    if (status != HT_OK || prepare_is_complete(order, place->folder))
        return status;
    struct arena *arena = arena_new();
    struct replica_view *views =
        arena_alloc(arena, order->n_replicas, sizeof *views);
    for (size_t i = 0; status == HT_OK && i < order->n_replicas; i++) {
        views[i] = replica_view_of_process(
            arena, place->site, order, i,
            prepare_replica_folder(arena, place->folder, &order->replicas[i]));
        adapt(place, arena, i, &views[i]);
        /* A copy is made by the trainer's process: check its source. */
        const char *copied = views[i].copied;
        if (place->site->seen_state == NULL)
            status = check_workdir(
                arena, copied != NULL ? copied : views[i].workdir, err);
    }
    if (status == HT_OK)
        status = prepare_replicas(place->site, order, place->placement,
                                  place->folder, views, err);
    arena_free(arena);
    return status;
}
