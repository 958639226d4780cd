#include "tuner/read/shared.h"

#include "tuner/ask/read_mask.h"

#define TRIAL(at)                                                              \
    at "name", at "id", at "state", at "startTime", at "endTime",              \
        at "infeasibleReason", at "parameters", at "finalMeasurement",         \
        at "measurements", at "hypertune.state", at "hypertune.reason",        \
        at "hypertune.stop", at "hypertune.replicate", at "hypertune.outside", \
        at "hypertune.confirms", at "hypertune.objective",                     \
        at "hypertune.step", at "hypertune.params", at "hypertune.args",       \
        at "hypertune.attempt", at "hypertune.latest",                         \
        at "hypertune.confirmation", at "hypertune.createTimeMs",              \
        at "hypertune.startTimeMs", at "hypertune.endTimeMs"
#define STATUS(member) "hypertuneStatus." member

static void show(const char *const members[], size_t n, cJSON *resource)
{
    const struct strings mask = {.n = n, .items = members};
    read_mask_apply(&mask, resource);
}

void shared_job(const struct study_scope *scope, cJSON *job)
{
    static const char *const members[] = {"name",
                                          "displayName",
                                          "studySpec.metrics",
                                          "studySpec.parameters",
                                          "studySpec.algorithm",
                                          "maxTrialCount",
                                          "parallelTrialCount",
                                          "maxFailedTrialCount",
                                          "state",
                                          "createTime",
                                          "startTime",
                                          "endTime",
                                          "updateTime",
                                          "hypertune.objective",
                                          "hypertune.parameters",
                                          "hypertune.target",
                                          STATUS("name"),
                                          STATUS("kind"),
                                          STATUS("state"),
                                          STATUS("reason"),
                                          STATUS("revision"),
                                          STATUS("counts"),
                                          STATUS("confirming"),
                                          STATUS("outside"),
                                          STATUS("openSpace"),
                                          STATUS("createTimeMs"),
                                          STATUS("startTimeMs"),
                                          STATUS("endTimeMs"),
                                          STATUS("earlyStops"),
                                          STATUS("algorithm"),
                                          STATUS("seed"),
                                          STATUS("optimal"),
                                          TRIAL(STATUS("best."))};
    if (scope->study > 0)
        show(members, sizeof members / sizeof *members, job);
}

void shared_trial(const struct study_scope *scope, cJSON *trial)
{
    static const char *const members[] = {TRIAL("")};
    if (scope->study > 0)
        show(members, sizeof members / sizeof *members, trial);
}
