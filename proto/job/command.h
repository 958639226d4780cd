/* command.h - the argv and environment of one replica of one trial. */
#ifndef HT_PROTO_JOB_COMMAND_H
#define HT_PROTO_JOB_COMMAND_H

#include <stdbool.h>

#include "proto/base/arena.h"
#include "proto/base/error.h"
#include "proto/job/job.h"

/* Splits a line as a POSIX shell splits words, without running one: quotes
 * and backslashes work, nothing is expanded.
 * HT_INVALID  a quote is not closed, or no word is left */
enum ht_status command_split(struct arena *arena, const char *line,
                             struct strings *words, struct ht_error *err);

/* The user's own command and args with ${name} of declared parameters replaced
 * (a word that mentions an absent one is left out), and ${HYPERTUNE_SEED} by
 * the seed; then --name=value for the others as args_mode says. Any other
 * ${...} passes through. The seed is the replicate number of the trial: 0 for
 * the first of a point. */
struct strings command_line(struct arena *arena, const struct job *job,
                            const struct pool *pool, const struct value point[],
                            int64_t seed);

/* The --name=value list alone, in the order of the space: what
 * `best -o args` prints. */
struct strings command_params(struct arena *arena, const struct space *space,
                              const struct value point[]);

/* The pool's variables with the same substitution; in Google's forms $(NAME) of
 * an earlier variable is replaced instead, and $$(NAME) means $(NAME). */
struct pairs command_env(struct arena *arena, const struct job *job,
                         const struct pool *pool, const struct value point[],
                         int64_t seed);

/* A stored text of JSON with the same substitution in all of its texts; a list
 * loses items, and a map members, that mention an absent parameter. */
const char *command_json(struct arena *arena, const struct job *job,
                         const char *json, const struct value point[],
                         int64_t seed);

/* "python3 -m MODULE", as which a Python module without an image runs. */
struct strings command_of_module(struct arena *arena, const char *module);
/* Whether the pool's command is that of command_of_module(), so that forms can
 * write it back as a module. */
bool command_is_module(const struct pool *pool);

/* Marks the parameters whose ${name} a word or variable of the pool holds. */
void command_mark_used(const struct space *space, const struct pool *pool,
                       bool used[]);
/* Whether it marks any. */
bool command_has_reference(const struct space *space, const struct pool *pool);

#endif
