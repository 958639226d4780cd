#include "proto/doc/json.h"
#include "proto/job/metrics_file.h"
#include "tests/check.h"

static struct arena *arena;

/* A job of one process, as it is once its folders are settled. */
static struct job make_job(const char *file, struct pool *pool)
{
    *pool = (struct pool){.type = "master", .count = 1};
    return (struct job){.metrics_file = file,
                        .workdir = "/w",
                        .parallel = 2,
                        .n_pools = 1,
                        .pools = pool};
}

static void all_ways_to_name_a_shared_file_are_one(void)
{
    static const char *const names[] = {"out.csv",        "./out.csv",
                                        "/w/out.csv",     "//w/./out.csv",
                                        "sub/../out.csv", "../w/x/../out.csv",
                                        "../../w/out.csv"};
    struct pool pool;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const struct job job = make_job(names[i], &pool);
        CHECK_TEXT(metrics_file_shared(arena, &job), "/w/out.csv");
    }
}

static void a_file_of_each_trial_is_not_shared(void)
{
    struct pool pool;
    struct job job = make_job("${trialDir}/out.csv", &pool);
    CHECK(metrics_file_shared(arena, &job) == NULL);
    job = make_job("out.csv", &pool);
    job.own_workdir = true;
    CHECK(metrics_file_shared(arena, &job) == NULL);
    job.metrics_file = "/w/out.csv"; /* outside of the copy */
    CHECK_TEXT(metrics_file_shared(arena, &job), "/w/out.csv");
    job = make_job("out.csv", &pool);
    job.workdir = NULL;
    CHECK(metrics_file_shared(arena, &job) == NULL);
    pool.image = "i";
    job.workdir = "/w";
    CHECK(metrics_file_shared(arena, &job) == NULL);
    job = make_job(NULL, &pool);
    CHECK(metrics_file_shared(arena, &job) == NULL);
    CHECK_TEXT(metrics_file_in_trial("${trialDir}//a/b"), "a/b");
    CHECK(metrics_file_in_trial("${trialDir}a") == NULL);
    CHECK(metrics_file_in_trial("x/${trialDir}/a") == NULL);
}

/* The fault of a spec with these lines, as it would be printed. */
static void expect(const char *lines, const struct job *job, const char *want)
{
    struct text said = {0};
    struct diag diag;
    diag_init(&diag, arena, "spec", lines, strlen(lines));
    const struct node *root = node_read(arena, lines, strlen(lines), &diag);
    metrics_file_check(root, job, &diag);
    metrics_events_check(root, job, &diag);
    text_puts(&said, "");
    diag_print(&diag, &said);
    if (want == NULL)
        CHECK_TEXT(said.data, "");
    else
        CHECK(strstr(said.data, want) != NULL);
    if (want != NULL && strstr(said.data, want) == NULL)
        printf("# %s\n", said.data);
    text_free(&said);
}

static void a_shared_file_is_for_one_process_at_a_time(void)
{
    static const char spec[] = "parallel: 2\nmetrics: {file: out.csv}\n";
    struct pool pool;
    struct job job = make_job("out.csv", &pool);
    expect(spec, &job, "2:17");
    expect(spec, &job, "metrics.file");
    expect(spec, &job, "file: ${trialDir}/out.csv");
    expect("{\"hypertune\":{\"metricsFile\":\"out.csv\"}}", &job,
           "hypertune.metricsFile");
    job.parallel = 1;
    expect(spec, &job, NULL);
    pool.count = 2;
    expect(spec, &job, "2 processes at a time");
    job.own_workdir = true;
    expect(spec, &job, NULL);
}

static void a_name_that_leaves_its_folder_is_refused(void)
{
    static const char spec[] = "metrics: {file: x}\n";
    struct pool pool;
    struct job job = make_job("${trialDir}/../out.csv", &pool);
    expect(spec, &job, "leaves the trial's own folder");
    job.metrics_file = "${trialDir}/";
    expect(spec, &job, "is a folder");
    job.metrics_file = "out/${trialDir}/x";
    expect(spec, &job, "must be the first part");
    job.metrics_file = "..";
    job.own_workdir = true;
    expect(spec, &job, "leaves the trial's own folder");
    job.metrics_file = "a..b/..c";
    expect(spec, &job, NULL);
}

static void event_files_are_in_a_folder_of_the_trial(void)
{
    static const char spec[] = "metrics: {events: x}\n";
    struct pool pool;
    struct job job = make_job(NULL, &pool);
    job.parallel = 1; /* what earlier trials wrote is there, too */
    job.metrics_events = "${trialDir}";
    expect(spec, &job, NULL);
    job.metrics_events = "${trialDir}/logs";
    expect(spec, &job, NULL);
    job.metrics_events = "logs/${trialDir}";
    expect(spec, &job, "must be the first part");
    job.metrics_events = "${trialDir}/../logs";
    expect(spec, &job, "leaves the trial's own folder");
    job.metrics_events = "sub/logs/";
    expect(spec, &job, "1:19");
    expect(spec, &job, "metrics.events: all trials would write");
    expect(spec, &job, "events: ${trialDir}/logs/ (in quotes");
    expect(spec, &job, "; or workdir: own");
    expect("{\"hypertune\":{\"metricsEvents\":\"x\"}}", &job,
           "hypertune.metricsEvents");
    job.own_workdir = true;
    expect(spec, &job, NULL);
    job.metrics_events = "/data/logs";
    expect(spec, &job, "each would get values of others");
    job.own_workdir = false;
    job.metrics_events = "logs";
    pool.image = "i";
    expect(spec, &job, NULL);
    job.metrics_events = "/logs";
    expect(spec, &job, "each would get values of others");
    job.n_pools = 0; /* clients run the trials */
    expect(spec, &job, NULL);
}

int main(void)
{
    json_init();
    arena = arena_new();
    RUN(all_ways_to_name_a_shared_file_are_one);
    RUN(a_file_of_each_trial_is_not_shared);
    RUN(a_shared_file_is_for_one_process_at_a_time);
    RUN(a_name_that_leaves_its_folder_is_refused);
    RUN(event_files_are_in_a_folder_of_the_trial);
    arena_free(arena);
    return check_done();
}
