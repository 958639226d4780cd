#include "tuner/ask/resource_members.h"

#include <string.h>

#include "tuner/ask/field_name.h"

/* Members are separated by blanks: "name", a list "name*", a map "name{}", an
 * open one "name?"; after a colon the type of its message or items. */
struct message {
    const char *name, *members;
};

#define OF_ALL "name displayName state createTime hypertuneStatus? "
#define OF_JOBS                                                                \
    "startTime endTime updateTime error:Status labels{} "                      \
    "encryptionSpec:EncryptionSpec satisfiesPzs satisfiesPzi hypertune? "
#define OF_TUNING                                                              \
    "maxTrialCount parallelTrialCount maxFailedTrialCount "                    \
    "trialJobSpec:CustomJobSpec trials*:Trial "
#define OF_CUSTOM "jobSpec:CustomJobSpec webAccessUris{} "
#define OF_SEARCHES "studySpec:StudySpec "
#define OF_STUDIES "inactiveReason "

static const struct message messages[] = {
    {"HyperparameterTuningJob", OF_ALL OF_JOBS OF_TUNING OF_SEARCHES},
    {"CustomJob", OF_ALL OF_JOBS OF_CUSTOM},
    {"Study", OF_ALL OF_SEARCHES OF_STUDIES},
    {"OfAnyKind", OF_ALL OF_JOBS OF_TUNING OF_CUSTOM OF_SEARCHES OF_STUDIES},
    {"Status", "code message details?"},
    {"EncryptionSpec", "kmsKeyName"},

    /* the specs in Vertex's jobs */
    {"CustomJobSpec",
     "workerPoolSpecs*:WorkerPoolSpec scheduling:Scheduling serviceAccount "
     "network reservedIpRanges* baseOutputDirectory:GcsDestination "
     "protectedArtifactLocationId tensorboard enableWebAccess "
     "enableDashboardAccess experiment experimentRun models* "
     "persistentResourceId"},
    {"WorkerPoolSpec",
     "containerSpec:ContainerSpec pythonPackageSpec:PythonPackageSpec "
     "machineSpec:MachineSpec replicaCount nfsMounts*:NfsMount "
     "diskSpec:DiskSpec"},
    {"ContainerSpec", "imageUri command* args* env*:EnvVar"},
    {"PythonPackageSpec",
     "executorImageUri packageUris* pythonModule args* env*:EnvVar"},
    {"EnvVar", "name value"},
    {"MachineSpec", "machineType acceleratorType acceleratorCount tpuTopology "
                    "reservationAffinity:ReservationAffinity"},
    {"ReservationAffinity", "reservationAffinityType key values*"},
    {"NfsMount", "server path mountPoint"},
    {"DiskSpec", "bootDiskType bootDiskSizeGb"},
    {"Scheduling", "timeout restartJobOnWorkerRestart strategy disableRetries "
                   "maxWaitDuration"},
    {"GcsDestination", "outputUriPrefix"},

    /* what Vertex searches */
    {"StudySpec",
     "metrics*:MetricSpec parameters*:ParameterSpec algorithm observationNoise "
     "measurementSelectionType decayCurveStoppingSpec:CurveStoppingSpec "
     "medianAutomatedStoppingSpec:CurveStoppingSpec "
     "convexAutomatedStoppingSpec:ConvexStoppingSpec "
     "studyStoppingConfig:StudyStoppingConfig "
     "transferLearningConfig:TransferLearningConfig"},
    {"MetricSpec", "metricId goal safetyConfig:SafetyMetricConfig"},
    {"SafetyMetricConfig", "safetyThreshold desiredMinSafeTrialsFraction"},
    {"ParameterSpec",
     "parameterId doubleValueSpec:RangeSpec integerValueSpec:RangeSpec "
     "categoricalValueSpec:ValuesSpec discreteValueSpec:ValuesSpec scaleType "
     "conditionalParameterSpecs*:ConditionalParameterSpec"},
    {"RangeSpec", "minValue maxValue defaultValue"},
    {"ValuesSpec", "values* defaultValue"},
    {"ConditionalParameterSpec",
     "parameterSpec:ParameterSpec parentDiscreteValues:Condition "
     "parentIntValues:Condition parentCategoricalValues:Condition"},
    {"Condition", "values*"},
    {"CurveStoppingSpec", "useElapsedDuration"},
    {"ConvexStoppingSpec",
     "maxStepCount minStepCount minMeasurementCount learningRateParameterName "
     "useElapsedDuration updateAllStoppedTrials"},
    {"StudyStoppingConfig",
     "shouldStopAsap minimumRuntimeConstraint:TimeConstraint "
     "maximumRuntimeConstraint:TimeConstraint minNumTrials maxNumTrials "
     "maxNumTrialsNoProgress maxDurationNoProgress"},
    {"TimeConstraint", "maxDuration endTime"},
    {"TransferLearningConfig", "disableTransferLearning priorStudyNames*"},
    {"Trial", "name id state parameters*:Parameter "
              "finalMeasurement:Measurement measurements*:Measurement "
              "startTime endTime clientId infeasibleReason customJob "
              "webAccessUris{} hypertune?"},
    {"Parameter", "parameterId value"},
    {"Measurement", "elapsedDuration stepCount metrics*:Metric"},
    {"Metric", "metricId value"},

    /* AI Platform's */
    {"Job", "jobId state createTime startTime endTime labels{} etag "
            "errorMessage jobPosition trainingInput:TrainingInput "
            "trainingOutput:TrainingOutput predictionInput? predictionOutput? "
            "explanationInput? explanationOutput?"},
    {"TrainingInput",
     "scaleTier masterType masterConfig:ReplicaConfig workerType workerCount "
     "workerConfig:ReplicaConfig parameterServerType parameterServerCount "
     "parameterServerConfig:ReplicaConfig evaluatorType evaluatorCount "
     "evaluatorConfig:ReplicaConfig packageUris* pythonModule args* "
     "hyperparameters:HyperparameterSpec region jobDir runtimeVersion "
     "pythonVersion encryptionConfig:EncryptionSpec network serviceAccount "
     "scheduling:JobScheduling enableWebAccess useChiefInTfConfig "
     "nasJobSpec?"},
    {"ReplicaConfig",
     "imageUri containerCommand* containerArgs* tpuTfVersion "
     "acceleratorConfig:AcceleratorConfig diskConfig:DiskSpec"},
    {"AcceleratorConfig", "type count"},
    {"JobScheduling", "maxRunningTime maxWaitTime priority strategy "
                      "resilientToWorkerRestart"},
    {"HyperparameterSpec",
     "goal params*:JobParameterSpec maxTrials maxParallelTrials "
     "maxFailedTrials hyperparameterMetricTag resumePreviousJobId "
     "enableTrialEarlyStopping algorithm"},
    {"JobParameterSpec", "parameterName type minValue maxValue scaleType "
                         "categoricalValues* discreteValues*"},
    {"TrainingOutput",
     "completedTrialCount trials*:HyperparameterOutput consumedMLUnits "
     "isHyperparameterTuningJob isBuiltInAlgorithmJob hyperparameterMetricTag "
     "builtInAlgorithmOutput? nasJobOutput? webAccessUris{}"},
    {"HyperparameterOutput",
     "trialId hyperparameters{} finalMetric:JobMetric isTrialStoppedEarly "
     "allMetrics*:JobMetric builtInAlgorithmOutput? state startTime endTime "
     "webAccessUris{}"},
    {"JobMetric", "trainingStep objectiveValue"},
};

static const struct message *named(const char *name, size_t len)
{
    for (size_t i = 0; i < sizeof messages / sizeof *messages; i++)
        if (strncmp(messages[i].name, name, len) == 0 &&
            messages[i].name[len] == '\0')
            return &messages[i];
    return NULL;
}

const struct message *resource_members_of(const char *name)
{
    return named(name, strlen(name));
}

static enum member_shape shape_of(char mark)
{
    switch (mark) {
    case '*':
        return MEMBER_LIST;
    case '{':
        return MEMBER_MAP;
    case '?':
        return MEMBER_OPEN;
    default:
        return MEMBER_ONE;
    }
}

/* `at` points to a member in a table. */
static struct member read_member(const char *at, size_t name_bytes)
{
    struct member member = {.name = at,
                            .name_bytes = name_bytes,
                            .shape = shape_of(at[name_bytes])};
    const char *colon = at + strcspn(at, ": ");
    if (*colon == ':')
        member.type = named(colon + 1, strcspn(colon + 1, " "));
    return member;
}

bool resource_members_find(const struct message *message, const char *word,
                           size_t len, struct member *member)
{
    const char *at = message->members;
    while (*at != '\0') {
        const size_t name_bytes = strcspn(at, "*{?: ");
        if (field_name_is(word, len, at, name_bytes)) {
            *member = read_member(at, name_bytes);
            return true;
        }
        at += strcspn(at, " ");
        at += strspn(at, " ");
    }
    return false;
}
