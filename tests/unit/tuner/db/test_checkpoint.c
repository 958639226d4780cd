/* The thread that copies the WAL into the database file. */
#include "tuner/db/checkpoint.h"

#include <sys/stat.h>
#include <time.h>

#include "proto/base/clock.h"
#include "tests/lib/db_place.h"
#include "tuner/db/write.h"

static int64_t bytes_of(const struct db_place *place)
{
    struct stat file;
    return stat(place->path, &file) == 0 ? (int64_t)file.st_size : -1;
}

/* Waits until the file has grown over `bytes`. */
static bool await_growth(const struct db_place *place, int64_t bytes)
{
    const int64_t until_ms = clock_monotonic_ms() + PATIENCE_MS;
    while (bytes_of(place) <= bytes && clock_monotonic_ms() < until_ms)
        nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
    return bytes_of(place) > bytes;
}

/* Commits `n` rows of 1 KiB, one by one. */
static void commit(struct db_case *c, struct checkpoint *checkpoint, int n)
{
    char text[1025];
    memset(text, 'x', 1024);
    text[1024] = '\0';
    for (int i = 0; i < n; i++) {
        char key[16];
        snprintf(key, sizeof key, "k%d", i);
        CHECK(db_begin(c->db, NULL) == HT_OK);
        CHECK(db_meta_set(c->db, key, text, NULL) == HT_OK);
        CHECK(db_commit(c->db, NULL) == HT_OK);
        if (checkpoint != NULL)
            checkpoint_note_commit(checkpoint);
    }
}

static void without_the_thread_the_file_stays_as_it_was(struct db_case *c)
{
    CHECK(db_checkpoint(c->db, true, NULL) == HT_OK);
    const int64_t bytes = bytes_of(&c->place);
    commit(c, NULL, 64);
    CHECK(bytes_of(&c->place) == bytes);
}

static void commits_reach_the_file(struct db_case *c)
{
    struct checkpoint *checkpoint = NULL;
    CHECK(db_checkpoint(c->db, true, NULL) == HT_OK);
    const int64_t bytes = bytes_of(&c->place);
    CHECK(checkpoint_start(c->place.path, &checkpoint, NULL) == HT_OK);
    if (checkpoint == NULL)
        return;
    commit(c, checkpoint, 64); /* at once */
    CHECK(await_growth(&c->place, bytes));
    checkpoint_stop(checkpoint);
    checkpoint_stop(NULL);
}

static void a_single_commit_reaches_the_file_within_a_second(struct db_case *c)
{
    struct checkpoint *checkpoint = NULL;
    commit(c, NULL, 64);
    CHECK(db_checkpoint(c->db, true, NULL) == HT_OK);
    const int64_t bytes = bytes_of(&c->place);
    CHECK(checkpoint_start(c->place.path, &checkpoint, NULL) == HT_OK);
    if (checkpoint == NULL)
        return;
    commit(c, NULL, 8);
    db_place_tamper(&c->place, "CREATE TABLE more(a); "
                               "INSERT INTO more VALUES(zeroblob(20000))");
    checkpoint_note_commit(checkpoint);
    CHECK(await_growth(&c->place, bytes));
    checkpoint_stop(checkpoint);
}

static void a_file_that_cannot_be_opened_starts_no_thread(struct db_case *c)
{
    struct checkpoint *checkpoint = NULL;
    struct ht_error err = {0};
    (void)c;
    CHECK(checkpoint_start("/proc/none/x.db", &checkpoint, &err) != HT_OK);
    CHECK(checkpoint == NULL && err.text[0] != '\0');
}

int main(void)
{
    RUN_ON_DB(without_the_thread_the_file_stays_as_it_was);
    RUN_ON_DB(commits_reach_the_file);
    RUN_ON_DB(a_single_commit_reaches_the_file_within_a_second);
    RUN_ON_DB(a_file_that_cannot_be_opened_starts_no_thread);
    return check_done();
}
