/* The mark beside a database says which one it must be, and how much of it. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/lib/db_place.h"
#include "tuner/db/mark.h"

static void put(const struct db_place *place, const char *server,
                int64_t commits)
{
    struct mark mark = {.commits = commits};
    int fd = -1;
    snprintf(mark.server_id, sizeof mark.server_id, "%s", server);
    CHECK(mark_open(place->path, &fd, NULL) == HT_OK);
    mark_put(fd, &mark);
    close(fd);
}

/* A database of the server "aaaaaaaa" with two counted commits. */
static void make(const struct db_place *place)
{
    struct db *db = NULL;
    int64_t commits = -1;
    CHECK(db_open(place->path, &db, NULL) == HT_OK);
    CHECK(db_meta_set(db, "server_id", "aaaaaaaa", NULL) == HT_OK);
    CHECK(mark_commits(db, &commits, NULL) == HT_OK && commits == 0);
    for (int64_t n = 1; n <= 2; n++)
        CHECK(mark_count(db, n, NULL) == HT_OK);
    CHECK(mark_commits(db, &commits, NULL) == HT_OK && commits == 2);
    db_close(db);
}

static enum ht_status try_open(const struct db_place *place,
                               struct ht_error *err)
{
    struct db *db = NULL;
    const enum ht_status status = db_open(place->path, &db, err);
    if (status == HT_OK)
        db_close(db);
    return status;
}

static struct mark read_mark(const struct db_place *place)
{
    struct mark mark;
    CHECK(mark_read(place->path, &mark, NULL) == HT_OK);
    return mark;
}

static void a_mark_is_read_as_it_was_put(void)
{
    struct db_place place;
    db_place_open(&place);
    CHECK(read_mark(&place).state == MARK_NONE);
    CHECK(mark_accept(place.path, NULL) == HT_OK);
    CHECK(read_mark(&place).state == MARK_EMPTY);
    put(&place, "0123abcd", INT64_MAX);
    const struct mark mark = read_mark(&place);
    CHECK(mark.state == MARK_SET && mark.commits == INT64_MAX);
    CHECK_TEXT(mark.server_id, "0123abcd");
    db_place_close(&place);
}

static void a_mark_that_is_damaged_accuses_no_database(void)
{
    struct db_place place;
    struct mark mark;
    char path[128];
    db_place_open(&place);
    make(&place);
    put(&place, "aaaaaaaa", 1000);
    snprintf(path, sizeof path, "%s-mark", place.path);
    const int fd = open(path, O_WRONLY);
    CHECK(pwrite(fd, "2", 1, 40) == 1);
    close(fd);
    CHECK(mark_read(place.path, &mark, NULL) == HT_OK);
    CHECK(mark.state == MARK_WRONG);
    CHECK(try_open(&place, NULL) == HT_OK);
    /* But it says that there was one. */
    CHECK(truncate(place.path, 0) == 0);
    CHECK(try_open(&place, NULL) == HT_PRECONDITION);
    db_place_close(&place);
}

static void a_database_with_less_or_of_another_server_is_refused(void)
{
    static const struct {
        const char *server;
        int64_t commits;
        const char *text; /* NULL: taken */
    } cases[] = {
        {"aaaaaaaa", 0, NULL},
        {"aaaaaaaa", 2, NULL},
        {"aaaaaaaa", 5, "lacks 3 of 5 commits"},
        {"bbbbbbbb", 0, "is the database of server aaaaaaaa"},
    };
    struct db_place place;
    db_place_open(&place);
    make(&place);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct ht_error err = {.text = ""};
        put(&place, cases[i].server, cases[i].commits);
        CHECK(try_open(&place, &err) ==
              (cases[i].text != NULL ? HT_PRECONDITION : HT_OK));
        CHECK(cases[i].text == NULL || strstr(err.text, cases[i].text) != NULL);
        CHECK(cases[i].text == NULL ||
              strstr(err.text, "hypertune restore") != NULL);
    }
    CHECK(mark_accept(place.path, NULL) == HT_OK);
    CHECK(try_open(&place, NULL) == HT_OK);
    db_place_close(&place);
}

static void a_database_that_is_missing_is_not_made_anew(void)
{
    struct db_place place;
    struct ht_error err;
    struct stat found;
    db_place_open(&place);
    put(&place, "aaaaaaaa", 7);
    CHECK(try_open(&place, &err) == HT_PRECONDITION);
    CHECK(strstr(err.text, "is missing, and 7 commits were in it") != NULL);
    CHECK(stat(place.path, &found) != 0);
    CHECK(mark_accept(place.path, NULL) == HT_OK);
    CHECK(try_open(&place, NULL) == HT_OK);
    db_place_close(&place);
}

int main(void)
{
    RUN(a_mark_is_read_as_it_was_put);
    RUN(a_mark_that_is_damaged_accuses_no_database);
    RUN(a_database_with_less_or_of_another_server_is_refused);
    RUN(a_database_that_is_missing_is_not_made_anew);
    return check_done();
}
