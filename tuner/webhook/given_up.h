/* given_up.h - the event that letters about a study were given up. */
#ifndef HT_TUNER_WEBHOOK_GIVEN_UP_H
#define HT_TUNER_WEBHOOK_GIVEN_UP_H

#include "tuner/webhook/outbox.h"
#include "tuner/webhook/rules.h"

struct core;

/* Writes it to the study's events, by the core, and to the log. The receiver
 * tells after how many attempts, and why the last one failed. */
void webhook_loss_announce(struct core *core, const struct webhook *webhook,
                           const struct receiver *receiver,
                           const struct loss *loss);

#endif
