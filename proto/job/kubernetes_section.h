/* kubernetes_section.h - the section `kubernetes` as documents have it, all in
 * one grammar: the native form, the member "hypertune" of Google's forms, and
 * what a server sends to a runner. */
#ifndef HT_PROTO_JOB_KUBERNETES_SECTION_H
#define HT_PROTO_JOB_KUBERNETES_SECTION_H

#include <cjson/cJSON.h>

#include "proto/doc/field.h"
#include "proto/job/kubernetes.h"

struct job_draft;

/* The name of the engine, as runOn has it. */
#define KUBERNETES_ENGINE "kubernetes"

/* Of a struct job_kubernetes; ended by a NULL name. What only a cluster can
 * judge is not looked at. */
extern const struct field job_kubernetes_rows[];

/* Adds it to `object` as the member "kubernetes" if the spec has said it. */
void job_kubernetes_write(cJSON *object, const struct job_kubernetes *section);

/* What the trial's container says in the template is the job's, as far as the
 * spec does not say it: image, words, working folder, and the variables that
 * have parameters. Adds a fault where the trial's pod cannot be found or used.
 */
void job_kubernetes_take(const struct field_reader *reader,
                         struct job_draft *draft);

/* A study with the section runs on Kubernetes: names the engine, or adds a
 * fault where runOn names another, or where the account of the pods is said
 * twice. */
void job_kubernetes_check(const struct field_reader *reader,
                          struct job_draft *draft);

#endif
