/* replica_view.h - what one replica finds where it runs: its folders as it sees
 * them, and the environment that is there before the job's own.
 *
 * A process lives on this machine. A container sees our folders mounted:
 *   /hypertune/kit    read-only: bin/hypertune, bin/hypertune-shim, include,
 *                     lib, python, hook (see proto/README.md, section 7)
 *   /hypertune/trial  the replica's folder
 *   /hypertune/output the trial's model, checkpoints and logs folders
 *   /hypertune/credentials.json  read-only: the key of the service account */
#ifndef HT_RUNNER_ATTEMPT_REPLICA_VIEW_H
#define HT_RUNNER_ATTEMPT_REPLICA_VIEW_H

#include "proto/base/arena.h"
#include "proto/base/strings.h"
#include "runner/base/order.h"
#include "runner/base/site.h"
#include "runner/docker/image.h"

struct replica_view {
    const char *folder;       /* the replica's */
    const char *outputs;      /* the trial's, with model, checkpoints, logs */
    const char *makes;        /* the folder on this machine in which these three
                                 are still to be made; NULL: they are there */
    const char *workdir;      /* NULL: `folder` */
    const char *copied;       /* the folder that workdir is a copy of; NULL:
                                 it is none */
    struct strings argv;      /* complete; argv[0] is found there */
    struct pairs base;        /* the environment below the job's own */
    struct pairs defaults;    /* ... set where neither base nor job has it */
    struct strings inherited; /* names that the shim's own environment fills in
                                 where nobody else has them */
    const char *kit;          /* the trial kit, NULL: none */
    const char *programs;     /* folder of our programs, NULL: none */
    bool programs_first;      /* in PATH, else last */
    bool python_hook;         /* of Python, where an import fails else */
    const char *gcs;          /* folder of all buckets; NULL: URLs stay */
    const char *report_url;   /* NULL: not reachable from there */
    const char *credentials;  /* where their file is mounted; NULL: it is seen
                                 where it lies */
};

/* The text with the replica's folder, as it is seen there, for ${trialDir}
 * where the order wants that; in the arena. */
const char *replica_view_put_trial_dir(struct arena *arena,
                                       const struct order *order,
                                       const char *text, const char *folder);

/* In the arena. `folder` is the replica's on this machine. */
struct replica_view replica_view_of_process(struct arena *arena,
                                            const struct site *site,
                                            const struct order *order,
                                            size_t replica, const char *folder);
/* `report_url` as the container reaches it, or NULL. */
struct replica_view
replica_view_of_container(struct arena *arena, const struct site *site,
                          const struct order *order, size_t replica,
                          const struct image *image, const char *report_url);

#endif
