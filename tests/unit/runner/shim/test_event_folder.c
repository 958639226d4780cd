/* runner/shim/event_folder.h: files that grow, come later, are damaged, or are
 * in several folders. */
#include "runner/shim/event_folder.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/base/whole.h"
#include "proto/job/report.h"
#include "runner/shim/event_file.h"
#include "tests/lib/event_writer.h"
#include "tests/lib/runner_fixture.h"

static const char *const names[] = {"loss", "eval/loss"};
static const char *const one_name[] = {"loss"};
static char root[PATH_MAX];
static struct launch launch;
static struct event_folder *events;
static struct text said;

static const char *path_of(const char *name)
{
    static char path[PATH_MAX + 64];
    (void)snprintf(path, sizeof path, "%s/logs/%s", root, name);
    return path;
}

static void begin(size_t n)
{
    struct ht_error err;
    event_folder_free(events);
    launch = (struct launch){.events = "logs",
                             .metrics = {n, n == 1 ? one_name : names}};
    runner_fixture_folder(root);
    CHECK(mkdir(path_of(""), 0755) == 0);
    CHECK(event_folder_begin(&launch, root, 0, &events, &err) == HT_OK);
}

static void add_bytes(const char *name, const char *bytes, size_t len)
{
    const int fd =
        open(path_of(name), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    CHECK(fd >= 0 && whole_write(fd, bytes, len));
    close(fd);
}

static void add(const char *name, const char *tag, int step, float value)
{
    struct text text = {0};
    event_writer_scalar(&text, tag, step, value);
    add_bytes(name, text.data, text.len);
    text_free(&text);
}

/* "loss@1=0.5 " of each record; "(other)" of what is none, "!..." of a fault.
 */
static void add_line(struct arena *arena, const char *line, size_t len)
{
    struct report report;
    if (report_parse(arena, line, len, &report, NULL) != HT_OK) {
        text_printf(&said, "!%.*s ", (int)len, line);
        return;
    }
    text_printf(&said, "%s%s@%lld=%g ", report.metrics[0].name,
                report.writer == 0 ? "(other)" : "", (long long)report.step,
                report.metrics[0].value);
    CHECK(report.time_ms == 1500);
}

static const char *records(void)
{
    struct arena *arena = arena_new();
    char *text = runner_fixture_text(root, FOLDER_EVENTS);
    text_clear(&said);
    for (char *line = text, *end; (end = strchr(line, '\n')) != NULL;
         line = end + 1)
        add_line(arena, line, (size_t)(end - line));
    free(text);
    arena_free(arena);
    return text_string(&said);
}

static const char *look(void)
{
    return event_folder_tick(events, event_folder_due(events));
}

static const char *end(void)
{
    bool lost;
    const char *fault = event_folder_end(events, &lost);
    CHECK(!lost);
    return fault;
}

static void without_a_folder_there_is_nothing_to_do(void)
{
    bool lost = true;
    struct ht_error err;
    struct event_folder *none;
    launch = (struct launch){.events = NULL};
    CHECK(event_folder_begin(&launch, "/nowhere", 0, &none, &err) == HT_OK);
    CHECK(none == NULL && event_folder_due(none) == INT64_MAX);
    CHECK(event_folder_tick(none, 0) == NULL);
    CHECK(event_folder_end(none, &lost) == NULL && !lost);
    event_folder_free(none);
}

static void files_are_followed_while_they_grow(void)
{
    begin(2);
    CHECK(look() == NULL);
    add("events.out.tfevents.1.host", "loss", 1, 4);
    CHECK(look() == NULL);
    CHECK_TEXT(records(), "loss@1=4 ");
    add("events.out.tfevents.1.host", "loss", 2, 3);
    CHECK(mkdir(path_of("eval"), 0755) == 0);
    add("eval/events.out.tfevents.2.host", "loss", 2, 8);
    CHECK(look() == NULL);
    CHECK_TEXT(records(), "loss@1=4 loss@2=3 eval/loss@2=8 ");
    add("events.out.tfevents.3.host", "loss", 1, 2);
    add("notes.txt", "loss", 1, 9);
    CHECK(look() == NULL && look() == NULL);
    CHECK(end() == NULL);
    CHECK_TEXT(records(), "loss@1=4 loss@2=3 eval/loss@2=8 loss@1=2 ");
}

static void older_files_come_first(void)
{
    begin(1);
    add("events.out.tfevents.2", "loss", 2, 2);
    add("events.out.tfevents.1", "loss", 1, 1);
    CHECK(end() == NULL);
    CHECK_TEXT(records(), "loss@1=1 loss@2=2 ");
}

static void half_a_record_waits(void)
{
    struct text text = {0};
    begin(1);
    add("tfevents", "loss", 1, 1);
    event_writer_scalar(&text, "loss", 2, 2);
    for (size_t i = 0; i < text.len; i++) {
        CHECK(look() == NULL);
        CHECK_TEXT(records(), "loss@1=1 ");
        add_bytes("tfevents", text.data + i, 1);
    }
    CHECK(look() == NULL);
    CHECK_TEXT(records(), "loss@1=1 loss@2=2 ");
    add_bytes("tfevents", text.data, text.len - 1);
    CHECK(end() == NULL);
    CHECK_TEXT(records(), "loss@1=1 loss@2=2 ");
    text_free(&text);
}

/* What a file system shows late is no damage. */
static void damage_ends_a_file_and_is_said_once(void)
{
    struct text text = {0};
    static const char zeros[40];
    begin(1);
    add("tfevents.1", "loss", 1, 1);
    event_writer_scalar(&text, "loss", 2, 2);
    CHECK(text.len > 12 && text.len <= sizeof zeros + 40);
    add_bytes("tfevents.1", zeros, sizeof zeros);
    for (int i = 0; i < 5; i++)
        CHECK(look() == NULL);
    CHECK_TEXT(records(), "loss@1=1 ");
    for (int i = 0; i < 20; i++)
        CHECK(look() == NULL);
    add("tfevents.1", "loss", 3, 3);
    add("tfevents.2", "loss", 4, 4);
    CHECK(end() == NULL);
    CHECK_TEXT(records(),
               "loss@1=1 !{\"fault\":\"event file tfevents.1 is read "
               "up to byte 42: no record begins there\"} "
               "loss@4=4 ");
    begin(1);
    add_bytes("tfevents.1", zeros, sizeof zeros);
    CHECK(end() == NULL);
    CHECK(strstr(records(), "up to byte 0: no record begins there") != NULL);
    text_free(&text);
}

static void one_metric_in_two_folders_is_a_fault(void)
{
    begin(1);
    CHECK(mkdir(path_of("a"), 0755) == 0 && mkdir(path_of("b"), 0755) == 0);
    add("a/tfevents", "loss", 1, 1);
    CHECK(look() == NULL);
    add("b/tfevents", "loss", 1, 2);
    const char *fault = "loss is twice in the event files, as a/loss and as "
                        "b/loss: call the metric by one of these names";
    CHECK_TEXT(look(), fault);
    CHECK_TEXT(end(), fault);
    CHECK_TEXT(records(), "loss@1=1 ");
}

static void the_whole_name_hides_others(void)
{
    begin(2);
    CHECK(mkdir(path_of("x"), 0755) == 0 && mkdir(path_of("eval"), 0755) == 0);
    add("x/tfevents", "eval/loss", 1, 1);
    add("eval/tfevents", "loss", 1, 2);
    add("tfevents", "loss", 1, 3);
    add("tfevents", "train_loss", 1, 4);
    CHECK(end() == NULL);
    CHECK_TEXT(records(), "loss@1=3 train_loss(other)@1=4 eval/loss@1=2 ");
}

static void a_tag_may_have_slashes_and_folders_any_depth(void)
{
    begin(2);
    CHECK(mkdir(path_of("runs"), 0755) == 0);
    CHECK(mkdir(path_of("runs/today"), 0755) == 0);
    add("runs/today/tfevents", "eval/loss", 1, 1);
    add("runs/today/tfevents", "eval/loss", 2, 2);
    add("runs/today/tfevents", "the loss", 2, 2);
    CHECK(end() == NULL);
    CHECK_TEXT(records(), "eval/loss@1=1 eval/loss@2=2 "
                          "runs/today/the loss(other)@2=2 ");
}

/* A record beyond all memory, in a file that has a hole. */
static void long_records_are_passed_over(void)
{
    const uint64_t len = 3ULL * 1024 * 1024 * 1024;
    const uint32_t sum = event_writer_sum((const char *)&len, 8);
    begin(1);
    add("tfevents", "loss", 1, 1);
    add_bytes("tfevents", (const char *)&len, 8);
    add_bytes("tfevents", (const char *)&sum, 4);
    CHECK(look() == NULL);
    struct stat status;
    CHECK(stat(path_of("tfevents"), &status) == 0);
    CHECK(truncate(path_of("tfevents"), status.st_size + (off_t)len + 4) == 0);
    CHECK(look() == NULL);
    add("tfevents", "loss", 2, 2);
    CHECK(end() == NULL);
    CHECK_TEXT(records(), "loss@1=1 loss@2=2 ");
}

static void records_longer_than_a_buffer_are_read(void)
{
    struct text file = {0}, event = {0}, padding = {0};
    begin(1);
    while (padding.len < EVENT_RECORD_BYTES - 100)
        text_puts(&padding, "0123456789abcdef0123456789abcdef");
    text_append(&event, "\x7a\xa0\xff\xff\x03", 5); /* a field of that size */
    text_append(&event, padding.data, 8388512);
    event_writer_record(&file, &event);
    event_writer_scalar(&file, "loss", 2, 2);
    add_bytes("tfevents", file.data, file.len);
    CHECK(look() == NULL);
    CHECK(end() == NULL);
    CHECK_TEXT(records(), "loss@2=2 ");
    text_free(&padding);
    text_free(&event);
    text_free(&file);
}

static void links_are_not_followed(void)
{
    begin(1);
    add("other", "loss", 1, 1);
    CHECK(symlink("other", path_of("tfevents")) == 0);
    CHECK(mkdir(path_of("real"), 0755) == 0);
    CHECK(symlink("real", path_of("linked")) == 0);
    CHECK(mkfifo(path_of("tfevents.2"), 0600) == 0);
    CHECK(mkdir(path_of("tfevents.3"), 0700) == 0);
    add("real/tfevents", "loss", 2, 2);
    CHECK(end() == NULL);
    CHECK_TEXT(records(), "loss@2=2 ");
    begin(1);
    add("tfevents", "loss", 1, 1);
    char real[PATH_MAX + 64], logs[PATH_MAX + 64];
    (void)snprintf(real, sizeof real, "%s/real", root);
    (void)snprintf(logs, sizeof logs, "%s/logs", root);
    CHECK(rename(logs, real) == 0 && symlink("real", logs) == 0);
    CHECK(end() == NULL);
    CHECK_TEXT(records(), "");
}

static void limit(rlim_t bytes)
{
    struct rlimit files;
    CHECK(getrlimit(RLIMIT_FSIZE, &files) == 0);
    files.rlim_cur = bytes;
    CHECK(setrlimit(RLIMIT_FSIZE, &files) == 0);
}

static void what_cannot_be_written_is_written_later(void)
{
    begin(1);
    for (int i = 0; i < 100; i++)
        add("tfevents", "loss", i, (float)i);
    (void)signal(SIGXFSZ, SIG_IGN);
    limit(100); /* in the midst of a record */
    CHECK(look() == NULL && look() == NULL);
    limit(RLIM_INFINITY);
    add("tfevents", "loss", 100, 100);
    CHECK(end() == NULL);
    struct text want = {0};
    for (int i = 0; i <= 100; i++)
        text_printf(&want, "loss@%d=%d ", i, i);
    CHECK_TEXT(records(), text_string(&want));
    text_free(&want);
}

int main(void)
{
    runner_fixture_init();
    RUN(without_a_folder_there_is_nothing_to_do);
    RUN(files_are_followed_while_they_grow);
    RUN(older_files_come_first);
    RUN(half_a_record_waits);
    RUN(damage_ends_a_file_and_is_said_once);
    RUN(one_metric_in_two_folders_is_a_fault);
    RUN(the_whole_name_hides_others);
    RUN(a_tag_may_have_slashes_and_folders_any_depth);
    RUN(long_records_are_passed_over);
    RUN(records_longer_than_a_buffer_are_read);
    RUN(links_are_not_followed);
    RUN(what_cannot_be_written_is_written_later);
    event_folder_free(events);
    text_free(&said);
    runner_fixture_fini();
    return check_done();
}
