#include "tuner/runners/can_run.h"

#include <string.h>

#include "tuner/core/core.h"
#include "tuner/runners/machine_types.h"

#define GIB (1024.0 * 1024 * 1024)

/* --- one runner --- */

static bool is_below(const char *path, size_t len, const char *root)
{
    size_t root_len = strlen(root);
    while (root_len > 0 && root[root_len - 1] == '/')
        root_len--;
    return len >= root_len && memcmp(path, root, root_len) == 0 &&
           (len == root_len || path[root_len] == '/');
}

/* HOST of HOST:TARGET[:ro] lies below one of the roots, as it is written; the
 * runner checks where links lead. */
static bool is_volume_allowed(const struct strings *roots, const char *volume)
{
    const size_t len = strcspn(volume, ":");
    for (size_t i = 0; i < roots->n; i++)
        if (is_below(volume, len, roots->items[i]))
            return true;
    return false;
}

static bool may(const struct runner_rules *rules, const char *name)
{
    return runner_rules_have(&rules->allow, name);
}

static bool allows_volumes(struct arena *arena,
                           const struct runner_rules *rules,
                           const struct job *job, struct can_run_lack *lack)
{
    for (size_t i = 0; i < job->volumes.n; i++) {
        const char *volume = job->volumes.items[i];
        if (is_volume_allowed(&rules->volume_roots, volume))
            continue;
        *lack = (struct can_run_lack){
            arena_printf(arena, "hypertune.volumes[%zu]", i),
            arena_printf(arena,
                         "%.*s lies below no --volume-root of the runner",
                         (int)strcspn(volume, ":"), volume)};
        return false;
    }
    return true;
}

static bool allows_options(const struct runner_rules *rules,
                           const struct container_options *options,
                           struct can_run_lack *lack)
{
    const char *network = options->network;
    const bool host = network != NULL && strcmp(network, "host") == 0;
    const bool other = network != NULL && !host && strcmp(network, "none") != 0;
    const struct {
        bool asked;
        const char *rule;
        struct can_run_lack lack;
    } needs[] = {
        {host,
         "host-network",
         {"hypertune.container.network",
          "the host's network needs a runner with --allow host-network"}},
        {other,
         "networks",
         {"hypertune.container.network",
          "an existing network needs a runner with --allow networks"}},
        {options->privileged,
         "privileged",
         {"hypertune.container.privileged",
          "needs a runner with --allow privileged"}},
        {options->host_pid,
         "host-pid",
         {"hypertune.container.hostPid",
          "needs a runner with --allow host-pid"}},
    };
    for (size_t i = 0; i < sizeof needs / sizeof *needs; i++) {
        if (!needs[i].asked || may(rules, needs[i].rule))
            continue;
        *lack = needs[i].lack;
        return false;
    }
    return true;
}

/* The slots of an elastic runner are made for a trial, with an image or
 * without. */
static bool runs_kind(const struct runner_rules *rules, const struct job *job)
{
    const bool images = job_needs_images(job);
    return images == rules->images || (rules->elastic && !images);
}

bool can_run_is_for(const struct live_runner *runner, const struct job *job,
                    struct can_run_lack *lack)
{
    if (strcmp(runner->engine, "kubernetes") == 0 && !job_needs_images(job)) {
        *lack = (struct can_run_lack){
            "", "its trials run commands, and a runner on Kubernetes runs "
                "images: start one with --engine process"};
        return false;
    }
    if (job->slurm.said && strcmp(runner->engine, "slurm") != 0) {
        *lack = (struct can_run_lack){
            "hypertune.slurm", "its trials run on Slurm, and no runner does "
                               "that: start one with --engine slurm"};
        return false;
    }
    if (job->kubernetes.said && strcmp(runner->engine, "kubernetes") != 0) {
        *lack = (struct can_run_lack){
            "hypertune.kubernetes",
            "its trials run on Kubernetes, and no runner does that: start one "
            "with --engine kubernetes"};
        return false;
    }
    return true;
}

bool can_run_allows(struct arena *arena, const struct runner_rules *rules,
                    const struct job *job, struct can_run_lack *lack)
{
    const bool images = job_needs_images(job);
    if (!runs_kind(rules, job)) {
        *lack = (struct can_run_lack){
            "", images ? "its trials run in images, and no runner does that: "
                         "start one with --engine docker"
                       : "its trials run commands, and all runners run "
                         "images: start one with --engine process"};
        return false;
    }
    return !images || (allows_options(rules, &job->container, lack) &&
                       allows_volumes(arena, rules, job, lack));
}

/* On Kubernetes an account is one of the cluster. */
static bool has_credentials(const struct live_runner *runner,
                            const struct job *job)
{
    const char *account = job->service_account;
    return (account != NULL && strcmp(runner->engine, "kubernetes") == 0) ||
           runner_rules_have(&runner->rules.credentials,
                             account != NULL ? account : "default");
}

bool can_run_leaves(struct core *core, struct arena *arena,
                    const struct live_runner *runner, const struct job *job)
{
    struct can_run_lack lack;
    const struct live_runner *other = live_runners(core_live(core));
    if (job->service_account == NULL || has_credentials(runner, job))
        return false;
    for (; other != NULL; other = other->next)
        if (other->online && has_credentials(other, job) &&
            can_run_is_for(other, job, &lack) &&
            can_run_allows(arena, &other->rules, job, &lack) &&
            (other->rules.elastic ||
             machine_types_gpus_needed(core, job) <= other->gpus))
            return true;
    return false;
}

/* --- all that are there --- */

struct checking {
    struct core *core;
    struct arena *arena;
    const struct job *job;
    struct diag *errors, *warnings;
};

static bool is_fit(const struct live_runner *runner, const struct job *job)
{
    struct can_run_lack lack;
    return runner->online && runs_kind(&runner->rules, job) &&
           can_run_is_for(runner, job, &lack);
}

static const struct live_runner *next_fit(const struct checking *checking,
                                          const struct live_runner *from)
{
    while (from != NULL && !is_fit(from, checking->job))
        from = from->next;
    return from;
}

static const struct live_runner *first_fit(const struct checking *checking)
{
    return next_fit(checking, live_runners(core_live(checking->core)));
}

/* The first runner's refusal is shown when all refuse. */
static void check_rules(const struct checking *checking)
{
    struct can_run_lack first = {0}, lack = {0};
    const struct live_runner *runner = first_fit(checking);
    for (; runner != NULL; runner = next_fit(checking, runner->next)) {
        if (can_run_allows(checking->arena, &runner->rules, checking->job,
                           &lack))
            return;
        if (first.text == NULL)
            first = lack;
    }
    if (first.text != NULL)
        diag_error(checking->errors, 0, 0, first.field, "%s", first.text);
}

static void check_kind(const struct checking *checking)
{
    struct can_run_lack lack = {0};
    const struct live_runner other = {
        .rules = {.images = !job_needs_images(checking->job)}};
    if (live_has_runner(core_live(checking->core)) &&
        first_fit(checking) == NULL &&
        (!can_run_is_for(&other, checking->job, &lack) ||
         !can_run_allows(checking->arena, &other.rules, checking->job, &lack)))
        diag_warning(checking->warnings, 0, 0, lack.field, "%s", lack.text);
}

static bool has_secret(const struct checking *checking,
                       const struct secret *secret)
{
    const struct live_runner *runner = first_fit(checking);
    for (; runner != NULL; runner = next_fit(checking, runner->next)) {
        const struct runner_rules *rules = &runner->rules;
        if (secret->file != NULL
                ? runner_rules_have(&rules->secrets, secret->file)
                : runner_rules_have(&rules->secret_variables, secret->env))
            return true;
    }
    return false;
}

static void check_secrets(const struct checking *checking)
{
    for (size_t i = 0;
         first_fit(checking) != NULL && i < checking->job->n_secrets; i++) {
        const struct secret *secret = &checking->job->secrets[i];
        if (has_secret(checking, secret))
            continue;
        const char *path =
            arena_printf(checking->arena, "hypertune.secrets.%s", secret->name);
        if (secret->file != NULL)
            diag_error(checking->errors, 0, 0, path,
                       "no runner has a secret file %.64s (--secrets DIR)",
                       secret->file);
        else
            diag_error(checking->errors, 0, 0, path,
                       "no runner has the variable HYPERTUNE_SECRET_%.64s",
                       secret->env);
    }
}

/* Needs are compared with the largest machine, if all have a size. */
static struct machine_type largest(const struct checking *checking)
{
    struct machine_type most = {0};
    const struct live_runner *runner = first_fit(checking);
    for (; runner != NULL; runner = next_fit(checking, runner->next)) {
        if (runner->rules.elastic)
            return (struct machine_type){0};
        if (runner->rules.cpus > most.cpus)
            most.cpus = runner->rules.cpus;
        if (runner->rules.memory > most.memory)
            most.memory = runner->rules.memory;
    }
    return most;
}

static void check_machine(const struct checking *checking,
                          const struct pool *pool)
{
    struct machine_type type;
    const struct machine_type most = largest(checking);
    const char *name = pool->machine;
    if (!machine_types_find(machine_types_now(checking->core), name, &type)) {
        diag_warning(checking->warnings, 0, 0, "",
                     "machine type %.64s of the %s is not known here and "
                     "limits nothing; machines.json in the server's data "
                     "folder can name it",
                     name, pool->type);
        return;
    }
    if (job_needs_images(checking->job) && most.cpus > 0 &&
        (type.cpus > most.cpus || type.memory > most.memory))
        diag_warning(checking->warnings, 0, 0, "",
                     "machine type %.64s of the %s has %g cores and %.4g GiB, "
                     "the largest runner %g and %.4g: trials get what there "
                     "is",
                     name, pool->type, type.cpus, (double)type.memory / GIB,
                     most.cpus, (double)most.memory / GIB);
}

static bool is_among(const struct pairs *pairs, const char *variable)
{
    for (size_t i = 0; i < pairs->n; i++)
        if (strcmp(pairs->items[i].name, variable) == 0)
            return true;
    return false;
}

static bool is_named(const struct job *job, const char *variable)
{
    for (size_t i = 0; i < job->n_secrets; i++)
        if (strcmp(job->secrets[i].name, variable) == 0)
            return true;
    for (size_t i = 0; i < job->n_pools; i++)
        if (is_among(&job->pools[i].env, variable))
            return true;
    return is_among(&job->captured_env, variable); /* what passEnv names */
}

static const char credentials_variable[] = "GOOGLE_APPLICATION_CREDENTIALS";

static bool has_account(const struct checking *checking)
{
    const struct live_runner *runner = first_fit(checking);
    while (runner != NULL && !has_credentials(runner, checking->job))
        runner = next_fit(checking, runner->next);
    return runner != NULL;
}

/* No error: old job files name accounts that mean nothing here. */
static void check_account(const struct checking *checking)
{
    const struct job *job = checking->job;
    if (job->service_account == NULL || first_fit(checking) == NULL ||
        is_named(job, credentials_variable) || has_account(checking))
        return;
    diag_warning(checking->warnings, 0, 0,
                 job->kind == JOB_CUSTOM ? "jobSpec.serviceAccount"
                                         : "trialJobSpec.serviceAccount",
                 "no runner has credentials of %.128s (--credentials DIR): "
                 "trials run without",
                 job->service_account);
}

static void check_gcs(const struct checking *checking)
{
    const bool images = job_needs_images(checking->job);
    const struct live_runner *runner = first_fit(checking);
    if (runner == NULL || !job_mentions_gcs(checking->job) ||
        is_named(checking->job, credentials_variable) || has_account(checking))
        return;
    for (; runner != NULL; runner = next_fit(checking, runner->next))
        if ((checking->job->rewrite_gcs && runner->rules.gcs) ||
            (!images && runner->rules.gcs_credentials))
            return;
    diag_warning(checking->warnings, 0, 0, "",
                 "gs:// is passed to trials as it is, and they have no "
                 "credentials for it: give a runner some (--credentials), or "
                 "trials GOOGLE_APPLICATION_CREDENTIALS, or set rewriteGs with "
                 "a runner's --gcs-root");
}

void can_run_check(struct core *core, const struct job *job,
                   struct diag *errors, struct diag *warnings)
{
    const struct checking checking = {.core = core,
                                      .arena = errors->arena,
                                      .job = job,
                                      .errors = errors,
                                      .warnings = warnings};
    if (job->kind == JOB_STUDY)
        return;
    check_kind(&checking);
    check_rules(&checking);
    check_secrets(&checking);
    for (size_t i = 0; i < job->n_pools; i++)
        if (job->pools[i].machine != NULL)
            check_machine(&checking, &job->pools[i]);
    check_account(&checking);
    check_gcs(&checking);
}
