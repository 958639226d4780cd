/* runner/mirror/names.h: paths that a hostile login node or trial could send,
 * and which files go which way. */
#include "runner/mirror/names.h"

#include "tests/check.h"

static void paths_that_lead_elsewhere_are_none(void)
{
    static const char *const bad[] = {
        "",       "/",      "/etc/passwd", "..",       "../x",         "a/..",
        "a/../b", "a//b",   "a/",          "./a",      "a/.",          "a/./b",
        "a\nb",   "a\033b", "a\177",       "/a/../..", "a/b/../../..",
    };
    static const char *const good[] = {
        "a", "a/b", "1/2/3/master-0/stop", "a/..b", "a/b..", "...", ".put.x"};
    char longest[300] = "";
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        CHECK(!names_is_path(bad[i]));
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        CHECK(names_is_path(good[i]));
    memset(longest, 'a', 255);
    CHECK(names_is_path(longest));
    longest[255] = 'a';
    CHECK(!names_is_path(longest));
}

static void files_of_an_attempt_go_their_way(void)
{
    static const struct {
        const char *path;
        enum names_file is;
    } rows[] = {
        {"placement.json", NAMES_OURS},
        {"worker-1/launch.json", NAMES_OURS},
        {"worker-1/token", NAMES_OURS},
        {"worker-1/params", NAMES_OURS},
        {"worker-1/stop", NAMES_OURS},
        {"worker-1/exit.json", NAMES_WHOLE},
        {"worker-1/shim.json", NAMES_WHOLE},
        {"worker-1/stdout.000000000000.log", NAMES_GROWS},
        {"worker-1/stderr.000001048576.log", NAMES_GROWS},
        {"worker-1/reports.jsonl", NAMES_GROWS},
        {"worker-1/output.metrics", NAMES_GROWS},
        {"master-0/events.jsonl", NAMES_GROWS},
        {"worker-1/copy/out.csv", NAMES_GROWS},
        {"worker-2/copy/out.csv", NAMES_NONE},
        {"lease.json", NAMES_NONE},
        {"slot.json", NAMES_NONE},
        {"worker-1/runner.000000000000.log", NAMES_NONE},
        {"worker-1/stdout..log", NAMES_NONE},
        {"worker-1/stdout.1.log.x", NAMES_NONE},
        {"worker-1/sub/exit.json", NAMES_NONE},
        {".hidden/exit.json", NAMES_NONE},
        {"../exit.json", NAMES_NONE},
        {"worker-1/../exit.json", NAMES_NONE},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        CHECK(names_of(NAMES_ATTEMPT, "worker-1/copy/out.csv", rows[i].path) ==
              rows[i].is);
}

static void files_of_a_batch_go_their_way(void)
{
    static const struct {
        const char *path;
        enum names_file is;
    } rows[] = {
        {"patience.json", NAMES_OURS}, {"12/answer.3", NAMES_OURS},
        {"12/ask.3", NAMES_WHOLE},     {"12/element.json", NAMES_WHOLE},
        {"12/ended.0", NAMES_WHOLE},   {"12/address.1.0", NAMES_WHOLE},
        {"12.out", NAMES_GROWS},       {"batch.json", NAMES_NONE},
        {"x/ask.3", NAMES_NONE},       {"12/ask.", NAMES_NONE},
        {"12/ask.-1", NAMES_NONE},     {"12/exit.json", NAMES_NONE},
        {"a.out", NAMES_NONE},         {"12/12345678901234567890", NAMES_NONE},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        CHECK(names_of(NAMES_BATCH, "", rows[i].path) == rows[i].is);
}

static void what_an_earlier_connection_left_is_recognised(void)
{
    CHECK(names_is_found("batches/ht-1") && names_is_found("code/abc"));
    CHECK(names_is_found("1/2/3"));
    CHECK(!names_is_found("batches") && !names_is_found("batches/a/b"));
    CHECK(!names_is_found("batches/..") && !names_is_found("1/2"));
    CHECK(!names_is_found("1/2/checkpoints") && !names_is_found("1/2/3/4"));
    CHECK(!names_is_found("bin/shim") && !names_is_found("kit/x"));
}

static void files_that_a_trial_writes_are_bounded(void)
{
    CHECK(names_most("1/2/3/w/stdout.000000000000.log") == 1024 * 1024);
    CHECK(names_most("1/2/3/w/exit.json") == 48 * 1024);
    CHECK(names_most("batches/b/1.out") == 256 * 1024);
    CHECK(names_most("1/2/3/w/reports.jsonl") == 256 * 1024 * 1024);
    CHECK(names_may_go("1/2/3/w/stdout.000000000000.log"));
    CHECK(!names_may_go("1/2/3/w/reports.jsonl"));
}

int main(void)
{
    RUN(paths_that_lead_elsewhere_are_none);
    RUN(files_of_an_attempt_go_their_way);
    RUN(files_of_a_batch_go_their_way);
    RUN(what_an_earlier_connection_left_is_recognised);
    RUN(files_that_a_trial_writes_are_bounded);
    return check_done();
}
