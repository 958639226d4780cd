/* drawn_job.h - jobs drawn at random, for tests of what reads and writes them.
 */
#ifndef HT_TESTS_LIB_DRAWN_JOB_H
#define HT_TESTS_LIB_DRAWN_JOB_H

#include <stdint.h>

#include "proto/base/arena.h"
#include "proto/job/job.h"

/* A job in which every field that its kind may have takes any value that the
 * Vertex form can say, with texts full of what JSON escapes and numbers of any
 * size. The same `seed` (not 0) draws the same job; it is in the arena. */
struct job *drawn_job(struct arena *arena, enum job_kind kind, uint64_t seed);

#endif
