/* metadata.h - texts that clients keep with a study and its trials: Vizier's
 * metadata, by namespace and key. The server stores and returns them without
 * interpreting them. */
#ifndef HT_TUNER_API_METADATA_H
#define HT_TUNER_API_METADATA_H

#include "proto/base/error.h"
#include "proto/doc/field.h"
#include "tuner/api/method.h"
#include "tuner/core/request.h"
#include "tuner/db/metadata.h"

/* PATCH: stores all of "metadata", if everything in "expect" is stored with
 * these values. */
request_handler metadata_change;

/* Reads [{"trial","ns","key","value"}]; faults go to the reader's diag. */
void metadata_read(const struct field_reader *reader, struct place at,
                   struct metadata_list *list);
/* HT_NOT_FOUND  there is no such trial */
enum ht_status metadata_store(struct method_call *call,
                              const struct metadata_list *list,
                              struct ht_error *err);

#endif
