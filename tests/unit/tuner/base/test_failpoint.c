/* Deaths on purpose, and what the file holds afterwards. */
#include <sys/wait.h>

#include "tests/lib/core_fixture.h"
#include "tuner/base/failpoint.h"

static void only_name_and_count_arm(void)
{
    struct failpoint failpoint;
    CHECK(failpoint_arm(&failpoint, NULL) && failpoint.left == 0);
    CHECK(failpoint_arm(&failpoint, "") && failpoint.left == 0);
    CHECK(failpoint_arm(&failpoint, "after_commit:3") && failpoint.left == 3);
    static const char *const wrong[] = {"after_commit", ":1",   "a:0",
                                        "a:-1",         "a:1x", "a:"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        CHECK(!failpoint_arm(&failpoint, wrong[i]) && failpoint.left == 0);
}

/* A child of this process works until it dies at the failpoint; what it had
 * been answered is the number of records it passed through the pipe. */
static int64_t work_until_death(struct fixture *fixture, const char *fail)
{
    int ends[2];
    CHECK(pipe(ends) == 0);
    const pid_t pid = fork();
    if (pid == 0) {
        struct leased leased = {0};
        int64_t acknowledged = 0;
        fixture->options.fail = fail;
        fixture_start(fixture);
        fixture_lease(fixture, 1, &leased);
        fixture_tell(fixture, "started", &leased.name, "");
        for (int i = 1; i <= 50; i++) {
            fixture_report(fixture, leased.token,
                           fixture_record(fixture, i, i, "0.5"));
            acknowledged++;
            if (write(ends[1], "r", 1) != 1)
                _exit(1);
        }
        _exit(0);
    }
    close(ends[1]);
    int64_t acknowledged = 0;
    char byte;
    while (read(ends[0], &byte, 1) == 1)
        acknowledged++;
    close(ends[0]);
    int status = 0;
    CHECK(waitpid(pid, &status, 0) == pid);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == FAILPOINT_EXIT);
    return acknowledged;
}

static void no_death_loses_an_acknowledged_record(void)
{
    static const char *const places[] = {"before_commit", "after_commit",
                                         "before_answer"};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        for (int n = 4; n <= 20; n += 4) {
            struct fixture f;
            fixture_open(&f);
            fixture_submit(&f, "spec: 1\nname: s\ngoal: maximize accuracy\n"
                               "parameters:\n  lr: [1]\nalgorithm: grid\n"
                               "trials: 1\ncommand: [./train]\n");
            CHECK(fixture_await_trials(&f, 1, TRIAL_REQUESTED, 1));
            fixture_hello(&f, 1);
            fixture_stop(&f);
            char fail[32];
            snprintf(fail, sizeof fail, "%s:%d", places[i], n);
            const int64_t acknowledged = work_until_death(&f, fail);
            CHECK(fixture_start(&f));
            struct db *db = fixture_db(&f);
            struct measurement_list list = {0};
            CHECK(db_measurement_list(db, f.arena, 1, 1, 1000, &list, NULL) ==
                  HT_OK);
            CHECK((int64_t)list.n >= acknowledged);
            CHECK((int64_t)list.n <= acknowledged + 1);
            CHECK(db_measurement_check(db, NULL) == HT_OK);
            db_close(db);
            fixture_close(&f);
        }
}

int main(void)
{
    RUN(only_name_and_count_arm);
    RUN(no_death_loses_an_acknowledged_record);
    return check_done();
}
