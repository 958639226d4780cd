/* datadir_files.h - the files that must be in the server's folder, or must not
 * be what they are: looked at before any of them is opened. */
#ifndef HT_TUNER_DATADIR_FILES_H
#define HT_TUNER_DATADIR_FILES_H

#include "proto/base/error.h"

/* `folder` is absolute and locked. Of a new folder it makes hypertune.db-mark.
 * Databases that others might read become private.
 *
 * HT_PRECONDITION  hypertune.db is missing or empty beside what a server has
 *                  made; or a database or a folder is a symbolic link
 * HT_IO            the file system refused */
enum ht_status datadir_files_check(const char *folder, struct ht_error *err);

#endif
