#include "proto/base/whole.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/check.h"

enum { MANY = 1 << 20 }; /* more than a pipe holds */

static char bytes[MANY];
static char got[MANY + 1];

static void fill(void)
{
    for (size_t i = 0; i < MANY; i++)
        bytes[i] = (char)(i * 7 + i / 251);
    memset(got, 0, sizeof got);
}

static int open_file(void)
{
    char path[400];
    const char *folder = getenv("TMPDIR");
    snprintf(path, sizeof path, "%s/whole-XXXXXX",
             folder != NULL ? folder : "/tmp");
    const int fd = mkstemp(path);
    unlink(path);
    return fd;
}

static void what_is_at_an_offset_is_read_and_written(void)
{
    const int fd = open_file();
    CHECK(whole_write_at(fd, "world", 5, 6));
    CHECK(whole_write_at(fd, "hello ", 6, 0));
    CHECK(whole_read_at(fd, got, 11, 0) == 11);
    CHECK(memcmp(got, "hello world", 11) == 0);
    CHECK(whole_read_at(fd, got, 100, 6) == 5); /* the file ends */
    CHECK(whole_read_at(fd, got, 100, 11) == 0);
    CHECK(whole_read(fd, got, 4) == 4); /* its position is where it was */
    CHECK(memcmp(got, "hell", 4) == 0);
    close(fd);
}

static void more_than_a_pipe_holds_passes_whole(void)
{
    int ends[2];
    fill();
    CHECK(pipe(ends) == 0);
    const pid_t writer = fork();
    if (writer == 0)
        _exit(whole_write(ends[1], bytes, MANY) ? 0 : 1);
    close(ends[1]);
    CHECK(whole_read(ends[0], got, MANY + 1) == MANY);
    CHECK(memcmp(got, bytes, MANY) == 0);
    int status = -1;
    CHECK(waitpid(writer, &status, 0) == writer && status == 0);
    close(ends[0]);
}

static void a_failure_has_its_errno(void)
{
    int ends[2];
    signal(SIGPIPE, SIG_IGN);
    CHECK(pipe(ends) == 0);
    close(ends[0]);
    errno = 0;
    CHECK(!whole_write(ends[1], "x", 1) && errno == EPIPE);
    errno = 0;
    CHECK(whole_read(ends[1], got, 1) == -1 && errno == EBADF);
    close(ends[1]);
    const int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
    errno = 0;
    CHECK(!whole_write_at(full, "x", 1, 0) && errno == ENOSPC);
    close(full);
}

static void nothing_to_write_is_written(void)
{
    CHECK(whole_write(-1, "", 0));
    CHECK(whole_read(-1, got, 0) == 0);
}

int main(void)
{
    RUN(what_is_at_an_offset_is_read_and_written);
    RUN(more_than_a_pipe_holds_passes_whole);
    RUN(a_failure_has_its_errno);
    RUN(nothing_to_write_is_written);
    return check_done();
}
