/* lease_slots.h - slots that a runner makes on demand: which of them get a
 * trial, and how many of them each study could use. Core thread. */
#ifndef HT_TUNER_WIRE_LEASE_SLOTS_H
#define HT_TUNER_WIRE_LEASE_SLOTS_H

#include <cjson/cJSON.h>

#include "tuner/wire/lease_poll.h"

struct slots_study;

/* For one handling of a poll; all in its arena. */
struct lease_slots {
    struct lease_poll *poll;
    size_t n;
    struct slots_study *studies; /* by index of the fleet's */
};

/* Reads the fleet with all open studies, and takes what the poll says of slots
 * (elastic.h).
 * HT_INVALID  it does not say it as proto/README.md has it */
enum ht_status lease_slots_read(struct lease_slots *slots,
                                struct lease_poll *poll, struct ht_error *err);
/* Gives attempts to the slots that ask. */
enum ht_status lease_slots_give(struct lease_slots *slots,
                                struct ht_error *err);
/* Fills the member `wanted`; *news: it differs from what the runner has. */
void lease_slots_want(struct lease_slots *slots, cJSON *wanted, bool *news);

#endif
