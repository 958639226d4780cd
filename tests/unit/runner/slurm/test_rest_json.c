/* Answers of slurmrestd: those of 22.05 (v0.0.38) and 24.11 (v0.0.42). */
#include "runner/base/json.h"
#include "runner/slurm/rest_json.h"
#include "tests/check.h"

static struct arena *arena;
static struct ht_error err;

static const struct node *read_json(const char *json)
{
    const struct node *node = json_read(arena, json, strlen(json));
    CHECK(node != NULL);
    return node;
}

static enum ht_status check(long code, const char *json)
{
    err = (struct ht_error){0};
    return rest_check(arena, code, read_json(json), &err);
}

static const char *rows_text(const char *jobs)
{
    const struct rest_user user = {NULL, 0};
    struct slurm_rows rows;
    struct text out = {0};
    rest_rows(arena, read_json(jobs), "ht-", &user, &rows);
    for (size_t i = 0; i < rows.n; i++) {
        const struct slurm_row *row = &rows.rows[i];
        text_printf(&out, "%lld_%d-%d%s %d %s %s %lld %d %d\n",
                    (long long)row->job, row->first, row->last,
                    row->cut ? "+" : "", row->state, row->reason, row->nodes,
                    (long long)row->end_ms, row->exit, row->signal);
    }
    return text_take(&out, arena);
}

#define OLD(id, task, tasks, state, reason, code)                              \
    "{\"array_job_id\":56,\"array_task_id\":" task                             \
    ",\"array_task_string\":\"" tasks "\",\"job_id\":" id                      \
    ",\"name\":\"ht-x\",\"job_state\":\"" state                                \
    "\",\"state_reason\":\"" reason                                            \
    "\",\"nodes\":\"n1\",\"end_time\":17,\"exit_code\":" code                  \
    ",\"restart_cnt\":0,\"user_id\":0,\"user_name\":\"root\"}"

static void jobs_of_22_05_are_rows(void)
{
    CHECK_TEXT(
        rows_text(
            "{\"jobs\":[" OLD("57", "0", "", "FAILED", "NonZeroExitCode", "768") "," OLD(
                "58", "1", "", "FAILED", "JobLaunchFailure",
                "9") "," OLD("59", "2", "", "RUNNING", "None",
                             "0") "," OLD("60", "3", "", "COMPLETING", "None",
                                          "0") "," OLD("61", "null", "",
                                                       "CANCELLED", "Resources",
                                                       "0") "," OLD("56",
                                                                    "null",
                                                                    "4,6-9%2",
                                                                    "PENDING",
                                                                    "JobHeldUse"
                                                                    "r",
                                                                    "0") "]}"),
        "56_0-0 4 NonZeroExitCode n1 17000 3 -1\n"
        "56_1-1 4 JobLaunchFailure n1 17000 -1 9\n"
        "56_2-2 1  n1 17000 -1 -1\n"
        "56_3-3 2  n1 17000 -1 -1\n"
        "56_4-4 12 JobHeldUser n1 0 -1 -1\n"
        "56_6-9 12 JobHeldUser n1 0 -1 -1\n");
}

/* "70" was cut to "7": it is no element of this list. */
static void what_slurm_cuts_off_may_wait(void)
{
    CHECK_TEXT(rows_text("{\"jobs\":[" OLD("56", "null", "1,4-5,66,7...",
                                           "PENDING", "None", "0") "]}"),
               "56_1-1 0  n1 0 -1 -1\n56_4-5 0  n1 0 -1 -1\n"
               "56_66-66 0  n1 0 -1 -1\n56_67-10000000+ 0  n1 0 -1 -1\n");
    CHECK_TEXT(rows_text("{\"jobs\":[" OLD("56", "null", "1,62-...", "PENDING",
                                           "None", "0") "]}"),
               "56_1-1 0  n1 0 -1 -1\n56_2-10000000+ 0  n1 0 -1 -1\n");
    CHECK_TEXT(rows_text("{\"jobs\":[" OLD("56", "null", "1,4,...", "PENDING",
                                           "None", "0") "]}"),
               "56_1-1 0  n1 0 -1 -1\n56_4-4 0  n1 0 -1 -1\n"
               "56_5-10000000+ 0  n1 0 -1 -1\n");
}

static void a_controller_that_takes_no_job_now_refuses_none(void)
{
    static const int codes[] = {1800, 2007, 2027, 2037, 2103, 2131, 5004, 5005};
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        CHECK(check(500, arena_printf(arena,
                                      "{\"errors\":[{\"error_number\":%d,"
                                      "\"error\":\"words\"}]}",
                                      codes[i])) == HT_UNAVAILABLE);
    CHECK(check(500, "{\"errors\":[{\"error_number\":8000,\"error\":\"Time "
                     "limit specification required, but not provided\"}]}") ==
          HT_PRECONDITION);
}

#define NUMBER(set, n) "{\"set\":" set ",\"infinite\":false,\"number\":" n "}"
#define NEW(task, tasks, states, exit, signal, restarts)                       \
    "{\"array_job_id\":" NUMBER(                                               \
        "true",                                                                \
        "46") ",\"array_task_id\":" task ",\"array_task_string\":\"" tasks     \
              "\",\"job_id\":49,\"name\":\"ht-j\","                            \
              "\"job_state\":[" states                                         \
              "],\"state_reason\":\"None\",\"nodes\":\"n1\","                  \
              "\"end_time\":" NUMBER(                                          \
                  "true", "17") ",\"exit_code\":{\"status\":"                  \
                                "[\"ERROR\"],\"return_code\":" exit            \
                                ",\"signal\":{\"id\":" signal                  \
                                ",\"name\":\"\"}},\"restart_cnt\":" restarts   \
                                ",\"user_id\":0}"
#define UNSET NUMBER("false", "0")

static void jobs_of_24_11_are_rows(void)
{
    CHECK_TEXT(
        rows_text("{\"jobs\":[" NEW(
            NUMBER("true", "0"), "", "\"FAILED\"", NUMBER("true", "3"), UNSET,
            "0") "," NEW(NUMBER("true", "1"), "", "\"FAILED\"", UNSET,
                         NUMBER("true", "9"),
                         "0") "," NEW(NUMBER("true", "2"), "",
                                      "\"CANCELLED\",\"COMPLETING\"",
                                      NUMBER("true", "0"), UNSET,
                                      "0") "," NEW(NUMBER("true", "3"), "",
                                                   "\"RUNNING\","
                                                   "\"CONFIGURING\"",
                                                   NUMBER("true", "0"), UNSET,
                                                   "0") "," NEW(NUMBER("true",
                                                                       "4"),
                                                                "",
                                                                "\"PENDING\"",
                                                                NUMBER("true",
                                                                       "0"),
                                                                UNSET,
                                                                "1") "," NEW(UNSET,
                                                                             "5"
                                                                             "-"
                                                                             "9",
                                                                             "\"PENDING\"",
                                                                             NUMBER(
                                                                                 "true",
                                                                                 "0"),
                                                                             UNSET,
                                                                             "0") "]}"),
        "46_0-0 4  n1 17000 3 -1\n"
        "46_1-1 4  n1 17000 -1 9\n"
        "46_2-2 2  n1 17000 -1 -1\n"
        "46_3-3 1  n1 17000 -1 -1\n"
        "46_4-4 11  n1 0 -1 -1\n"
        "46_5-9 0  n1 0 -1 -1\n");
}

/* {"jobs":[...]} with the job 4, which is no array. */
static const char *alone(const char *element, const char *state,
                         const char *het, const char *offset)
{
    return arena_printf(arena,
                        "{\"jobs\":[{\"job_id\":4,\"array_task_id\":%s,"
                        "\"array_task_string\":\"\",\"name\":\"ht-x\","
                        "\"nodes\":\"n1\",\"user_id\":0,\"job_state\":%s,"
                        "\"het_job_id\":%s,\"het_job_offset\":%s}]}",
                        element, state, het, offset);
}

static void a_heterogeneous_job_is_a_row_by_its_first_component(void)
{
    static const char waits[] = "[\"PENDING\"]";
    CHECK_TEXT(rows_text(alone("null", "\"RUNNING\"", "4", "0")),
               "4_-1-0 1  n1 0 -1 -1\n");
    CHECK_TEXT(rows_text(alone("null", "\"RUNNING\"", "3", "1")), "");
    CHECK_TEXT(rows_text(alone("null", "\"RUNNING\"", "0", "0")), "");
    CHECK_TEXT(rows_text(alone(UNSET, waits, NUMBER("true", "4"),
                               NUMBER("true", "0"))),
               "4_-1-0 0  n1 0 -1 -1\n");
    CHECK_TEXT(rows_text(alone(UNSET, waits, NUMBER("true", "0"),
                               NUMBER("true", "0"))),
               "");
}

static void a_job_of_another_user_is_no_row(void)
{
    const struct rest_user user = {"ann", 0};
    struct slurm_rows rows;
    rest_rows(arena,
              read_json("{\"jobs\":[" OLD("57", "0", "", "RUNNING", "None",
                                          "0") "]}"),
              "ht-", &user, &rows);
    CHECK(rows.n == 0);
}

static void errors_are_refusals_in_slurms_words(void)
{
    CHECK(check(500,
                "{\"errors\":[{\"error_code\":2014,\"error\":\"Requested "
                "node configuration is not available\"}]}") == HT_PRECONDITION);
    CHECK_TEXT(err.text, "Requested node configuration is not available");
    CHECK(check(500, "{\"errors\":[{\"error_number\":2017,\"error\":\"Invalid "
                     "job id specified\"}]}") == HT_NOT_FOUND);
    CHECK(check(404, "{\"errors\":[]}") == HT_NOT_FOUND);
    CHECK(check(400, "{\"errors\":[{\"description\":\"Unknown key \\\"a\\\"\"},"
                     "{\"error_code\":9001,\"error\":\"Failure during "
                     "parsing\"}]}") == HT_PRECONDITION);
    CHECK_TEXT(err.text, "Unknown key \"a\"");
    CHECK(check(500, "{\"errors\":[{\"description\":\"Failed while looking for "
                     "jobs\",\"error_number\":-1,\"error\":\"Unspecified "
                     "error\"}]}") == HT_UNAVAILABLE);
    CHECK(check(200, "{\"job_id\":7,\"errors\":[{\"description\":\"Unknown "
                     "signal (null)\",\"error_number\":0,\"error\":\"No "
                     "error\"}]}") == HT_PRECONDITION);
}

static void a_field_that_is_ignored_is_an_error(void)
{
    CHECK(check(200, "{\"job_id\":12,\"errors\":[],\"warnings\":[{"
                     "\"description\":\"Ignoring unknown field \\\"gres\\\"\","
                     "\"source\":\"#/job/gres/\"}]}") == HT_PRECONDITION);
    CHECK_TEXT(err.text, "Ignoring unknown field \"gres\"");
}

static void a_job_that_is_held_as_asked_is_accepted(void)
{
    CHECK(check(200, "{\"job_id\":18,\"errors\":[{\"error_code\":2042,"
                     "\"error\":\"Job is in held state\"}]}") == HT_OK);
    CHECK(check(200, "{\"job_id\":17,\"errors\":[],\"warnings\":[{"
                     "\"description\":\"Job is in held state\",\"source\":"
                     "\"slurm_submit_batch_job()\"}]}") == HT_OK);
}

static void the_highest_version_that_both_know_is_chosen(void)
{
    CHECK(rest_find_version(read_json(
              "{\"paths\":{\"/slurm/v0.0.40/ping/\":{},"
              "\"/slurm/v0.0.42/ping/\":{},\"/slurm/v0.0.99/ping/\":{},"
              "\"/slurm/v0.0.41/ping/\":{}}}")) == 42);
    CHECK(rest_find_version(
              read_json("{\"paths\":{\"/slurm/v0.0.37/ping\":{}}}")) == 0);
}

int main(void)
{
    arena = arena_new();
    RUN(jobs_of_22_05_are_rows);
    RUN(what_slurm_cuts_off_may_wait);
    RUN(a_controller_that_takes_no_job_now_refuses_none);
    RUN(jobs_of_24_11_are_rows);
    RUN(a_heterogeneous_job_is_a_row_by_its_first_component);
    RUN(a_job_of_another_user_is_no_row);
    RUN(errors_are_refusals_in_slurms_words);
    RUN(a_field_that_is_ignored_is_an_error);
    RUN(a_job_that_is_held_as_asked_is_accepted);
    RUN(the_highest_version_that_both_know_is_chosen);
    arena_free(arena);
    return check_done();
}
