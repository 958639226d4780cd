#include "tuner/base/life_board.h"

#include <pthread.h>
#include <stdlib.h>

#include "proto/base/arena.h"

enum { BUCKETS = 1024 };

struct entry {
    struct life life;
    struct entry *next;
};

struct life_board {
    pthread_mutex_t lock; /* guards the rest */
    struct entry *buckets[BUCKETS];
};

struct life_board *life_board_new(void)
{
    struct life_board *board = ht_xcalloc(1, sizeof *board);
    pthread_mutex_init(&board->lock, NULL);
    return board;
}

/* The link to the trial's entry, or to NULL where it would be. */
static struct entry **find(struct life_board *board, int64_t study,
                           int64_t trial)
{
    const uint64_t hash = (uint64_t)study * 31 + (uint64_t)trial;
    struct entry **link = &board->buckets[hash % BUCKETS];
    while (*link != NULL &&
           ((*link)->life.study != study || (*link)->life.trial != trial))
        link = &(*link)->next;
    return link;
}

static void drop(struct entry **link)
{
    struct entry *gone = *link;
    *link = gone->next;
    free(gone);
}

void life_board_free(struct life_board *board)
{
    if (board == NULL)
        return;
    for (size_t i = 0; i < BUCKETS; i++)
        while (board->buckets[i] != NULL)
            drop(&board->buckets[i]);
    pthread_mutex_destroy(&board->lock);
    free(board);
}

void life_board_set(struct life_board *board, const struct life *life)
{
    memory_lock(&board->lock);
    struct entry **link = find(board, life->study, life->trial);
    if (*link == NULL)
        *link = ht_xcalloc(1, sizeof **link);
    struct life *old = &(*link)->life;
    /* What was heard meanwhile counts. */
    const bool newer =
        old->attempt == life->attempt && old->heard_ms > life->heard_ms;
    const int64_t heard_ms = newer ? old->heard_ms : life->heard_ms;
    *old = *life;
    old->heard_ms = heard_ms;
    if (newer && life->silent)
        old->due_ms = 0;
    memory_unlock(&board->lock);
}

void life_board_drop(struct life_board *board, int64_t study, int64_t trial)
{
    memory_lock(&board->lock);
    struct entry **link = find(board, study, trial);
    if (*link != NULL)
        drop(link);
    memory_unlock(&board->lock);
}

void life_board_note(struct life_board *board, int64_t study, int64_t trial,
                     int64_t attempt, int64_t now_ms)
{
    memory_lock(&board->lock);
    struct entry *entry = *find(board, study, trial);
    if (entry != NULL && entry->life.attempt == attempt) {
        entry->life.heard_ms = now_ms;
        if (entry->life.silent)
            entry->life.due_ms = 0;
    }
    memory_unlock(&board->lock);
}

/* The one that is due first; NULL: there is none. */
static const struct life *first(const struct life_board *board)
{
    const struct life *found = NULL;
    for (size_t i = 0; i < BUCKETS; i++)
        for (const struct entry *entry = board->buckets[i]; entry != NULL;
             entry = entry->next)
            if (found == NULL || entry->life.due_ms < found->due_ms)
                found = &entry->life;
    return found;
}

bool life_board_due(struct life_board *board, int64_t now_ms, struct life *life)
{
    memory_lock(&board->lock);
    const struct life *found = first(board);
    const bool due = found != NULL && found->due_ms <= now_ms;
    if (due)
        *life = *found;
    memory_unlock(&board->lock);
    return due;
}

int64_t life_board_deadline(struct life_board *board)
{
    memory_lock(&board->lock);
    const struct life *found = first(board);
    const int64_t due_ms = found == NULL ? INT64_MAX : found->due_ms;
    memory_unlock(&board->lock);
    return due_ms;
}
