#include "tests/check.h"

#include <stdlib.h>

#include "proto/doc/json.h"
#include "runner/base/disk.h"
#include "runner/cluster/clerk.h"
#include "tests/lib/runner_fixture.h"

/* squeue says its version; scontrol is asked for the limits first. */
static void put_commands(const char *folder, const char *scontrol)
{
    static const char squeue[] = "#!/bin/sh\necho slurm 22.05.8\n";
    char path[2 * PATH_MAX];
    CHECK(disk_write(folder, "squeue", squeue, sizeof squeue - 1, 0700, NULL) ==
          HT_OK);
    CHECK(disk_write(folder, "scontrol", scontrol, strlen(scontrol), 0700,
                     NULL) == HT_OK);
    (void)snprintf(path, sizeof path, "%s:%s", folder, getenv("PATH"));
    CHECK(setenv("PATH", path, 1) == 0);
}

static void a_stop_does_not_wait_for_a_controller_that_is_silent(void)
{
    char folder[PATH_MAX];
    struct ht_error err = {.text = ""};
    struct slurm *slurm = NULL;
    struct clerk *clerk = NULL;
    const struct slurm_settings settings = {.folder = folder};
    runner_fixture_folder(folder);
    put_commands(folder, "#!/bin/sh\n>\"${0%/*}/asked\"\nexec sleep 1000\n");
    CHECK(slurm_open(&settings, &slurm, &err) == HT_OK);
    CHECK(clerk_start(slurm, "ht-x-", &clerk, &err) == HT_OK);
    UNTIL(disk_has(folder, "asked"));
    const int64_t begin = clock_monotonic_ms();
    clerk_stop(clerk);
    CHECK(clock_monotonic_ms() - begin < SLURM_PATIENCE_MS / 2);
}

int main(void)
{
    json_init();
    runner_fixture_init();
    RUN(a_stop_does_not_wait_for_a_controller_that_is_silent);
    runner_fixture_fini();
    return check_done();
}
