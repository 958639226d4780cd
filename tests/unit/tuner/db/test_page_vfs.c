/* Pages and frames that differ from their checksums are found when they are
 * read, wherever a bit has flipped. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/lib/db_place.h"
#include "tuner/db/file.h"
#include "tuner/db/internal.h"
#include "tuner/db/page_vfs.h"

enum { FRAME = 24 + PAGE_BYTES, ROWS = 40 };

static const struct db_migration steps[] = {
    {"CREATE TABLE n(id INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT;",
     NULL},
    {NULL, NULL},
};

/* Version 1 has no checksums. */
static const struct db_kind kinds[] = {
    {.application_id = 7,
     .versions = 1,
     .migrations = steps,
     .writing = "PRAGMA journal_mode=WAL; PRAGMA wal_autocheckpoint=0;"},
    {.application_id = 7,
     .versions = 2,
     .migrations = steps,
     .writing = "PRAGMA journal_mode=WAL; PRAGMA wal_autocheckpoint=0;"}};

static struct db *open_version(const struct db_place *place, int version)
{
    struct db *db = NULL;
    struct ht_error err = {0};
    CHECK(db_file_open(place->path, true, &kinds[version - 1], &db, &err) ==
          HT_OK);
    return db;
}

static void put_rows(struct db *db)
{
    for (int64_t id = 1; id <= ROWS; id++)
        CHECK(db_run(db, NULL, "INSERT INTO n VALUES(?, hex(randomblob(500)))",
                     "i", id) == HT_OK);
}

static enum ht_status read_all(struct db *db, struct ht_error *err)
{
    int64_t sum;
    return db_ask_integer(db, &sum, err, "SELECT sum(length(text)) FROM n", "");
}

static void flip(const char *path, int64_t at)
{
    unsigned char byte = 0;
    const int fd = open(path, O_RDWR);
    CHECK(pread(fd, &byte, 1, at) == 1);
    byte ^= 4;
    CHECK(pwrite(fd, &byte, 1, at) == 1);
    close(fd);
}

static int64_t length_of(const char *path)
{
    struct stat found = {0};
    CHECK(stat(path, &found) == 0);
    return found.st_size;
}

static void a_page_that_differs_is_damage(void)
{
    static const int64_t bytes[] = {
        0, 1, 700, PAGE_BYTES - 9, PAGE_BYTES - 8, PAGE_BYTES - 1};
    struct db_place place;
    db_place_open(&place);
    struct db *db = open_version(&place, 2);
    put_rows(db);
    db_close(db);
    const int64_t last = length_of(place.path) - PAGE_BYTES;
    for (size_t i = 0; i < sizeof bytes / sizeof *bytes; i++) {
        struct ht_error err = {0};
        flip(place.path, last + bytes[i]);
        db = open_version(&place, 2);
        CHECK(read_all(db, &err) == HT_CORRUPT);
        CHECK(strstr(err.text, "of hypertune.db differs from its checksum") !=
              NULL);
        db_close(db);
        flip(place.path, last + bytes[i]);
    }
    db = open_version(&place, 2);
    CHECK(read_all(db, NULL) == HT_OK);
    db_close(db);
    db_place_close(&place);
}

/* While they are only in the log, nothing but the frame has a checksum. */
static void a_frame_that_differs_is_damage(void)
{
    static const int64_t bytes[] = {0, 16, 24, 700, FRAME - 1};
    struct db_place place;
    char log[80];
    db_place_open(&place);
    struct db *db = open_version(&place, 2);
    CHECK(db_checkpoint(db, true, NULL) == HT_OK);
    put_rows(db);
    snprintf(log, sizeof log, "%s-wal", place.path);
    const int64_t last = length_of(log) - FRAME;
    for (size_t i = 0; i < sizeof bytes / sizeof *bytes; i++) {
        struct db *reader = NULL;
        struct ht_error err = {0};
        flip(log, last + bytes[i]);
        CHECK(db_file_open(place.path, false, &kinds[1], &reader, &err) ==
              HT_OK);
        CHECK(read_all(reader, &err) == HT_CORRUPT);
        CHECK(strstr(err.text, "differs from its checksum") != NULL);
        db_close(reader);
        flip(log, last + bytes[i]);
    }
    CHECK(read_all(db, NULL) == HT_OK);
    db_close(db);
    db_place_close(&place);
}

/* SQLite writes its checksums with the commit, some of them again. */
static void a_transaction_larger_than_the_cache_reads_its_own_pages(void)
{
    struct db_place place;
    db_place_open(&place);
    struct db *db = open_version(&place, 2);
    CHECK(db_exec(db, "PRAGMA cache_size=2", NULL) == HT_OK);
    CHECK(db_begin(db, NULL) == HT_OK);
    put_rows(db);
    for (int i = 0; i < 3; i++)
        CHECK(db_exec(db, "UPDATE n SET text=hex(randomblob(500))", NULL) ==
              HT_OK);
    CHECK(read_all(db, NULL) == HT_OK);
    CHECK(db_commit(db, NULL) == HT_OK);
    CHECK(read_all(db, NULL) == HT_OK);
    db_close(db);
    db = open_version(&place, 2);
    CHECK(read_all(db, NULL) == HT_OK);
    db_close(db);
    db_place_close(&place);
}

/* As a program that knows of no checksums has written them. */
static void make_old_file(const struct db_place *place, bool reserve)
{
    sqlite3 *handle;
    int bytes = reserve ? PAGE_RESERVED : 0;
    CHECK(sqlite3_open(place->path, &handle) == SQLITE_OK);
    sqlite3_file_control(handle, "main", SQLITE_FCNTL_RESERVE_BYTES, &bytes);
    CHECK(sqlite3_exec(handle, "PRAGMA journal_mode=WAL", NULL, NULL, NULL) ==
          SQLITE_OK);
    CHECK(sqlite3_exec(handle, steps[0].sql, NULL, NULL, NULL) == SQLITE_OK);
    CHECK(sqlite3_exec(handle,
                       "PRAGMA user_version=1; PRAGMA application_id=7;"
                       "INSERT INTO n SELECT value, hex(randomblob(500)) "
                       "FROM json_each('[1,2,3,4,5,6,7,8,9,10,11,12]')",
                       NULL, NULL, NULL) == SQLITE_OK);
    sqlite3_close(handle);
}

static void an_older_file_gets_its_checksums(void)
{
    for (int reserve = 0; reserve <= 1; reserve++) {
        struct db_place place;
        db_place_open(&place);
        make_old_file(&place, reserve != 0);
        struct db *db = open_version(&place, 2);
        CHECK(read_all(db, NULL) == HT_OK);
        CHECK(db_check(db, NULL) == HT_OK);
        db_close(db);
        flip(place.path, length_of(place.path) - 1);
        struct ht_error err = {0};
        db = open_version(&place, 2);
        CHECK(db_check(db, &err) == HT_CORRUPT);
        db_close(db);
        db_place_close(&place);
    }
}

int main(void)
{
    RUN(a_page_that_differs_is_damage);
    RUN(a_frame_that_differs_is_damage);
    RUN(a_transaction_larger_than_the_cache_reads_its_own_pages);
    RUN(an_older_file_gets_its_checksums);
    return check_done();
}
