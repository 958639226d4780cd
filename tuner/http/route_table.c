/* route_table.c - all HTTP routes: method, path, roles, handler. */

#include "tuner/http/route.h"

#include "proto/tree/manifest.h"
#include "tuner/api/aip.h"
#include "tuner/api/backups.h"
#include "tuner/api/fleet.h"
#include "tuner/api/metadata.h"
#include "tuner/api/notes.h"
#include "tuner/api/open_suggest.h"
#include "tuner/api/open_trial.h"
#include "tuner/api/operation.h"
#include "tuner/api/sessions.h"
#include "tuner/api/study.h"
#include "tuner/api/tokens.h"
#include "tuner/api/trial.h"
#include "tuner/api/trial_fetch.h"
#include "tuner/api/trial_files.h"
#include "tuner/api/vizier.h"
#include "tuner/ask/query.h"
#include "tuner/http/gate.h"
#include "tuner/store/store.h"

#define VERTEX "/v1/projects/{project}/locations/{location}"
#define JOBS VERTEX "/hyperparameterTuningJobs"
#define CUSTOM_JOBS VERTEX "/customJobs"
#define STUDIES VERTEX "/studies"
#define TRIALS STUDIES "/{study}/trials"
#define AIP "/v1/projects/{project}"
#define AIP_JOBS AIP "/jobs"
#define OURS "/hypertune/v1"
#define KEPT OURS "/projects/{project}"

/* The kinds of a collection. A tuning job searches, so it is a study too. */
#define TUNING STUDY_KIND(JOB_TUNING)
#define CUSTOM STUDY_KIND(JOB_CUSTOM)
#define SEARCHING (STUDY_KIND(JOB_TUNING) | STUDY_KIND(JOB_STUDY))
#define RUNNING_ITSELF (STUDY_KIND(JOB_TUNING) | STUDY_KIND(JOB_CUSTOM))
#define ANY 0

/* The query names of lists. */
#define PAGES "pageSize pageToken"
#define FILTERED "filter " PAGES
#define MASKED FILTERED " readMask"

/* `answer` is the member of struct route that the lane needs. */
#define ROUTE(how, path, role, through, shown, takes, answer)                  \
    {                                                                          \
        .method = (how), .pattern = (path), .needs = (role),                   \
        .lane = (through), .kinds = (shown), .query = (takes), answer          \
    }
/* Changes, and questions that only the core can answer. */
#define CORE(how, shown, path, role, handler, takes)                           \
    ROUTE(how, path, role, LANE_CORE, shown, takes, .core = (handler))
#define CHANGE(how, shown, path, handler)                                      \
    CORE(how, shown, path, GATE_SUBMIT, handler, NULL)
/* Those that clients make all the time. */
#define WORK(shown, path, handler)                                             \
    {                                                                          \
        .method = "POST", .pattern = (path), .needs = GATE_SUBMIT,             \
        .lane = LANE_CORE, .kinds = (shown), .routine = true,                  \
        .core = (handler)                                                      \
    }
#define QUERY(shown, path, handler, takes)                                     \
    ROUTE("GET", path, GATE_READ, LANE_READER, shown, takes, .read = (handler))
/* A question to a model of the study. */
#define MODEL(shown, path, handler, takes)                                     \
    ROUTE("GET", path, GATE_READ, LANE_MODEL, shown, takes, .read = (handler))
/* The same two, for the token of one study as well. */
#define SHARED_QUERY(path, handler, takes)                                     \
    ROUTE("GET", path, GATE_READ | GATE_SHARE, LANE_READER, ANY, takes,        \
          .read = (handler))
#define SHARED_MODEL(path, handler, takes)                                     \
    ROUTE("GET", path, GATE_READ | GATE_SHARE, LANE_MODEL, ANY, takes,         \
          .read = (handler))
/* A question that Google asks by POST. */
#define LOOK(shown, path, handler)                                             \
    ROUTE("POST", path, GATE_READ, LANE_READER, shown, NULL, .read = (handler))
/* A change by what a reader gathers first, which takes too long for the core.
 */
#define GATHER(shown, path, reader, handler)                                   \
    {                                                                          \
        .method = "POST", .pattern = (path), .needs = GATE_SUBMIT,             \
        .lane = LANE_GATHER, .kinds = (shown), .read = (reader),               \
        .core = (handler)                                                      \
    }
#define ADMIN(how, path, handler)                                              \
    CORE(how, ANY, path, GATE_ADMIN, handler, NULL)
/* Answered at once, by the HTTP thread. */
#define LOGIN(how, path, role, handler)                                        \
    ROUTE(how, path, role, LANE_LOGIN, ANY, NULL, .login = (handler))
/* What the store keeps of a project. */
#define STORE(how, path, handler)                                              \
    ROUTE(how, path, GATE_SUBMIT | GATE_RUNNER, LANE_STORE, ANY, NULL,         \
          .store = (handler))
/* Of a tree of a trial. */
#define SEND(what, handler, takes)                                             \
    {                                                                          \
        .method = "GET",                                                       \
        .pattern = OURS "/studies/{study}/trials/{trial}/trees/{tree}" what,   \
        .needs = GATE_READ, .lane = LANE_SEND, .query = (takes),               \
        .core = trial_find_tree, .store = (handler)                            \
    }
#define PAGE(path)                                                             \
    ROUTE("GET", path, GATE_OPEN, LANE_PAGE, ANY, QUERY_ANYTHING, .core = NULL)
/* Google's resources have a collection of operations each. */
#define OPERATIONS(shown, parent)                                              \
    CORE("GET", shown, parent "/operations", GATE_READ, operation_list,        \
         FILTERED),                                                            \
        CORE("GET", shown, parent "/operations/{operation}", GATE_READ,        \
             operation_get, NULL),                                             \
        CHANGE("POST", shown, parent "/operations/{operation}:cancel",         \
               operation_cancel)
/* Those of Vertex can also be deleted and waited for. */
#define VERTEX_OPERATIONS(shown, parent)                                       \
    OPERATIONS(shown, parent),                                                 \
        CHANGE("DELETE", shown, parent "/operations/{operation}",              \
               operation_delete),                                              \
        CORE("POST", shown, parent "/operations/{operation}:wait", GATE_READ,  \
             operation_get, "timeout")

const struct route route_table[] = {
    ROUTE("GET", "/healthz", GATE_OPEN, LANE_INSTANT, ANY, QUERY_ANYTHING,
          .instant = "{\"status\":\"ok\"}"),
    PAGE("/"),
    PAGE("/web/{file}"),
    LOGIN("POST", OURS "/login", GATE_OPEN, login_enter),
    {.method = "POST",
     .pattern = OURS "/logout",
     .lane = LANE_LOGIN,
     .login = login_leave,
     .core = session_leave},
    LOGIN("POST", OURS "/login-links", GATE_READ, login_invite),
    LOGIN("GET", OURS "/session", GATE_READ | GATE_SHARE, login_show),
    CHANGE("POST", TUNING, JOBS, study_create),
    QUERY(TUNING, JOBS, read_jobs, MASKED),
    QUERY(TUNING, JOBS "/{study}", read_job, "view"),
    CHANGE("POST", TUNING, JOBS "/{study}:cancel", study_cancel),
    CHANGE("DELETE", TUNING, JOBS "/{study}", study_delete),
    CHANGE("POST", CUSTOM, CUSTOM_JOBS, study_create_custom),
    QUERY(CUSTOM, CUSTOM_JOBS, read_custom_jobs, MASKED),
    QUERY(CUSTOM, CUSTOM_JOBS "/{study}", read_any_kind, "view"),
    CHANGE("POST", CUSTOM, CUSTOM_JOBS "/{study}:cancel", study_cancel),
    CHANGE("DELETE", CUSTOM, CUSTOM_JOBS "/{study}", study_delete),
    CHANGE("POST", STUDY_KIND(JOB_STUDY), STUDIES, study_create_vizier),
    CHANGE("POST", STUDY_KIND(JOB_STUDY), STUDIES ":fromSpec",
           study_create_from_spec),
    QUERY(SEARCHING, STUDIES, read_studies, MASKED),
    LOOK(SEARCHING, STUDIES ":lookup", read_lookup),
    QUERY(SEARCHING, STUDIES "/{study}", read_study, NULL),
    CHANGE("DELETE", SEARCHING, STUDIES "/{study}", vizier_delete),
    QUERY(SEARCHING, TRIALS, read_trials, FILTERED),
    WORK(SEARCHING, TRIALS, vizier_add_trial),
    WORK(SEARCHING, TRIALS ":suggest", vizier_suggest),
    LOOK(SEARCHING, TRIALS ":listOptimalTrials", read_optimal),
    QUERY(SEARCHING, TRIALS "/{trial}", read_trial, NULL),
    CHANGE("DELETE", SEARCHING, TRIALS "/{trial}", vizier_delete_trial),
    WORK(SEARCHING, TRIALS "/{trial}:addTrialMeasurement",
         vizier_add_measurement),
    WORK(SEARCHING, TRIALS "/{trial}:complete", vizier_complete_trial),
    CHANGE("POST", SEARCHING, TRIALS "/{trial}:stop", trial_stop),
    WORK(SEARCHING, TRIALS "/{trial}:checkTrialEarlyStoppingState",
         vizier_check_stop),
    VERTEX_OPERATIONS(ANY, VERTEX),
    VERTEX_OPERATIONS(TUNING, JOBS "/{study}"),
    VERTEX_OPERATIONS(CUSTOM, CUSTOM_JOBS "/{study}"),
    VERTEX_OPERATIONS(SEARCHING, STUDIES "/{study}"),
    VERTEX_OPERATIONS(SEARCHING, TRIALS "/{trial}"),
    CHANGE("POST", RUNNING_ITSELF, AIP_JOBS, aip_create),
    QUERY(RUNNING_ITSELF, AIP_JOBS, read_aip_jobs, MASKED),
    QUERY(RUNNING_ITSELF, AIP_JOBS "/{study}", read_aip_job, NULL),
    CORE("PATCH", RUNNING_ITSELF, AIP_JOBS "/{study}", GATE_SUBMIT, aip_patch,
         "updateMask"),
    CHANGE("POST", RUNNING_ITSELF, AIP_JOBS "/{study}:cancel", study_cancel),
    OPERATIONS(ANY, AIP),
    LOOK(ANY, "/v2/entries:list", read_entries),
    ROUTE("GET", OURS "/server", GATE_READ | GATE_RUNNER, LANE_READER, ANY,
          NULL, .read = read_server),
    QUERY(ANY, "/metrics", read_metrics, NULL),
    QUERY(ANY, OURS "/runners", read_runners, NULL),
    ROUTE("GET", OURS "/audit", GATE_ADMIN, LANE_READER, ANY,
          "after limit principal since study", .read = read_audit),
    QUERY(ANY, OURS "/studies", read_all_kinds, MASKED),
    SHARED_QUERY(OURS "/studies/{study}", read_any_kind, "view"),
    SHARED_QUERY(OURS "/studies/{study}/trials", read_trials, FILTERED),
    WORK(SEARCHING, OURS "/studies/{study}/trials", vizier_add_trial),
    ROUTE("POST", OURS "/studies/{study}/trials:listOptimalTrials", GATE_READ,
          LANE_READER, SEARCHING, "within", .read = read_optimal),
    SHARED_QUERY(OURS "/studies/{study}/trials/{trial}", read_trial, NULL),
    CHANGE("POST", SEARCHING, OURS "/studies/{study}/trials/{trial}:stop",
           trial_stop),
    CHANGE("POST", ANY, OURS "/studies/{study}/trials/{trial}:retry",
           trial_retry),
    WORK(ANY, OURS "/studies/{study}/trials/{trial}:fetch", trial_fetch),
    CORE("GET", ANY, OURS "/studies/{study}/trials/{trial}/files", GATE_READ,
         trial_files, NULL),
    SEND("/files", store_list_files, "after limit"),
    SEND("/file", store_get_file, "path"),
    SEND("/archive", store_get_archive, NULL),
    CHANGE("POST", ANY, OURS "/studies/{study}:cancel", study_cancel),
    CHANGE("DELETE", ANY, OURS "/studies/{study}", study_delete),
    WORK(STUDY_KIND(JOB_STUDY), OURS "/studies/{study}/trials:open",
         open_trial_make),
    WORK(STUDY_KIND(JOB_STUDY), OURS "/studies/{study}/trials/{trial}:define",
         open_trial_define),
    WORK(STUDY_KIND(JOB_STUDY), OURS "/studies/{study}/trials/{trial}:suggest",
         open_trial_suggest),
    CHANGE("POST", STUDY_KIND(JOB_STUDY),
           OURS "/studies/{study}/trials:restore", trial_restore),
    CHANGE("PATCH", ANY, OURS "/studies/{study}/metadata", metadata_change),
    QUERY(ANY, OURS "/studies/{study}/metadata", read_metadata, "since"),
    CHANGE("PATCH", ANY, OURS "/studies/{study}/notes", notes_change_study),
    QUERY(ANY, OURS "/studies/{study}/notes", read_notes, NULL),
    CHANGE("PATCH", ANY, OURS "/studies/{study}/trials/{trial}/notes",
           notes_change_trial),
    QUERY(ANY, OURS "/studies/{study}/trials/{trial}/notes", read_notes, NULL),
    CHANGE("POST", ANY, OURS "/studies/{study}:pause", study_pause),
    CHANGE("POST", ANY, OURS "/studies/{study}:resume", study_resume),
    CHANGE("POST", ANY, OURS "/studies/{study}:stop", study_stop),
    CHANGE("POST", ANY, OURS "/studies/{study}:confirm", study_confirm),
    SHARED_QUERY(OURS "/studies/{study}/confirmation", read_confirmation, NULL),
    CHANGE("PATCH", ANY, OURS "/studies/{study}", study_change),
    GATHER(ANY, OURS "/studies/{study}:readLogs", read_printed,
           study_read_logs),
    QUERY(ANY, OURS "/studies/{study}/spec", read_spec, "form clone"),
    QUERY(ANY, OURS "/specs:template", read_template, NULL),
    LOOK(ANY, OURS "/specs:check", read_draft),
    SHARED_QUERY(OURS "/studies/{study}/table", read_table, "since"),
    SHARED_QUERY(OURS "/studies/{study}/best", read_best, "within"),
    SHARED_MODEL(OURS "/studies/{study}/importances", read_importances,
                 "metric"),
    SHARED_MODEL(OURS "/studies/{study}/health", read_health, "metric"),
    SHARED_MODEL(OURS "/studies/{study}/slice", read_slice,
                 "metric points trial x xScale y yScale"),
    MODEL(ANY, OURS "/studies/{study}/replay", read_replay, "from " PAGES),
    SHARED_MODEL(OURS "/studies/{study}/preview", read_preview,
                 "algorithm count from"),
    QUERY(ANY, OURS "/studies/{study}/events", read_events, "limit since"),
    SHARED_QUERY(OURS "/studies/{study}/measurements", read_measurements,
                 PAGES " trial"),
    SHARED_QUERY(OURS "/studies/{study}/curves", read_curves,
                 "metric points top"),
    QUERY(ANY, OURS "/studies/{study}/trials/{trial}/logs", read_logs,
          "attempt limit offset replica stream tail"),
    QUERY(ANY, OURS "/studies/{study}/trials/{trial}/usage", read_usage, NULL),
    QUERY(ANY, OURS "/studies/{study}/trials/{trial}/changes", read_changes,
          "attempt"),
    STORE("POST", KEPT "/chunks:missing", store_missing),
    {.method = "PUT",
     .pattern = KEPT "/chunks/{chunk}",
     .needs = GATE_SUBMIT | GATE_RUNNER,
     .lane = LANE_STORE,
     .store = store_put_chunk,
     .takes = TREE_CHUNK,
     .is_raw = true},
    STORE("GET", KEPT "/chunks/{chunk}", store_get_chunk),
    {.method = "POST",
     .pattern = KEPT "/trees",
     .needs = GATE_SUBMIT | GATE_RUNNER,
     .lane = LANE_STORE,
     .routine = true,
     .store = store_put_tree,
     .core = store_commit_tree,
     .takes = TREE_MOST_MANIFEST},
    STORE("GET", KEPT "/trees/{tree}", store_get_tree),
    CORE("POST", ANY, OURS "/runners:join", GATE_JOIN, token_join, NULL),
    ADMIN("POST", OURS "/backups", backup_create),
    ADMIN("POST", OURS "/runners/{runner}:drain", runner_drain),
    ADMIN("POST", OURS "/runners/{runner}:resume", runner_resume),
    CORE("GET", ANY, OURS "/projects", GATE_READ, project_list, NULL),
    CORE("GET", ANY, OURS "/projects/{project}", GATE_READ, project_show, NULL),
    ADMIN("PATCH", OURS "/projects/{project}", project_set),
    ADMIN("GET", OURS "/tokens", token_show),
    ADMIN("POST", OURS "/tokens", token_create),
    ADMIN("POST", OURS "/tokens/{token}:revoke", token_revoke),
    ADMIN("POST", OURS "/tokens/{token}:rotate", token_rotate),
    ADMIN("DELETE", OURS "/tokens/{token}", token_delete),
    ROUTE("GET", OURS "/events", GATE_READ | GATE_SHARE, LANE_STREAM, ANY, NULL,
          .read = read_revisions),
};
const size_t route_count = sizeof route_table / sizeof *route_table;
