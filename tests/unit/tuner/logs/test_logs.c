#include "tuner/logs/logs.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "proto/base/clock.h"
#include "tests/check.h"
#include "tuner/base/budget.h"

static struct logs *logs;
static struct arena *arena;
static char path[128];
static const struct log_key key = {7, 3, 1, "master-0", "stdout"};

struct answer {
    pthread_mutex_t lock;
    pthread_cond_t came;
    bool done;
    enum ht_status status;
    int64_t next;
};

static void on_done(void *context, enum ht_status status, int64_t next)
{
    struct answer *answer = context;
    pthread_mutex_lock(&answer->lock);
    answer->status = status;
    answer->next = next;
    answer->done = true;
    pthread_cond_signal(&answer->came);
    pthread_mutex_unlock(&answer->lock);
}

/* Stores a chunk; the next offset wanted, or -1. */
static int64_t put(const struct log_key *where, int64_t offset, int64_t raw,
                   const char *data)
{
    struct answer answer = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER,
                            false, HT_OK, 0};
    logs_append(logs, where, offset, raw, data, strlen(data), on_done, &answer);
    pthread_mutex_lock(&answer.lock);
    while (!answer.done)
        pthread_cond_wait(&answer.came, &answer.lock);
    pthread_mutex_unlock(&answer.lock);
    return answer.status == HT_OK ? answer.next : -1;
}

static int64_t put_text(int64_t offset, const char *data)
{
    return put(&key, offset, (int64_t)strlen(data), data);
}

static struct log_slice get(const struct log_key *where, int64_t offset,
                            size_t limit)
{
    struct log_slice slice = {0};
    CHECK(logs_read(logs, arena, where, offset, limit, &slice, NULL) == HT_OK);
    return slice;
}

static void with_logs(void (*test)(void))
{
    const char *temp = getenv("TMPDIR");
    snprintf(path, sizeof path, "%s/logs-XXXXXX", temp ? temp : "/tmp");
    CHECK(mkdtemp(path) != NULL);
    char folder[128];
    strcpy(folder, path);
    strcat(path, "/logs.db");
    arena = arena_new();
    CHECK(logs_start(path, &logs, NULL) == HT_OK);
    test();
    logs_stop(logs);
    arena_free(arena);
    char remove[160];
    snprintf(remove, sizeof remove, "rm -rf '%s'", folder);
    CHECK(system(remove) == 0);
}

static void chunks(void)
{
    CHECK(put_text(0, "one\n") == 4);
    CHECK(put_text(4, "two\n") == 8);
    struct log_slice all = get(&key, 0, 100);
    CHECK_TEXT(all.data, "one\ntwo\n");
    CHECK(all.offset == 0 && all.next == 8 && all.len == 8);
    struct log_slice middle = get(&key, 2, 3);
    CHECK_TEXT(middle.data, "e\nt");
    CHECK(middle.offset == 2 && middle.next == 5);
    struct log_slice end = get(&key, 8, 100);
    CHECK(end.len == 0 && end.next == 8);
    struct log_slice tail = get(&key, -3, 100);
    CHECK_TEXT(tail.data, "wo\n");
    struct log_key other = key;
    other.stream = "stderr";
    CHECK(get(&other, 0, 100).len == 0);
}

static void what_was_stored_is_read_at_any_offset(void)
{
    with_logs(chunks);
}

static void repeats(void)
{
    CHECK(put_text(0, "abcdef") == 6);
    CHECK(put_text(0, "abcdef") == 6);
    CHECK(put_text(0, "ABC") == 6);
    CHECK(put_text(3, "XXXXXX") == 6);
    CHECK_TEXT(get(&key, 0, 100).data, "abcdef");
    CHECK(put_text(6, "g") == 7);
    CHECK_TEXT(get(&key, 0, 100).data, "abcdefg");
}

static void a_repeat_changes_nothing_and_tells_what_is_wanted(void)
{
    with_logs(repeats);
}

static void gaps(void)
{
    CHECK(put_text(0, "head") == 4);
    CHECK(put_text(1000, "tail") == 1004);
    struct log_slice head = get(&key, 0, 100);
    CHECK_TEXT(head.data, "head");
    CHECK(head.next == 4);
    struct log_slice behind = get(&key, 4, 100);
    CHECK_TEXT(behind.data, "tail");
    CHECK(behind.offset == 1000 && behind.next == 1004);
    CHECK_TEXT(get(&key, -2, 100).data, "il");
}

static void a_gap_is_kept_and_jumped_over(void)
{
    with_logs(gaps);
}

static void replaced(void)
{
    /* Two raw bytes, shown as two replacement characters. */
    CHECK(put(&key, 0, 2, "\xEF\xBF\xBD\xEF\xBF\xBD") == 2);
    CHECK(put_text(2, "ok") == 4);
    struct log_slice both = get(&key, 0, 100);
    CHECK_TEXT(both.data, "\xEF\xBF\xBD\xEF\xBF\xBDok");
    CHECK(both.next == 4);
    struct log_slice small = get(&key, 0, 1);
    CHECK_TEXT(small.data, "\xEF\xBF\xBD\xEF\xBF\xBD");
    CHECK(small.next == 2);
}

static void chunks_with_replaced_bytes_stay_whole(void)
{
    with_logs(replaced);
}

static void characters(void)
{
    CHECK(put_text(0, "a\xC3\xA9\xE2\x82\xAC.") == 7);
    struct log_slice cut = get(&key, 0, 2);
    CHECK_TEXT(cut.data, "a");
    CHECK(cut.next == 1);
    struct log_slice inside = get(&key, 2, 100);
    CHECK_TEXT(inside.data, "\xE2\x82\xAC.");
    CHECK(inside.offset == 3);
    struct log_slice one = get(&key, 1, 1);
    CHECK_TEXT(one.data, "\xC3\xA9");
    CHECK(one.next == 3);
}

static void slices_end_between_characters_and_always_advance(void)
{
    with_logs(characters);
}

static void reopened(void)
{
    CHECK(put_text(0, "kept") == 4);
    logs_stop(logs);
    CHECK(logs_start(path, &logs, NULL) == HT_OK);
    CHECK_TEXT(get(&key, 0, 100).data, "kept");
    CHECK(put_text(4, "!") == 5);
}

static void logs_survive_a_restart(void)
{
    with_logs(reopened);
}

static void forgotten(void)
{
    struct log_key other = key;
    other.study = 8;
    for (int i = 0; i < 500; i++)
        put_text(i, "x");
    CHECK(put(&other, 0, 4, "mine") == 4);
    logs_forget(logs, key.study);
    /* Slices run beside other work: done when the read finds nothing. */
    const struct timespec pause = {0, 2000000};
    const int64_t end_ms = clock_monotonic_ms() + PATIENCE_MS;
    while (get(&key, 0, 1).len > 0 && clock_monotonic_ms() < end_ms)
        nanosleep(&pause, NULL);
    CHECK(get(&key, 0, 1).len == 0);
    CHECK_TEXT(get(&other, 0, 100).data, "mine");
}

static void a_forgotten_study_leaves_the_others(void)
{
    with_logs(forgotten);
}

/* --- in the order in which they were stored --- */

enum { MOST_HEADS = 64 };

/* All chunks of the study from the first place on; how many. */
static size_t walk(bool down, struct log_head heads[MOST_HEADS])
{
    struct log_place at = {down ? INT64_MAX : 0, down ? INT64_MAX : 0};
    size_t n = 0;
    while (n < MOST_HEADS &&
           logs_step(logs, key.study, &at, down, &heads[n], NULL) == HT_OK) {
        at = heads[n++].place;
        at.row += down ? -1 : 1;
    }
    return n;
}

static struct log_text text_of(const struct log_head *head)
{
    struct log_text text = {0};
    CHECK(logs_text(logs, arena, key.study, head, &text, NULL) == HT_OK);
    return text;
}

static void ordered(void)
{
    struct log_head up[MOST_HEADS], down[MOST_HEADS];
    struct log_key other = key, foreign = key;
    other.replica = "worker-0";
    other.stream = "stderr";
    foreign.study = 8;
    put_text(0, "a\n");
    put(&foreign, 0, 2, "?\n");
    put(&other, 0, 2, "b\n");
    logs_stop(logs);
    CHECK(logs_start(path, &logs, NULL) == HT_OK);
    put_text(2, "c\n");
    CHECK(walk(false, up) == 3 && walk(true, down) == 3);
    for (size_t i = 0; i < 3; i++)
        CHECK(up[i].place.row == down[2 - i].place.row);
    CHECK(up[0].place.stored_us < up[1].place.stored_us &&
          up[1].place.stored_us < up[2].place.stored_us);
    CHECK_TEXT(up[1].replica, "worker-0");
    CHECK_TEXT(up[1].stream, "stderr");
    CHECK(up[2].trial == key.trial && up[2].attempt == key.attempt);
    CHECK_TEXT(text_of(&up[2]).data, "c\n");
    struct log_head head;
    CHECK(logs_step(logs, key.study, &up[1].place, false, &head, NULL) ==
              HT_OK &&
          head.place.row == up[1].place.row);
    CHECK(logs_step(logs, key.study, &up[1].place, true, &head, NULL) ==
              HT_OK &&
          head.place.row == up[1].place.row);
}

static void chunks_come_in_the_order_they_were_stored_in(void)
{
    with_logs(ordered);
}

static void stamps_never_go_back_by_little(void)
{
    const int64_t hour = INT64_C(3600000000);
    CHECK(logs_stamp(0, 1000) == 1000);
    CHECK(logs_stamp(1000, 1001) == 1001);
    CHECK(logs_stamp(1000, 1000) == 1001);
    CHECK(logs_stamp(hour + 5, 5) == hour + 6);
    CHECK(logs_stamp(hour + 6, 5) == 5);
}

static void open_lines(void)
{
    struct log_head heads[MOST_HEADS];
    put_text(0, "be");
    put_text(2, "gin");
    put_text(5, "s\nend");
    CHECK(walk(false, heads) == 3);
    const struct log_text text = text_of(&heads[2]);
    CHECK(text.open_len == 5 && text.gap == 0);
    CHECK_TEXT(text.open, "begin");
    CHECK_TEXT(text.data, "s\nend");
    struct log_tails tails = {0};
    CHECK(logs_tails(logs, arena, 7, 3, 1, &tails, NULL) == HT_OK);
    CHECK(tails.n == 1 && tails.items[0].len == 3);
    CHECK_TEXT(tails.items[0].data, "end");
    CHECK_TEXT(tails.items[0].stream, "stdout");
    CHECK(logs_tails(logs, arena, 7, 3, 2, &tails, NULL) == HT_OK &&
          tails.n == 0);
}

static void the_beginning_of_a_line_is_found(void)
{
    with_logs(open_lines);
}

static void gap_lines(void)
{
    struct log_head heads[MOST_HEADS];
    put_text(0, "cut o");
    put_text(100, "f\nx\n");
    CHECK(walk(false, heads) == 2);
    struct log_text text = text_of(&heads[1]);
    CHECK(text.gap == 95 && text.open_len == 5);
    CHECK_TEXT(text.open, "cut o");
    struct log_key other = key;
    other.stream = "stderr";
    put(&other, 10, 3, "x\ny");
    CHECK(walk(false, heads) == 3);
    text = text_of(&heads[2]);
    CHECK(text.gap == 10 && text.open_len == 0);
}

static void what_is_missing_between_chunks_is_counted(void)
{
    with_logs(gap_lines);
}

/* --- the budget of a stream --- */

enum { EACH = 64, STORED = 100 };

/* Chunks of EACH bytes; `end` is the last byte of each. */
static void put_chunks(int from, int to, char end)
{
    char line[EACH + 1];
    for (int i = from; i < to; i++) {
        snprintf(line, sizeof line, "%0*d%c", EACH - 1, i, end);
        CHECK(put_text((int64_t)i * EACH, line) == (int64_t)(i + 1) * EACH);
    }
}

static void reopen(void)
{
    logs_stop(logs);
    CHECK(logs_start(path, &logs, NULL) == HT_OK);
}

/* The head from 0 on, one gap, and all that is newer; less than 22 chunks. */
static void expect_both_ends(void)
{
    struct log_head heads[MOST_HEADS];
    const size_t n = walk(false, heads);
    size_t gaps = 0;
    CHECK(n >= 16 && n <= 21 && heads[0].start == 0);
    for (size_t i = 0; i < n; i++) {
        const struct log_text text = text_of(&heads[i]);
        gaps += text.gap > 0;
        CHECK(text.gap == 0 || (i >= 8 && i <= 11));
        CHECK(text.gap == 0 || i == 0 ||
              text.gap == heads[i].start - heads[i - 1].next);
    }
    CHECK(gaps == 1 && heads[n - 1].next == (int64_t)STORED * EACH);
}

static void both_ends(void)
{
    CHECK(budget_set("log-bytes=4096", NULL) == HT_OK);
    put_chunks(0, STORED / 2, '\n');
    reopen();
    put_chunks(STORED / 2, STORED, '\n');
    expect_both_ends();
    CHECK(put_text(0, "again") == (int64_t)STORED * EACH);
    struct log_key other = key;
    other.study = 8;
    CHECK(put(&other, 0, 3, "abc") == 3);
    expect_both_ends();
    CHECK(budget_set("log-bytes=16777216", NULL) == HT_OK);
}

static void of_a_long_log_both_ends_are_kept(void)
{
    with_logs(both_ends);
}

static void long_line(void)
{
    CHECK(budget_set("log-bytes=4096", NULL) == HT_OK);
    put_chunks(0, STORED, '-');
    CHECK(put_text((int64_t)STORED * EACH, "\n") == STORED * EACH + 1);
    struct log_head heads[MOST_HEADS];
    const size_t n = walk(false, heads);
    const struct log_text text = text_of(&heads[n - 1]);
    size_t after = 0;
    while (text_of(&heads[n - 2 - after]).gap == 0)
        after++;
    CHECK(text.open_len == (after + 1) * EACH);
    CHECK(text.open[0] == '0' && text.open[text.open_len - 1] == '-');
    CHECK(budget_set("log-bytes=16777216", NULL) == HT_OK);
}

static void a_line_begins_behind_what_was_removed(void)
{
    with_logs(long_line);
}

static void a_file_of_before_the_release_is_refused_by_name(void)
{
    static const char old[] = "tests/data/before_release_logs.db";
    struct logs *none = NULL;
    struct ht_error err = {0};
    CHECK(logs_start(old, &none, &err) == HT_PRECONDITION && none == NULL);
    CHECK(strstr(err.text, "logs.db: is a hypertune database of before the "
                           "first release (id 0x48794c67)") != NULL);
}

static void what_is_no_database_is_set_aside(void)
{
    char folder[] = "/tmp/logs-foreign-XXXXXX", file[64], command[96];
    CHECK(mkdtemp(folder) != NULL);
    snprintf(file, sizeof file, "%s/logs.db", folder);
    FILE *out = fopen(file, "w");
    for (int i = 0; i < 40; i++)
        fputs("this is not a database, but long enough\n", out);
    fclose(out);
    struct logs *anew = NULL;
    char why[LOGS_DAMAGE_BYTES];
    CHECK(logs_start(file, &anew, NULL) == HT_OK);
    logs_damage(anew, why);
    CHECK(strstr(why, "file is not a database") != NULL);
    logs_stop(anew);
    snprintf(command, sizeof command, "grep -q 'not a data' %s.damaged-*",
             file);
    CHECK(system(command) == 0);
    snprintf(command, sizeof command, "rm -r %s", folder);
    CHECK(system(command) == 0);
}

int main(void)
{
    RUN(what_was_stored_is_read_at_any_offset);
    RUN(a_repeat_changes_nothing_and_tells_what_is_wanted);
    RUN(a_gap_is_kept_and_jumped_over);
    RUN(chunks_with_replaced_bytes_stay_whole);
    RUN(slices_end_between_characters_and_always_advance);
    RUN(logs_survive_a_restart);
    RUN(a_forgotten_study_leaves_the_others);
    RUN(chunks_come_in_the_order_they_were_stored_in);
    RUN(stamps_never_go_back_by_little);
    RUN(the_beginning_of_a_line_is_found);
    RUN(what_is_missing_between_chunks_is_counted);
    RUN(of_a_long_log_both_ends_are_kept);
    RUN(a_line_begins_behind_what_was_removed);
    RUN(a_file_of_before_the_release_is_refused_by_name);
    RUN(what_is_no_database_is_set_aside);
    return check_done();
}
