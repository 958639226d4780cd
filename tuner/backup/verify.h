/* verify.h - whether a backup, or the data folder of a server, is whole. */
#ifndef HT_TUNER_BACKUP_VERIFY_H
#define HT_TUNER_BACKUP_VERIFY_H

#include "proto/base/error.h"
#include "proto/base/text.h"
#include "tuner/backup/manifest.h"

/* Reads all of a backup and changes nothing, so the folder may be read-only:
 * lengths and hashes by its manifest, each page, all tables, what refers to
 * what, the logs. Nothing may be beside the files that the manifest names.
 *
 * HT_NOT_FOUND     there is no manifest
 * HT_CORRUPT       damage, with its place
 * HT_PRECONDITION  a file has no checksums
 * HT_IO            a file cannot be read */
enum ht_status verify_copy(struct arena *arena, const char *folder,
                           struct backup_manifest *manifest,
                           struct ht_error *err);

/* The same of a backup or a data folder, whose server may run; appends what was
 * looked at, one line each. */
enum ht_status verify_folder(const char *folder, struct text *report,
                             struct ht_error *err);

#endif
