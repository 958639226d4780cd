#include "runner/options.h"

#include <stddef.h>
#include <string.h>

#include "runner/attempt/engine.h"
#include "runner/base/rules.h"

enum { N_ENGINES = 4 };
static const struct engine *const engines[N_ENGINES] = {
    &engine_process, &engine_docker, &engine_slurm, &engine_kubernetes};

#define MEMBER(name) offsetof(struct runner_options, name)

static const struct flag table[] = {
    FLAG("server", "URL", FLAG_TEXT, MEMBER(server),
         "HTTP address of the server (required)"),
    FLAG("token-file", "FILE", FLAG_TEXT, MEMBER(token_file),
         "file with the runner token (required)"),
    FLAG("ca", "FILE", FLAG_TEXT, MEMBER(trust.ca),
         "trust the authority of this file (default the system's)"),
    FLAG("pin", "PIN;...", FLAG_TEXT, MEMBER(trust.pin),
         "trust the server with this public key (sha256//BASE64)"),
    FLAG("cert", "FILE", FLAG_TEXT, MEMBER(trust.cert),
         "certificate that this runner shows to the server (PEM)"),
    FLAG("key", "FILE", FLAG_TEXT, MEMBER(trust.key), "its key (PEM)"),
    FLAG("insecure", NULL, FLAG_SWITCH, MEMBER(trust.insecure),
         "let tokens go over the network without TLS"),
    FLAG("engine", "ENGINE", FLAG_TEXT, MEMBER(engine),
         "one of " ENGINE_NAMES " (default process)"),
    FLAG("slots", "N", FLAG_POSITIVE, MEMBER(slots),
         "attempts run at once (default the GPUs, else the cores, at most 4; "
         "on Slurm and Kubernetes 100)"),
    FLAG(
        "gpus", "N|all|0,1,...", FLAG_TEXT, MEMBER(gpus),
        "GPUs to give to replicas (default those of CUDA_VISIBLE_DEVICES, else "
        "all)"),
    FLAG("label", "K=V,...", FLAG_TEXT, MEMBER(label),
         "labels that a study's runOn may ask for"),
    FLAG(
        "machine", "NAME", FLAG_TEXT, MEMBER(machine),
        "distinguishes machines with the same /etc/machine-id, as cloned ones"),
    FLAG(
        "state", "DIR", FLAG_TEXT, MEMBER(state),
        "folder of the attempts (default runs beside the token file); on Slurm "
        "all nodes must have it, by the same path"),
    FLAG("share", NULL, FLAG_SWITCH, MEMBER(share),
         "let several trials use one GPU"),
    FLAG("volume-root", "DIR,...", FLAG_TEXT, MEMBER(volume_root),
         "folders below which volumes of containers and outputs may lie "
         "(default none)"),
    FLAG("gcs-root", "DIR", FLAG_TEXT, MEMBER(gcs_root),
         "folder that stands for gs:// where a job asks for it"),
    FLAG("secrets", "DIR", FLAG_TEXT, MEMBER(secrets),
         "folder with a file for each secret that jobs may name"),
    FLAG("credentials", "DIR", FLAG_TEXT, MEMBER(credentials),
         "folder with a file ACCOUNT.json for each service account that jobs "
         "may name"),
    FLAG("allow", "NAME,...", FLAG_TEXT, MEMBER(allow),
         "what containers may do beyond the usual: " RULES_NAMES),
    FLAG("docker-host", "URL", FLAG_TEXT, MEMBER(docker_host),
         "the container engine (default DOCKER_HOST, else the usual sockets)"),
    FLAG("start-limit", "SECONDS", FLAG_POSITIVE, MEMBER(start_limit),
         "time for containers to begin, without pulls (default 120)"),
    FLAG("run-as", "USER", FLAG_TEXT, MEMBER(run_as),
         "as root: user of a trial's processes; auto or FIRST-LAST: an id of "
         "its own; none (default)"),
    FLAG("sandbox", "KIND", FLAG_TEXT, MEMBER(sandbox),
         "what hides the server's data from processes: namespaces, landlock, "
         "none (default auto: the first that works)"),
    FLAG("limit", "NAME=VALUE,...", FLAG_TEXT, MEMBER(limit),
         "what each replica's processes may use: memory, pids, file, cpus "
         "(default no limit)"),
    FLAG("slurm-rest", "URL", FLAG_TEXT, MEMBER(slurm_rest),
         "slurmrestd, unix:/PATH or http(s)://HOST:PORT (default "
         "SLURM_REST_URL, else sbatch and the like in PATH)"),
    FLAG("slurm-token", "FILE", FLAG_TEXT, MEMBER(slurm_token),
         "file with a JSON web token for slurmrestd"),
    FLAG("slurm-ssh", "HOST", FLAG_TEXT, MEMBER(slurm_ssh),
         "login node where sbatch and the like are run by ssh, and through "
         "which this machine has the files of its trials"),
    FLAG("slurm-folder", "DIR", FLAG_TEXT, MEMBER(slurm_folder),
         "beside --slurm-ssh: folder for these files that the nodes have, too "
         "(default .hypertune/slurm/RUNNER in the home there)"),
    FLAG("slurm-defaults", "FILE", FLAG_TEXT, MEMBER(slurm_defaults),
         "YAML with defaults for the section slurm of all specs"),
    FLAG("slurm-look", NULL, FLAG_ORDER, MEMBER(slurm_look),
         "print as JSON what the cluster allows, and end; needs no server"),
    FLAG("slurm-test", "JOB", FLAG_TEXT, MEMBER(slurm_test),
         "the same, and whether Slurm would take this job of JSON: hypertune "
         "check --smoke"),
    FLAG("kubernetes-config", "FILE", FLAG_TEXT, MEMBER(kube_config),
         "kubeconfig of the cluster (default KUBECONFIG, ~/.kube/config, or in "
         "a pod its service account)"),
    FLAG("kubernetes-context", "NAME", FLAG_TEXT, MEMBER(kube_context),
         "context in it (default its current one)"),
    FLAG("kubernetes-namespace", "NAME", FLAG_TEXT, MEMBER(kube_namespace),
         "namespace of the pods (default that of the context)"),
    FLAG("kubernetes-shim", "IMAGE", FLAG_TEXT, MEMBER(kube_shim_image),
         "image from which pods copy hypertune-shim, such as that of `make "
         "image` (default: ConfigMaps of the namespace have it)"),
    FLAG("kubernetes-max-jobs", "N", FLAG_POSITIVE, MEMBER(kube_max_jobs),
         "Jobs, JobSets, Services and objects of templates that exist at once "
         "(default 500)"),
    FLAG("kubernetes-look", NULL, FLAG_ORDER, MEMBER(kube_look),
         "print as JSON what the cluster is and which rights are missing, and "
         "end; needs no server"),
    FLAG(
        "kubernetes-show", NULL, FLAG_ORDER, MEMBER(kube_show),
        "print as JSON the objects of the attempt on stdin, and end: hypertune "
        "check -o kubernetes"),
    FLAG("kubernetes-try", NULL, FLAG_ORDER, MEMBER(kube_try),
         "the same, and whether the cluster accepts them by a dry run: "
         "hypertune check --smoke"),
    FLAG("kubernetes-prove", NULL, FLAG_ORDER, MEMBER(kube_prove),
         "run one pod of the image whose name is on stdin, within "
         "--start-limit, print as JSON which way works, and end: hypertune "
         "doctor --image"),
    FLAG("exit-when-alone", NULL, FLAG_SWITCH, MEMBER(exit_when_alone),
         "end after 30 s without server and attempts"),
    {.name = NULL}};

static const struct flags flags = {
    .program = "hypertune-runner",
    .usage = "--server URL --token-file FILE [flags]",
    .about = "Runs trials for a hypertune server on this machine.",
    .prefix = "HYPERTUNE_RUNNER_",
    .table = table,
};

const struct engine *runner_options_engine(const char *name)
{
    for (size_t i = 0; i < N_ENGINES; i++) {
        if (strcmp(engines[i]->name, name) == 0)
            return engines[i];
    }
    return NULL;
}

bool runner_options_only_look(const struct runner_options *options)
{
    return options->slurm_look || options->slurm_test != NULL ||
           options->kube_look || options->kube_show || options->kube_try ||
           options->kube_prove;
}

static enum ht_status check(const struct runner_options *options,
                            struct ht_error *err)
{
    if (runner_options_only_look(options))
        return HT_OK;
    if (options->server == NULL)
        return ht_fail(err, HT_INVALID, "--server URL is required, see --help");
    if (strncmp(options->server, "http://", 7) != 0 &&
        strncmp(options->server, "https://", 8) != 0)
        return ht_fail(err, HT_INVALID,
                       "--server: \"%s\" is not an http:// or https:// URL",
                       options->server);
    if (options->token_file == NULL)
        return ht_fail(err, HT_INVALID,
                       "--token-file FILE is required, see --help");
    const enum ht_status status =
        trust_check(&options->trust, options->server, true, err);
    if (status != HT_OK)
        return status;
    if (runner_options_engine(options->engine) == NULL)
        return ht_fail(
            err, HT_INVALID,
            "--engine: this version has no \"%s\"; it has: " ENGINE_NAMES,
            options->engine);
    return HT_OK;
}

enum ht_status runner_options_read(const struct flags_source *source,
                                   struct runner_options *options,
                                   struct text *shown, struct ht_error *err)
{
    struct runner_options read = {.engine = "process",
                                  .run_as = "none",
                                  .sandbox = "auto",
                                  .start_limit = 120,
                                  .kube_max_jobs = 500};
    if (flags_show(&flags, source, shown))
        return HT_OK;
    enum ht_status status = flags_read(&flags, source, &read, err);
    if (status == HT_OK)
        status = check(&read, err);
    if (status == HT_OK)
        *options = read;
    return status;
}
