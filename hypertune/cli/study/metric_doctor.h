/* metric_doctor.h - why a trial has no objective, as the server found out. */
#ifndef HT_HYPERTUNE_CLI_STUDY_METRIC_DOCTOR_H
#define HT_HYPERTUNE_CLI_STUDY_METRIC_DOCTOR_H

#include "proto/base/text.h"
#include "proto/doc/node.h"

/* Appends a line for each metric that was seen and each hint of a "doctor"
 * (docs/http.md); nothing for NULL. */
void cli_diagnosis_describe(const struct node *doctor, struct text *out);

#endif
