/* Which events a job's log has, and how grave each is. */
#include "tuner/logs/event_line.h"

#include "tests/check.h"

static struct arena *arena;
static const char *severity;

static const char *line(const struct event_row *event, enum job_kind kind)
{
    severity = NULL;
    return event_line(arena, event, kind, &severity);
}

static struct event_row moved(const char *kind, const char *to)
{
    return (struct event_row){.kind = kind,
                              .trial = 3,
                              .attempt = 1,
                              .from = "ACTIVE",
                              .to = to,
                              .reason = ""};
}

static void a_reason_follows_the_line(void)
{
    struct event_row event = moved("trial.moved", "FAILED");
    CHECK_TEXT(line(&event, JOB_TUNING), "Trial 3 has failed");
    event.reason = "exit 1";
    CHECK_TEXT(line(&event, JOB_TUNING), "Trial 3 has failed: exit 1");
    CHECK_TEXT(severity, "ERROR");
    event = moved("study.moved", "SUCCEEDED");
    event.reason = "all trials done";
    CHECK_TEXT(line(&event, JOB_TUNING),
               "The job has succeeded: all trials done");
    CHECK_TEXT(severity, "INFO");
}

static void a_custom_job_has_one_run_and_no_trials(void)
{
    const struct event_row event = moved("trial.moved", "SUCCEEDED");
    CHECK_TEXT(line(&event, JOB_CUSTOM), "The run has succeeded");
}

static void a_later_attempt_has_its_number(void)
{
    struct event_row event = moved("trial.moved", "ACTIVE");
    const char *first = line(&event, JOB_TUNING);
    CHECK(first != NULL && strstr(first, "attempt") == NULL);
    event.attempt = 2;
    const char *second = line(&event, JOB_TUNING);
    CHECK(second != NULL && strstr(second, "(attempt 2)") != NULL);
}

static void severity_tells_what_needs_a_look(void)
{
    static const struct {
        const char *kind, *to, *severity;
    } moves[] = {
        {"study.moved", "RUNNING", "INFO"},
        {"study.moved", "PAUSED", "WARNING"},
        {"study.moved", "FAILED", "ERROR"},
        {"study.moved", "CANCELLED", "INFO"},
        {"trial.moved", "REQUESTED", "WARNING"}, /* it starts again */
        {"trial.moved", "STOPPED", "INFO"},
        {"trial.moved", "INFEASIBLE", "ERROR"},
        {"trial.moved", "PAUSED", "INFO"},
    };
    for (size_t i = 0; i < sizeof moves / sizeof *moves; i++) {
        const struct event_row event = moved(moves[i].kind, moves[i].to);
        CHECK(line(&event, JOB_TUNING) != NULL);
        CHECK_TEXT(severity, moves[i].severity);
    }
}

static void a_warning_is_its_own_line(void)
{
    struct event_row event = {.kind = "study.warned", .reason = "no runner"};
    CHECK_TEXT(line(&event, JOB_TUNING), "no runner");
    CHECK_TEXT(severity, "WARNING");
    event = (struct event_row){.kind = "study.created", .reason = ""};
    CHECK(line(&event, JOB_TUNING) != NULL);
    CHECK_TEXT(severity, "INFO");
}

static void what_no_person_would_miss_has_no_line(void)
{
    struct event_row event = moved("trial.measured", "");
    CHECK(line(&event, JOB_TUNING) == NULL);
    event = moved("attempt.moved", "RUNNING");
    CHECK(line(&event, JOB_TUNING) == NULL);
    event = moved("study.moved", "DELETING");
    CHECK(line(&event, JOB_TUNING) == NULL);
    event = moved("trial.moved", "REQUESTED"); /* it only gets its place */
    event.from = "PREPARED";
    CHECK(line(&event, JOB_TUNING) == NULL);
}

int main(void)
{
    arena = arena_new();
    RUN(a_reason_follows_the_line);
    RUN(a_custom_job_has_one_run_and_no_trials);
    RUN(a_later_attempt_has_its_number);
    RUN(severity_tells_what_needs_a_look);
    RUN(a_warning_is_its_own_line);
    RUN(what_no_person_would_miss_has_no_line);
    arena_free(arena);
    return check_done();
}
