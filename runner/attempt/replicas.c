#include "runner/attempt/replicas.h"

#include <assert.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "proto/base/arena.h"
#include "proto/base/clock.h"
#include "proto/base/text.h"
#include "runner/attempt/prepare.h"
#include "runner/base/credentials.h"
#include "runner/reports/log.h"

void replicas_init(struct replicas *replicas, const struct engine_place *place)
{
    const struct order *order = place->order;
    const size_t n = order->n_replicas;
    *replicas = (struct replicas){
        .n = n,
        .items = arena_alloc(order->arena, n, sizeof *replicas->items),
        .endings = arena_alloc(order->arena, n, sizeof(void *)),
        .order = order,
        .credentials = credentials_path(order->arena, place->site, &order->key),
    };
    for (size_t i = 0; i < n; i++) {
        struct replicas_one *member = &replicas->items[i];
        member->folder = prepare_replica_folder(order->arena, place->folder,
                                                &order->replicas[i]);
        member->id = &place->folder_ids[i];
        folder_identify(&place->folder_ids[i], member->folder);
    }
}

/* The last line of a killed trainer is not the cause of its end. */
static bool may_explain(const struct ending *ending)
{
    return ending->outcome == OUTCOME_FAILED &&
           (ending->has_exit ||
            (ending->has_signal && ending->signal != SIGKILL));
}

static void add_last_line(const struct replicas *replicas,
                          struct replicas_one *member)
{
    struct ending *ending = &member->ending;
    struct text line = {0};
    log_last_line(replicas->order, member->folder, replicas->credentials,
                  &line);
    const size_t len = strlen(ending->reason);
    if (line.len > 0 && len + line.len + 2 < sizeof ending->reason)
        (void)snprintf(ending->reason + len, sizeof ending->reason - len,
                       ": %s", line.data);
    text_free(&line);
}

/* Writes nothing: it may be another trial's folder. */
void replicas_end_without_folder(struct replicas *replicas, size_t replica,
                                 const char *reason)
{
    struct replicas_one *member = &replicas->items[replica];
    member->ended = true;
    member->ending = (struct ending){.ended_ms = clock_wall_ms()};
    folder_end(&member->ending, OUTCOME_FAILED, "%s", reason);
}

bool replicas_has_lost_folder(struct replicas *replicas, size_t replica)
{
    const struct replicas_one *member = &replicas->items[replica];
    const char *lost = folder_fault(member->id, member->folder);
    if (lost != NULL && !member->ended)
        replicas_end_without_folder(replicas, replica, lost);
    return lost != NULL;
}

bool replicas_read_exit(struct replicas *replicas, size_t replica)
{
    struct replicas_one *member = &replicas->items[replica];
    if (!member->ended &&
        folder_read_exit(member->folder, &member->ending, NULL) == HT_OK) {
        member->ended = true;
        if (may_explain(&member->ending))
            add_last_line(replicas, member);
    }
    return member->ended;
}

void replicas_end(struct replicas *replicas, size_t replica,
                  const struct ending *ending)
{
    struct replicas_one *member = &replicas->items[replica];
    member->ending = *ending;
    member->ended = true;
    folder_write_exit(member->folder, ending, NULL);
}

void replicas_stop(struct replicas *replicas, const struct stop_order *order)
{
    for (size_t i = 0; i < replicas->n; i++) {
        const struct replicas_one *member = &replicas->items[i];
        if (!member->ended && folder_fault(member->id, member->folder) == NULL)
            folder_write_stop(member->folder, order, NULL);
    }
}

/* ---- the attempt's end by those of its replicas ---- */

enum {
    FAILURES = 1 << OUTCOME_FAILED | 1 << OUTCOME_TIMEOUT | 1 << OUTCOME_LOST
};

static bool is_any(const struct ending *ending, int outcomes)
{
    return (1 << ending->outcome & outcomes) != 0;
}

/* The earliest end with one of the outcomes; `master`: or of the master. */
static size_t find_earliest(const struct order *order,
                            const struct ending *const endings[], int outcomes,
                            bool master)
{
    size_t found = order->n_replicas;
    for (size_t i = 0; i < order->n_replicas; i++) {
        if (endings[i] != NULL &&
            ((master && i == 0) || is_any(endings[i], outcomes)) &&
            (found == order->n_replicas ||
             endings[i]->ended_ms < endings[found]->ended_ms))
            found = i;
    }
    return found;
}

size_t replicas_decisive(const struct order *order,
                         const struct ending *const endings[])
{
    const size_t none = order->n_replicas;
    const size_t found = find_earliest(order, endings, FAILURES, true);
    if (found == none)
        return find_earliest(order, endings, 1 << OUTCOME_STOPPED, false);
    if (endings[found]->outcome != OUTCOME_FAILED)
        return found;
    const size_t lost = find_earliest(order, endings, 1 << OUTCOME_LOST, false);
    return lost != none ? lost : found;
}

struct ending replicas_outcome(const struct order *order, size_t decisive,
                               const struct ending *ending)
{
    assert(ending != NULL); /* only a replica that has ended is decisive */
    struct ending made = *ending;
    if (order->n_replicas > 1 && is_any(ending, FAILURES))
        (void)snprintf(made.reason, sizeof made.reason, "%s: %.450s",
                       order->replicas[decisive].name, ending->reason);
    return made;
}

static void stop_after(struct replicas *replicas,
                       const struct engine_place *place, size_t decisive,
                       const struct ending *ending)
{
    struct stop_order stop = {.kill = false};
    if (decisive == 0 && ending->outcome == OUTCOME_SUCCEEDED)
        (void)snprintf(stop.reason, sizeof stop.reason, "the %s has ended",
                       place->order->replicas[0].type);
    else
        (void)snprintf(stop.reason, sizeof stop.reason, "%s", ending->reason);
    replicas_stop(replicas, &stop);
}

enum engine_state replicas_state(struct replicas *replicas,
                                 const struct engine_place *place,
                                 struct ending *ending)
{
    const struct order *order = place->order;
    size_t ended = 0;
    for (size_t i = 0; i < replicas->n; i++) {
        const struct replicas_one *member = &replicas->items[i];
        replicas->endings[i] = member->ended ? &member->ending : NULL;
        ended += member->ended;
    }
    const size_t decisive = replicas_decisive(order, replicas->endings);
    if (decisive == replicas->n)
        return ENGINE_RUNNING;
    const struct ending outcome =
        replicas_outcome(order, decisive, replicas->endings[decisive]);
    if (ended == replicas->n) {
        *ending = outcome;
        return ENGINE_ENDED;
    }
    stop_after(replicas, place, decisive, &outcome);
    return ENGINE_RUNNING;
}
