/* options.h - the runner's options: defaults, HYPERTUNE_RUNNER_* variables,
 * then flags, from one table that also prints --help. */
#ifndef HT_RUNNER_OPTIONS_H
#define HT_RUNNER_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/error.h"
#include "proto/base/flags.h"
#include "proto/base/text.h"
#include "proto/net/trust.h"

struct engine;

struct runner_options {
    const char *server;     /* HTTP URL; required */
    const char *token_file; /* required */
    struct trust trust;     /* in the server */
    const char *engine;     /* name */
    int64_t slots;        /* attempts at once; 0: on a cluster 100, else as many
                             as there are GPUs, else the cores, at most 4 */
    const char *gpus;     /* see gpus.h; NULL: those that are visible */
    const char *label;    /* "k=v,..."; NULL: none */
    const char *machine;  /* name of the machine; NULL: its own id */
    const char *state;    /* folder; NULL: "runs" beside the token file */
    bool exit_when_alone; /* end without server and attempts */
    const char *volume_root; /* folders, separated by commas; NULL: none */
    const char *gcs_root;    /* folder; NULL: none */
    const char *secrets;     /* folder; NULL: none */
    const char *credentials; /* folder; NULL: none */
    const char *allow;       /* see rules.h; NULL: nothing */
    bool share;              /* a GPU may have several trials */
    const char *docker_host; /* NULL: DOCKER_HOST, else the usual sockets */
    const char *run_as;      /* these three: runner/process/isolation.h */
    const char *sandbox;
    const char *limit;                    /* NULL: none */
    int64_t start_limit;                  /* seconds for containers to begin */
    const char *slurm_rest, *slurm_token; /* these: slurm_open() */
    const char *slurm_ssh, *slurm_folder;
    const char *slurm_defaults; /* file; NULL: none */
    bool slurm_look;            /* these two: cluster_look(), nothing else */
    const char *slurm_test;     /* NULL: no test */
    /* See struct kube_config_wish. */
    const char *kube_config, *kube_context, *kube_namespace;
    const char *kube_shim_image;
    int64_t kube_max_jobs;
    bool kube_look;           /* pods_look(), nothing else */
    bool kube_show, kube_try; /* pods_preview() of stdin, nothing else */
    bool kube_prove;          /* pods_prove() of stdin, nothing else */
};

/* Strings point into argv, the environment or constants. For --help or
 * --version the text is appended to `shown` and the options stay unchanged.
 * HT_INVALID  an unknown flag, a missing or wrong value, an engine that this
 *             version does not have */
enum ht_status runner_options_read(const struct flags_source *source,
                                   struct runner_options *options,
                                   struct text *shown, struct ht_error *err);

/* Whether the runner is to print what it finds and end. */
bool runner_options_only_look(const struct runner_options *options);

/* Those of this version. */
#define ENGINE_NAMES "process, docker, slurm, kubernetes"
/* NULL when this version has no engine of that name. */
const struct engine *runner_options_engine(const char *name);

#endif
