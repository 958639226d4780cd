/* outbox.h - the rows of webhooks.db: how far each study's events were
 * read, what is still to be delivered, and how each receiver takes it.
 *
 * What an event gives rise to and the mark that it was read are one commit, so
 * that a crash neither loses a letter nor makes it twice. One connection, one
 * thread. */
#ifndef HT_TUNER_WEBHOOK_OUTBOX_H
#define HT_TUNER_WEBHOOK_OUTBOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/base/arena.h"
#include "proto/base/error.h"

struct outbox;

/* HT_PRECONDITION  newer or older than this program reads, or another's file
 * HT_IO            it cannot be opened */
enum ht_status outbox_open(const char *path, struct outbox **outbox,
                           struct ht_error *err);
void outbox_close(struct outbox *outbox); /* accepts NULL */

enum ht_status outbox_begin(struct outbox *outbox, struct ht_error *err);
enum ht_status outbox_commit(struct outbox *outbox, struct ht_error *err);
void outbox_rollback(struct outbox *outbox);

/* --- marks --- */

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
/* Of a study that is gone. */
enum ht_status outbox_forget_mark(struct outbox *outbox, int64_t study,
                                  struct ht_error *err);

/* --- letters --- */

struct letter {
    int64_t id, study;
    const char *webhook; /* its name */
    const char *event, *body;
    int64_t made_ms; /* wall clock */
};

/* Adds one; its id is given here and never again. */
enum ht_status outbox_add(struct outbox *outbox, const struct letter *letter,
                          struct ht_error *err);
/* The webhook's oldest. HT_NOT_FOUND: none waits. */
enum ht_status outbox_first(struct outbox *outbox, struct arena *arena,
                            const char *webhook, struct letter *letter,
                            struct ht_error *err);
enum ht_status outbox_remove(struct outbox *outbox, int64_t id,
                             struct ht_error *err);

struct loss { /* letters of one study that are not delivered any more */
    int64_t study, letters;
};
struct loss_list {
    size_t n;
    struct loss *items;
};
struct overdue { /* of a webhook's letters, which are too many or too old */
    const char *webhook;
    int64_t before_ms; /* those made before that moment, */
    int64_t most;      /* and of the others the oldest beyond so many */
};
/* Removes those. */
enum ht_status outbox_drop(struct outbox *outbox, struct arena *arena,
                           const struct overdue *which, struct loss_list *lost,
                           struct ht_error *err);

/* --- receivers --- */

struct receiver {
    const char *webhook;
    int64_t pending;   /* letters that wait; counted, not kept */
    int64_t given_up;  /* letters, in all */
    int64_t failures;  /* attempts in a row */
    int64_t taken_ms;  /* the last success, wall clock; 0: never */
    int64_t failed_ms; /* the last failure */
    const char *why;   /* it failed, "" */
};
/* What is known of the webhook; zeros when that is nothing. */
enum ht_status outbox_receiver(struct outbox *outbox, struct arena *arena,
                               const char *webhook, struct receiver *receiver,
                               struct ht_error *err);
enum ht_status outbox_save_receiver(struct outbox *outbox,
                                    const struct receiver *receiver,
                                    struct ht_error *err);
/* Forgets receivers and letters of all but these webhooks. */
enum ht_status outbox_keep(struct outbox *outbox, size_t n,
                           const char *const webhooks[], struct ht_error *err);

#endif
