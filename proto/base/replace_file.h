/* replace_file.h - small private files that are never half written. */
#ifndef HT_PROTO_BASE_REPLACE_FILE_H
#define HT_PROTO_BASE_REPLACE_FILE_H

#include <stddef.h>

#include "proto/base/error.h"

/* Writes `folder`/`name` with mode 0600: a reader sees the old file or the new
 * one, also after a power cut. "NAME.new" is used meanwhile, by one writer at a
 * time. HT_IO: it is the old one, or the new one that a power cut may take. */
enum ht_status replace_file(const char *folder, const char *name,
                            const char *bytes, size_t len,
                            struct ht_error *err);

#endif
