/* notes.h - people write about a study and its trials: one text in Markdown,
 * and tags. Core thread. */
#ifndef HT_TUNER_API_NOTES_H
#define HT_TUNER_API_NOTES_H

#include "proto/base/error.h"
#include "proto/doc/field.h"
#include "tuner/api/method.h"
#include "tuner/core/request.h"
#include "tuner/db/metadata.h"

/* Body: {"note", "expect", "tags", "addTags", "removeTags"}, each optional;
 * `expect` is the note that is to be replaced. Replies {"note", "tags"}.
 * HT_CONFLICT  the note is another one than `expect` */
request_handler notes_change_study;
request_handler notes_change_trial;

/* A row of NOTES_NS that a client sends as metadata: its tags are brought into
 * their order, and what may not be stored is a fault at `at`. */
void notes_check_row(const struct field_reader *reader, struct place at,
                     struct metadata_row *row);

/* Stores a row of NOTES_NS, with the event trial.noted or study.noted, unless
 * it is as before. */
enum ht_status notes_store(struct method_call *call,
                           const struct metadata_row *row,
                           struct ht_error *err);

#endif
