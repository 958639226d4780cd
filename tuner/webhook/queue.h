/* queue.h - the letters that wait for one webhook, and how it takes
 * them.
 *
 * Its oldest letter is tried again and again, the others wait behind it: so
 * their order is kept, and so is the pause between two attempts, which belongs
 * to the webhook. One thread. */
#ifndef HT_TUNER_WEBHOOK_QUEUE_H
#define HT_TUNER_WEBHOOK_QUEUE_H

#include <stdint.h>

#include "proto/base/arena.h"
#include "proto/base/error.h"
#include "tuner/webhook/outbox.h"
#include "tuner/webhook/rules.h"

enum { WEBHOOK_LINE_MOST = 10000 }; /* letters that wait, about */

struct webhook_line {
    const struct webhook *webhook; /* borrowed */
    struct outbox *outbox;         /* the same */
    struct receiver receiver;      /* but for what is pending */
    char why[256];                 /* of the receiver */
    int64_t due_ms;                /* no attempt before; monotonic */
    int64_t failing_ms;   /* nothing was taken since; 0: it does not fail */
    struct letter letter; /* the first one, once it was asked for */
    struct arena *arena;  /* of it, and of losses */
};

/* Reads what is known of the webhook. It is to be closed after a failure,
 * too. */
enum ht_status webhook_line_open(const struct webhook *webhook,
                                 struct outbox *outbox,
                                 struct webhook_line *line,
                                 struct ht_error *err);
void webhook_line_close(struct webhook_line *line);

/* Reads the first letter. HT_NOT_FOUND: none waits. */
enum ht_status webhook_line_first(struct webhook_line *line,
                                  struct ht_error *err);

struct webhook_attempt { /* what came of the first letter */
    enum ht_status sent; /* as webhook_post_judge() has it */
    const char *why;     /* it was not taken */
    int64_t now_ms, wall_ms;
    uint64_t random;
};
/* Stores what came of it, in one commit: the letter goes when it was taken or
 * refused for good; what is a day old goes when nothing was taken for a day,
 * and the oldest beyond WEBHOOK_LINE_MOST. *lost, in the line's arena, says
 * what nobody will get. After a failure the attempt counts, but nothing goes.
 */
enum ht_status webhook_line_settle(struct webhook_line *line,
                                   const struct webhook_attempt *attempt,
                                   struct loss_list *lost,
                                   struct ht_error *err);

/* Milliseconds until the next attempt after so many in a row that failed: 1 s,
 * doubled each time up to an hour, and up to half of it more by `random`. */
int64_t webhook_line_pause(int64_t failures, uint64_t random);

#endif
