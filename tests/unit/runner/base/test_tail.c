#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/check.h"

#include "runner/base/disk.h"
#include "runner/base/tail.h"
#include "runner/reports/log.h"
#include "runner/shim/log.h"
#include "tests/lib/runner_fixture.h"

static struct text taken; /* the lines of one read, "|" between them */
static int64_t last_offset;

static void take(void *context, const char *line, size_t len, int64_t offset)
{
    (void)context;
    text_append(&taken, line, len);
    text_puts(&taken, "|");
    last_offset = offset;
}

static const char *read_all(struct tail *tail, bool final)
{
    text_clear(&taken);
    text_puts(&taken, "");
    while (tail_read(tail, 1 << 20, final, take, NULL))
        continue;
    return taken.data;
}

static char folder_path[PATH_MAX];
static char file_path[PATH_MAX + 8];

static void write_file(const char *mode, const char *text)
{
    FILE *file = fopen(file_path, mode);
    CHECK(file != NULL && fputs(text, file) >= 0 && fclose(file) == 0);
}

static struct tail new_tail(void)
{
    struct tail tail;
    runner_fixture_folder(folder_path);
    (void)snprintf(file_path, sizeof file_path, "%s/file", folder_path);
    tail_init(&tail, file_path);
    return tail;
}

static void a_missing_file_has_no_lines(void)
{
    struct tail tail = new_tail();
    CHECK_TEXT(read_all(&tail, false), "");
    CHECK_TEXT(read_all(&tail, true), "");
}

static void lines_are_given_once_as_they_come(void)
{
    struct tail tail = new_tail();
    write_file("w", "a\nbb\n");
    CHECK_TEXT(read_all(&tail, false), "a|bb|");
    CHECK(last_offset == 2);
    CHECK_TEXT(read_all(&tail, false), "");
    write_file("a", "ccc\n");
    CHECK_TEXT(read_all(&tail, false), "ccc|");
    CHECK(last_offset == 5);
    CHECK_TEXT(read_all(&tail, true), "");
}

static void a_torn_line_waits_for_its_end(void)
{
    struct tail tail = new_tail();
    write_file("w", "a\n{\"x\":");
    CHECK_TEXT(read_all(&tail, false), "a|");
    CHECK_TEXT(read_all(&tail, false), "");
    write_file("a", "1}\n");
    CHECK_TEXT(read_all(&tail, false), "{\"x\":1}|");
}

static void a_torn_line_is_given_when_all_writers_have_ended(void)
{
    struct tail tail = new_tail();
    write_file("w", "a\nb");
    CHECK_TEXT(read_all(&tail, false), "a|");
    CHECK_TEXT(read_all(&tail, true), "b|");
    CHECK_TEXT(read_all(&tail, true), "");
}

static void a_rewritten_file_of_the_same_size_is_read_again(void)
{
    struct tail tail = new_tail();
    write_file("w", "1\n2\n3\n");
    CHECK_TEXT(read_all(&tail, false), "1|2|3|");
    write_file("w", "2\n3\n4\n");
    CHECK_TEXT(read_all(&tail, true), "2|3|4|");
}

static void a_rewritten_file_with_the_same_beginning_is_continued(void)
{
    struct tail tail = new_tail();
    write_file("w", "1\n2\n");
    CHECK_TEXT(read_all(&tail, false), "1|2|");
    write_file("w", "1\n2\n3\n");
    CHECK_TEXT(read_all(&tail, false), "3|");
}

static void a_truncated_file_is_read_from_its_start(void)
{
    struct tail tail = new_tail();
    write_file("w", "1\n2\n");
    CHECK_TEXT(read_all(&tail, false), "1|2|");
    write_file("w", "");
    CHECK_TEXT(read_all(&tail, false), "");
    write_file("w", "9\n");
    CHECK_TEXT(read_all(&tail, false), "9|");
}

static void a_line_without_end_is_passed_over(void)
{
    struct tail tail = new_tail();
    char *line = ht_xcalloc(200001, 1);
    memset(line, 'x', 200000);
    write_file("w", "a\n");
    write_file("a", line);
    write_file("a", "\nb\n");
    CHECK_TEXT(read_all(&tail, false), "a|b|");
    CHECK(tail.skipped == 1);
    free(line);
}

static void the_budget_bounds_one_read(void)
{
    struct tail tail = new_tail();
    struct text lines = {0};
    for (int i = 0; i < 50000; i++)
        text_puts(&lines, "1234567\n");
    write_file("w", lines.data);
    text_clear(&taken);
    CHECK(tail_read(&tail, 100000, false, take, NULL));
    CHECK(taken.len >= 100000 && taken.len < 200000);
    while (tail_read(&tail, 100000, false, take, NULL))
        continue;
    CHECK(taken.len == 400000);
    text_free(&lines);
}

static void links_and_pipes_are_not_followed(void)
{
    struct tail tail = new_tail();
    CHECK(symlink("/etc/passwd", file_path) == 0);
    CHECK_TEXT(read_all(&tail, true), "");
    CHECK(unlink(file_path) == 0 && mkfifo(file_path, 0600) == 0);
    CHECK_TEXT(read_all(&tail, true), "");
}

/* ---- logs ---- */

static void fill(struct shim_log *log, char byte, size_t len)
{
    char *bytes = ht_xcalloc(len + 1, 1);
    memset(bytes, byte, len);
    shim_log_append(log, bytes, len);
    free(bytes);
}

static struct shim_log new_log(void)
{
    struct shim_log log;
    runner_fixture_folder(folder_path);
    const int fd = open(folder_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    CHECK(shim_log_open(&log, fd, "stdout", NULL) == HT_OK);
    return log;
}

static void end_log(struct shim_log *log)
{
    shim_log_close(log);
    close(log->folder);
}

static void a_log_is_read_across_segments_and_over_the_gap(void)
{
    struct shim_log log = new_log();
    for (int i = 0; i < 12; i++)
        fill(&log, (char)('a' + i), 1 << 20);
    struct log_source source = {.folder = folder_path, .stream = "stdout"};
    static char buffer[1 << 16];
    struct text seen = {0};
    int64_t gap = 0;
    size_t n;
    do {
        const int64_t expected = source.offset;
        int64_t at;
        n = log_source_read(&source, buffer, sizeof buffer, &at);
        if (n > 0 && at != expected)
            gap = at - expected;
        if (n > 0 && (seen.len == 0 || seen.data[seen.len - 1] != buffer[0]))
            text_append(&seen, buffer, 1);
    } while (n > 0);
    CHECK_TEXT(seen.data, "abcdehijkl");
    CHECK(gap == 2 << 20);
    CHECK(source.offset == 12 << 20);
    text_free(&seen);
    end_log(&log);
}

static void a_character_is_never_cut_between_chunks(void)
{
    struct shim_log log = new_log();
    struct log_ship ship;
    struct log_chunk chunk;
    struct text out = {0};
    log_ship_init(&ship, NULL, folder_path, "stdout", "");
    fill(&log, 'x', 65535);
    shim_log_append(&log, "\xc3\xa9z", 3);
    CHECK(log_ship_next(&ship, 1000, false, SIZE_MAX, &chunk, &out));
    CHECK(chunk.offset == 0 && chunk.bytes == 65535);
    log_ship_confirm(&ship, &chunk, 65535);
    text_clear(&out);
    CHECK(log_ship_next(&ship, 2000, false, SIZE_MAX, &chunk, &out));
    CHECK_TEXT(out.data, "\xc3\xa9z");
    CHECK(chunk.offset == 65535 && chunk.bytes == 3);
    text_free(&out);
    end_log(&log);
}

static void what_is_no_utf8_becomes_marks(void)
{
    struct shim_log log = new_log();
    struct log_ship ship;
    struct log_chunk chunk;
    struct text out = {0};
    log_ship_init(&ship, NULL, folder_path, "stdout", "");
    shim_log_append(&log, "a\0b\xff\xc3", 5);
    CHECK(log_ship_next(&ship, 1000, false, SIZE_MAX, &chunk, &out));
    CHECK(chunk.bytes == 4); /* the last one may continue */
    CHECK_TEXT(out.data, "a\xef\xbf\xbd"
                         "b\xef\xbf\xbd");
    log_ship_confirm(&ship, &chunk, 4);
    CHECK(!log_ship_next(&ship, 9000, false, SIZE_MAX, &chunk, &out));
    text_clear(&out);
    CHECK(log_ship_next(&ship, 9000, true, SIZE_MAX, &chunk, &out));
    CHECK_TEXT(out.data, "\xef\xbf\xbd");
    log_ship_confirm(&ship, &chunk, 5);
    CHECK(!log_ship_next(&ship, 9000, true, SIZE_MAX, &chunk, &out) &&
          ship.done);
    text_free(&out);
    end_log(&log);
}

static void the_server_may_have_more_already(void)
{
    struct shim_log log = new_log();
    struct log_ship ship;
    struct log_chunk chunk;
    struct text out = {0};
    log_ship_init(&ship, NULL, folder_path, "stdout", "");
    fill(&log, 'x', 300000);
    CHECK(log_ship_next(&ship, 1000, false, SIZE_MAX, &chunk, &out));
    log_ship_confirm(&ship, &chunk, 299990);
    text_clear(&out);
    CHECK(log_ship_next(&ship, 2000, true, SIZE_MAX, &chunk, &out));
    CHECK(chunk.offset == 299990 && chunk.bytes == 10);
    text_free(&out);
    end_log(&log);
}

/* ---- secrets ---- */

static const char many_lines[] = "-----BEGIN-----\nabcdefgh12345678\n";

/* The runner's folder of a replica that was given two secrets. */
static struct order *give_secrets(void)
{
    static const char lease[] =
        "{\"study\":1,\"trial\":1,\"attempt\":1,\"token\":\"t\","
        "\"secrets\":[{\"name\":\"KEY\",\"env\":\"K\"},"
        "{\"name\":\"FILE\",\"file\":\"f\"}],"
        "\"replicas\":[{\"type\":\"master\",\"index\":0,\"argv\":[\"a\"]}]}";
    static const char *const argv[] = {"a"};
    static const struct pair env[] = {
        {"PATH", "/usr/bin"}, {"KEY", "xyzxyzxyz"}, {"FILE", many_lines}};
    const struct launch launch = {.argv = {1, argv}, .env = {3, env}};
    struct order *order = NULL;
    CHECK(order_parse(lease, sizeof lease - 1, &order, NULL) == HT_OK);
    CHECK(folder_write_launch(folder_path, &launch, NULL) == HT_OK);
    return order;
}

/* What the server gets of a log that is written in the two parts. */
static void ship_parts(const char *first, const char *second, bool look_between,
                       struct text *out)
{
    struct shim_log log = new_log();
    struct order *order = give_secrets();
    struct log_ship ship;
    struct log_chunk chunk;
    int64_t now = 1000;
    log_ship_init(&ship, order, folder_path, "stdout", "");
    shim_log_append(&log, first, strlen(first));
    if (look_between && log_ship_next(&ship, now, false, SIZE_MAX, &chunk, out))
        log_ship_confirm(&ship, &chunk, chunk.offset + chunk.bytes);
    shim_log_append(&log, second, strlen(second));
    while (log_ship_next(&ship, now += 1000, true, SIZE_MAX, &chunk, out))
        log_ship_confirm(&ship, &chunk, chunk.offset + chunk.bytes);
    CHECK(ship.done && ship.source.offset == log.offset);
    log_ship_fini(&ship);
    order_free(order);
    end_log(&log);
}

static void values_of_secrets_do_not_leave_in_logs(void)
{
    struct text out = {0};
    ship_parts("KEY=xyzxyzxyz /usr/bin\n", many_lines, false, &out);
    CHECK_TEXT(out.data, "KEY=*** /usr/bin\n***\n***\n");
    text_free(&out);
}

/* As `cat` shows a key file and as a trainer prints the key itself. */
static void keys_of_credentials_do_not_leave_in_logs(void)
{
    static const char key[] = "{\"type\": \"x\", \"private_key\": "
                              "\"-----BEGIN-----\\nMIIEvQIBADAN\\n\"}\n";
    struct shim_log log = new_log();
    struct order *order = give_secrets();
    struct log_ship ship;
    struct log_chunk chunk;
    struct text out = {0};
    char path[PATH_MAX + 16];
    (void)snprintf(path, sizeof path, "%s/key.json", folder_path);
    CHECK(disk_replace(folder_path, "key.json", key, strlen(key), 0444, NULL) ==
          HT_OK);
    log_ship_init(&ship, order, folder_path, "stdout", path);
    shim_log_append(&log, key, strlen(key));
    shim_log_append(&log, "MIIEvQIBADAN\n", 13);
    CHECK(log_ship_next(&ship, 1000, true, SIZE_MAX, &chunk, &out));
    CHECK_TEXT(out.data, "{\"type\": \"x\", \"private_key\": "
                         "\"***\\n***\\n\"}\n***\n");
    text_free(&out);
    log_ship_fini(&ship);
    order_free(order);
    end_log(&log);
}

static void a_secret_that_comes_in_two_parts_does_not_leave_either(void)
{
    static const char whole[] = "a xyzxyzxyz b xyzxyzxyz";
    for (size_t cut = 0; cut < sizeof whole; cut++) {
        struct text out = {0};
        char first[sizeof whole];
        (void)snprintf(first, sizeof first, "%.*s", (int)cut, whole);
        ship_parts(first, whole + cut, true, &out);
        CHECK_TEXT(out.data, "a *** b ***");
        text_free(&out);
    }
}

static void a_secret_between_two_chunks_does_not_leave_either(void)
{
    for (size_t lead = 65520; lead <= 65540; lead++) {
        struct text out = {0};
        char *first = ht_xcalloc(lead + 1, 1);
        memset(first, '.', lead);
        ship_parts(first, "xyzxyzxyz!", false, &out);
        CHECK(out.len == lead + 4);
        CHECK_TEXT(out.data + lead, "***!");
        free(first);
        text_free(&out);
    }
}

int main(void)
{
    runner_fixture_init();
    RUN(a_missing_file_has_no_lines);
    RUN(lines_are_given_once_as_they_come);
    RUN(a_torn_line_waits_for_its_end);
    RUN(a_torn_line_is_given_when_all_writers_have_ended);
    RUN(a_rewritten_file_of_the_same_size_is_read_again);
    RUN(a_rewritten_file_with_the_same_beginning_is_continued);
    RUN(a_truncated_file_is_read_from_its_start);
    RUN(a_line_without_end_is_passed_over);
    RUN(the_budget_bounds_one_read);
    RUN(links_and_pipes_are_not_followed);
    RUN(a_log_is_read_across_segments_and_over_the_gap);
    RUN(a_character_is_never_cut_between_chunks);
    RUN(what_is_no_utf8_becomes_marks);
    RUN(the_server_may_have_more_already);
    RUN(values_of_secrets_do_not_leave_in_logs);
    RUN(keys_of_credentials_do_not_leave_in_logs);
    RUN(a_secret_that_comes_in_two_parts_does_not_leave_either);
    RUN(a_secret_between_two_chunks_does_not_leave_either);
    text_free(&taken);
    runner_fixture_fini();
    return check_done();
}
