/* short_params.h - parameters in few columns: learning_rate=0.01 as lr=0.01. */
#ifndef HT_HYPERTUNE_CLI_STUDY_SHORT_PARAMS_H
#define HT_HYPERTUNE_CLI_STUDY_SHORT_PARAMS_H

#include "proto/base/text.h"
#include "proto/doc/node.h"

/* Appends "lr=0.0011 bs=128 opt=adam" for a map of parameters: names over 4
 * bytes by the first letters of their words, or by their first two when they
 * are one word; numbers in at most 4 digits. Names stay whole when two of them
 * would become one. */
void cli_brief_params(const struct node *params, struct text *out);

/* Appends one parameter's value, a real number in at most so many digits. */
void cli_brief_value(const struct node *value, int digits, struct text *out);

#endif
