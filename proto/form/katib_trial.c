/* katib_trial.c - the trial template of a Katib Experiment: what it runs. */

#include "proto/form/katib.h"

#include <string.h>

/* ---- replicas of a training operator ---- */

static const struct operator_kind {
    const char *kind, *member;
    bool torch; /* MASTER_ADDR and its like tell a replica its part */
} operators[] = {{"TFJob", "tfReplicaSpecs", false},
                 {"PyTorchJob", "pytorchReplicaSpecs", true},
                 {"XGBoostJob", "xgbReplicaSpecs", true},
                 {"PaddleJob", "paddleReplicaSpecs", true}};

static const struct {
    const char *theirs, *ours; /* NULL: the master */
} roles[] = {{"Chief", NULL},
             {"Master", NULL},
             {"Worker", "worker"},
             {"PS", "ps"},
             {"Evaluator", "evaluator"}};

static const char *role_of(const char *theirs)
{
    for (size_t i = 0; i < sizeof roles / sizeof *roles; i++)
        if (strcmp(roles[i].theirs, theirs) == 0)
            return roles[i].ours != NULL ? roles[i].ours : "master";
    return NULL;
}

static int64_t count_of(const struct katib *katib, struct place at)
{
    const struct place count = field_member(&katib->reader, at, "replicas");
    int64_t n = 1;
    if (count.node != NULL && !node_int64(count.node, &n))
        field_wrong_kind(&katib->reader, count, "a number of replicas");
    return n;
}

static void put_replicas(struct katib *katib, struct grown *replicas,
                         struct place at, const char *role, int64_t count)
{
    static const char *const known[] = {"replicas", "restartPolicy", "template",
                                        NULL};
    const bool master = strcmp(role, "master") == 0;
    const struct place container =
        katib_find_container(katib, at, "template", master);
    struct grown out = foreign_begin(katib->arena, NODE_MAP, at.node);
    if (container.node == NULL)
        return;
    katib_warn_of_others(katib, at, known);
    if (master) {
        katib_put_container(katib, container, &katib->native, true);
        if (--count == 0)
            return;
        role = "worker"; /* of several workers the first is the master */
    }
    foreign_put_number(katib->arena, &out, "count", (double)count, at.node);
    katib_put_container(katib, container, &out, false);
    foreign_put(katib->arena, replicas, role, out.node);
}

static void put_operator(struct katib *katib, struct place at,
                         const struct operator_kind *kind)
{
    const struct field_reader *reader = &katib->reader;
    const struct place *list = field_members(reader, at);
    struct grown replicas = foreign_begin(katib->arena, NODE_MAP, at.node);
    bool has_master = false;
    for (const struct place *one = list; one->node; one++) {
        const char *role = role_of(one->node->key);
        if (role == NULL)
            field_key_error(reader, *one,
                            "must be Chief, Master, Worker, PS or Evaluator");
        else
            has_master |= strcmp(role, "master") == 0;
    }
    for (const struct place *one = list; one->node; one++) {
        const char *role = role_of(one->node->key);
        const int64_t n = count_of(katib, *one);
        if (role == NULL || n < 1)
            continue;
        if (!has_master && strcmp(role, "worker") == 0)
            role = "master";
        else if (strcmp(role, "master") == 0 && n > 1)
            field_error(reader, *one, "there is one master, not %lld",
                        (long long)n);
        put_replicas(katib, &replicas, *one, role, n);
    }
    if (replicas.node->count == 0)
        return;
    foreign_put(katib->arena, &katib->native, "replicas", replicas.node);
    if (kind->torch)
        field_warning(reader, at,
                      "MASTER_ADDR, RANK and WORLD_SIZE are not set here");
    if (kind->torch)
        diag_hint(reader->diag, "CLUSTER_SPEC has the replicas' addresses");
}

/* ---- the template ---- */

static void refuse_kind(const struct katib *katib, const char *kind)
{
    katib_refuse(&katib->reader, katib->trial_spec,
                 kind[0] != '\0'
                     ? arena_printf(katib->arena, "a trial of kind %s", kind)
                     : "a trial without a kind");
    diag_hint(katib->reader.diag,
              "a Job, a Pod, a PyTorchJob and other objects that have the "
              "templates of their pods can be, and a TrainJob, a Workflow, a "
              "PipelineRun");
}

/* Katib starts no failed trial again; its Job does where it says so. */
static void put_retries(struct katib *katib, struct place limit)
{
    if (limit.node != NULL)
        katib_put_number(katib, &katib->native, "retries", limit);
    else
        foreign_put_number(katib->arena, &katib->native, "retries", 0,
                           katib->trial_spec.node);
}

static struct place backoff_limit(const struct katib *katib)
{
    const struct field_reader *reader = &katib->reader;
    return field_member(reader, field_member(reader, katib->trial_spec, "spec"),
                        "backoffLimit");
}

static void put_job(struct katib *katib, struct place at)
{
    static const char *const known[] = {"template", "backoffLimit",
                                        "activeDeadlineSeconds", NULL};
    const struct field_reader *reader = &katib->reader;
    const struct place spec = field_member(reader, at, "spec");
    const struct place container = katib_find_container(
        katib, spec.node != NULL ? spec : at, "template", true);
    put_retries(katib, backoff_limit(katib));
    katib_put_number(katib, &katib->native, "trialTimeout",
                     field_member(reader, spec, "activeDeadlineSeconds"));
    katib_warn_of_others(katib, spec, known);
    if (container.node != NULL)
        katib_put_container(katib, container, &katib->native, true);
}

static void put_pod(struct katib *katib, struct place at)
{
    const struct place container = katib_find_container(katib, at, "", true);
    if (container.node != NULL)
        katib_put_container(katib, container, &katib->native, true);
}

static const struct operator_kind *find_operator(const char *kind)
{
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
        if (strcmp(operators[i].kind, kind) == 0)
            return &operators[i];
    return NULL;
}

static void put_operator_job(struct katib *katib, struct place at,
                             const struct operator_kind *kind)
{
    const struct place spec = field_member(&katib->reader, at, "spec");
    const char *const known[] = {kind->member, NULL};
    const struct place replicas =
        field_member(&katib->reader, spec, kind->member);
    katib_warn_of_others(katib, spec, known);
    if (replicas.node == NULL)
        field_missing(&katib->reader, spec.node != NULL ? spec : at,
                      kind->member, NULL);
    else
        put_operator(katib, replicas, kind);
}

void katib_put_trial(struct katib *katib)
{
    const struct place at = katib->trial_spec;
    const char *kind = node_get_string(at.node, "kind", "");
    const struct operator_kind *trained = find_operator(kind);
    const bool is_job = strcmp(kind, "Job") == 0;
    if (at.node == NULL) {
        field_missing(&katib->reader, katib->spec, "trialTemplate.trialSpec",
                      "what the trials run");
        return;
    }
    katib->is_one_pod = is_job || strcmp(kind, "Pod") == 0;
    const bool runs_here = katib->is_one_pod || trained != NULL;
    if (katib_wants_template(katib, runs_here)) {
        put_retries(katib, is_job ? backoff_limit(katib) : (struct place){0});
        katib_put_template(katib);
        return;
    }
    if (katib->primary_labels.node != NULL)
        foreign_no_effect(&katib->reader, katib->primary_labels, NULL, NULL);
    if (!is_job)
        put_retries(katib, (struct place){0});
    if (is_job)
        put_job(katib, at);
    else if (katib->is_one_pod)
        put_pod(katib, at);
    else if (trained != NULL)
        put_operator_job(katib, at, trained);
    else
        refuse_kind(katib, kind);
}
