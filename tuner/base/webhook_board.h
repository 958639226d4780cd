/* webhook_board.h - which webhooks there are and how they do, for everybody.
 *
 * The thread of webhooks writes it, any other reads. Addresses and keys are not
 * on it. */
#ifndef HT_TUNER_BASE_WEBHOOK_BOARD_H
#define HT_TUNER_BASE_WEBHOOK_BOARD_H

#include <cjson/cJSON.h>

#include "proto/base/arena.h"
#include "proto/doc/diag.h"
#include "proto/job/job.h"
#include "tuner/webhook/outbox.h"
#include "tuner/webhook/rules.h"

struct webhook_board;

struct webhook_board *webhook_board_new(void);
void webhook_board_free(struct webhook_board *board); /* accepts NULL */

/* What is in force; receivers[i] tells of the i-th webhook. `complaint`: why
 * the admin's file is not, or NULL. All is copied. */
void webhook_board_set(struct webhook_board *board,
                       const struct webhook_rules *rules,
                       const struct receiver receivers[],
                       const char *complaint);

struct webhook_standing {
    struct webhook webhook; /* url and secret are NULL */
    struct receiver receiver;
};
struct webhook_standings {
    size_t n;
    struct webhook_standing *items;
    const char *complaint; /* NULL: none */
};
/* Copies the board into the arena. */
struct webhook_standings webhook_board_get(struct webhook_board *board,
                                           struct arena *arena);

/* Adds "webhooks", and "webhooksError" where there is a complaint. */
void webhook_board_write(struct webhook_board *board, struct arena *arena,
                         cJSON *object);

/* Looks at what a job says in `notify`; `at` stands before that in paths, such
 * as "hypertune." A webhook that there is not is an error; one that will hardly
 * tell a warning. A board of NULL has none. */
void webhook_board_check(struct webhook_board *board, const struct job *job,
                         const char *at, struct diag *errors,
                         struct diag *warnings);

#endif
