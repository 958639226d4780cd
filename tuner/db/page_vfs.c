#include "tuner/db/page_vfs.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <zlib.h>

#include "tuner/db/db_heap.h"

enum {
    CHECKED = PAGE_BYTES - PAGE_RESERVED,
    /* In the header of the file: bytes reserved per page, and four that mean
     * nothing to SQLite and are 0 in a file that it makes by itself. */
    RESERVE_AT = 20,
    SEALED_AT = 72,
    HEADER = 100,
    /* of the write-ahead log, https://sqlite.org/fileformat2.html#walformat */
    WAL_HEADER = 32,
    FRAME_HEADER = 24,
    FRAME = FRAME_HEADER + PAGE_BYTES,
    SUM_BYTES = 8, /* the end of either header */
};
/* Before each CRC, and in the header of a file whose pages all have one. */
static const unsigned char mark[4] = {'H', 't', 'P', '1'};

/* An open file; SQLite's own follows it in memory. */
struct page_file {
    sqlite3_file base;
    sqlite3_file *real;
    const char *name;        /* SQLite's, lives as long */
    struct page_place place; /* when it was opened */
    bool is_log;
    bool has_reserve, seals, demanded; /* of a database: see page_vfs_seal() */
    /* Of a log: from this frame on they are of a transaction that this
     * connection has not committed, whose checksums SQLite writes last. */
    int64_t open_from;
};

static sqlite3_vfs *system_vfs;
static _Thread_local char finding[PAGE_FINDING_BYTES];

const char *page_vfs_finding(void)
{
    return finding;
}

void page_vfs_forget(void)
{
    finding[0] = '\0';
}

static const char *base_name(const struct page_file *file)
{
    const char *slash = strrchr(file->name, '/');
    return slash != NULL ? slash + 1 : file->name;
}

static int damaged(const struct page_file *file, const char *what, int64_t n)
{
    snprintf(finding, sizeof finding,
             "%s %lld of %.80s differs from its checksum", what, (long long)n,
             base_name(file));
    return SQLITE_IOERR_DATA;
}

static uint32_t read_4(const unsigned char *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 |
           (uint32_t)at[2] << 8 | at[3];
}

static void write_4(unsigned char *at, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        at[i] = (unsigned char)(value >> (24 - 8 * i));
}

/* --- pages of the database --- */

/* With its number: a page in another's place is damage too. */
static void seal(unsigned char sum[PAGE_RESERVED], const void *page,
                 int64_t number)
{
    unsigned char place[4];
    write_4(place, (uint32_t)number);
    const uLong crc = crc32(crc32(0, place, sizeof place), page, CHECKED);
    memcpy(sum, mark, sizeof mark);
    write_4(sum + sizeof mark, (uint32_t)crc);
}

static bool is_page(int n, int64_t at)
{
    return n == PAGE_BYTES && at % PAGE_BYTES == 0;
}

static void note_header(struct page_file *file, const unsigned char *header,
                        int n, int64_t at)
{
    if (at != 0 || n < HEADER)
        return;
    file->has_reserve = header[RESERVE_AT] == PAGE_RESERVED;
    if (file->has_reserve && read_4(header + SEALED_AT) != 0)
        file->seals = file->demanded = true;
}

static int check_page(struct page_file *file, const unsigned char *page,
                      int64_t number)
{
    unsigned char sum[PAGE_RESERVED];
    seal(sum, page, number);
    if (memcmp(page + CHECKED, sum, sizeof sum) != 0)
        return damaged(file, "page", number);
    return SQLITE_OK;
}

static int read_database(struct page_file *file, void *to, int n, int64_t at)
{
    const int rc = file->real->pMethods->xRead(file->real, to, n, at);
    if (rc == SQLITE_IOERR_SHORT_READ && file->demanded && is_page(n, at))
        return damaged(file, "page", at / PAGE_BYTES + 1);
    if (rc != SQLITE_OK)
        return rc;
    note_header(file, to, n, at);
    return file->demanded && is_page(n, at)
               ? check_page(file, to, at / PAGE_BYTES + 1)
               : SQLITE_OK;
}

static int write_database(struct page_file *file, const void *from, int n,
                          int64_t at)
{
    unsigned char page[PAGE_BYTES];
    note_header(file, from, n, at);
    if (is_page(n, at) && file->has_reserve) {
        memcpy(page, from, CHECKED);
        if (at == 0 && file->seals) {
            memcpy(page + SEALED_AT, mark, sizeof mark);
            file->demanded = true;
        }
        seal(page + CHECKED, page, at / PAGE_BYTES + 1);
        from = page;
    }
    return file->real->pMethods->xWrite(file->real, from, n, at);
}

/* --- frames of the write-ahead log --- */

/* In either order of bytes: that of the machine that wrote it. */
static uint32_t word_at(const unsigned char *at, bool big)
{
    return big ? read_4(at)
               : (uint32_t)at[3] << 24 | (uint32_t)at[2] << 16 |
                     (uint32_t)at[1] << 8 | at[0];
}

static void add_to_sum(uint32_t sum[2], const unsigned char *data, int n,
                       bool big)
{
    for (int i = 0; i < n; i += 8) {
        sum[0] += word_at(data + i, big) + sum[1];
        sum[1] += word_at(data + i + 4, big) + sum[0];
    }
}

/* `before`: the checksum that the one of this frame continues. */
static bool sum_agrees(const unsigned char before[SUM_BYTES],
                       const unsigned char header[FRAME_HEADER],
                       const unsigned char *page, bool big)
{
    uint32_t sum[2] = {read_4(before), read_4(before + 4)};
    add_to_sum(sum, header, 8, big);
    add_to_sum(sum, page, PAGE_BYTES, big);
    return sum[0] == read_4(header + 16) && sum[1] == read_4(header + 20);
}

static int check_frame(struct page_file *file, const unsigned char *page,
                       int64_t frame)
{
    unsigned char before[SUM_BYTES], header[FRAME_HEADER];
    const int64_t at = WAL_HEADER + frame * FRAME;
    const int64_t end_before = frame == 0 ? WAL_HEADER : at - PAGE_BYTES;
    int rc = file->real->pMethods->xRead(file->real, header, sizeof header, at);
    if (rc == SQLITE_OK)
        rc = file->real->pMethods->xRead(file->real, before, sizeof before,
                                         end_before - SUM_BYTES);
    if (rc != SQLITE_OK)
        return rc;
    return sum_agrees(before, header, page, false) ||
                   sum_agrees(before, header, page, true)
               ? SQLITE_OK
               : damaged(file, "frame", frame);
}

static int read_log(struct page_file *file, void *to, int n, int64_t at)
{
    const int rc = file->real->pMethods->xRead(file->real, to, n, at);
    const int64_t frame = (at - WAL_HEADER) / FRAME;
    if (n == PAGE_BYTES && rc == SQLITE_IOERR_SHORT_READ)
        return damaged(file, "frame", frame);
    if (rc != SQLITE_OK || n != PAGE_BYTES || frame >= file->open_from)
        return rc;
    return check_frame(file, to, frame);
}

static int write_log(struct page_file *file, const void *from, int n,
                     int64_t at)
{
    const int64_t frame = (at - WAL_HEADER) / FRAME;
    const int rc = file->real->pMethods->xWrite(file->real, from, n, at);
    if (rc != SQLITE_OK || n != FRAME_HEADER)
        return rc;
    /* The last frame of a transaction has the length of the database. */
    if (read_4((const unsigned char *)from + 4) != 0)
        file->open_from = INT64_MAX;
    else if (frame < file->open_from)
        file->open_from = frame;
    return SQLITE_OK;
}

/* --- a file --- */

static sqlite3_file *real_of(sqlite3_file *file)
{
    return ((struct page_file *)file)->real;
}

static int file_close(sqlite3_file *file)
{
    return real_of(file)->pMethods->xClose(real_of(file));
}

static int file_read(sqlite3_file *at, void *to, int n, sqlite3_int64 offset)
{
    struct page_file *file = (struct page_file *)at;
    return file->is_log ? read_log(file, to, n, offset)
                        : read_database(file, to, n, offset);
}

static int file_write(sqlite3_file *at, const void *from, int n,
                      sqlite3_int64 offset)
{
    struct page_file *file = (struct page_file *)at;
    return file->is_log ? write_log(file, from, n, offset)
                        : write_database(file, from, n, offset);
}

static int file_truncate(sqlite3_file *file, sqlite3_int64 size)
{
    return real_of(file)->pMethods->xTruncate(real_of(file), size);
}

static int file_sync(sqlite3_file *file, int flags)
{
    return real_of(file)->pMethods->xSync(real_of(file), flags);
}

static int file_size(sqlite3_file *file, sqlite3_int64 *size)
{
    return real_of(file)->pMethods->xFileSize(real_of(file), size);
}

static int file_lock(sqlite3_file *file, int level)
{
    return real_of(file)->pMethods->xLock(real_of(file), level);
}

static int file_unlock(sqlite3_file *file, int level)
{
    return real_of(file)->pMethods->xUnlock(real_of(file), level);
}

static int file_is_reserved(sqlite3_file *file, int *is)
{
    return real_of(file)->pMethods->xCheckReservedLock(real_of(file), is);
}

static int file_control(sqlite3_file *file, int what, void *value)
{
    return real_of(file)->pMethods->xFileControl(real_of(file), what, value);
}

static int file_sector(sqlite3_file *file)
{
    return real_of(file)->pMethods->xSectorSize(real_of(file));
}

static int file_abilities(sqlite3_file *file)
{
    return real_of(file)->pMethods->xDeviceCharacteristics(real_of(file));
}

static int shared_map(sqlite3_file *file, int region, int size, int extend,
                      void volatile **to)
{
    return real_of(file)->pMethods->xShmMap(real_of(file), region, size, extend,
                                            to);
}

static int shared_lock(sqlite3_file *file, int offset, int n, int flags)
{
    return real_of(file)->pMethods->xShmLock(real_of(file), offset, n, flags);
}

static void shared_barrier(sqlite3_file *file)
{
    real_of(file)->pMethods->xShmBarrier(real_of(file));
}

static int shared_unmap(sqlite3_file *file, int remove)
{
    return real_of(file)->pMethods->xShmUnmap(real_of(file), remove);
}

/* Version 2 has no pages mapped into memory, which would not be compared. */
static const sqlite3_io_methods methods = {
    .iVersion = 2,
    .xClose = file_close,
    .xRead = file_read,
    .xWrite = file_write,
    .xTruncate = file_truncate,
    .xSync = file_sync,
    .xFileSize = file_size,
    .xLock = file_lock,
    .xUnlock = file_unlock,
    .xCheckReservedLock = file_is_reserved,
    .xFileControl = file_control,
    .xSectorSize = file_sector,
    .xDeviceCharacteristics = file_abilities,
    .xShmMap = shared_map,
    .xShmLock = shared_lock,
    .xShmBarrier = shared_barrier,
    .xShmUnmap = shared_unmap,
};

/* Journals and files of queries are SQLite's alone. */
static int file_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *to,
                     int flags, int *got)
{
    (void)vfs;
    if ((flags & (SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_WAL)) == 0 || name == NULL)
        return system_vfs->xOpen(system_vfs, name, to, flags, got);
    struct page_file *file = (struct page_file *)to;
    *file = (struct page_file){.real = (sqlite3_file *)(file + 1),
                               .name = name,
                               .is_log = (flags & SQLITE_OPEN_WAL) != 0,
                               .open_from = INT64_MAX};
    const int rc = system_vfs->xOpen(system_vfs, name, file->real, flags, got);
    if (file->real->pMethods == NULL)
        return rc;
    file->base.pMethods = &methods;
    struct stat found;
    if (stat(name, &found) == 0) {
        file->place.device = found.st_dev;
        file->place.inode = found.st_ino;
    }
    sqlite3_int64 size = 1;
    if (rc == SQLITE_OK)
        file->real->pMethods->xFileSize(file->real, &size);
    file->seals = size == 0;
    return rc;
}

static void make_known(void)
{
    static sqlite3_vfs ours;
    db_heap_give();
    sqlite3_initialize();
    system_vfs = sqlite3_vfs_find(NULL);
    ours = *system_vfs;
    ours.zName = PAGE_VFS;
    ours.szOsFile += (int)sizeof(struct page_file);
    ours.xOpen = file_open;
    sqlite3_vfs_register(&ours, 0);
}

void page_vfs_register(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_known);
}

static struct page_file *file_of(sqlite3 *handle)
{
    sqlite3_file *file = NULL;
    sqlite3_file_control(handle, "main", SQLITE_FCNTL_FILE_POINTER, &file);
    return (struct page_file *)file;
}

bool page_vfs_is_sealed(sqlite3 *handle)
{
    return file_of(handle)->seals;
}

void page_vfs_seal(sqlite3 *handle)
{
    file_of(handle)->seals = true;
}

void page_vfs_seal_all(sqlite3 *handle)
{
    file_of(handle)->has_reserve = true;
}

/* --- its place --- */

static bool is_in_place(const struct page_file *file)
{
    struct stat found;
    if (file->base.pMethods != &methods || file->place.inode == 0)
        return true;
    const bool is_there = stat(file->name, &found) == 0;
    if (is_there && found.st_dev == file->place.device &&
        found.st_ino == file->place.inode)
        return true;
    snprintf(finding, sizeof finding, "%.80s was %s while it was open",
             base_name(file), is_there ? "replaced" : "removed");
    return false;
}

struct page_place page_vfs_place(sqlite3 *handle)
{
    return file_of(handle)->place;
}

bool page_vfs_is_in_place(sqlite3 *handle)
{
    sqlite3_file *log = NULL;
    sqlite3_file_control(handle, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log);
    return is_in_place(file_of(handle)) &&
           (log == NULL || is_in_place((struct page_file *)log));
}

/* --- a file as a whole --- */

/* A page that is written at that moment may be read in two parts. */
enum { TRIES = 5 };

static enum ht_status check_page_of(int fd, const char *path, int64_t number,
                                    struct ht_error *err)
{
    unsigned char page[PAGE_BYTES], sum[PAGE_RESERVED];
    for (int i = 0; i < TRIES; i++) {
        const ssize_t n =
            pread(fd, page, sizeof page, (off_t)(number - 1) * PAGE_BYTES);
        if (n < 0)
            return ht_fail_errno(err, errno, "cannot read page %lld of %s",
                                 (long long)number, path);
        if (number == 1 && n == PAGE_BYTES &&
            memcmp(page, "SQLite format 3", 16) == 0 &&
            (page[RESERVE_AT] != PAGE_RESERVED ||
             read_4(page + SEALED_AT) == 0))
            return ht_fail(err, HT_PRECONDITION,
                           "the pages of %s have no checksums: no server of "
                           "this version wrote it",
                           path);
        seal(sum, page, number);
        if (n == PAGE_BYTES && memcmp(page + CHECKED, sum, sizeof sum) == 0)
            return HT_OK;
    }
    return ht_fail(err, HT_CORRUPT,
                   "%s is damaged: page %lld differs from its checksum", path,
                   (long long)number);
}

enum ht_status page_vfs_check_file(const char *path, struct ht_error *err)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return ht_fail_errno(err, errno, "cannot open %s", path);
    const int64_t size = lseek(fd, 0, SEEK_END);
    enum ht_status status = HT_OK;
    if (size <= 0 || size % PAGE_BYTES != 0)
        status = ht_fail(err, HT_CORRUPT,
                         "%s is damaged: its length, %lld bytes, is not that "
                         "of whole pages",
                         path, (long long)size);
    for (int64_t at = 1; status == HT_OK && at <= size / PAGE_BYTES; at++)
        status = check_page_of(fd, path, at, err);
    close(fd);
    return status;
}
