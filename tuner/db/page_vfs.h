/* page_vfs.h - the layer below SQLite that finds damaged pages: each page of a
 * database file ends with a checksum, and each page that is read is compared
 * with it. A page in the write-ahead log is compared with the checksum that
 * SQLite keeps of its frame, which it looks at only after a crash.
 *
 * A page that differs is SQLITE_IOERR_DATA, so nothing is answered from it. */
#ifndef HT_TUNER_DB_PAGE_VFS_H
#define HT_TUNER_DB_PAGE_VFS_H

#include <stdbool.h>
#include <sys/types.h>

#include <sqlite3.h>

#include "proto/base/error.h"

#define PAGE_VFS "hypertune"

enum {
    PAGE_BYTES = 4096, /* of all of our files */
    PAGE_RESERVED = 8, /* at its end, for the checksum */
};

/* Makes the layer known to SQLite; HT files are opened with its name. Any
 * thread, any number of times. */
void page_vfs_register(void);

/* Whether all pages of the file have checksums. A file of an older version does
 * not, nor a copy by VACUUM INTO of a program that knows nothing of them: its
 * pages are taken as they are. */
bool page_vfs_is_sealed(sqlite3 *handle);
/* For a file that is not: once its first page is written, it is. All others are
 * written in the same transaction. */
void page_vfs_seal(sqlite3 *handle);

/* Where the database was when the connection was opened. */
struct page_place {
    dev_t device;
    ino_t inode; /* 0: unknown */
};
struct page_place page_vfs_place(sqlite3 *handle);
/* Whether the database and its log are still found under their names; else the
 * finding says which one is not. */
bool page_vfs_is_in_place(sqlite3 *handle);
/* For a new file whose pages come from a sealed one and may be written before
 * the first, which says so: each of them gets its checksum. */
void page_vfs_seal_all(sqlite3 *handle);

/* Compares every page of a file with its checksum, also of pages that no table
 * uses; the file may be in use.
 * HT_CORRUPT       a page differs; named
 * HT_PRECONDITION  its pages have no checksums
 * HT_IO            it cannot be read */
enum ht_status page_vfs_check_file(const char *path, struct ht_error *err);

enum { PAGE_FINDING_BYTES = 160 };
/* What the last SQLITE_IOERR_DATA of this thread was about: page and file; or
 * what was not in its place. */
const char *page_vfs_finding(void);
/* Then it is "" until the next one. */
void page_vfs_forget(void);

#endif
