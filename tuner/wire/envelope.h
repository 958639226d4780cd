/* envelope.h - the frame of every answer on the report and control addresses:
 * {"v":1,"id":N,"status":S,...}, proto/README.md sections 1 to 4. */
#ifndef HT_TUNER_WIRE_ENVELOPE_H
#define HT_TUNER_WIRE_ENVELOPE_H

#include <cjson/cJSON.h>

#include "proto/base/text.h"
#include "tuner/core/request.h"

/* An "ok" answer to req->body, to be filled and given to wire_reply(). */
cJSON *wire_ok(const struct request *req);
/* Prints the answer into the reply and frees it. */
void wire_reply(struct request *req, cJSON *answer);

/* Replies when the request succeeded, else drops the answer; returns
 * `status`. */
enum ht_status wire_finish(struct request *req, cJSON *answer,
                           enum ht_status status);

/* Appends the answer: the reply of a request that succeeded, else the wire
 * status of its failure. */
void wire_answer(const struct request *req, struct text *out);

/* Whether a message of the control address has a token that may speak for its
 * runner: the one that the runner belongs to, or the shared token for a runner
 * without one of its own. Any thread.
 * HT_UNAUTHENTICATED  the token is not valid
 * HT_DENIED           the runner belongs to another token */
enum ht_status wire_check_runner(struct core *core, const struct request *req,
                                 struct ht_error *err);
/* The audit log gets the refusal of a message; address: "control" or
 * "report". */
void wire_note_refusal(struct core *core, const struct request *req,
                       const char *address, const struct ht_error *err);
/* For a hello, on the core thread: a runner that is new then belongs to the
 * named token that came with it. Errors as above. */
enum ht_status wire_claim_runner(struct core *core, struct request *req,
                                 struct ht_error *err);
/* study, trial and attempt of a message or list item.
 * HT_INVALID  one is missing or not a positive integer */
enum ht_status wire_name(const struct node *map, struct trial_name *name,
                         struct ht_error *err);
/* The counterpart of wire_name(). */
void wire_add_name(cJSON *object, const struct trial_name *name);

#endif
