/* db_outbox.h - the rows of webhooks.db: how far each study's events were
 * read, and what is still to be delivered.
 *
 * What an event gives rise to and the mark that it was read are one commit, so
 * that a crash neither loses a delivery nor makes it twice. One connection,
 * one thread. */
#ifndef HT_TUNER_DB_OUTBOX_H
#define HT_TUNER_DB_OUTBOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/arena.h"
#include "proto/error.h"

struct outbox;

/* HT_PRECONDITION  newer than this program, or another program's file
 * HT_IO            it cannot be opened */
enum ht_status outbox_open(const char *path, struct outbox **outbox,
                           struct ht_error *err);
void outbox_close(struct outbox *outbox); /* accepts NULL */

enum ht_status outbox_begin(struct outbox *outbox, struct ht_error *err);
enum ht_status outbox_commit(struct outbox *outbox, struct ht_error *err);
void outbox_rollback(struct outbox *outbox);

/* Whether marks are kept; without them no event is told. Setting them aside
 * forgets what waits, too. */
enum ht_status outbox_is_begun(struct outbox *outbox, bool *begun,
                               struct ht_error *err);
enum ht_status outbox_set_begun(struct outbox *outbox, bool begun,
                                struct ht_error *err);

/* The revision up to which a study was read, 0: not at all. */
enum ht_status outbox_mark(struct outbox *outbox, int64_t study,
                           int64_t *revision, struct ht_error *err);
enum ht_status outbox_set_mark(struct outbox *outbox, int64_t study,
                               int64_t revision, struct ht_error *err);

struct delivery {
    int64_t id, study;
    const char *url, *event, *body;
    int64_t made_ms, due_ms; /* wall clock */
    int64_t tries;
    bool dead;       /* given up */
    const char *why; /* the last attempt failed, "" */
};
struct delivery_list {
    size_t n;
    struct delivery *items;
};
/* Adds one that waits; its id is given here and never again. */
enum ht_status outbox_add(struct outbox *outbox,
                          const struct delivery *delivery,
                          struct ht_error *err);
/* Those due, the oldest first. */
enum ht_status outbox_due(struct outbox *outbox, struct arena *arena,
                          int64_t now_ms, size_t most,
                          struct delivery_list *list, struct ht_error *err);
/* The moment when the next one is due, INT64_MAX: none waits. */
enum ht_status outbox_next(struct outbox *outbox, int64_t *due_ms,
                           struct ht_error *err);
/* Writes due_ms, tries, dead and why back. */
enum ht_status outbox_save(struct outbox *outbox,
                           const struct delivery *delivery,
                           struct ht_error *err);
enum ht_status outbox_remove(struct outbox *outbox, int64_t id,
                             struct ht_error *err);
/* Forgets dead ones made before that moment. */
enum ht_status outbox_prune(struct outbox *outbox, int64_t before_ms,
                            struct ht_error *err);

#endif
