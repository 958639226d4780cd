#include "runner/cluster/engine_far.h"

#include "runner/base/disk.h"
#include "runner/base/safe_path.h"
#include "runner/cluster/place.h"

enum { WAIT_MS = 10000 }; /* for the first connection */

enum ht_status engine_far_open(const struct site *site, struct far **far,
                               struct site *there, struct ht_error *err)
{
    *there = *site;
    if (!site->far)
        return HT_OK;
    there->inherited = (struct pairs){0}; /* of this machine */
    there->credentials = NULL;            /* they stay here */
    const enum ht_status status =
        *far != NULL
            ? HT_OK
            : far_open_ssh(site, site->slurm_ssh, site->slurm_folder, far, err);
    return status != HT_OK ? status : far_wait(*far, WAIT_MS, there, err);
}

bool engine_far_has_trees(struct far *far, const struct site *there,
                          const struct engine_place *place)
{
    const struct order *order = place->order;
    const char *code = order->replicas[0].workdir;
    if (far == NULL)
        return true;
    enum far_state state = FAR_READY;
    if (place->site->kit != NULL)
        state = far_tree(far, place->site->kit,
                         safe_path_rest(there->seen_state, there->kit));
    if (order->code.travelled &&
        far_tree(far, code, safe_path_rest(place->site->state, code)) !=
            FAR_READY)
        state = FAR_PENDING;
    return state == FAR_READY;
}

void engine_far_watch(struct far *far, const struct engine_place *place)
{
    far_watch(far, NAMES_ATTEMPT, place->folder, far_extra(place->order),
              !place->order->begun && !disk_has(place->folder, place_file));
}
