#include "tuner/route.h"

#include "tuner/gate.h"
#include "tuner/study.h"

#define VERTEX "/v1/projects/{project}/locations/{location}"
#define JOBS VERTEX "/hyperparameterTuningJobs"
#define STUDIES VERTEX "/studies"
#define OURS "/hypertune/v1"

#define CHANGE(how, path, handler)                                             \
    {                                                                          \
        .method = (how), .pattern = (path), .needs = GATE_SUBMIT,              \
        .lane = LANE_CORE, .core = (handler)                                   \
    }
#define QUERY(path, handler)                                                   \
    {                                                                          \
        .method = "GET", .pattern = (path), .needs = GATE_READ,                \
        .lane = LANE_READER, .read = (handler)                                 \
    }

const struct route route_table[] = {
    {.method = "GET",
     .pattern = "/healthz",
     .needs = GATE_OPEN,
     .lane = LANE_INSTANT,
     .instant = "{\"status\":\"ok\"}"},
    CHANGE("POST", JOBS, study_create),
    QUERY(JOBS, read_jobs),
    QUERY(JOBS "/{study}", read_job),
    CHANGE("POST", JOBS "/{study}:cancel", study_cancel),
    CHANGE("DELETE", JOBS "/{study}", study_delete),
    QUERY(STUDIES, read_studies),
    QUERY(STUDIES "/{study}", read_study),
    QUERY(STUDIES "/{study}/trials", read_trials),
    QUERY(STUDIES "/{study}/trials/{trial}", read_trial),
    {.method = "GET",
     .pattern = OURS "/server",
     .needs = GATE_READ | GATE_RUNNER,
     .lane = LANE_READER,
     .read = read_server},
    QUERY(OURS "/runners", read_runners),
    CHANGE("POST", OURS "/studies/{study}:pause", study_pause),
    CHANGE("POST", OURS "/studies/{study}:resume", study_resume),
    CHANGE("POST", OURS "/studies/{study}:stop", study_stop),
    CHANGE("PATCH", OURS "/studies/{study}", study_change),
    QUERY(OURS "/studies/{study}/best", read_best),
    QUERY(OURS "/studies/{study}/events", read_events),
    QUERY(OURS "/studies/{study}/measurements", read_measurements),
    QUERY(OURS "/studies/{study}/trials/{trial}/logs", read_logs),
    {.method = "GET",
     .pattern = OURS "/events",
     .needs = GATE_READ,
     .lane = LANE_STREAM,
     .read = read_revisions},
};
const size_t route_count = sizeof route_table / sizeof *route_table;
