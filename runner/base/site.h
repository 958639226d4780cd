/* site.h - the settings of this runner that every attempt needs; set in main(),
 * then constant. */
#ifndef HT_RUNNER_BASE_SITE_H
#define HT_RUNNER_BASE_SITE_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/job/job.h"
#include "runner/base/cgroup.h"
#include "runner/base/gpu_models.h"
#include "runner/base/guest.h"

/* Paths in a container, see replica_view.h. */
#define CONTAINER_KIT "/hypertune/kit"
#define CONTAINER_TRIAL "/hypertune/trial"
#define CONTAINER_OUTPUT "/hypertune/output"
#define CONTAINER_CREDENTIALS "/hypertune/credentials.json"
#define CONTAINER_GCS "/gcs"

/* Borrowed by everything else of the runner until it ends. */
struct site {
    const char *state;    /* absolute folder of all attempts */
    const char *programs; /* absolute folder of hypertune's programs, or NULL */
    const char *shim;     /* absolute path of hypertune-shim */
    int slots;            /* attempts at once, >= 1 */
    int cores;            /* this runner may use, >= 1 */
    struct strings gpus;  /* that replicas may get, see gpus.h */
    struct gpu_models models; /* of the machine; empty: not known */
    const char *machine;      /* its id, see machine_id.h */
    struct pairs labels;      /* of --label */
    struct pairs inherited;   /* HOME, USER, LANG, TZ, TMPDIR as far as set */
    const char *runner;       /* its id, in names and labels */
    bool elastic;             /* slots are made on demand on other machines,
                                 which share the state folder */
    bool far;                 /* ... which do not share it: runner/far */
    const char *seen_state;   /* its path there; NULL: the same */

    /* Processes; see runner/process/isolation.h. */
    struct guest guest;           /* what every trial's begins with */
    struct strings guest_command; /* words before a command that is to run as
                                     such a guest; none without a sandbox */
    const char *trial_user, *trial_home; /* of --run-as USER; else NULL */
    struct cgroup_limits limits;
    struct cgroup_places cgroups;

    /* Containers. */
    const char *kit;             /* absolute folder mounted at /hypertune/kit */
    struct strings volume_roots; /* volumes and outputs may lie below */
    const char *gcs_root;        /* mounted at /gcs, NULL: none */
    const char *secrets;         /* folder of secret files, NULL: none */
    const char *credentials;     /* folder of accounts' keys, NULL: none */
    struct strings secret_variables; /* names behind HYPERTUNE_SECRET_ */
    bool gcs_credentials;            /* processes here can access gs:// */
    struct strings allowed;          /* what --allow names, see rules.h */
    bool share_gpus;                 /* a GPU may have several trials */
    const char *docker_host; /* as DOCKER_HOST; NULL: the usual sockets */
    int64_t start_limit_ms;  /* for containers to begin, without pulls */

    /* The cluster; see struct slurm_settings. */
    const char *slurm_rest, *slurm_token, *slurm_ssh;
    const char *slurm_folder;   /* beside slurm_ssh: the root of runner/far */
    const char *slurm_defaults; /* file of slurm_read_defaults(), NULL: none */

    /* Kubernetes; see struct kube_config_wish. */
    const char *kube_config, *kube_context, *kube_namespace;
    const char *kube_shim_image; /* NULL: ConfigMaps have the shim */
    int64_t kube_max_jobs;       /* objects of attempts at once */
};

#endif
