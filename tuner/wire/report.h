/* report.h - measurement records: the messages of the report address, and how
 * a record becomes a row.
 *
 * A record is identified by (study, trial, attempt, replica, writer, seq); one
 * that comes again changes nothing and gets the same answer. Core thread. */
#ifndef HT_TUNER_WIRE_REPORT_H
#define HT_TUNER_WIRE_REPORT_H

#include <cjson/cJSON.h>

#include "tuner/core/request.h"
#include "tuner/study/trial.h"

/* Every message of the report address; the trial token identifies the attempt.
 */
request_handler report_handle;

/* Stores the records of the message for that attempt, and adds `have`, `thin`
 * and `stop` to the answer.
 * HT_INVALID  replica or a record is wrong; nothing is stored */
enum ht_status report_store(struct core *core, struct request *req,
                            struct trial_pair *pair, cJSON *answer,
                            struct ht_error *err);

#endif
