/* One line per event, on stderr. */
#include "tuner/base/log.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/check.h"

static char line[4096]; /* what was written last, without the time */

/* Logs with stderr in a pipe; returns the line up to its time. */
#define LOGGED(...) (catch_stderr(), log_event(__VA_ARGS__), release_stderr())

static int real_stderr, ends[2];

static void catch_stderr(void)
{
    fflush(stderr);
    real_stderr = dup(STDERR_FILENO);
    CHECK(pipe(ends) == 0);
    CHECK(dup2(ends[1], STDERR_FILENO) == STDERR_FILENO);
    close(ends[1]);
}

static const char *release_stderr(void)
{
    CHECK(dup2(real_stderr, STDERR_FILENO) == STDERR_FILENO);
    close(real_stderr);
    const ssize_t n = read(ends[0], line, sizeof line - 1);
    close(ends[0]);
    line[n > 0 ? n : 0] = '\0';
    char *time = strstr(line, " at=20");
    if (time != NULL) {
        CHECK_TEXT(strchr(time, '\n'), "\n"); /* one line, to its end */
        *time = '\0';
    }
    return line;
}

static void a_line_has_level_event_pairs_and_time(void)
{
    CHECK_TEXT(LOGGED(LOG_WARN, "runner.lost", "runner=%s ms=%d", "a:3", 31),
               "warn runner.lost runner=a:3 ms=31");
    CHECK_TEXT(LOGGED(LOG_ERROR, "disk.full", "%s", ""), "error disk.full");
    CHECK_TEXT(LOGGED(LOG_INFO, "server.started", "port=%d", 1),
               "info server.started port=1");
}

static void events_below_the_level_are_not_shown(void)
{
    CHECK_TEXT(LOGGED(LOG_DEBUG, "poll", "n=%d", 1), "");
    log_set_level(LOG_DEBUG);
    CHECK_TEXT(LOGGED(LOG_DEBUG, "poll", "n=%d", 1), "debug poll n=1");
    log_set_level(LOG_ERROR);
    CHECK_TEXT(LOGGED(LOG_WARN, "poll", "n=%d", 1), "");
    log_set_level(LOG_INFO);
}

static void a_value_cannot_begin_a_line_or_steer_a_terminal(void)
{
    CHECK_TEXT(LOGGED(LOG_INFO, "a", "text=%s", "x\nerror b\x1b[2J"),
               "info a text=x\\x0aerror b\\x1b[2J");
}

static void a_long_line_is_cut(void)
{
    char *text = malloc(4001);
    memset(text, 'x', 4000);
    text[4000] = '\0';
    const size_t len = strlen(LOGGED(LOG_INFO, "a", "%s", text));
    CHECK(len == strlen("info a ") + 2047);
    free(text);
}

static void errno_is_kept_even_where_stderr_is_closed(void)
{
    const int saved = dup(STDERR_FILENO);
    close(STDERR_FILENO);
    errno = ENOENT;
    log_event(LOG_INFO, "a", "n=%d", 1);
    const int after = errno;
    CHECK(dup2(saved, STDERR_FILENO) == STDERR_FILENO);
    close(saved);
    CHECK(after == ENOENT);
}

int main(void)
{
    RUN(a_line_has_level_event_pairs_and_time);
    RUN(events_below_the_level_are_not_shown);
    RUN(a_value_cannot_begin_a_line_or_steer_a_terminal);
    RUN(a_long_line_is_cut);
    RUN(errno_is_kept_even_where_stderr_is_closed);
    return check_done();
}
