#include "tuner/db/checkpoint.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#include "proto/base/arena.h"
#include "proto/base/clock.h"
#include "tuner/db/db.h"

enum {
    COMMITS = 64, /* bounds the WAL at some MB under load */
    PERIOD_MS = 1000
};

struct checkpoint {
    struct db *db;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    int commits; /* since the last checkpoint */
    bool stopping;
};

static void wait_for_work(struct checkpoint *checkpoint)
{
    while (!checkpoint->stopping && checkpoint->commits == 0)
        pthread_cond_wait(&checkpoint->wake, &checkpoint->lock);
    const struct timespec until = clock_in_ms(PERIOD_MS);
    while (!checkpoint->stopping && checkpoint->commits < COMMITS)
        if (pthread_cond_timedwait(&checkpoint->wake, &checkpoint->lock,
                                   &until) != 0)
            break;
}

static void *run(void *argument)
{
    struct checkpoint *checkpoint = argument;
    pthread_mutex_lock(&checkpoint->lock);
    while (!checkpoint->stopping) {
        wait_for_work(checkpoint);
        if (checkpoint->stopping)
            break;
        checkpoint->commits = 0;
        pthread_mutex_unlock(&checkpoint->lock);
        /* A failure costs nothing but a longer WAL; the next try follows. */
        db_checkpoint(checkpoint->db, false, NULL);
        pthread_mutex_lock(&checkpoint->lock);
    }
    pthread_mutex_unlock(&checkpoint->lock);
    return NULL;
}

enum ht_status checkpoint_start(const char *path, struct checkpoint **out,
                                struct ht_error *err)
{
    struct db *db;
    const enum ht_status status = db_open(path, &db, err);
    if (status != HT_OK)
        return status;
    struct checkpoint *checkpoint = ht_xcalloc(1, sizeof *checkpoint);
    checkpoint->db = db;
    pthread_mutex_init(&checkpoint->lock, NULL);
    clock_cond_init(&checkpoint->wake);
    const int code = pthread_create(&checkpoint->thread, NULL, run, checkpoint);
    if (code != 0) {
        db_close(db);
        free(checkpoint);
        return ht_fail_errno(err, code, "cannot start the checkpoint thread");
    }
    *out = checkpoint;
    return HT_OK;
}

void checkpoint_note_commit(struct checkpoint *checkpoint)
{
    pthread_mutex_lock(&checkpoint->lock);
    checkpoint->commits++;
    if (checkpoint->commits == 1 || checkpoint->commits == COMMITS)
        pthread_cond_signal(&checkpoint->wake);
    pthread_mutex_unlock(&checkpoint->lock);
}

void checkpoint_stop(struct checkpoint *checkpoint)
{
    if (checkpoint == NULL)
        return;
    pthread_mutex_lock(&checkpoint->lock);
    checkpoint->stopping = true;
    pthread_cond_signal(&checkpoint->wake);
    pthread_mutex_unlock(&checkpoint->lock);
    pthread_join(checkpoint->thread, NULL);
    pthread_cond_destroy(&checkpoint->wake);
    pthread_mutex_destroy(&checkpoint->lock);
    db_close(checkpoint->db);
    free(checkpoint);
}
