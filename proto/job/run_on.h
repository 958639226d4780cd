/* run_on.h - where trials may run: which runners, and which part of a GPU.
 *
 * The native form and Vertex's member "hypertune" have these words in common;
 * a runner's --label is read here, too. */
#ifndef HT_PROTO_JOB_RUN_ON_H
#define HT_PROTO_JOB_RUN_ON_H

#include <cjson/cJSON.h>

#include "proto/base/arena.h"
#include "proto/base/error.h"
#include "proto/doc/field.h"
#include "proto/job/job.h"

enum { RUN_ON_PRIORITY = 100, RUN_ON_LABELS = 64 };

/* Of a struct job_run_on; ended by a NULL name. */
extern const struct field job_run_on_rows[];

/* A part of a GPU, more than 0 and at most 1: a double. */
field_function job_gpu_part;

/* Gives a pool that asks for a part of 1 a whole GPU, and adds a fault at the
 * part where it asks for whole ones, too. */
void job_gpu_finish(const struct field_reader *reader, struct place at,
                    struct pool *pool);

/* A section of a spec, at a place, that is for one engine, whose product is
 * named so: names the engine, or adds a fault where runOn names another. */
void job_run_on_section(const struct field_reader *reader, struct place at,
                        const char *engine, const char *product,
                        struct job_run_on *run_on);

/* Adds "runOn" and "priority" where they are not at their default. */
void job_run_on_write(cJSON *object, const struct job *job);

/* Reads "k=v,k2=v2" into pairs in the arena.
 * HT_INVALID  it is not that, or names a label twice */
enum ht_status run_on_labels(struct arena *arena, const char *text,
                             struct pairs *labels, struct ht_error *err);

#endif
