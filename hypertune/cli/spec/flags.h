/* flags.h - a study without a spec file: flags become a native spec.
 *
 * The flags are turned into the document that a spec file would have held, so
 * there is one grammar and one set of checks. */
#ifndef HT_HYPERTUNE_CLI_SPEC_FLAGS_H
#define HT_HYPERTUNE_CLI_SPEC_FLAGS_H

#include <cjson/cJSON.h>

#include "hypertune/cli/frame/cli.h"
#include "proto/base/error.h"

/* Adds one "NAME=FORM" to an object of parameters. FORM is
 *     1..8            whole numbers          1..8:2     in steps of 2
 *     0.1..0.9        real numbers           log:1e-5..0.1, rlog:..
 *     int:0..9, real:0..1                    to say which
 *     adam,sgd        categories             32,64      numbers
 *     7               a constant
 * HT_INVALID  no such form, the name is missing or was given before */
enum ht_status cli_flags_param(cJSON *parameters, const char *text,
                               struct ht_error *err);

/* The native spec that the settings and the command describe; the caller owns
 * *spec. HT_INVALID when a flag cannot be read. */
enum ht_status cli_flags_spec(const struct cli_settings *set,
                              const struct words *command, cJSON **spec,
                              struct ht_error *err);

#endif
