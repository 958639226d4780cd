#include "proto/base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "proto/base/clock.h"
#include "tests/check.h"

static char written[4096];
static int saved_stderr, ends[2];

static void catch_begin(void)
{
    CHECK(pipe2(ends, O_CLOEXEC) == 0);
    saved_stderr = dup(STDERR_FILENO);
    CHECK(dup2(ends[1], STDERR_FILENO) == STDERR_FILENO);
    close(ends[1]);
}

/* What was written to stderr since. */
static const char *catch_end(void)
{
    CHECK(dup2(saved_stderr, STDERR_FILENO) == STDERR_FILENO);
    close(saved_stderr);
    const ssize_t n = read(ends[0], written, sizeof written - 1);
    written[n > 0 ? n : 0] = '\0';
    close(ends[0]);
    return written;
}

static void an_event_is_a_line(void)
{
    catch_begin();
    log_event(LOG_INFO, "study.made", "study=%d", 7);
    log_event(LOG_WARN, "runner.lost", "%s", "");
    CHECK_TEXT(catch_end(), "info study.made study=7\nwarn runner.lost\n");
}

static void control_bytes_are_escaped(void)
{
    catch_begin();
    log_event(LOG_ERROR, "a.b", "reason=\"%s\"", "x\n\033[31m");
    CHECK(strchr(catch_end(), '\033') == NULL);
    CHECK(strchr(written, '\n') == written + strlen(written) - 1);
}

static void errno_is_preserved(void)
{
    catch_begin();
    errno = ENOSPC;
    log_event(LOG_INFO, "a.b", "n=%d", 1);
    const int code = errno;
    catch_end();
    CHECK(code == ENOSPC);
}

static void debug_is_shown_on_demand(void)
{
    catch_begin();
    log_event(LOG_DEBUG, "a.b", "n=%d", 1);
    log_set_level(LOG_DEBUG);
    log_event(LOG_DEBUG, "a.b", "n=%d", 2);
    log_set_level(LOG_INFO);
    CHECK_TEXT(catch_end(), "debug a.b n=2\n");
}

static void stamps_end_the_line(void)
{
    static const char start[] = "info a.b n=1 at=";
    int64_t ms = 0;
    catch_begin();
    log_set_stamped(true);
    log_event(LOG_INFO, "a.b", "n=%d", 1);
    log_set_stamped(false);
    catch_end();
    written[strcspn(written, "\n")] = '\0';
    CHECK(strncmp(written, start, sizeof start - 1) == 0);
    CHECK(clock_read_stamp(written + sizeof start - 1, &ms));
}

int main(void)
{
    RUN(an_event_is_a_line);
    RUN(control_bytes_are_escaped);
    RUN(errno_is_preserved);
    RUN(debug_is_shown_on_demand);
    RUN(stamps_end_the_line);
    return check_done();
}
