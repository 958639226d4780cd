#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/check.h"

#include "proto/base/limits.h"
#include "runner/base/disk.h"
#include "runner/shim/log.h"
#include "tests/lib/runner_fixture.h"

static int open_folder(const char *folder)
{
    return open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static size_t length_of(const char *folder, const char *name)
{
    char *text = runner_fixture_text(folder, name);
    const size_t n = strlen(text);
    free(text);
    return n;
}

static void append(struct shim_log *log, char byte, size_t len)
{
    char *bytes = ht_xcalloc(len + 1, 1);
    memset(bytes, byte, len);
    shim_log_append(log, bytes, len);
    free(bytes);
}

static void segments_are_named_by_their_first_byte(void)
{
    char name[FOLDER_LOG_NAME_BYTES];
    CHECK_TEXT(folder_log_name(name, "stderr", 1048576),
               "stderr.000001048576.log");
}

static void an_empty_stream_has_one_empty_segment(void)
{
    char path[PATH_MAX];
    const char *folder = runner_fixture_folder(path);
    struct shim_log log;
    const int fd = open_folder(folder);
    CHECK(shim_log_open(&log, fd, "stdout", NULL) == HT_OK);
    shim_log_close(&log);
    CHECK(disk_has(folder, "stdout.000000000000.log"));
    close(fd);
}

static void a_full_segment_is_followed_only_by_more_bytes(void)
{
    char path[PATH_MAX];
    const char *folder = runner_fixture_folder(path);
    struct shim_log log;
    const int fd = open_folder(folder);
    CHECK(shim_log_open(&log, fd, "stdout", NULL) == HT_OK);
    append(&log, 'a', HT_LOG_SEGMENT);
    CHECK(!disk_has(folder, "stdout.000001048576.log"));
    append(&log, 'b', 1);
    CHECK(length_of(folder, "stdout.000000000000.log") == HT_LOG_SEGMENT);
    CHECK(length_of(folder, "stdout.000001048576.log") == 1);
    CHECK(log.offset == HT_LOG_SEGMENT + 1);
    shim_log_close(&log);
    close(fd);
}

static void one_append_may_span_segments(void)
{
    char path[PATH_MAX];
    const char *folder = runner_fixture_folder(path);
    struct shim_log log;
    const int fd = open_folder(folder);
    CHECK(shim_log_open(&log, fd, "stdout", NULL) == HT_OK);
    append(&log, 'a', 2 * HT_LOG_SEGMENT + 7);
    CHECK(length_of(folder, "stdout.000002097152.log") == 7);
    shim_log_close(&log);
    close(fd);
}

static void exactly_ten_segments_are_kept_whole(void)
{
    char path[PATH_MAX];
    const char *folder = runner_fixture_folder(path);
    struct shim_log log;
    const int fd = open_folder(folder);
    CHECK(shim_log_open(&log, fd, "stdout", NULL) == HT_OK);
    append(&log, 'a', 10 * HT_LOG_SEGMENT);
    for (int i = 0; i < 10; i++) {
        char name[FOLDER_LOG_NAME_BYTES];
        folder_log_name(name, "stdout", (int64_t)i << 20);
        CHECK(disk_has(folder, name));
    }
    append(&log, 'b', 1);
    CHECK(!disk_has(folder, "stdout.000005242880.log"));
    CHECK(disk_has(folder, "stdout.000006291456.log"));
    shim_log_close(&log);
    close(fd);
}

static void a_segment_that_cannot_be_made_does_not_stop_the_stream(void)
{
    char path[PATH_MAX];
    const char *folder = runner_fixture_folder(path);
    struct shim_log log;
    const int fd = open_folder(folder);
    CHECK(shim_log_open(&log, fd, "stdout", NULL) == HT_OK);
    char trap[PATH_MAX + 40];
    (void)snprintf(trap, sizeof trap, "%s/stdout.000001048576.log", folder);
    CHECK(mkdir(trap, 0700) == 0);
    append(&log, 'a', 2 * HT_LOG_SEGMENT);
    append(&log, 'c', 5);
    CHECK(log.offset == 2 * HT_LOG_SEGMENT + 5);
    CHECK(length_of(folder, "stdout.000002097152.log") == 5);
    shim_log_close(&log);
    close(fd);
}

static void a_stream_is_resumed_behind_its_last_byte(void)
{
    char path[PATH_MAX];
    const char *folder = runner_fixture_folder(path);
    struct shim_log log;
    const int fd = open_folder(folder);
    CHECK(shim_log_resume(&log, fd, "stdout", NULL) == HT_OK);
    append(&log, 'a', HT_LOG_SEGMENT + 3);
    shim_log_close(&log);
    CHECK(shim_log_resume(&log, fd, "stdout", NULL) == HT_OK);
    CHECK(log.offset == HT_LOG_SEGMENT + 3);
    append(&log, 'b', 2);
    CHECK(length_of(folder, "stdout.000001048576.log") == 5);
    shim_log_close(&log);
    close(fd);
}

int main(void)
{
    runner_fixture_init();
    RUN(segments_are_named_by_their_first_byte);
    RUN(an_empty_stream_has_one_empty_segment);
    RUN(a_full_segment_is_followed_only_by_more_bytes);
    RUN(one_append_may_span_segments);
    RUN(exactly_ten_segments_are_kept_whole);
    RUN(a_segment_that_cannot_be_made_does_not_stop_the_stream);
    RUN(a_stream_is_resumed_behind_its_last_byte);
    runner_fixture_fini();
    return check_done();
}
