/* listing.h - what Slurm's commands print, read. Texts are in the arena. */
#ifndef HT_RUNNER_SLURM_LISTING_H
#define HT_RUNNER_SLURM_LISTING_H

#include "runner/slurm/slurm.h"

/* The format of squeue whose rows are read: the job's id is "12_[4-9]", or
 * "12+0" for the first component of a heterogeneous job; times with
 * SLURM_TIME_FORMAT=%s, elements with SLURM_BITSTR_LEN=0, else squeue shortens
 * them. The name, which may have any character, is last. */
#define LISTING_FORMAT "%i|%K|%T|%e|%N|%r|%j"

/* By Slurm's word, such as "RUNNING", and its reason. */
enum slurm_state listing_state(const char *word, const char *reason);

/* The rows of arrays and of first components whose name begins with the prefix.
 * HT_UNAVAILABLE  a line is no row, so that others may be missing */
enum ht_status listing_rows(struct arena *arena, const char *output,
                            const char *prefix, struct slurm_rows *rows,
                            struct ht_error *err);

/* The elements as Slurm names them, "12_[4-9]", or "12" for the whole job. */
const char *listing_elements(struct arena *arena, int64_t job, int first,
                             int last);

/* Of scontrol show config, and of scontrol -o show partition and reservation.
 * HT_UNAVAILABLE  it has no MaxArraySize */
enum ht_status listing_config(struct arena *arena, const char *output,
                              struct slurm_limits *limits,
                              struct ht_error *err);
void listing_partitions(struct arena *arena, const char *output,
                        struct slurm_limits *limits);
void listing_reservations(struct arena *arena, const char *output,
                          struct slurm_limits *limits);

/* Whether what sbatch said as it failed is a refusal: false where it leaves
 * open what the controller did, or is not of sbatch. */
bool listing_is_refusal(const char *errors);

/* What Slurm says at its stderr as one line without "sbatch: error: ". */
const char *listing_words(struct arena *arena, const char *errors);

#endif
