#include "tuner/base/webhook_board.h"

#include <fnmatch.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/words.h"
#include "proto/doc/json.h"
#include "proto/job/notify.h"

struct webhook_board {
    pthread_mutex_t lock; /* guards the rest */
    struct arena *arena;  /* of the rows */
    struct webhook_rows rows;
};

struct webhook_board *webhook_board_new(void)
{
    struct webhook_board *board = ht_xcalloc(1, sizeof *board);
    pthread_mutex_init(&board->lock, NULL);
    board->arena = arena_new();
    return board;
}

void webhook_board_free(struct webhook_board *board)
{
    if (board == NULL)
        return;
    pthread_mutex_destroy(&board->lock);
    arena_free(board->arena);
    free(board);
}

static struct webhook_rows copy(struct arena *arena,
                                const struct webhook_rows *rows)
{
    struct webhook_rows made = *rows;
    made.items = arena_alloc(arena, rows->n + 1, sizeof *made.items);
    for (size_t i = 0; i < rows->n; i++) {
        struct webhook_row *row = &made.items[i];
        *row = rows->items[i];
        row->name = arena_strdup(arena, row->name);
        row->studies = arena_strdup(arena, row->studies);
        row->why = arena_strdup(arena, row->why);
    }
    if (rows->complaint != NULL)
        made.complaint = arena_strdup(arena, rows->complaint);
    return made;
}

void webhook_board_set(struct webhook_board *board,
                       const struct webhook_rows *rows)
{
    memory_lock(&board->lock);
    arena_reset(board->arena);
    board->rows = copy(board->arena, rows);
    memory_unlock(&board->lock);
}

struct webhook_rows webhook_board_get(struct webhook_board *board,
                                      struct arena *arena)
{
    memory_lock(&board->lock);
    const struct webhook_rows rows = copy(arena, &board->rows);
    memory_unlock(&board->lock);
    return rows;
}

void webhook_board_write(struct webhook_board *board, struct arena *arena,
                         cJSON *object)
{
    const struct webhook_rows rows = webhook_board_get(board, arena);
    cJSON *list = json_add_array(object, "webhooks");
    for (size_t i = 0; i < rows.n; i++) {
        const struct webhook_row *row = &rows.items[i];
        cJSON *one = json_push_object(list);
        json_add_string(one, "name", row->name);
        json_add_int(one, "pending", row->pending);
        json_add_int(one, "givenUp", row->given_up);
        json_add_int(one, "failures", row->failures);
        if (row->taken_ms > 0)
            json_add_int(one, "lastSuccessTimeMs", row->taken_ms);
        if (row->failed_ms > 0) {
            json_add_int(one, "lastErrorTimeMs", row->failed_ms);
            json_add_string(one, "lastError", row->why);
        }
    }
    if (rows.complaint != NULL)
        json_add_string(object, "webhooksError", rows.complaint);
}

/* --- what specs name --- */

struct check {
    struct webhook_rows rows;
    const struct job *job;
    struct diag *errors, *warnings;
};

static const struct webhook_row *find(const struct webhook_rows *rows,
                                      const char *name)
{
    for (size_t i = 0; i < rows->n; i++)
        if (strcmp(rows->items[i].name, name) == 0)
            return &rows->items[i];
    return NULL;
}

/* The hint is the end of the sentence: the reply to a refused request shows no
 * other hint. */
static void refuse(const struct check *check, const char *path,
                   const char *wanted)
{
    struct arena *arena = check->errors->arena;
    const size_t n = check->rows.n;
    const char **names = arena_alloc(arena, n + 1, sizeof *names);
    const char *hint = n > 0 ? "it has " : "its webhooks.json names none";
    for (size_t i = 0; i < n; i++) {
        names[i] = check->rows.items[i].name;
        hint = arena_printf(arena, "%s%s%s", hint, i > 0 ? ", " : "", names[i]);
    }
    const char *near = words_nearest(wanted, names);
    if (near != NULL)
        hint = arena_printf(arena, "did you mean \"%s\"?", near);
    diag_error(check->errors, 0, 0, path,
               "this server has no webhook \"%s\"; %.207s", wanted, hint);
}

/* The webhook's own filter is the admin's, and stays in force. */
static void check_filter(const struct check *check, const char *path,
                         const struct webhook_row *row,
                         const struct notify_item *item)
{
    const char *study = check->job->name;
    if (study != NULL && fnmatch(row->studies, study, 0) != 0)
        diag_warning(check->warnings, 0, 0, path,
                     "%s is for studies called \"%s\" only, not for this one",
                     row->name, row->studies);
    for (int i = 0; item->events != NOTIFY_ALL && i < NOTIFY_EVENTS; i++)
        if ((item->events & ~row->on & 1U << i) != 0)
            diag_warning(check->warnings, 0, 0, path, "%s never sends %s",
                         row->name, notify_event_name((enum notify_event)i));
}

void webhook_board_check(struct webhook_board *board, const struct job *job,
                         const char *at, struct diag *errors,
                         struct diag *warnings)
{
    const struct notify *notify = &job->notify;
    struct check check = {.job = job, .errors = errors, .warnings = warnings};
    if (notify->n > 0 && board != NULL)
        check.rows = webhook_board_get(board, errors->arena);
    for (size_t i = 0; i < notify->n; i++) {
        const struct notify_item *item = &notify->items[i];
        const struct webhook_row *row = find(&check.rows, item->webhook);
        const char *path =
            arena_printf(errors->arena, "%s%s", at,
                         job_notify_path(errors->arena, notify, i));
        if (row == NULL)
            refuse(&check, path, item->webhook);
        else
            check_filter(&check, path, row, item);
    }
}
