/* proof.h - one pod that runs as a trial of a study would, for `hypertune
 * doctor --image`: which way it works in this cluster. */
#ifndef HT_RUNNER_PODS_PROOF_H
#define HT_RUNNER_PODS_PROOF_H

#include <stdint.h>

#include "proto/base/text.h"

struct site;

struct proof_wish {
    const struct site *site; /* without `state` and `runner` */
    const char *image;       /* has `echo`, as nearly every one */
    const char *temporary;   /* a folder of the attempt is made there */
    int64_t limit_ms;        /* for all but the removal */
};

/* Runs it, for a few seconds where all is well, and appends one line of JSON:
 * {"way":"exec","tookMs":2300}
 * "way" is "exec" or "log"; the time is that until all that the pod said was
 * here. Where it does not work the line has "error", the reason in words, in
 * place of both. All that was made in the cluster is removed, also after SIGINT
 * and SIGTERM, except for the ConfigMaps that all runners share; "left" is the
 * name of a Job for which that failed. No thread may run yet. */
void pods_prove(const struct proof_wish *wish, struct text *out);

#endif
