/* why.h - why the search chose a trial's point, in words. */
#ifndef HT_HYPERTUNE_CLI_STUDY_WHY_H
#define HT_HYPERTUNE_CLI_STUDY_WHY_H

#include "proto/base/text.h"
#include "proto/doc/node.h"

/* Appends a line for each thing that a trial resource tells of it (docs/
 * http.md, "why"); nothing when it tells nothing. */
void cli_why_describe(const struct node *trial, struct text *out);

#endif
