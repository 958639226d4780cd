/* cli_diagnosis.h - why a trial has no objective, as the server found out. */
#ifndef HT_HYPERTUNE_CLI_DIAGNOSIS_H
#define HT_HYPERTUNE_CLI_DIAGNOSIS_H

#include "proto/node.h"
#include "proto/text.h"

/* Appends a line for each metric that was seen and each hint of a "doctor"
 * (docs/http.md); nothing for NULL. */
void cli_diagnosis_describe(const struct node *doctor, struct text *out);

#endif
