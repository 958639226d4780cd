/* outbox.h - the rows of webhooks.db: how far each study's events were read,
 * which deliveries wait, and how each webhook's attempts went.
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
/* Ends a transaction: a commit after HT_OK, else a rollback. Returns `status`,
 * or why the commit failed. */
enum ht_status webhook_outbox_end(struct db *outbox, enum ht_status status,
                                  struct ht_error *err);

/* The revision up to which a study was read, 0: not at all. The mark of this
 * study, which does not exist, says whether marks are kept at all. */
enum { WEBHOOK_MARKS_KEPT = 0 };
enum ht_status webhook_outbox_mark(struct db *outbox, int64_t study,
                                   int64_t *revision, struct ht_error *err);
enum ht_status webhook_outbox_set_mark(struct db *outbox, int64_t study,
                                       int64_t revision, struct ht_error *err);
/* Of a study that is gone. */
enum ht_status webhook_outbox_forget_mark(struct db *outbox, int64_t study,
                                          struct ht_error *err);

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
enum ht_status webhook_outbox_remove(struct db *outbox, int64_t id,
                                     struct ht_error *err);

struct webhook_dropped { /* of one study, and never to be delivered */
    int64_t study, deliveries;
};
struct webhook_dropped_list {
    size_t n;
    struct webhook_dropped *items;
};
struct webhook_overdue { /* of a webhook's deliveries */
    const char *webhook;
    int64_t refused;   /* this one, by its id; 0: none */
    int64_t before_ms; /* those made before that moment, */
    int64_t most;      /* and of the others the oldest beyond so many */
};
/* Removes those. */
enum ht_status webhook_outbox_drop(struct db *outbox, struct arena *arena,
                                   const struct webhook_overdue *which,
                                   struct webhook_dropped_list *dropped,
                                   struct ht_error *err);

/* Everything of the webhook's row that the file does not say; zeros when
 * nothing is known. `name` is borrowed. */
enum ht_status webhook_outbox_row(struct db *outbox, struct arena *arena,
                                  const char *name, struct webhook_row *row,
                                  struct ht_error *err);
/* Stores it, but for what is pending, which is counted. */
enum ht_status webhook_outbox_save_row(struct db *outbox,
                                       const struct webhook_row *row,
                                       struct ht_error *err);
/* Forgets rows and deliveries of all other webhooks. */
enum ht_status webhook_outbox_keep(struct db *outbox,
                                   const struct webhook_rules *rules,
                                   struct ht_error *err);
/* Forgets all, marks too. */
enum ht_status webhook_outbox_clear(struct db *outbox, struct ht_error *err);

#endif
