/* Entries of logs: their keys, tasks and texts, and the service's words. */
#include "tuner/logs/entry.h"

#include <stdint.h>
#include <string.h>

#include "proto/doc/json.h"
#include "tests/check.h"
#include "tuner/logs/event_line.h"

static struct arena *arena;

/* In their order. */
static const struct entry_key keys[] = {
    {.us = 0},
    {.us = 1, .line = 9},
    {.us = 1795231102123456, .study = 2, .id = 9, .line = 15},
    {.us = 1795231102123456, .study = 2, .id = 9, .line = 16},
    {.us = 1795231102123456, .study = 2, .id = 10},
    {.us = 1795231102123456, .study = 16, .id = 1},
    {.us = 1795231102123456, .origin = ENTRY_EVENT, .study = 2, .id = 1},
    {.us = 1795231102123457},
    {INT64_C(0xFFFFFFFFFFFFF), ENTRY_EVENT, 1, 1, ENTRY_LAST_LINE}};
enum { KEYS = sizeof keys / sizeof *keys };

static void ids_are_ordered_as_their_keys(void)
{
    char before[ENTRY_ID_BYTES], after[ENTRY_ID_BYTES];
    for (size_t i = 1; i < KEYS; i++) {
        CHECK(entry_key_order(&keys[i - 1], &keys[i]) < 0 &&
              entry_key_order(&keys[i], &keys[i - 1]) > 0);
        CHECK(strcmp(entry_id(before, &keys[i - 1]),
                     entry_id(after, &keys[i])) < 0);
        CHECK(strlen(before) == strlen(after));
    }
}

static void ids_are_read_back(void)
{
    char id[ENTRY_ID_BYTES];
    struct entry_key back;
    for (size_t i = 0; i < KEYS; i++)
        CHECK(entry_id_read(entry_id(id, &keys[i]), &back) &&
              entry_key_order(&back, &keys[i]) == 0);
    static const char *const wrong[] = {
        "",
        "1",
        "x660d0cfb827c300000000001000000000001000001",
        "0660d0cfb827c320000000001000000000001000001",  /* no such origin */
        "0660d0cfb827c3000000000010000000000010000011", /* longer */
        "0660D0CFB827C300000000001000000000001000001"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        CHECK(!entry_id_read(wrong[i], &back));
}

static void tasks_have_the_names_of_their_api(void)
{
    const struct entry_job legacy = {.is_legacy = true}, vertex = {0};
    static const struct {
        const char *replica, *legacy, *vertex;
    } all[] = {{"master-0", "master-replica-0", "workerpool0-0"},
               {"worker-11", "worker-replica-11", "workerpool1-11"},
               {"ps-2", "ps-replica-2", "workerpool2-2"},
               {"evaluator-0", "evaluator-replica-0", "workerpool3-0"},
               {"mast-0", "mast-replica-0", "mast-0"},
               {"odd", "odd", "odd"}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        CHECK_TEXT(entry_task(arena, &legacy, all[i].replica), all[i].legacy);
        CHECK_TEXT(entry_task(arena, &vertex, all[i].replica), all[i].vertex);
    }
}

/* The payload and severity of a line of stdout. */
static void shows(const char *line, const char *wanted)
{
    const struct entry_job job = {
        .project = "p", .id = "j", .names = {"j", "1"}};
    struct entry entry = {.job = &job,
                          .task = "a task/0",
                          .stream = "stdout",
                          .severity = "INFO",
                          .text = line};
    struct text out = {0};
    entry_read_json(arena, &entry);
    entry_write(arena, &entry, &out);
    CHECK(strstr(out.data, "projects/p/logs/a%20task%2F0\"") != NULL);
    const char *payload = strstr(out.data, "Payload\":") - 4;
    struct text got = {0};
    text_printf(&got, "%s %s", entry.severity, payload);
    CHECK_TEXT(got.data, wanted);
    text_free(&got);
    text_free(&out);
}

static void objects_with_a_message_are_payloads(void)
{
    shows("plain \"text\"", "INFO textPayload\":\"plain \\\"text\\\"\"}");
    shows("", "INFO textPayload\":\"\"}");
    shows("{\"message\":\"m\",\"severity\":\"error\",\"n\":12345678901}",
          "ERROR jsonPayload\":{\"message\":\"m\",\"n\":12345678901}}");
    shows("{\"message\":\"m\",\"severity\":7}",
          "INFO jsonPayload\":{\"message\":\"m\",\"severity\":7}}");
    shows("{\"message\":\"m\"", "INFO textPayload\":\"{\\\"message\\\":"
                                "\\\"m\\\"\"}");
    shows("{\"message\":1}", "INFO textPayload\":\"{\\\"message\\\":1}\"}");
    shows("{}", "INFO textPayload\":\"{}\"}");
}

static void tells(const char *kind, const char *from, const char *to,
                  enum job_kind job, const char *wanted)
{
    const struct event_row event = {.kind = kind,
                                    .trial = 3,
                                    .attempt = 2,
                                    .from = from,
                                    .to = to,
                                    .reason = "why"};
    const char *severity = "";
    const char *line = event_line(arena, &event, job, &severity);
    char got[160];
    snprintf(got, sizeof got, "%s %s", severity, line != NULL ? line : "-");
    CHECK_TEXT(line != NULL ? got : "-", wanted);
}

static void the_service_tells_what_a_person_would_miss(void)
{
    const enum job_kind tuning = JOB_TUNING;
    tells("study.created", "", "RUNNING", tuning, "INFO The job is queued");
    tells("study.warned", "", "", tuning, "WARNING why");
    tells("trial.warned", "", "", tuning, "WARNING Trial 3: why");
    tells("study.changed", "", "", tuning, "INFO The job was changed: why");
    tells("study.moved", "RUNNING", "PAUSED", tuning,
          "WARNING The job is paused: why");
    tells("study.moved", "PAUSED", "RUNNING", tuning,
          "INFO The job continues: why");
    tells("study.moved", "RUNNING", "FAILED", tuning,
          "ERROR The job has failed: why");
    tells("study.moved", "FAILED", "DELETING", tuning, "-");
    tells("trial.moved", "PREPARED", "REQUESTED", tuning, "-");
    tells("trial.moved", "REQUESTED", "ACTIVE", tuning,
          "INFO Trial 3 is started (attempt 2): why");
    tells("trial.moved", "ACTIVE", "REQUESTED", tuning,
          "WARNING Trial 3 starts again later: why");
    tells("trial.moved", "ACTIVE", "INFEASIBLE", tuning,
          "ERROR Trial 3 has no result: why");
    tells("trial.moved", "ACTIVE", "FAILED", JOB_CUSTOM,
          "ERROR The run has failed: why");
    tells("attempt.moved", "DRAINING", "ENDED", tuning, "-");
    tells("trial.measured", "", "", tuning, "-");
}

int main(void)
{
    json_init();
    arena = arena_new();
    RUN(ids_are_ordered_as_their_keys);
    RUN(ids_are_read_back);
    RUN(tasks_have_the_names_of_their_api);
    RUN(objects_with_a_message_are_payloads);
    RUN(the_service_tells_what_a_person_would_miss);
    arena_free(arena);
    return check_done();
}
