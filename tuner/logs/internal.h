/* internal.h - what the log thread (logs.c) and its readers (read.c)
 * have in common. */
#ifndef HT_TUNER_LOGS_INTERNAL_H
#define HT_TUNER_LOGS_INTERNAL_H

#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct db;
struct forget;
struct log_room;
struct pending;

struct logs {
    char *path;
    pthread_t thread;
    pthread_mutex_t lock; /* guards the queue, bytes, forgotten, stopping */
    pthread_cond_t work;
    struct pending *first, **last;
    size_t bytes;
    struct forget *forgotten;
    bool stopping;
    /* of the thread */
    struct db *writer;
    int64_t newest_us; /* stamp of the chunk stored last */
    struct log_room *room;
    char aside[PATH_MAX]; /* the damaged file to copy from; "": none */

    pthread_mutex_t read_lock; /* guards the connection that all readers use */
    struct db *reader;         /* opened with the first question */

    pthread_mutex_t damage_lock;
    char damage[256]; /* found first; "": none */
};

/* Any thread; the first is kept and logged. */
void logs_note_damage(struct logs *logs, const char *why);

#endif
