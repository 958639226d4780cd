/* attempts.h - the attempts of a trial in words: how each ended, and what
 * is known of how it ran. */
#ifndef HT_HYPERTUNE_CLI_STUDY_ATTEMPTS_H
#define HT_HYPERTUNE_CLI_STUDY_ATTEMPTS_H

#include "proto/base/text.h"
#include "proto/doc/node.h"

/* Appends a line for each attempt of a trial resource that has them, each
 * followed by its facts: images, commit, GPUs, outputs. */
void cli_attempts_describe(const struct node *trial, struct text *out);

#endif
