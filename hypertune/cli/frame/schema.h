/* schema.h - the grammar of the native spec form, as help text.
 *
 * proto/native.schema.json is embedded at build time, so help and checks
 * cannot disagree with the file that is shipped. */
#ifndef HT_HYPERTUNE_CLI_FRAME_SCHEMA_H
#define HT_HYPERTUNE_CLI_FRAME_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>

#include "proto/base/text.h"

/* Appends every field with its kind and meaning. */
void cli_schema_help(struct text *out);
/* Appends the fields that a JSON schema describes; false when `json` is no
 * schema of an object. */
bool cli_schema_describe(const char *json, size_t len, struct text *out);

#endif
