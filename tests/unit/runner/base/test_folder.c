/* runner/base/folder.h: the runner's own lines about a replica, in a folder
 * that its trial may write. */
#include "runner/base/folder.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/base/limits.h"
#include "tests/check.h"
#include "tests/lib/runner_fixture.h"

static const char log_name[] = "runner.000000000000.log";

static void lines_are_lines_of_the_runners_stream(void)
{
    char folder[PATH_MAX];
    runner_fixture_folder(folder);
    folder_log_line(folder, "pulling %s", "a:1");
    folder_log_line(folder, "done");
    char *text = runner_fixture_text(folder, log_name);
    CHECK_TEXT(text, "pulling a:1\ndone\n");
    free(text);
}

static void lines_go_through_no_link_or_pipe(void)
{
    char folder[PATH_MAX], path[PATH_MAX + 32], target[PATH_MAX + 8];
    runner_fixture_folder(folder);
    (void)snprintf(path, sizeof path, "%s/%s", folder, log_name);
    (void)snprintf(target, sizeof target, "%s/x", folder);
    CHECK(symlink(target, path) == 0);
    folder_log_line(folder, "secret");
    CHECK(access(target, F_OK) != 0);
    CHECK(unlink(path) == 0 && mkfifo(path, 0600) == 0);
    folder_log_line(folder, "no reader"); /* returns at once */
    CHECK(unlink(path) == 0);
}

static void lines_end_with_their_segment(void)
{
    char folder[PATH_MAX], path[PATH_MAX + 32];
    struct stat status;
    runner_fixture_folder(folder);
    folder_log_line(folder, "first");
    (void)snprintf(path, sizeof path, "%s/%s", folder, log_name);
    CHECK(truncate(path, HT_LOG_SEGMENT - 4) == 0);
    folder_log_line(folder, "too long");
    CHECK(stat(path, &status) == 0 && status.st_size == HT_LOG_SEGMENT - 4);
}

int main(void)
{
    runner_fixture_init();
    RUN(lines_are_lines_of_the_runners_stream);
    RUN(lines_go_through_no_link_or_pipe);
    RUN(lines_end_with_their_segment);
    runner_fixture_fini();
    return check_done();
}
