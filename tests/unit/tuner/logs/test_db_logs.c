/* Rows of logs.db. */
#include "tuner/logs/db_logs.h"

#include "tests/lib/db_place.h"
#include "tuner/db/db.h"

static const struct log_key out = {1, 2, 3, "master-0", "stdout"};

struct place {
    struct db_place file;
    struct db *db;
    struct arena *arena;
};

static void put(struct place *p, const struct log_key *key, int64_t offset,
                const char *data, int64_t stored_us)
{
    const struct log_chunk chunk = {.offset = offset,
                                    .raw = (int64_t)strlen(data),
                                    .data = data,
                                    .len = strlen(data),
                                    .open = 2};
    CHECK(db_logs_insert(p->db, key, &chunk, stored_us, NULL) == HT_OK);
}

static void run(void (*test)(struct place *p))
{
    struct place p = {.arena = arena_new()};
    db_place_open(&p.file);
    CHECK(db_logs_open(p.file.path, true, &p.db, NULL) == HT_OK);
    test(&p);
    db_close(p.db);
    db_place_close(&p.file);
    arena_free(p.arena);
}

#define RUN_ON_LOGS(test) RUN_CALL(test, run(test))

static void a_chunk_is_found_by_its_offset(struct place *p)
{
    struct log_chunk chunk;
    put(p, &out, 0, "abc", 10);
    put(p, &out, 3, "def", 11);
    CHECK(db_logs_find(p->db, p->arena, &out, 3, &chunk, NULL) == HT_OK);
    CHECK_TEXT(chunk.data, "def");
    CHECK(chunk.offset == 3 && chunk.raw == 3 && chunk.open == 2);
    CHECK(db_logs_find(p->db, p->arena, &out, 6, &chunk, NULL) == HT_NOT_FOUND);
    CHECK(db_logs_before(p->db, p->arena, &out, 5, &chunk, NULL) == HT_OK);
    CHECK_TEXT(chunk.data, "abc");
    CHECK(db_logs_before(p->db, p->arena, &out, 2, &chunk, NULL) ==
          HT_NOT_FOUND);
}

static void a_stream_ends_behind_its_newest_chunk(struct place *p)
{
    struct log_end end = {9, 9};
    CHECK(db_logs_end(p->db, &out, &end, NULL) == HT_OK);
    CHECK(end.next == 0 && end.open == 0);
    put(p, &out, 0, "abc", 10);
    put(p, &out, 8, "defg", 11);
    CHECK(db_logs_end(p->db, &out, &end, NULL) == HT_OK);
    CHECK(end.next == 12 && end.open == 2);
}

static void chunks_are_in_the_order_of_their_stamps(struct place *p)
{
    struct log_key err = out, other = out;
    struct log_head head = {0};
    struct log_chunk chunk;
    int64_t newest_us;
    err.stream = "stderr";
    other.study = 9;
    put(p, &out, 0, "abc", 10);
    put(p, &err, 0, "x", 20);
    put(p, &other, 0, "y", 30);
    CHECK(db_logs_newest(p->db, &newest_us, NULL) == HT_OK && newest_us == 30);
    CHECK(db_logs_step(p->db, 1, &(struct log_place){11, 0}, false, &head,
                       NULL) == HT_OK);
    CHECK_TEXT(head.stream, "stderr");
    CHECK(head.place.stored_us == 20 && head.start == 0 && head.next == 1);
    CHECK(db_logs_data(p->db, p->arena, head.place.row, &chunk, NULL) == HT_OK);
    CHECK_TEXT(chunk.data, "x");
    CHECK(db_logs_step(p->db, 1, &(struct log_place){19, INT64_MAX}, true,
                       &head, NULL) == HT_OK);
    CHECK_TEXT(head.stream, "stdout");
    CHECK(db_logs_step(p->db, 1, &(struct log_place){21, 0}, false, &head,
                       NULL) == HT_NOT_FOUND);
}

static void the_streams_of_an_attempt_follow_each_other(struct place *p)
{
    struct log_key at = {1, 2, 3, "", ""}, second = out;
    second.replica = "worker-0";
    put(p, &second, 0, "x", 10);
    put(p, &out, 0, "y", 11);
    CHECK(db_logs_stream(p->db, p->arena, &at, NULL) == HT_OK);
    CHECK_TEXT(at.replica, "master-0");
    CHECK(db_logs_stream(p->db, p->arena, &at, NULL) == HT_OK);
    CHECK_TEXT(at.replica, "worker-0");
    CHECK(db_logs_stream(p->db, p->arena, &at, NULL) == HT_NOT_FOUND);
}

static void a_study_is_removed_in_slices(struct place *p)
{
    struct log_key other = out;
    struct log_end end;
    int64_t removed = 0;
    other.study = 9;
    put(p, &out, 0, "a", 1);
    put(p, &out, 1, "b", 2);
    put(p, &other, 0, "c", 3);
    CHECK(db_logs_remove(p->db, 1, 1, &removed, NULL) == HT_OK && removed == 1);
    CHECK(db_logs_remove(p->db, 1, 9, &removed, NULL) == HT_OK && removed == 1);
    CHECK(db_logs_remove(p->db, 1, 9, &removed, NULL) == HT_OK && removed == 0);
    CHECK(db_logs_end(p->db, &other, &end, NULL) == HT_OK && end.next == 1);
}

int main(void)
{
    RUN_ON_LOGS(a_chunk_is_found_by_its_offset);
    RUN_ON_LOGS(a_stream_ends_behind_its_newest_chunk);
    RUN_ON_LOGS(chunks_are_in_the_order_of_their_stamps);
    RUN_ON_LOGS(the_streams_of_an_attempt_follow_each_other);
    RUN_ON_LOGS(a_study_is_removed_in_slices);
    return check_done();
}
