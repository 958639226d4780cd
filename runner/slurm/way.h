/* way.h - what each way to Slurm implements; slurm.h says what the functions
 * promise. */
#ifndef HT_RUNNER_SLURM_WAY_H
#define HT_RUNNER_SLURM_WAY_H

#include "runner/slurm/slurm.h"

/* `state`: what open() has made, which close() frees. */
struct way {
    /* Writes *state only on success. `settings` has what was looked for. */
    enum ht_status (*open)(const struct slurm_settings *settings, void **state,
                           struct ht_error *err);
    void (*close)(void *state);
    void (*abort)(void *state);
    const char *(*name)(const void *state);
    enum ht_status (*submit)(void *state, const struct slurm_batch *batch,
                             int64_t *job, struct ht_error *err);
    enum ht_status (*test)(void *state, const struct slurm_batch *batch,
                           struct arena *arena, const char **words,
                           struct ht_error *err);
    enum ht_status (*list)(void *state, const char *prefix, struct arena *arena,
                           struct slurm_rows *rows, struct ht_error *err);
    enum ht_status (*cancel)(void *state, int64_t job, int first, int last,
                             bool waiting, struct ht_error *err);
    enum ht_status (*limits)(void *state, struct arena *arena,
                             struct slurm_limits *limits, struct ht_error *err);
};

extern const struct way way_rest;     /* rest.c */
extern const struct way way_commands; /* commands.c: here, or over ssh */

#endif
