/* elastic.h - trials for slots that are made on demand: a trial is made, with
 * its point, when a slot of an elastic runner asks for it.
 *
 * A slot owes its trial what the search could know when it began to ask: a
 * point that was found before a result of then is withdrawn, unless a person
 * chose it. Trials that wait for other reasons, such as retries, come first.
 * What the polls said is in memory alone and comes again with the next poll; a
 * transaction that is rolled back takes what it changed along.
 * Core thread. */
#ifndef HT_TUNER_STUDY_ELASTIC_H
#define HT_TUNER_STUDY_ELASTIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/base/error.h"
#include "tuner/core/live.h"
#include "tuner/study/end_rules.h"

/* What a poll says of slots. */
struct elastic_poll {
    size_t n_asks;
    struct live_ask *asks; /* each study once; `owed` is not read */
    size_t n_refusals;
    struct live_refusal *refusals;
};

/* Takes it for what the runner said before; studies with other slots that ask,
 * or another refusal, are settled. */
void elastic_note(struct core *core, struct live_runner *runner,
                  const struct elastic_poll *poll);

/* The reason there is for the study; "": none. */
const char *elastic_refusal(size_t n, const struct live_refusal list[],
                            int64_t study);

/* The slots of the runner that ask for a trial of the study, and what the first
 * of them owes; 0: none. */
int64_t elastic_asking(const struct live_runner *runner, int64_t study,
                       int64_t *owed);
/* That one has got a trial. */
void elastic_note_given(struct core *core, struct live_runner *runner,
                        int64_t study);

/* A trial has ended: its project's quota may have room for what asks. */
void elastic_touch_asking(struct core *core);

/* Whether the waiting trial may go to a slot that owes so much. `counts`: of
 * its study. */
bool elastic_is_fresh(struct core *core, const struct trial_counts *counts,
                      const struct trial_row *trial, int64_t owed);

/* Waiting trials of the study that are not tried again yet. */
int64_t elastic_backing_off(struct core *core, int64_t study);

/* How many trials to make now, of points found with that news of the study: as
 * study_wanted() has it, where no elastic runner may run them, else for the
 * slots that ask and those of other runners, as far as the project's quota
 * reaches. */
enum ht_status elastic_due(const struct settling *settling, int64_t news,
                           int64_t *n, struct ht_error *err);
/* A trial was made of a point that was found with that news. */
void elastic_note_made(struct core *core, const struct trial_row *trial,
                       int64_t news);

/* Withdraws points that are too old for the slots that ask; reads the row and
 * the counts again. */
enum ht_status elastic_withdraw(struct settling *settling,
                                struct ht_error *err);

#endif
