/* A trial that can do what it likes in its own folder: the runner neither
 * follows, nor waits, nor drowns. */
#include "proto/base/file_tree.h"

#include "tests/check.h"
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/doc/json.h"
#include "runner/base/disk.h"
#include "runner/base/folder.h"
#include "runner/reports/log.h"
#include "runner/reports/record_queue.h"
#include "runner/reports/records.h"
#include "tests/lib/runner_fixture.h"

static char folder[PATH_MAX];

static const char *path_of(const char *name)
{
    static char path[PATH_MAX + 64];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void put(const char *name, const char *text)
{
    CHECK(disk_replace(folder, name, text, strlen(text), 0644, NULL) == HT_OK);
}

static struct order *make_order(void)
{
    static const char lease[] =
        "{\"study\":2,\"trial\":5,\"attempt\":1,\"token\":\"t\","
        "\"metrics\":[\"acc\"],\"stdoutPatterns\":[\"acc={acc}\"],"
        "\"replicas\":[{\"type\":\"master\",\"index\":0,\"argv\":[\"a\"]}]}";
    struct order *order = NULL;
    CHECK(order_parse(lease, sizeof lease - 1, &order, NULL) == HT_OK);
    return order;
}

/* Everything is read to its end; returns how many records there are. */
static size_t collect(void)
{
    struct order *order = make_order();
    struct records *records = records_new(order, 0, folder, NULL);
    const int64_t deadline = clock_monotonic_ms() + PATIENCE_MS;
    size_t n = 0;
    while (records_collect(records, 0, true)) {
        struct record_queue *queue = records_queue(records);
        struct text out = {0};
        while (record_queue_is_ready(queue, INT64_MAX)) {
            text_clear(&out);
            n += queue->n;
            record_queue_batch(queue, INT64_MAX, RECORD_BATCH_BYTES, NULL,
                               &out);
            record_queue_confirm(queue);
            n -= queue->n;
        }
        text_free(&out);
        if (clock_monotonic_ms() > deadline)
            break;
    }
    CHECK(clock_monotonic_ms() <= deadline);
    n += records_queue(records)->n;
    records_free(records);
    order_free(order);
    return n;
}

static void ship_all(const char *stream, struct text *out)
{
    struct log_ship ship;
    struct log_chunk chunk;
    const int64_t deadline = clock_monotonic_ms() + PATIENCE_MS;
    log_ship_init(&ship, NULL, folder, stream, "");
    while (log_ship_next(&ship, clock_monotonic_ms(), true, SIZE_MAX, &chunk,
                         out) &&
           clock_monotonic_ms() < deadline)
        log_ship_confirm(&ship, &chunk, chunk.offset + chunk.bytes);
    CHECK(ship.done);
    log_ship_fini(&ship);
}

/* ---- what it may put where the runner reads ---- */

static void nothing_is_read_through_a_link(void)
{
    runner_fixture_folder(folder);
    static const char *const names[] = {
        "reports.jsonl", "output.metrics", "exit.json",
        "stop",          "launch.json",    "stdout.000000000000.log"};
    char secret[PATH_MAX + 64];
    put("victim", "{\"outcome\":\"succeeded\",\"reason\":\"acc=1\"}\n");
    (void)snprintf(secret, sizeof secret, "%s", path_of("victim"));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        CHECK(symlink(secret, path_of(names[i])) == 0);
    struct ending ending;
    struct stop_order stop;
    struct launch launch;
    struct arena *arena = arena_new();
    CHECK(folder_read_exit(folder, &ending, NULL) != HT_OK);
    CHECK(folder_read_stop(folder, &stop, NULL) != HT_OK);
    CHECK(folder_read_launch(arena, folder, &launch, NULL) != HT_OK);
    arena_free(arena);
    CHECK(collect() == 0);
    struct text out = {0};
    ship_all("stdout", &out);
    CHECK(out.len == 0);
    text_free(&out);
}

static void a_pipe_or_a_folder_blocks_nothing(void)
{
    runner_fixture_folder(folder);
    CHECK(mkfifo(path_of("reports.jsonl"), 0666) == 0);
    CHECK(mkdir(path_of("output.metrics"), 0777) == 0);
    CHECK(mkfifo(path_of("exit.json"), 0666) == 0);
    CHECK(mkfifo(path_of("stdout.000000000000.log"), 0666) == 0);
    struct ending ending;
    CHECK(folder_read_exit(folder, &ending, NULL) != HT_OK);
    CHECK(collect() == 0);
    struct text out = {0};
    ship_all("stdout", &out);
    CHECK(out.len == 0);
    text_free(&out);
}

static void an_exit_of_its_own_making_is_read_with_care(void)
{
    runner_fixture_folder(folder);
    struct ending ending = {.outcome = OUTCOME_LOST};
    put("exit.json", "[1]");
    CHECK(folder_read_exit(folder, &ending, NULL) == HT_CORRUPT);
    put("exit.json", "{\"outcome\":\"splendid\"}");
    CHECK(folder_read_exit(folder, &ending, NULL) == HT_CORRUPT);
    struct text huge = {0};
    text_puts(&huge,
              "{\"outcome\":\"failed\",\"exit\":99999999999,\"reason\":\"");
    for (int i = 0; i < 1000; i++)
        text_puts(&huge, "\xc3\xa9");
    text_puts(&huge, "\"}");
    put("exit.json", huge.data);
    CHECK(folder_read_exit(folder, &ending, NULL) == HT_OK);
    CHECK(ending.outcome == OUTCOME_FAILED);
    CHECK(strlen(ending.reason) < HT_MAX_REASON);
    while (huge.len < 2 * HT_MAX_MESSAGE)
        text_puts(&huge, "                                                ");
    put("exit.json", huge.data);
    CHECK(folder_read_exit(folder, &ending, NULL) == HT_TOO_LARGE);
    text_free(&huge);
}

/* ---- what it may put where the runner writes ---- */

static void orders_replace_whatever_it_put_there(void)
{
    runner_fixture_folder(folder);
    const struct stop_order stop = {.reason = "enough"};
    struct stop_order read;
    struct stat status;
    put("victim", "untouched");
    char victim[PATH_MAX + 64];
    (void)snprintf(victim, sizeof victim, "%s", path_of("victim"));

    CHECK(symlink(victim, path_of("stop")) == 0);
    CHECK(folder_write_stop(folder, &stop, NULL) == HT_OK);
    CHECK(folder_read_stop(folder, &read, NULL) == HT_OK);
    CHECK_TEXT(read.reason, "enough");
    CHECK(runner_fixture_file_has(folder, "victim", "untouched"));

    CHECK(unlink(path_of("stop")) == 0 && mkfifo(path_of("stop"), 0666) == 0);
    CHECK(folder_write_stop(folder, &stop, NULL) == HT_OK);
    CHECK(lstat(path_of("stop"), &status) == 0 && S_ISREG(status.st_mode));

    CHECK(unlink(path_of("stop")) == 0 && mkdir(path_of("stop"), 0777) == 0);
    CHECK(mkdir(path_of("stop/full"), 0777) == 0);
    CHECK(folder_write_stop(folder, &stop, NULL) == HT_OK);
    CHECK(lstat(path_of("stop"), &status) == 0 && S_ISREG(status.st_mode));
}

static void an_end_replaces_whatever_it_put_there(void)
{
    runner_fixture_folder(folder);
    const struct ending ending = {.outcome = OUTCOME_FAILED,
                                  .reason = "exit 1"};
    struct ending read;
    CHECK(mkdir(path_of("exit.json"), 0777) == 0);
    CHECK(mkdir(path_of("exit.json/full"), 0777) == 0);
    CHECK(folder_write_exit(folder, &ending, NULL) == HT_OK);
    CHECK(folder_read_exit(folder, &read, NULL) == HT_OK);
    CHECK_TEXT(read.reason, "exit 1");
}

static void the_runners_words_go_nowhere_else(void)
{
    runner_fixture_folder(folder);
    put("victim", "untouched");
    char victim[PATH_MAX + 64];
    (void)snprintf(victim, sizeof victim, "%s", path_of("victim"));
    CHECK(symlink(victim, path_of("runner.000000000000.log")) == 0);
    folder_log_line(folder, "pulling %s", "x");
    CHECK(runner_fixture_file_has(folder, "victim", "untouched"));
    CHECK(!runner_fixture_file_has(folder, "victim", "pulling"));
    CHECK(unlink(path_of("runner.000000000000.log")) == 0);
    CHECK(mkfifo(path_of("runner.000000000000.log"), 0666) == 0);
    folder_log_line(folder, "pulling %s", "x"); /* and comes back */
}

/* A job of an image that has a metrics file and a working folder. */
static size_t collect_file(const char *file)
{
    struct text lease = {0};
    text_printf(&lease,
                "{\"study\":2,\"trial\":5,\"attempt\":1,\"token\":\"t\","
                "\"metrics\":[\"acc\"],\"metricsFile\":\"%s\",\"replicas\":["
                "{\"type\":\"master\",\"index\":0,\"image\":\"x\","
                "\"workdir\":\"%s\",\"argv\":[\"a\"]}]}",
                file, folder);
    struct order *order = NULL;
    CHECK(order_parse(lease.data, lease.len, &order, NULL) == HT_OK);
    text_free(&lease);
    char own[PATH_MAX];
    (void)snprintf(own, sizeof own, "%s", path_of("own"));
    struct records *records = records_new(order, 0, own, NULL);
    CHECK(records_begin(records, own, false, NULL) == HT_OK);
    while (records_collect(records, 0, true))
        continue;
    const size_t n = records_queue(records)->n;
    records_free(records);
    order_free(order);
    return n;
}

static void a_container_has_no_metrics_file_outside_its_folder(void)
{
    static const char line[] = "{\"acc\":1}\n";
    runner_fixture_folder(folder);
    CHECK(mkdir(path_of("own"), 0777) == 0 &&
          mkdir(path_of("own/sub"), 0777) == 0);
    put("host.json", line);
    CHECK(symlink("..", path_of("own/up")) == 0);
    CHECK(symlink("../host.json", path_of("own/link")) == 0);
    CHECK(mkfifo(path_of("own/pipe"), 0666) == 0);
    CHECK(collect_file(path_of("host.json")) == 0);
    CHECK(collect_file("host.json") == 0); /* of the working folder */
    CHECK(collect_file("../host.json") == 0);
    CHECK(collect_file("up/host.json") == 0);
    CHECK(collect_file("link") == 0);
    CHECK(collect_file("pipe") == 0);
    char own[PATH_MAX + 64];
    (void)snprintf(own, sizeof own, "%s", path_of("own/sub"));
    CHECK(disk_replace(own, "m.json", line, sizeof line - 1, 0644, NULL) ==
          HT_OK);
    CHECK(collect_file("sub/m.json") == 1);
    CHECK(collect_file("/hypertune/trial/sub/m.json") == 1);
}

/* ---- how much ---- */

static void a_line_without_end_costs_no_memory(void)
{
    runner_fixture_folder(folder);
    const int fd =
        open(path_of("reports.jsonl"), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    CHECK(ftruncate(fd, (off_t)64 * 1024 * 1024) == 0);
    CHECK(lseek(fd, 0, SEEK_END) > 0);
    CHECK(dprintf(fd, "\n{\"w\":\"9f86d081884c7d65\",\"n\":1,\"t\":1,"
                      "\"m\":{\"acc\":1}}\n") > 0);
    close(fd);
    CHECK(collect() == 1);
}

static void a_file_of_a_terabyte_is_given_up(void)
{
    runner_fixture_folder(folder);
    const int fd =
        open(path_of("reports.jsonl"), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    CHECK(ftruncate(fd, (off_t)1024 * 1024 * 1024 * 1024) == 0);
    close(fd);
    CHECK(collect() == 0);
}

static void segments_of_its_own_making_are_not_shipped_without_end(void)
{
    runner_fixture_folder(folder);
    for (int i = 0; i < 40; i++) {
        char name[64];
        (void)snprintf(name, sizeof name, "stdout.%012lld.log",
                       (long long)i * HT_LOG_SEGMENT);
        put(name, "");
        CHECK(truncate(path_of(name), (off_t)1024 * HT_LOG_SEGMENT) == 0);
    }
    struct text out = {0};
    ship_all("stdout", &out);
    /* Each NUL byte goes as a mark of three. */
    CHECK(out.len <= 3 * ((size_t)LOG_SOURCE_KEPT + 64 * 1024));
    text_free(&out);
    CHECK(collect() == 0);
}

static void twenty_thousand_files_are_nothing_special(void)
{
    runner_fixture_folder(folder);
    const int dir = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (int i = 0; i < 20000; i++) {
        char name[32];
        (void)snprintf(name, sizeof name, "f%d", i);
        const int fd = openat(dir, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
        if (fd >= 0)
            close(fd);
    }
    close(dir);
    put("stdout.000000000000.log", "acc=0.5\n");
    struct text out = {0};
    ship_all("stdout", &out);
    CHECK_TEXT(out.data, "acc=0.5\n");
    text_free(&out);
    CHECK(collect() == 1);
    file_tree_remove(folder, NULL, NULL);
    CHECK(access(folder, F_OK) != 0);
}

static void a_deep_and_locked_tree_is_removed(void)
{
    runner_fixture_folder(folder);
    int dir = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (int i = 0; i < 3000; i++) {
        CHECK(mkdirat(dir, "d", 0700) == 0);
        const int next = openat(dir, "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        CHECK(fchmod(dir, i % 2 == 0 ? 0500 : 0700) == 0);
        close(dir);
        dir = next;
    }
    CHECK(fchmod(dir, 0) == 0);
    close(dir);
    file_tree_remove(folder, NULL, NULL);
    CHECK(access(folder, F_OK) != 0);
}

static void a_folder_goes_with_the_mark_of_what_it_was(void)
{
    runner_fixture_folder(folder);
    put("lease.json", "{}\n");
    put("token", "secret\n");
    file_tree_remove(folder, "lease.json", NULL);
    CHECK(access(folder, F_OK) != 0);
}

static void many_writers_are_found_again(void)
{
    runner_fixture_folder(folder);
    FILE *file = fopen(path_of("reports.jsonl"), "we");
    for (int round = 1; round <= 2; round++) {
        for (int i = 1; i <= 20000; i++)
            (void)fprintf(file,
                          "{\"w\":\"%016x\",\"n\":%d,\"t\":1,"
                          "\"m\":{\"acc\":1}}\n",
                          i, i % 2 == 0 ? round : 1);
    }
    (void)fclose(file);
    CHECK(collect() == 30000); /* every other one repeats itself */
}

int main(void)
{
    json_init();
    runner_fixture_init();
    RUN(nothing_is_read_through_a_link);
    RUN(a_pipe_or_a_folder_blocks_nothing);
    RUN(an_exit_of_its_own_making_is_read_with_care);
    RUN(orders_replace_whatever_it_put_there);
    RUN(an_end_replaces_whatever_it_put_there);
    RUN(the_runners_words_go_nowhere_else);
    RUN(a_container_has_no_metrics_file_outside_its_folder);
    RUN(a_line_without_end_costs_no_memory);
    RUN(a_file_of_a_terabyte_is_given_up);
    RUN(segments_of_its_own_making_are_not_shipped_without_end);
    RUN(twenty_thousand_files_are_nothing_special);
    RUN(a_deep_and_locked_tree_is_removed);
    RUN(a_folder_goes_with_the_mark_of_what_it_was);
    RUN(many_writers_are_found_again);
    runner_fixture_fini();
    return check_done();
}
