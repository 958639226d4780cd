/* replica_view.h - one replica's folders by their paths where it runs, and the
 * environment below the job's.
 *
 * A process runs on this machine. A container has these folders mounted:
 *   /hypertune/kit    read-only: bin/hypertune, bin/hypertune-shim, include,
 *                     lib, python, hook (see proto/README.md, section 7)
 *   /hypertune/trial  the replica's folder
 *   /hypertune/output the trial's model, checkpoints and logs folders
 *   /hypertune/credentials.json  read-only: the key of the service account */
#ifndef HT_RUNNER_ATTEMPT_REPLICA_VIEW_H
#define HT_RUNNER_ATTEMPT_REPLICA_VIEW_H

#include "proto/base/arena.h"
#include "proto/base/text.h"
#include "runner/base/order.h"
#include "runner/base/site.h"
#include "runner/docker/image.h"

struct replica_view {
    const char *folder;       /* the replica's; NULL: no file of ours is where
                                 it runs */
    const char *outputs;      /* the trial's, with model, checkpoints, logs */
    const char *makes;        /* the folder on this machine in which these three
                                 must be made; NULL: they exist */
    const char *workdir;      /* NULL: `folder` */
    const char *copied;       /* the folder that workdir is a copy of; NULL:
                                 it is none */
    struct strings argv;      /* complete; argv[0] is searched in PATH */
    struct pairs base;        /* the environment that the job's overrides */
    struct pairs defaults;    /* ... set where neither base nor job has it */
    struct strings inherited; /* variables from the shim's environment unless
                                 they are set otherwise */
    const char *kit;          /* the trial kit, NULL: none */
    const char *programs;     /* folder of hypertune's programs, NULL: none */
    bool programs_first;      /* in PATH, else last */
    const char *gcs;          /* folder of all buckets; NULL: URLs stay */
    const char *report_url;   /* NULL: not reachable from there */
    struct guest guest;       /* of a process */
    const char *credentials;  /* where their file is mounted; NULL: it is not
                                 mounted */
    bool own_accounts;        /* accounts are of its cluster: it gets none of
                                 this runner's credentials */
};

/* The text with the replica's folder, by its path there, for ${trialDir} where
 * the order asks for that; in the arena. */
const char *replica_view_put_trial_dir(struct arena *arena,
                                       const struct order *order,
                                       const char *text, const char *folder);

/* In the arena. `folder` is the replica's on this machine. */
struct replica_view replica_view_of_process(struct arena *arena,
                                            const struct site *site,
                                            const struct order *order,
                                            size_t replica, const char *folder);
/* `report_url` is valid in the container, or NULL. */
struct replica_view
replica_view_of_container(struct arena *arena, const struct site *site,
                          const struct order *order, size_t replica,
                          const struct image *image, const char *report_url);

#endif
