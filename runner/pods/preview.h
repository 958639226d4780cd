/* preview.h - the objects of an attempt that does not exist, for `hypertune
 * check`: as the engine would make them, and what a cluster says of them. */
#ifndef HT_RUNNER_PODS_PREVIEW_H
#define HT_RUNNER_PODS_PREVIEW_H

#include <stdbool.h>
#include <stddef.h>

#include "proto/base/text.h"

struct site;

struct preview_wish {
    const struct site *site; /* `shim` and the names of the cluster count */
    const char *attempt;     /* an ATTEMPT of proto/README.md section 4 */
    size_t len;
    bool dry_run; /* the cluster is asked whether it accepts the objects */
};

/* Appends one line of JSON:
 * {"server":"https://...","namespace":"work","version":"1.34",
 *  "objects":[{...},...]}
 * The first three are of the cluster that the settings name; it decides which
 * fields the objects have, and whether there is a JobSet. Without `dry_run`
 * none is needed: "version" is then the one whose fields they have, and
 * "unasked" says why a cluster that is named was not asked. With it "pods" says
 * why the cluster refuses a pod of an accepted Job, if it does.
 *
 * Where something fails the line ends with "error", the reason in words, and
 * "refused", whether the job or a setting is wrong. Nothing is made in the
 * cluster. */
void pods_preview(const struct preview_wish *wish, struct text *out);

#endif
