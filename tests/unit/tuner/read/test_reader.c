/* The threads that answer questions from snapshots. */
#include "tuner/read/reader.h"

#include <pthread.h>

#include "proto/base/clock.h"
#include "tests/lib/db_place.h"
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
    pthread_cond_signal(&came);
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
    CHECK(reader_damage(readers) == NULL);
    for (int i = 0; i < 2; i++) {
        struct request *req = ask(readers, find_damage);
        CHECK(req->status == HT_CORRUPT);
        request_free(req);
    }
    CHECK_TEXT(reader_damage(readers), "page 7 is damaged");
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

int main(void)
{
    RUN_ON_DB(a_question_is_answered_from_one_snapshot);
    RUN_ON_DB(the_first_damage_is_kept);
    RUN_ON_DB(an_answer_has_a_slice_of_time);
    RUN_ON_DB(a_missing_file_is_the_answer);
    return check_done();
}
