#include "tuner/base/tracker_board.h"

#include <pthread.h>
#include <stdlib.h>

#include "proto/base/arena.h"
#include "proto/doc/json.h"

struct tracker_board {
    pthread_mutex_t lock; /* guards the rest */
    struct tracker_row rows[TRACKERS];
};

const char *tracker_name(enum tracker_name name)
{
    static const char *const names[TRACKERS] = {"mlflow", "tensorboard"};
    return names[name];
}

struct tracker_board *tracker_board_new(void)
{
    struct tracker_board *board = ht_xcalloc(1, sizeof *board);
    pthread_mutex_init(&board->lock, NULL);
    return board;
}

void tracker_board_free(struct tracker_board *board)
{
    if (board == NULL)
        return;
    pthread_mutex_destroy(&board->lock);
    free(board);
}

void tracker_board_set(struct tracker_board *board, enum tracker_name name,
                       const struct tracker_row *row)
{
    pthread_mutex_lock(&board->lock);
    board->rows[name] = *row;
    pthread_mutex_unlock(&board->lock);
}

struct tracker_row tracker_board_get(struct tracker_board *board,
                                     enum tracker_name name)
{
    pthread_mutex_lock(&board->lock);
    const struct tracker_row row = board->rows[name];
    pthread_mutex_unlock(&board->lock);
    return row;
}

void tracker_board_write(struct tracker_board *board, cJSON *object)
{
    cJSON *list = json_add_array(object, "trackers");
    for (int i = 0; i < TRACKERS; i++) {
        const struct tracker_row row =
            tracker_board_get(board, (enum tracker_name)i);
        if (row.place[0] == '\0')
            continue;
        cJSON *one = json_push_object(list);
        json_add_string(one, "name", tracker_name((enum tracker_name)i));
        json_add_string(one, "place", row.place);
        json_add_int(one, "behind", row.behind);
        json_add_int(one, "failures", row.failures);
        if (row.taken_ms > 0)
            json_add_int(one, "lastSuccessTimeMs", row.taken_ms);
        if (row.failed_ms > 0) {
            json_add_int(one, "lastErrorTimeMs", row.failed_ms);
            json_add_string(one, "lastError", row.failure.text);
        }
    }
}

void tracker_board_check(struct tracker_board *board, const struct job *job,
                         const char *at, struct diag *errors)
{
    if (job->trackers.mlflow == NULL ||
        (board != NULL &&
         tracker_board_get(board, TRACKER_MLFLOW).place[0] != '\0'))
        return;
    diag_error(errors, 0, 0,
               arena_printf(errors->arena, "%strackers.mlflow", at),
               "this server has no MLflow; who starts it names one with "
               "--mlflow URL, and one of your own takes MLFLOW_TRACKING_URI "
               "when it starts");
}
