/* outbox.h - webhooks.db: how far each study's events were read, the queue of
 * deliveries of each webhook, when a failed one is tried again and when it is
 * given up.
 *
 * An event's deliveries and the mark that it was read are one transaction of
 * the caller's, so that a crash neither loses a delivery nor makes it twice. */
#ifndef HT_TUNER_WEBHOOK_OUTBOX_H
#define HT_TUNER_WEBHOOK_OUTBOX_H

#include <stddef.h>
#include <stdint.h>

#include "proto/base/arena.h"
#include "proto/base/error.h"
#include "tuner/base/webhook_board.h"
#include "tuner/db/db.h"
#include "tuner/webhook/config.h"

/* The caller closes it by db_close().
 * HT_PRECONDITION  newer or older than this program reads, or another's file
 * HT_IO            it cannot be opened */
enum ht_status webhook_outbox_open(const char *path, struct db **outbox,
                                   struct ht_error *err);

/* --- marks --- */

/* The revision up to which a study was read, 0: not at all. The mark of this
 * study, which does not exist, records that marks are kept at all. */
enum { WEBHOOK_MARKS_KEPT = 0 };
enum ht_status webhook_outbox_mark(struct db *outbox, int64_t study,
                                   int64_t *revision, struct ht_error *err);
enum ht_status webhook_outbox_set_mark(struct db *outbox, int64_t study,
                                       int64_t revision, struct ht_error *err);
/* For a deleted study. */
enum ht_status webhook_outbox_remove_mark(struct db *outbox, int64_t study,
                                          struct ht_error *err);

/* --- deliveries --- */

/* An event that one webhook is to get; `body` is sent as it is. */
struct webhook_delivery {
    int64_t id, study;
    const char *webhook; /* its name */
    const char *event, *body;
    int64_t made_ms; /* wall clock */
};

/* Adds one; its id is given here and never again. */
enum ht_status webhook_outbox_add(struct db *outbox,
                                  const struct webhook_delivery *delivery,
                                  struct ht_error *err);
/* The webhook's oldest. HT_NOT_FOUND: none waits. */
enum ht_status webhook_outbox_first(struct db *outbox, struct arena *arena,
                                    const char *webhook,
                                    struct webhook_delivery *delivery,
                                    struct ht_error *err);
/* HT_OK also when it is gone already. */
enum ht_status webhook_outbox_remove(struct db *outbox, int64_t id,
                                     struct ht_error *err);

struct webhook_dropped_list {
    size_t n;
    struct webhook_dropped { /* of one study, and never to be delivered */
        int64_t study, deliveries;
    } * items;
};
struct webhook_overdue { /* deliveries to remove */
    const char *webhook;
    int64_t refused;   /* this one, by its id; 0: none */
    int64_t before_ms; /* those made before that moment, */
    int64_t most;      /* and of the others the oldest beyond so many */
};
/* Removes them in the caller's transaction and lists how many of each study,
 * in the arena. */
enum ht_status webhook_outbox_drop(struct db *outbox, struct arena *arena,
                                   const struct webhook_overdue *overdue,
                                   struct webhook_dropped_list *dropped,
                                   struct ht_error *err);

/* --- webhooks --- */

/* The webhook's row but for what the admin's file says; zeros when nothing is
 * stored. `name` is borrowed. */
enum ht_status webhook_outbox_row(struct db *outbox, struct arena *arena,
                                  const char *name, struct webhook_row *row,
                                  struct ht_error *err);
/* Stores it, but for `pending`, which is counted. */
enum ht_status webhook_outbox_save_row(struct db *outbox,
                                       const struct webhook_row *row,
                                       struct ht_error *err);
/* Deletes rows and deliveries of all other webhooks. */
enum ht_status webhook_outbox_keep(struct db *outbox,
                                   const struct webhook_rules *rules,
                                   struct ht_error *err);
/* Deletes all, marks too. */
enum ht_status webhook_outbox_clear(struct db *outbox, struct ht_error *err);

/* --- attempts ---
 *
 * The oldest delivery of a queue is tried again and again, the others wait
 * behind it: that keeps their order. It is removed only after an attempt, so
 * each is sent at least once. */

/* The deliveries of one webhook, of which only the first is in memory. */
struct webhook_queue {
    const struct webhook *webhook; /* borrowed */
    struct db *outbox;             /* the same */
    struct webhook_delivery first; /* after webhook_queue_first() */
    struct webhook_row row;        /* after the last attempt to deliver it */
    int64_t due_ms;                /* no attempt before; monotonic */
    int64_t failing_ms;  /* first failure since a success; 0: not failing */
    struct arena *arena; /* of the rows, and of what is dropped */
    struct webhook_post *post; /* the request under way, or NULL */
};

/* An empty queue whose first attempt may be made at once; makes an arena. */
void webhook_queue_init(struct webhook_queue *queue,
                        const struct webhook *webhook, struct db *outbox);
/* Frees the arena; the caller has ended the request under way. */
void webhook_queue_fini(struct webhook_queue *queue);

/* Reads the first delivery. HT_NOT_FOUND: none waits. */
enum ht_status webhook_queue_first(struct webhook_queue *queue,
                                   struct ht_error *err);

struct webhook_attempt { /* to deliver the first */
    enum ht_status sent; /* as webhook_post_result() returns it */
    const char *why;     /* it failed */
    int64_t now_ms, wall_ms;
    uint64_t random;
};
/* Stores the attempt in one commit: the delivery is removed when it was taken
 * or refused for good; those a day old are dropped when none was taken for a
 * day, and the oldest of more than 10000. *dropped lies in the queue's arena.
 * After a failure nothing is stored, and the next attempt is 5 s later. */
enum ht_status webhook_queue_settle(struct webhook_queue *queue,
                                    const struct webhook_attempt *attempt,
                                    struct webhook_dropped_list *dropped,
                                    struct ht_error *err);

/* Milliseconds until the next attempt after so many failures in a row: 1 s,
 * doubled each time up to an hour, and up to half of it more by `random`. */
int64_t webhook_queue_pause(int64_t failures, uint64_t random);

#endif
