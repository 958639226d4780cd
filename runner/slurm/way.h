/* way.h - what the ways to Slurm have in common: their functions, and the
 * reading of Slurm's words. For the files of this folder. */
#ifndef HT_RUNNER_SLURM_WAY_H
#define HT_RUNNER_SLURM_WAY_H

#include "runner/slurm/slurm.h"

struct way; /* of the kind that the functions are of */

struct way_functions {
    void (*close)(struct way *way);
    enum ht_status (*submit)(struct way *way, const struct slurm_batch *batch,
                             int64_t *job, struct ht_error *err);
    enum ht_status (*test)(struct way *way, const struct slurm_batch *batch,
                           struct arena *arena, const char **words,
                           struct ht_error *err);
    enum ht_status (*list)(struct way *way, const char *prefix,
                           struct arena *arena, struct slurm_rows *rows,
                           struct ht_error *err);
    enum ht_status (*cancel)(struct way *way, int64_t job, int first, int last,
                             bool waiting, struct ht_error *err);
    enum ht_status (*limits)(struct way *way, struct arena *arena,
                             struct slurm_limits *limits, struct ht_error *err);
};

struct slurm {
    const struct way_functions *functions;
    struct way *way;
    struct arena *arena; /* of the way and its name */
    const char *name;
};

/* Fill functions, way and name; their texts are in slurm->arena. */
void commands_open(struct slurm *slurm, const char *ssh, const char *socket);
enum ht_status rest_open(struct slurm *slurm, const char *address,
                         const char *token_file, struct ht_error *err);

/* The state of Slurm's word, in either case. */
enum slurm_state way_state(const char *word);
/* The same with what makes PENDING another one. */
enum slurm_state way_pending(enum slurm_state state, const char *reason,
                             int64_t restarts);
/* Sets exit and signal from a wait status as Slurm keeps it. */
void way_set_exit(struct slurm_row *row, int64_t status);
/* Adds rows like `row` for the elements of "2-3,7,9-20:2%4". False: it is no
 * such list. */
bool way_add_elements(struct arena *arena, struct slurm_rows *rows,
                      const struct slurm_row *row, const char *elements);
void way_add_row(struct arena *arena, struct slurm_rows *rows,
                 const struct slurm_row *row);
/* Milliseconds of "30", "30:00", "2:00:00", "1-12", "1-12:30:00": what Slurm
 * takes and prints as a limit. 0: there is none; -1: it is no limit. */
int64_t way_limit_ms(const char *text);

#endif
