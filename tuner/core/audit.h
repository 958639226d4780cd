/* audit.h - writes the audit log: every change over the network, in its own
 * transaction, and every refusal for want of permission.
 *
 * A change and its line are stored together or not at all; the line of a change
 * that failed stays when its savepoint is rolled back. Refusals come from any
 * thread and are bounded for each address (BUDGET_REFUSALS). Lines have no
 * bodies, queries or secrets. */
#ifndef HT_TUNER_CORE_AUDIT_H
#define HT_TUNER_CORE_AUDIT_H

#include <stdint.h>

#include "proto/base/error.h"
#include "tuner/core/request.h"

struct core;

/* The part of the core, see options.h. */
enum ht_status audit_start(struct core *core, void **data,
                           struct ht_error *err);
void audit_stop(void *audit); /* accepts NULL */
enum ht_status audit_tick(struct core *core, struct ht_error *err);
int64_t audit_deadline(struct core *core);

/* Core thread, inside a transaction: the line of a request that ended with that
 * status; nothing where req->audit is AUDIT_NOT, or where the request is held
 * for later. */
enum ht_status audit_write(struct core *core, const struct request *req,
                           enum ht_status status, struct ht_error *err);

/* Something that happened outside the core. Texts are copied; NULL: none. */
struct audit_note {
    const struct principal *from; /* NULL: unknown */
    const char *peer;             /* its address, where `from` lacks it */
    const char *method, *pattern; /* "control", "hello" for messages */
    const char *study, *trial;    /* as the request names them */
    const char *detail;
    enum ht_status status; /* of the answer */
    const char *error;
};

/* Any thread. One that is HT_OK and has a known principal is always stored; of
 * the others of an address so many a second, and the rest as one line. */
void audit_note(struct core *core, const struct audit_note *note);

#endif
