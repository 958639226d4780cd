#include "tuner/backup/backups.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/base/clock.h"
#include "proto/base/file_tree.h"
#include "proto/base/log.h"
#include "proto/base/text.h"
#include "tuner/backup/copy.h"
#include "tuner/backup/files.h"
#include "tuner/backup/manifest.h"
#include "tuner/backup/retention.h"
#include "tuner/base/backup_board.h"
#include "tuner/base/failpoint.h"

enum {
    SOON_MS = 10 * 60 * 1000, /* until the first one when one is due, and
                                 until the next try after a failure */
    NICE = 10,
    NEVER_MS = 3600 * 1000
};

struct backups {
    const char *data;
    char *folder;
    int64_t every_ms;
    struct backup_board *board;
    struct store_board *store;
    struct failpoint failpoint;
    struct backup_state state; /* the thread's, copied to the board */
    int64_t next_ms;           /* monotonic, of the next scheduled one */
    atomic_bool stopping;
    pthread_t thread;
};

/* --- the scheduled ones that are there --- */

struct scheduled {
    size_t n;
    int64_t *made_ms; /* the newest first */
};

static int newest_first(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (y > x) - (y < x);
}

static struct scheduled list_scheduled(struct arena *arena, const char *folder)
{
    struct file_names names;
    (void)files_list(arena, folder, &names, NULL);
    struct scheduled list = {
        0, arena_alloc(arena, names.n + 1, sizeof *list.made_ms)};
    for (size_t i = 0; i < names.n; i++)
        if (retention_is_scheduled(names.items[i], &list.made_ms[list.n]))
            list.n++;
    qsort(list.made_ms, list.n, sizeof *list.made_ms, newest_first);
    return list;
}

static const char *path_of(struct arena *arena, const struct backups *backups,
                           int64_t made_ms)
{
    char name[RETENTION_NAME_BYTES];
    retention_name(name, true, made_ms);
    return arena_printf(arena, "%s/%s", backups->folder, name);
}

static void remove_old(struct arena *arena, const struct backups *backups)
{
    const struct scheduled list = list_scheduled(arena, backups->folder);
    bool *keep = arena_alloc(arena, list.n + 1, sizeof *keep);
    retention_choose(list.n, list.made_ms, keep);
    for (size_t i = 0; i < list.n; i++) {
        struct ht_error err;
        if (!keep[i] &&
            file_tree_remove(path_of(arena, backups, list.made_ms[i]), MANIFEST,
                             &err) != HT_OK)
            log_event(LOG_WARN, "backup.not_removed", "why=\"%s\"", err.text);
    }
}

/* Whether the newest scheduled one says what the database says now. */
static bool is_unchanged(struct arena *arena, const struct backups *backups)
{
    struct backup_manifest newest;
    struct db_marks now;
    const struct scheduled list = list_scheduled(arena, backups->folder);
    return list.n > 0 &&
           manifest_read(arena, path_of(arena, backups, list.made_ms[0]),
                         &newest, NULL) == HT_OK &&
           db_marks_read(arena_printf(arena, "%s/%s", backups->data, MAIN_DB),
                         false, &now, NULL) == HT_OK &&
           db_marks_equal(&newest.marks, &now);
}

/* --- making one --- */

static void note_failure(struct backups *backups, const struct ht_error *err)
{
    struct backup_state *state = &backups->state;
    state->failures++;
    state->failed_ms = clock_wall_ms();
    snprintf(state->why, sizeof state->why, "%s", err->text);
    log_event(LOG_ERROR, "backup.failed", "failures=%lld why=\"%s\"",
              (long long)state->failures, err->text);
}

static void note_success(struct backups *backups, const char *path,
                         int64_t bytes, int64_t begun_ms)
{
    struct backup_state *state = &backups->state;
    state->failures = 0;
    state->made_ms = clock_wall_ms();
    state->bytes = bytes;
    snprintf(state->made, sizeof state->made, "%s", path);
    log_event(LOG_INFO, "backup.made", "bytes=%lld ms=%lld path=\"%s\"",
              (long long)bytes, (long long)(clock_monotonic_ms() - begun_ms),
              path);
}

static enum ht_status make(struct backups *backups, const char *folder,
                           bool scheduled)
{
    char name[RETENTION_NAME_BYTES];
    struct ht_error err;
    struct arena *arena = arena_new();
    const int64_t begun_ms = clock_monotonic_ms();
    int64_t bytes = 0;
    retention_name(name, scheduled, clock_wall_ms());
    const struct backup_order order = {.data = backups->data,
                                       .folder = folder,
                                       .name = name,
                                       .stopping = &backups->stopping,
                                       .store = backups->store,
                                       .failpoint = &backups->failpoint};
    backups->state.making = true;
    backup_board_set(backups->board, &backups->state);
    const enum ht_status status = copy_make(&order, &bytes, &err);
    if (status == HT_OK)
        note_success(backups, arena_printf(arena, "%s/%s", folder, name), bytes,
                     begun_ms);
    else
        note_failure(backups, &err);
    backups->state.making = false;
    arena_free(arena);
    return status;
}

static void make_asked(struct backups *backups, int64_t number, const char *to)
{
    const enum ht_status status =
        make(backups, to[0] != '\0' ? to : backups->folder, false);
    backups->state.answered = number;
    memcpy(backups->state.answer, status == HT_OK ? backups->state.made : "",
           status == HT_OK ? sizeof backups->state.answer : 1);
    backup_board_set(backups->board, &backups->state);
}

static void make_scheduled(struct backups *backups)
{
    struct arena *arena = arena_new();
    enum ht_status status = HT_OK;
    if (!is_unchanged(arena, backups))
        status = make(backups, backups->folder, true);
    if (status == HT_OK)
        remove_old(arena, backups);
    const int64_t wait_ms = status == HT_OK || backups->every_ms < SOON_MS
                                ? backups->every_ms
                                : SOON_MS;
    backups->next_ms = clock_monotonic_ms() + wait_ms;
    backup_board_set(backups->board, &backups->state);
    arena_free(arena);
}

static void *run(void *argument)
{
    struct backups *backups = argument;
    char *to = ht_xcalloc(BACKUP_PATH_BYTES, 1);
    /* Linux has it for each thread. */
    setpriority(PRIO_PROCESS, (id_t)gettid(), NICE);
    while (!atomic_load(&backups->stopping)) {
        const int64_t left_ms = backups->every_ms > 0
                                    ? backups->next_ms - clock_monotonic_ms()
                                    : NEVER_MS;
        const int64_t number =
            backup_board_wait(backups->board, left_ms > 0 ? left_ms : 0, to);
        if (number > 0)
            make_asked(backups, number, to);
        else if (backups->every_ms > 0 && !atomic_load(&backups->stopping) &&
                 clock_monotonic_ms() >= backups->next_ms)
            make_scheduled(backups);
    }
    free(to);
    return NULL;
}

/* --- life --- */

/* After a restart the hour continues; what is overdue waits until the server
 * has caught up with its runners. */
static void plan_first(struct backups *backups)
{
    struct arena *arena = arena_new();
    const struct scheduled list = list_scheduled(arena, backups->folder);
    const int64_t soon_ms =
        backups->every_ms < SOON_MS ? backups->every_ms : SOON_MS;
    const int64_t age_ms =
        list.n > 0 ? clock_wall_ms() - list.made_ms[0] : INT64_MAX;
    int64_t wait_ms = soon_ms;
    if (age_ms >= 0 && age_ms < backups->every_ms - soon_ms)
        wait_ms = backups->every_ms - age_ms;
    backups->next_ms = clock_monotonic_ms() + wait_ms;
    backups->state.made_ms = list.n > 0 ? list.made_ms[0] : 0;
    arena_free(arena);
}

static enum ht_status open_folder(struct backups *backups, const char *given,
                                  struct ht_error *err)
{
    struct text path = {0};
    if (given != NULL)
        text_puts(&path, given);
    else
        text_printf(&path, "%s/backups", backups->data);
    if (mkdir(path.data, 0700) == 0 || errno == EEXIST)
        backups->folder = realpath(path.data, NULL);
    const enum ht_status status =
        backups->folder != NULL
            ? HT_OK
            : ht_fail_errno(err, errno, "cannot use %s", path.data);
    text_free(&path);
    return status;
}

static void release(struct backups *backups)
{
    free(backups->folder);
    free(backups);
}

enum ht_status backups_start(const struct backups_options *options,
                             struct backups **out, struct ht_error *err)
{
    struct backups *backups = ht_xcalloc(1, sizeof *backups);
    backups->data = options->data;
    backups->every_ms = options->every_ms;
    backups->board = options->board;
    backups->store = options->store;
    failpoint_arm(&backups->failpoint, options->fail);
    enum ht_status status = open_folder(backups, options->folder, err);
    if (status == HT_OK) {
        backups->state.every_ms = backups->every_ms;
        snprintf(backups->state.folder, sizeof backups->state.folder, "%s",
                 backups->folder);
        copy_remove_partial(backups->folder);
        plan_first(backups);
        backup_board_set(backups->board, &backups->state);
        const int code = pthread_create(&backups->thread, NULL, run, backups);
        if (code != 0)
            status =
                ht_fail_errno(err, code, "cannot start the thread of backups");
    }
    if (status != HT_OK) {
        release(backups);
        return status;
    }
    *out = backups;
    return HT_OK;
}

void backups_stop(struct backups *backups)
{
    if (backups == NULL)
        return;
    atomic_store(&backups->stopping, true);
    backup_board_wake(backups->board);
    pthread_join(backups->thread, NULL);
    release(backups);
}
