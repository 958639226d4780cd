/* katib.h - a Katib Experiment in the words of our native spec. */
#ifndef HT_HYPERTUNE_CLI_TRANSFER_KATIB_H
#define HT_HYPERTUNE_CLI_TRANSFER_KATIB_H

#include <cjson/cJSON.h>

#include "hypertune/cli/frame/options.h"
#include "proto/base/arena.h"
#include "proto/doc/node.h"

/* What was not carried over: "LINE: PATH: why", in the document's order of
 * finding. */
struct katib_notes {
    struct arena *arena;
    struct words lines;
};
__attribute__((format(printf, 4, 5))) void katib_note(struct katib_notes *notes,
                                                      const struct node *at,
                                                      const char *path,
                                                      const char *format, ...);

/* The native spec of an Experiment; `name` replaces its own unless NULL. The
 * caller owns it. It may still lack what every spec needs. */
cJSON *katib_spec(const struct node *experiment, const char *name,
                  struct katib_notes *notes);

/* Adds image, command, env and resources of spec.trialTemplate. */
void katib_add_template(const struct node *spec, cJSON *native,
                        struct katib_notes *notes);

#endif
