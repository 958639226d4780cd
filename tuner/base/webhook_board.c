#include "tuner/base/webhook_board.h"

#include <fnmatch.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "proto/doc/json.h"

struct webhook_board {
    pthread_mutex_t lock; /* guards the rest */
    struct arena *arena;  /* of what is shown */
    struct webhook_standings shown;
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

static struct webhook_standing copy(struct arena *arena,
                                    const struct webhook *webhook,
                                    const struct receiver *receiver)
{
    struct webhook_standing made = {*webhook, *receiver};
    made.webhook.url = made.webhook.secret = NULL;
    made.webhook.name = made.receiver.webhook =
        arena_strdup(arena, webhook->name);
    made.webhook.studies = arena_strdup(arena, webhook->studies);
    made.receiver.why = arena_strdup(arena, receiver->why);
    return made;
}

void webhook_board_set(struct webhook_board *board,
                       const struct webhook_rules *rules,
                       const struct receiver receivers[], const char *complaint)
{
    pthread_mutex_lock(&board->lock);
    arena_reset(board->arena);
    board->shown = (struct webhook_standings){
        .n = rules->n,
        .items =
            arena_alloc(board->arena, rules->n + 1, sizeof *board->shown.items),
        .complaint =
            complaint != NULL ? arena_strdup(board->arena, complaint) : NULL};
    for (size_t i = 0; i < rules->n; i++)
        board->shown.items[i] =
            copy(board->arena, &rules->items[i], &receivers[i]);
    pthread_mutex_unlock(&board->lock);
}

struct webhook_standings webhook_board_get(struct webhook_board *board,
                                           struct arena *arena)
{
    pthread_mutex_lock(&board->lock);
    struct webhook_standings got = board->shown;
    got.items = arena_alloc(arena, got.n + 1, sizeof *got.items);
    for (size_t i = 0; i < got.n; i++)
        got.items[i] = copy(arena, &board->shown.items[i].webhook,
                            &board->shown.items[i].receiver);
    if (got.complaint != NULL)
        got.complaint = arena_strdup(arena, got.complaint);
    pthread_mutex_unlock(&board->lock);
    return got;
}

/* --- for people --- */

void webhook_board_write(struct webhook_board *board, struct arena *arena,
                         cJSON *object)
{
    const struct webhook_standings shown = webhook_board_get(board, arena);
    cJSON *list = json_add_array(object, "webhooks");
    for (size_t i = 0; i < shown.n; i++) {
        const struct receiver *receiver = &shown.items[i].receiver;
        cJSON *one = json_push_object(list);
        json_add_string(one, "name", receiver->webhook);
        json_add_int(one, "pending", receiver->pending);
        json_add_int(one, "givenUp", receiver->given_up);
        json_add_int(one, "failures", receiver->failures);
        if (receiver->taken_ms > 0)
            json_add_int(one, "lastSuccessTimeMs", receiver->taken_ms);
        if (receiver->failed_ms > 0) {
            json_add_int(one, "lastErrorTimeMs", receiver->failed_ms);
            json_add_string(one, "lastError", receiver->why);
        }
    }
    if (shown.complaint != NULL)
        json_add_string(object, "webhooksError", shown.complaint);
}

/* --- what specs say --- */

struct checking {
    const struct webhook_standings *shown;
    const struct job *job;
    struct diag *errors, *warnings;
};

static const struct webhook *find(const struct webhook_standings *shown,
                                  const char *name)
{
    for (size_t i = 0; i < shown->n; i++)
        if (strcmp(shown->items[i].webhook.name, name) == 0)
            return &shown->items[i].webhook;
    return NULL;
}

/* What to write instead, as the end of a sentence: who is refused sees no
 * hint. */
static const char *what_there_is(const struct webhook_standings *shown,
                                 struct arena *arena, const char *name)
{
    const char **names = arena_alloc(arena, shown->n + 1, sizeof *names);
    const char *all = "";
    for (size_t i = 0; i < shown->n; i++) {
        names[i] = shown->items[i].webhook.name;
        all = arena_printf(arena, "%s%s%s", all, i > 0 ? ", " : "", names[i]);
    }
    const char *near = diag_nearest(name, names);
    if (near != NULL)
        return arena_printf(arena, "did you mean \"%s\"?", near);
    return shown->n > 0 ? arena_printf(arena, "it has %.200s", all)
                        : "its webhooks.json names none";
}

static void refuse(const struct checking *checking, const char *path,
                   const char *name)
{
    diag_error(checking->errors, 0, 0, path,
               "this server has no webhook \"%s\"; %s", name,
               what_there_is(checking->shown, checking->errors->arena, name));
}

/* The webhook's own filter is the admin's, and stays in force. */
static void check_filter(const struct checking *checking, const char *path,
                         const struct webhook *webhook,
                         const struct notify_item *item)
{
    const char *study = checking->job->name;
    if (study != NULL && fnmatch(webhook->studies, study, 0) != 0)
        diag_warning(checking->warnings, 0, 0, path,
                     "%s tells of studies called \"%s\" alone: not of this one",
                     webhook->name, webhook->studies);
    for (int i = 0; item->events != NOTIFY_ALL && i < NOTIFY_EVENTS; i++)
        if ((item->events & ~webhook->on & 1U << i) != 0)
            diag_warning(checking->warnings, 0, 0, path, "%s never tells of %s",
                         webhook->name,
                         notify_event_name((enum notify_event)i));
}

void webhook_board_check(struct webhook_board *board, const struct job *job,
                         const char *at, struct diag *errors,
                         struct diag *warnings)
{
    const struct notify *notify = &job->notify;
    struct webhook_standings shown = {0};
    const struct checking checking = {&shown, job, errors, warnings};
    if (notify->n > 0 && board != NULL)
        shown = webhook_board_get(board, errors->arena);
    for (size_t i = 0; i < notify->n; i++) {
        const struct notify_item *item = &notify->items[i];
        const struct webhook *webhook = find(&shown, item->webhook);
        const char *path =
            arena_printf(errors->arena, "%s%s", at,
                         job_notify_path(errors->arena, notify, i));
        if (webhook == NULL)
            refuse(&checking, path, item->webhook);
        else
            check_filter(&checking, path, webhook, item);
    }
}
