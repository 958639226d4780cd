#include "tuner/logs/set_aside.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>

#include "proto/base/arena.h"
#include "proto/base/clock.h"
#include "proto/base/log.h"
#include "tuner/logs/db_logs.h"

enum { GROUP = 256 }; /* chunks stored by one commit */

enum ht_status logs_set_aside(const char *path, const char *why,
                              char aside[PATH_MAX], struct ht_error *err)
{
    static const char *const ends[] = {"-wal", "-shm", ""};
    const long long ms = (long long)clock_wall_ms();
    char from[PATH_MAX], to[PATH_MAX];
    snprintf(aside, PATH_MAX, "%s.damaged-%lld", path, ms);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        snprintf(from, sizeof from, "%s%s", path, ends[i]);
        snprintf(to, sizeof to, "%s.damaged-%lld%s", path, ms, ends[i]);
        if (rename(from, to) != 0 && errno != ENOENT)
            return ht_fail_errno(err, errno, "cannot rename %s", from);
    }
    log_event(LOG_ERROR, "logs.set_aside", "as=%s why=\"%s\"", aside, why);
    return HT_OK;
}

/* --- what can be read --- */

struct salvage {
    struct db *from, *to;
    struct arena *arena;
    int64_t id; /* of the chunk looked at last */
    int64_t chunks, gaps;
};

/* The next chunk that is readable: behind a damaged page the distance doubles,
 * since such a page may hold one chunk or the way to thousands. */
static enum ht_status next_readable(struct salvage *salvage,
                                    struct log_row *row)
{
    enum ht_status status = HT_CORRUPT;
    bool gap = false;
    for (int64_t skip = 1; status == HT_CORRUPT; skip *= 2) {
        status =
            db_logs_next(salvage->from, salvage->arena, salvage->id, row, NULL);
        if (status != HT_CORRUPT)
            break;
        gap = true;
        if (skip > INT64_MAX / 4 - salvage->id)
            return HT_NOT_FOUND;
        salvage->id += skip;
    }
    salvage->gaps += gap;
    return status;
}

/* False at the end, or when nothing can be stored. */
static bool copy_group(struct salvage *salvage)
{
    struct log_row row;
    enum ht_status status = db_begin(salvage->to, NULL);
    for (int i = 0; status == HT_OK && i < GROUP; i++) {
        arena_reset(salvage->arena);
        status = next_readable(salvage, &row);
        if (status != HT_OK)
            break;
        salvage->id = row.id;
        status = db_logs_insert(salvage->to, &row.key, &row.chunk,
                                row.chunk.stored_us, NULL);
        salvage->chunks += status == HT_OK;
    }
    const bool at_end = status == HT_NOT_FOUND;
    return db_end(salvage->to, at_end ? HT_OK : status, NULL) == HT_OK &&
           !at_end;
}

void logs_salvage(const char *aside, struct db *to)
{
    struct ht_error err;
    struct salvage salvage = {.to = to};
    if (db_logs_open(aside, false, &salvage.from, &err) != HT_OK) {
        log_event(LOG_WARN, "logs.salvaged", "chunks=0 why=\"%s\"", err.text);
        return;
    }
    salvage.arena = arena_new();
    while (copy_group(&salvage))
        continue;
    arena_free(salvage.arena);
    db_close(salvage.from);
    log_event(LOG_INFO, "logs.salvaged", "chunks=%lld gaps=%lld",
              (long long)salvage.chunks, (long long)salvage.gaps);
}
