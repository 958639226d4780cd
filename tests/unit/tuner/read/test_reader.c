/* The threads that answer questions from snapshots. */
#include "tuner/read/reader.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "proto/base/clock.h"
#include "tests/lib/db_place.h"
#include "tuner/base/budget.h"
#include "tuner/base/damage.h"
#include "tuner/db/db.h"
#include "tuner/db/write.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t came = PTHREAD_COND_INITIALIZER;
static bool answered;

static void on_answer(struct request *req)
{
    (void)req;
    pthread_mutex_lock(&lock);
    answered = true;
    pthread_cond_broadcast(&came);
    pthread_mutex_unlock(&lock);
}

/* Posts a request and waits for its answer; the caller frees it. */
static struct request *ask(struct reader_pool *readers, reader_handler *handler)
{
    struct request *req = request_new();
    req->answer = on_answer;
    answered = false;
    reader_post(readers, req, handler);
    pthread_mutex_lock(&lock);
    while (!answered)
        pthread_cond_wait(&came, &lock);
    pthread_mutex_unlock(&lock);
    return req;
}

static struct reader_pool *start(struct db_case *c)
{
    struct reader_pool *readers = NULL;
    const struct reader_options options = {.path = c->place.path, .threads = 2};
    CHECK(reader_start(&options, &readers, NULL) == HT_OK);
    return readers;
}

/* A question sees one state of the database, whatever is written meanwhile. */
static struct db *writer;

static enum ht_status look_twice(struct reader *reader, struct request *req,
                                 struct ht_error *err)
{
    int64_t before, after;
    (void)err;
    CHECK(db_study_open_count(reader->db, &before, NULL) == HT_OK);
    struct study_row row = db_place_study;
    row.state = STUDY_SUCCEEDED;
    row.job_spec = row.ended = "";
    CHECK(db_study_save(writer, &row, NULL) == HT_OK);
    CHECK(db_study_open_count(writer, &after, NULL) == HT_OK);
    CHECK(after == 0);
    CHECK(db_study_open_count(reader->db, &after, NULL) == HT_OK);
    text_printf(&req->reply, "%d %d", (int)before, (int)after);
    return HT_OK;
}

static void a_question_is_answered_from_one_snapshot(struct db_case *c)
{
    struct reader_pool *readers = start(c);
    writer = c->db;
    struct request *req = ask(readers, look_twice);
    CHECK(req->status == HT_OK);
    CHECK_TEXT(req->reply.data, "1 1");
    request_free(req);
    reader_stop(readers);
}

static enum ht_status find_damage(struct reader *reader, struct request *req,
                                  struct ht_error *err)
{
    (void)req;
    return reader->damage == NULL
               ? ht_fail(err, HT_CORRUPT, "page 7 is damaged")
               : ht_fail(err, HT_CORRUPT, "another page is damaged");
}

static void the_first_damage_is_kept(struct db_case *c)
{
    struct reader_pool *readers = start(c);
    CHECK(damage_found() == NULL);
    for (int i = 0; i < 2; i++) {
        struct request *req = ask(readers, find_damage);
        CHECK(req->status == HT_CORRUPT);
        request_free(req);
    }
    CHECK_TEXT(damage_found(), "page 7 is damaged");
    reader_stop(readers);
}

static enum ht_status measure_slice(struct reader *reader, struct request *req,
                                    struct ht_error *err)
{
    (void)req;
    (void)err;
    CHECK(!reader_is_late(reader));
    CHECK(reader->deadline_ms <= clock_monotonic_ms() + READER_SLICE_MS);
    reader->deadline_ms = clock_monotonic_ms();
    CHECK(reader_is_late(reader));
    return HT_OK;
}

static void an_answer_has_a_slice_of_time(struct db_case *c)
{
    struct reader_pool *readers = start(c);
    request_free(ask(readers, measure_slice));
    reader_stop(readers);
}

static void a_missing_file_is_the_answer(struct db_case *c)
{
    struct reader_pool *readers = NULL;
    const struct reader_options options = {
        .path = arena_printf(c->arena, "%s/none.db", c->place.dir),
        .threads = 1};
    CHECK(reader_start(&options, &readers, NULL) == HT_OK);
    struct request *req = ask(readers, measure_slice);
    CHECK(req->status != HT_OK && req->err.text[0] != '\0');
    request_free(req);
    reader_stop(readers);
}

/* --- quick and slow questions --- */

enum { BUSY_US = 60000 }; /* of the processor: such questions are slow then */

static struct {
    bool shut; /* slow answers wait */
    bool idle; /* they take as long without the processor */
    size_t begun, ended;
} slow;

static int64_t thread_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static enum ht_status be_slow(struct reader *reader, struct request *req,
                              struct ht_error *err)
{
    (void)reader;
    (void)req;
    (void)err;
    const int64_t begun_us = thread_us();
    pthread_mutex_lock(&lock);
    slow.begun++;
    pthread_cond_broadcast(&came);
    while (slow.shut)
        pthread_cond_wait(&came, &lock);
    pthread_mutex_unlock(&lock);
    if (slow.idle)
        nanosleep(&(struct timespec){.tv_nsec = BUSY_US * 1000L}, NULL);
    while (!slow.idle && thread_us() - begun_us < BUSY_US)
        ;
    return HT_OK;
}

static enum ht_status be_quick(struct reader *reader, struct request *req,
                               struct ht_error *err)
{
    (void)reader;
    (void)req;
    (void)err;
    return HT_OK;
}

static void on_slow_answer(struct request *req)
{
    pthread_mutex_lock(&lock);
    slow.ended++;
    pthread_cond_broadcast(&came);
    pthread_mutex_unlock(&lock);
    (void)req;
}

static struct request *post_slow(struct reader_pool *readers)
{
    struct request *req = request_new();
    req->answer = on_slow_answer;
    reader_post(readers, req, be_slow);
    return req;
}

static void await(const size_t *count, size_t wanted)
{
    pthread_mutex_lock(&lock);
    while (*count < wanted)
        pthread_cond_wait(&came, &lock);
    pthread_mutex_unlock(&lock);
}

static void set_shut(bool shut)
{
    pthread_mutex_lock(&lock);
    slow.shut = shut;
    pthread_cond_broadcast(&came);
    pthread_mutex_unlock(&lock);
}

/* Of two threads, with such questions slow, and one that is being answered
 * until set_shut(false). */
static struct reader_pool *start_slow(struct db_case *c, struct request **held)
{
    struct reader_pool *readers = start(c);
    slow.shut = false;
    slow.begun = slow.ended = 0;
    request_free(ask(readers, be_slow));
    request_free(ask(readers, be_slow));
    set_shut(true);
    *held = post_slow(readers);
    await(&slow.begun, 3);
    return readers;
}

/* The second slow one would take the other thread, and this never ended. */
static void slow_questions_leave_a_thread_to_quick_ones(struct db_case *c)
{
    struct request *slow_ones[2];
    struct reader_pool *readers = start_slow(c, &slow_ones[0]);
    slow_ones[1] = post_slow(readers);
    for (int i = 0; i < 20; i++)
        request_free(ask(readers, be_quick));
    CHECK(slow.begun == 3);
    set_shut(false);
    await(&slow.ended, 2);
    CHECK(slow.begun == 4);
    reader_stop(readers);
    for (int i = 0; i < 2; i++) {
        CHECK(slow_ones[i]->status == HT_OK);
        request_free(slow_ones[i]);
    }
}

static void
slow_questions_of_one_beyond_the_budget_are_refused(struct db_case *c)
{
    struct request *held;
    struct reader_pool *readers = start_slow(c, &held);
    const size_t most = (size_t)budget_of(BUDGET_QUESTIONS);
    struct request **waiting =
        arena_alloc(c->arena, most, sizeof(struct request *));
    for (size_t i = 0; i < most; i++) {
        waiting[i] = post_slow(readers);
        atomic_store(&waiting[i]->abandoned, true);
    }
    CHECK(slow.ended == 0);
    struct request *refused = ask(readers, be_slow);
    CHECK(refused->status == HT_LIMIT);
    CHECK(strstr(refused->err.text, "ask again") != NULL);
    request_free(refused);
    set_shut(false);
    await(&slow.ended, most + 1);
    CHECK(slow.begun == 3); /* those of a client that has gone never began */
    reader_stop(readers);
    for (size_t i = 0; i < most; i++) {
        CHECK(waiting[i]->status == HT_UNAVAILABLE);
        request_free(waiting[i]);
    }
    request_free(held);
}

/* Twenty that were dropped do not make such questions quick. */
static void abandoned_questions_say_nothing_about_cost(struct db_case *c)
{
    struct request *dropped[20], *held, *next;
    struct reader_pool *readers = start_slow(c, &held);
    for (size_t i = 0; i < 20; i++) {
        dropped[i] = request_new();
        dropped[i]->answer = on_slow_answer;
        atomic_store(&dropped[i]->abandoned, true);
        reader_post(readers, dropped[i], be_slow);
    }
    set_shut(false);
    await(&slow.ended, 21);
    set_shut(true);
    request_free(held);
    held = post_slow(readers);
    await(&slow.begun, 4);
    next = post_slow(readers);
    request_free(ask(readers, be_quick));
    CHECK(slow.begun == 4);
    set_shut(false);
    await(&slow.ended, 23);
    reader_stop(readers);
    request_free(held);
    request_free(next);
    for (size_t i = 0; i < 20; i++)
        request_free(dropped[i]);
}

/* Such as those of a busy machine: both threads take them. */
static void what_only_waits_is_not_slow(struct db_case *c)
{
    struct request *held, *next;
    slow.idle = true;
    struct reader_pool *readers = start_slow(c, &held);
    next = post_slow(readers);
    await(&slow.begun, 4);
    set_shut(false);
    await(&slow.ended, 2);
    reader_stop(readers);
    slow.idle = false;
    request_free(held);
    request_free(next);
}

int main(void)
{
    RUN_ON_DB(a_question_is_answered_from_one_snapshot);
    RUN_ON_DB(the_first_damage_is_kept);
    RUN_ON_DB(an_answer_has_a_slice_of_time);
    RUN_ON_DB(a_missing_file_is_the_answer);
    RUN_ON_DB(slow_questions_leave_a_thread_to_quick_ones);
    RUN_ON_DB(slow_questions_of_one_beyond_the_budget_are_refused);
    RUN_ON_DB(what_only_waits_is_not_slow);
    RUN_ON_DB(abandoned_questions_say_nothing_about_cost);
    return check_done();
}
