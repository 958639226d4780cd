/* What the server counts while it works. Figures only grow, so each case has
 * its own. */
#include <string.h>

#include "tests/check.h"
#include "tuner/base/meter.h"

static bool shows(const char *line)
{
    struct text out = {0};
    meter_write(&out);
    const bool found = strstr(out.data, line) != NULL;
    if (!found)
        printf("# lacks %s", line);
    text_free(&out);
    return found;
}

static void what_is_counted_is_shown(void)
{
    CHECK(shows("\nhypertune_report_records_total 0\n"));
    meter_add(METER_RECORDS, 3);
    meter_add(METER_RECORDS, 4);
    CHECK(shows("\nhypertune_report_records_total 7\n"));
}

static void outcomes_have_their_own_figures(void)
{
    meter_add(METER_ATTEMPTS_SUCCEEDED, 1);
    meter_add(METER_ATTEMPTS_FAILED, 2);
    meter_add(METER_ATTEMPTS_STOPPED, 3);
    meter_add(METER_ATTEMPTS_TIMEOUT, 4);
    meter_add(METER_ATTEMPTS_LOST, 5);
    CHECK(shows("hypertune_attempts_ended_total{outcome=\"succeeded\"} 1\n"
                "hypertune_attempts_ended_total{outcome=\"failed\"} 2\n"
                "hypertune_attempts_ended_total{outcome=\"stopped\"} 3\n"
                "hypertune_attempts_ended_total{outcome=\"timeout\"} 4\n"
                "hypertune_attempts_ended_total{outcome=\"lost\"} 5\n"));
}

static void open_requests_are_those_without_an_answer(void)
{
    meter_add(METER_CORE_POSTED, 9);
    meter_add(METER_CORE_ANSWERED, 7);
    CHECK(shows("hypertune_requests_open{lane=\"core\"} 2\n"
                "hypertune_requests_open{lane=\"reader\"} 0\n"));
}

/* Each bucket has what is at most its bound, the last one all. */
static void the_buckets_of_a_spread_add_up(void)
{
    meter_observe(METER_COMMIT_ROWS, 1);
    meter_observe(METER_COMMIT_ROWS, 2);
    meter_observe(METER_COMMIT_ROWS, 3);
    meter_observe(METER_COMMIT_ROWS, 50000);
    CHECK(shows("hypertune_commit_rows_bucket{le=\"1\"} 1\n"
                "hypertune_commit_rows_bucket{le=\"3\"} 3\n"
                "hypertune_commit_rows_bucket{le=\"10\"} 3\n"));
    CHECK(shows("hypertune_commit_rows_bucket{le=\"10000\"} 3\n"
                "hypertune_commit_rows_bucket{le=\"+Inf\"} 4\n"
                "hypertune_commit_rows_sum 50006\n"
                "hypertune_commit_rows_count 4\n"));
}

static void a_clock_that_went_back_counts_as_no_time(void)
{
    meter_observe_since(METER_JUDGE_SECONDS, INT64_MAX);
    CHECK(shows("hypertune_early_stop_seconds_bucket{le=\"0.001\"} 1\n"));
    CHECK(shows("hypertune_early_stop_seconds_sum 0\n"));
}

static void an_answer_without_a_route_or_of_an_odd_code_is_counted(void)
{
    meter_http(METER_NO_ROUTE, 404);
    meter_http(METER_NO_ROUTE, 299);
    CHECK(shows("hypertune_http_requests_total{method=\"\",route=\"none\","
                "code=\"404\"} 1\n"));
    CHECK(shows("hypertune_http_requests_total{method=\"\",route=\"none\","
                "code=\"other\"} 1\n"));
}

int main(void)
{
    RUN(what_is_counted_is_shown);
    RUN(outcomes_have_their_own_figures);
    RUN(open_requests_are_those_without_an_answer);
    RUN(the_buckets_of_a_spread_add_up);
    RUN(a_clock_that_went_back_counts_as_no_time);
    RUN(an_answer_without_a_route_or_of_an_odd_code_is_counted);
    return check_done();
}
