/* What decides a trial is on the disk before its end is: else a power cut could
 * keep the one without the other. */
#include "runner/base/folder.h"
#include "tests/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static char synced[8][256];
static size_t n_synced;

/* Takes the place of libc's, notes the file and does the same. */
int fsync(int fd)
{
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    const ssize_t n = readlink(link, synced[n_synced % 8], 255);
    synced[n_synced++ % 8][n > 0 ? n : 0] = '\0';
    return (int)syscall(SYS_fsync, fd);
}

static bool ends_with(const char *path, const char *end)
{
    const size_t n = strlen(path), m = strlen(end);
    return n >= m && strcmp(path + n - m, end) == 0;
}

static void results_are_synced_before_the_end(void)
{
    static const char *const names[] = {"/reports.jsonl", "/output.metrics",
                                        "/events.jsonl"};
    char folder[] = "/tmp/ht-synced-XXXXXX", path[64], command[64];
    CHECK(mkdtemp(folder) != NULL);
    for (size_t i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s%s", folder, names[i]);
        FILE *file = fopen(path, "w");
        CHECK(file != NULL && fputs("{}\n", file) >= 0 && fclose(file) == 0);
    }
    const struct ending ending = {.outcome = OUTCOME_SUCCEEDED, .reason = ""};
    CHECK(folder_write_exit(folder, &ending, NULL) == HT_OK);
    CHECK(n_synced >= 4);
    for (size_t i = 0; i < 3; i++)
        CHECK(ends_with(synced[i], names[i]));
    snprintf(command, sizeof command, "rm -r %s", folder);
    CHECK(system(command) == 0);
}

int main(void)
{
    RUN(results_are_synced_before_the_end);
    return check_done();
}
