/* retention.h - which scheduled backups are kept: of each of the newest 24
 * hours and 7 days that have one the newest. */
#ifndef HT_TUNER_BACKUP_RETENTION_H
#define HT_TUNER_BACKUP_RETENTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    RETENTION_HOURS = 24,
    RETENTION_DAYS = 7,
    /* scheduled-2026-11-24T10-00-00Z */
    RETENTION_NAME_BYTES = 32
};

/* The name of the folder of a scheduled backup, or of one that was asked for,
 * by its moment (UTC). */
void retention_name(char name[RETENTION_NAME_BYTES], bool scheduled,
                    int64_t wall_ms);
/* Whether it is the name of a scheduled one; *wall_ms: its moment. */
bool retention_is_scheduled(const char *name, int64_t *wall_ms);

/* `made_ms`: n moments that do not rise, so the newest first. Sets keep[] of
 * each. */
void retention_choose(size_t n, const int64_t made_ms[], bool keep[]);

#endif
