/* katib.h - a Katib Experiment in the words of our native spec. */
#ifndef HT_HYPERTUNE_CLI_TRANSFER_KATIB_H
#define HT_HYPERTUNE_CLI_TRANSFER_KATIB_H

#include <cjson/cJSON.h>

#include "hypertune/cli/frame/options.h"
#include "proto/doc/node.h"

/* What was not carried over: "LINE: PATH: why", in the document's order of
 * finding. */
struct katib_notes {
    struct arena *arena;
    struct words lines;
};

/* The native spec of an Experiment; `name` replaces its own unless NULL. The
 * caller owns it. It may still lack what every spec needs. */
cJSON *katib_spec(const struct node *experiment, const char *name,
                  struct katib_notes *notes);

#endif
