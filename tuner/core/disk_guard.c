#include "tuner/core/disk_guard.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "proto/base/arena.h"
#include "proto/base/log.h"
#include "tuner/base/budget.h"
#include "tuner/base/disk_reserve.h"
#include "tuner/core/core.h"
#include "tuner/core/live.h"

enum { TICK_MS = 1000, CALM_TICK_MS = 5000 };

struct disk_guard {
    struct disk_room room;
    int64_t looked_ms; /* monotonic; the core thread's own, as room */
    atomic_bool closed;
};

static struct disk_guard *guard_of(struct core *core)
{
    return core_part(core, CORE_DISK);
}

/* Once for each change, not for each look. */
static void log_change(const struct disk_room *room)
{
    static const char *const states[] = {"room", "low", "reserved"};
    char text[DISK_ROOM_TEXT];
    log_event(room->state == DISK_ROOM ? LOG_INFO : LOG_WARN, "disk",
              "state=%s free=%lld why=\"%s\"", states[room->state],
              (long long)room->free_bytes, disk_room_text(room, text));
}

/* Their reasons say what they wait for. */
static void settle_all(struct core *core)
{
    struct live_study *study = NULL;
    while ((study = live_next_study(core_live(core), study)) != NULL)
        core_touch(core, study->id);
}

static void look(struct core *core, struct disk_guard *guard)
{
    const enum disk_state before = guard->room.state;
    guard->room = disk_room_look(core_options_of(core)->data_dir);
    guard->looked_ms = core_now_ms(core);
    atomic_store(&guard->closed, guard->room.state == DISK_RESERVED);
    disk_reserve_keep(core_options_of(core)->data_dir, &guard->room);
    if (guard->room.state == before)
        return;
    log_change(&guard->room);
    if (before == DISK_RESERVED || guard->room.state == DISK_RESERVED)
        settle_all(core);
    if (before == DISK_RESERVED)
        core_wake(core, CORE_ALL_HELD, 0);
}

enum ht_status disk_guard_start(struct core *core, void **data,
                                struct ht_error *err)
{
    struct disk_guard *guard = ht_xcalloc(1, sizeof *guard);
    (void)err;
    look(core, guard);
    *data = guard;
    return HT_OK;
}

void disk_guard_stop(void *data)
{
    free(data);
}

enum ht_status disk_guard_tick(struct core *core, struct ht_error *err)
{
    (void)err;
    if (core_now_ms(core) >= disk_guard_deadline(core))
        look(core, guard_of(core));
    return HT_OK;
}

int64_t disk_guard_deadline(struct core *core)
{
    const struct disk_guard *guard = guard_of(core);
    return guard->looked_ms +
           (guard->room.state == DISK_ROOM ? CALM_TICK_MS : TICK_MS);
}

enum ht_status disk_guard_check(struct core *core, struct ht_error *err)
{
    struct disk_guard *guard = guard_of(core);
    char text[DISK_ROOM_TEXT];
    look(core, guard);
    if (guard->room.state != DISK_RESERVED)
        return HT_OK;
    budget_exceeded(BUDGET_DISK_RESERVE);
    return ht_fail(err, HT_UNAVAILABLE, "%s",
                   disk_room_text(&guard->room, text));
}

bool disk_guard_is_closed(struct core *core)
{
    return atomic_load(&guard_of(core)->closed);
}
