/* The stored form of reports: metrics, writers and the replica that counts. */
#include "tuner/study/report_batch.h"

#include <math.h>

#include "tests/check.h"

static void metrics_are_json_and_infinite_ones_are_texts(void)
{
    struct arena *arena = arena_new();
    static const struct report_metric metrics[] = {{"accuracy", 0.1},
                                                   {"a\"b", -2},
                                                   {"loss", INFINITY},
                                                   {"x", -INFINITY},
                                                   {"y", NAN}};
    CHECK_TEXT(report_batch_metrics_text(arena, 5, metrics),
               "{\"accuracy\":0.1,\"a\\\"b\":-2,\"loss\":\"Infinity\","
               "\"x\":\"-Infinity\",\"y\":\"NaN\"}");
    CHECK_TEXT(report_batch_metrics_text(arena, 1, metrics),
               "{\"accuracy\":0.1}");
    arena_free(arena);
}

static void a_writer_is_sixteen_digits(void)
{
    char text[17];
    report_batch_writer_text(text, 0);
    CHECK_TEXT(text, "0000000000000000");
    report_batch_writer_text(text, UINT64_MAX);
    CHECK_TEXT(text, "ffffffffffffffff");
    report_batch_writer_text(text, 0xf3);
    CHECK_TEXT(text, "00000000000000f3");
}

static void the_first_replica_of_the_first_pool_counts(void)
{
    struct arena *arena = arena_new();
    struct pool pools[] = {{.type = "chief"}, {.type = "worker"}};
    struct job job = {0};
    CHECK_TEXT(report_batch_master(arena, &job), "master-0");
    job.n_pools = 2;
    job.pools = pools;
    CHECK_TEXT(report_batch_master(arena, &job), "chief-0");
    arena_free(arena);
}

int main(void)
{
    RUN(metrics_are_json_and_infinite_ones_are_texts);
    RUN(a_writer_is_sixteen_digits);
    RUN(the_first_replica_of_the_first_pool_counts);
    return check_done();
}
