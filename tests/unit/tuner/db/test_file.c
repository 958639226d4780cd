/* Files of a kind: made, brought up to date step by step, refused. */
#include <sqlite3.h>

#include "tests/check.h"
#include "tuner/db/file.h"
#include "tuner/db/internal.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[] = "/tmp/ht-file-XXXXXX";
static char path[64], copy[64];

static enum ht_status double_all(struct db *db, struct ht_error *err)
{
    return db_exec(db, "UPDATE n SET value=2*value", err);
}

static enum ht_status give_up(struct db *db, struct ht_error *err)
{
    (void)db;
    return ht_fail(err, HT_CORRUPT, "a row is odd");
}

static const struct db_migration steps[] = {
    {"CREATE TABLE n(id INTEGER PRIMARY KEY, value INTEGER NOT NULL) STRICT;"
     "INSERT INTO n VALUES(1, 5);",
     NULL},
    {"ALTER TABLE n ADD COLUMN note TEXT NOT NULL DEFAULT 'none';", double_all},
    {NULL, double_all},
};
static const struct db_migration bad_sql[] = {
    {"CREATE TABLE n(id INTEGER PRIMARY KEY, value INTEGER NOT NULL) STRICT;"
     "INSERT INTO n VALUES(1, 5);",
     NULL},
    {"UPDATE n SET value=6; CREATE TABLE n(id INTEGER)", NULL},
};
static const struct db_migration bad_run[] = {
    {"CREATE TABLE n(id INTEGER PRIMARY KEY, value INTEGER NOT NULL) STRICT;"
     "INSERT INTO n VALUES(1, 5);",
     NULL},
    {"UPDATE n SET value=6;", give_up},
};

enum { OURS = 0x48744b64, FORMER = 0x48794b64 };

static struct db_kind kind_of(const struct db_migration *migrations,
                              int versions)
{
    return (struct db_kind){
        .application_id = OURS,
        .former_id = FORMER,
        .versions = versions,
        .migrations = migrations,
        .writing = "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;",
        .reading = "PRAGMA query_only=ON;"};
}

static void clear(void)
{
    static const char *const ends[] = {"", "-wal", "-shm"};
    char name[80];
    for (size_t i = 0; i < 3; i++) {
        snprintf(name, sizeof name, "%s%s", path, ends[i]);
        unlink(name);
    }
}

static enum ht_status open_as(const struct db_migration *migrations,
                              int versions, bool writable, struct db **db,
                              struct ht_error *err)
{
    const struct db_kind kind = kind_of(migrations, versions);
    return db_file_open(path, writable, &kind, db, err);
}

static int64_t ask_at(const char *file, const char *sql)
{
    sqlite3 *handle;
    sqlite3_stmt *stmt;
    int64_t value = -1;
    CHECK(sqlite3_open(file, &handle) == SQLITE_OK);
    CHECK(sqlite3_prepare_v2(handle, sql, -1, &stmt, NULL) == SQLITE_OK);
    if (sqlite3_step(stmt) == SQLITE_ROW)
        value = sqlite3_column_int64(stmt, 0);
    sqlite3_finalize(stmt);
    sqlite3_close(handle);
    return value;
}

static int64_t ask(const char *sql)
{
    return ask_at(path, sql);
}

static void a_new_file_gets_every_version(void)
{
    struct db *db;
    CHECK(open_as(steps, 3, true, &db, NULL) == HT_OK);
    db_close(db);
    CHECK(ask("SELECT value FROM n") == 20);
    CHECK(ask("PRAGMA user_version") == 3);
    CHECK(ask("PRAGMA application_id") == OURS);
    CHECK(open_as(steps, 3, true, &db, NULL) == HT_OK);
    db_close(db);
    CHECK(ask("SELECT value FROM n") == 20); /* none is run twice */
    clear();
}

static void an_older_file_gets_what_it_lacks(void)
{
    struct db *db;
    CHECK(open_as(steps, 1, true, &db, NULL) == HT_OK);
    db_close(db);
    CHECK(ask("SELECT value FROM n") == 5);
    CHECK(open_as(steps, 2, true, &db, NULL) == HT_OK);
    db_close(db);
    CHECK(ask("SELECT value FROM n WHERE note='none'") == 10);
    CHECK(open_as(steps, 3, true, &db, NULL) == HT_OK);
    db_close(db);
    CHECK(ask("SELECT value FROM n") == 20);
    clear();
}

static void readers_wait_for_it_to_be_brought_up_to_date(void)
{
    struct db *db, *reader;
    struct ht_error err = {0};
    CHECK(open_as(steps, 1, true, &db, NULL) == HT_OK);
    db_close(db);
    CHECK(open_as(steps, 3, false, &reader, &err) == HT_PRECONDITION);
    CHECK(strstr(err.text, "has version 1, and 3 is read here") != NULL);
    CHECK(open_as(steps, 3, true, &db, NULL) == HT_OK);
    CHECK(open_as(steps, 3, false, &reader, NULL) == HT_OK);
    CHECK(db_exec(reader, "UPDATE n SET value=1", NULL) == HT_UNAVAILABLE);
    db_close(reader);
    db_close(db);
    clear();
}

static void a_newer_file_is_refused(void)
{
    struct db *db;
    struct ht_error err = {0};
    CHECK(open_as(steps, 3, true, &db, NULL) == HT_OK);
    db_close(db);
    for (int writable = 0; writable <= 1; writable++) {
        CHECK(open_as(steps, 2, writable != 0, &db, &err) == HT_PRECONDITION);
        CHECK(strstr(err.text, "has version 3, this program reads up to 2") !=
              NULL);
    }
    clear();
}

/* The one before it stays; the statement that fails is put last. */
static void a_step_that_fails_leaves_the_file_as_it_was(void)
{
    static const struct {
        const struct db_migration *migrations;
        enum ht_status status;
        const char *why;
    } failing[] = {{bad_sql, HT_IO, "n already exists"},
                   {bad_run, HT_CORRUPT, "a row is odd"}};
    for (size_t i = 0; i < sizeof failing / sizeof *failing; i++) {
        struct db *db;
        struct ht_error err = {0};
        CHECK(open_as(failing[i].migrations, 2, true, &db, &err) ==
              failing[i].status);
        CHECK(strstr(err.text, failing[i].why) != NULL);
        CHECK(ask("PRAGMA user_version") == 1);
        CHECK(ask("SELECT value FROM n") == 5);
        clear();
    }
}

struct bytes {
    size_t n;
    unsigned char data[64 * 1024];
};

static void read_file(const char *file, struct bytes *bytes)
{
    FILE *from = fopen(file, "rb");
    CHECK(from != NULL);
    if (from == NULL)
        return;
    bytes->n = fread(bytes->data, 1, sizeof bytes->data, from);
    CHECK(feof(from));
    fclose(from);
}

/* Not one byte of it is written, though settings such as WAL would. */
static void what_is_not_ours_is_refused_and_left_alone(void)
{
    static const struct {
        int id;
        const char *why;
    } foreign[] = {{0, "is a database of another program"},
                   {7, "is a database of another program"},
                   {FORMER, "is a hypertune database of before the first "
                            "release (id 0x48794b64)"}};
    static struct bytes before, after;
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++) {
        char sql[128];
        snprintf(sql, sizeof sql,
                 "CREATE TABLE bookmarks(url TEXT); PRAGMA user_version=13;"
                 "PRAGMA application_id=%d",
                 foreign[i].id);
        sqlite3 *handle;
        CHECK(sqlite3_open(path, &handle) == SQLITE_OK);
        CHECK(sqlite3_exec(handle, sql, NULL, NULL, NULL) == SQLITE_OK);
        sqlite3_close(handle);
        read_file(path, &before);
        for (int writable = 0; writable <= 1; writable++) {
            struct db *db;
            struct ht_error err = {0};
            CHECK(open_as(steps, 3, writable != 0, &db, &err) ==
                  HT_PRECONDITION);
            CHECK(strstr(err.text, foreign[i].why) != NULL);
            CHECK(strncmp(err.text, path, strlen(path)) == 0);
        }
        read_file(path, &after);
        CHECK(before.n == after.n &&
              memcmp(before.data, after.data, before.n) == 0);
        clear();
    }
}

static int reserved_in(const char *file)
{
    static struct bytes bytes;
    read_file(file, &bytes);
    return bytes.n > 20 ? bytes.data[20] : -1;
}

static void pages_have_room_for_checksums(void)
{
    struct db *db, *reader;
    char sql[96];
    CHECK(open_as(steps, 3, true, &db, NULL) == HT_OK);
    CHECK(db_checkpoint(db, true, NULL) == HT_OK);
    CHECK(reserved_in(path) == 8);
    CHECK(open_as(steps, 3, false, &reader, NULL) == HT_OK);
    snprintf(sql, sizeof sql, "VACUUM INTO '%s'", copy);
    CHECK(db_exec(db, sql, NULL) == HT_OK);
    CHECK(reserved_in(copy) == 8 && ask_at(copy, "SELECT value FROM n") == 20);
    CHECK(unlink(copy) == 0);
    db_close(reader);
    db_close(db);
    /* One that knows nothing of it: the backup of an operator. */
    CHECK(ask(sql) == -1);
    CHECK(reserved_in(copy) == 8 && ask_at(copy, "SELECT value FROM n") == 20);
    CHECK(unlink(copy) == 0);
    CHECK(ask("VACUUM") == -1 && reserved_in(path) == 8);
    clear();
}

int main(void)
{
    if (mkdtemp(folder) == NULL)
        return 1;
    snprintf(path, sizeof path, "%s/some.db", folder);
    snprintf(copy, sizeof copy, "%s/copy.db", folder);
    RUN(a_new_file_gets_every_version);
    RUN(an_older_file_gets_what_it_lacks);
    RUN(readers_wait_for_it_to_be_brought_up_to_date);
    RUN(a_newer_file_is_refused);
    RUN(a_step_that_fails_leaves_the_file_as_it_was);
    RUN(what_is_not_ours_is_refused_and_left_alone);
    RUN(pages_have_room_for_checksums);
    CHECK(rmdir(folder) == 0);
    return check_done();
}
