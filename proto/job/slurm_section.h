/* slurm_section.h - the section `slurm` as documents have it, all in one
 * grammar: the native form, the member "hypertune" of Google's forms, a
 * cluster's defaults, and what a server sends to a runner. */
#ifndef HT_PROTO_JOB_SLURM_SECTION_H
#define HT_PROTO_JOB_SLURM_SECTION_H

#include <cjson/cJSON.h>

#include "proto/doc/field.h"
#include "proto/job/slurm.h"

struct job_draft;

/* The name of the engine, as runOn has it. */
#define SLURM_ENGINE "slurm"

/* Of a struct job_slurm; ended by a NULL name. */
extern const struct field job_slurm_rows[];

/* Adds it to `object` as the member "slurm" if the spec has said it. */
void job_slurm_write(cJSON *object, const struct job_slurm *slurm);

/* A study with the section runs on Slurm: names the engine, or adds a fault
 * where runOn names another, or where an image is a path, which runs nowhere
 * else. */
void job_slurm_check(const struct field_reader *reader,
                     struct job_draft *draft);

#endif
