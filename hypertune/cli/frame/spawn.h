/* spawn.h - other programs: ours started to outlive this one, those of the
 * machine asked for a line or two, and commands looked for in PATH. */
#ifndef HT_HYPERTUNE_CLI_FRAME_SPAWN_H
#define HT_HYPERTUNE_CLI_FRAME_SPAWN_H

#include <stdint.h>
#include <sys/types.h>

#include "proto/base/arena.h"
#include "proto/base/error.h"

struct cli_spawn {
    const char *program;     /* one of ours, by name */
    const char *const *args; /* behind its name, ended by NULL */
    const char *folder;      /* absolute: where it works */
    const char *log;         /* file there for its output, 0600 */
};

/* Starts it in its own session, without any descriptor or signal mask of
 * ours. It is a child of this process all the same.
 * HT_IO  it cannot be started */
enum ht_status cli_spawn_detached(struct arena *arena,
                                  const struct cli_spawn *spawn, pid_t *pid,
                                  struct ht_error *err);

enum {
    CLI_SPAWN_MS = 5000, /* the usual patience with a program */
    CLI_SPAWN_BYTES = 1 << 20
};

/* Runs a program of PATH with nothing to read and takes what it prints, both
 * streams, at most CLI_SPAWN_BYTES; after `most_ms` it is killed. Returns its
 * exit code, 128 + the signal that ended it, or -1 when it cannot be started.
 */
int cli_spawn_ask(struct arena *arena, const char *const argv[],
                  int64_t most_ms, const char **output);
/* The same with a text to read, from a file. */
int cli_spawn_feed(struct arena *arena, const char *const argv[],
                   const char *input, int64_t most_ms, const char **output);

struct cli_program_query {
    const char *name;    /* first word of the command */
    const char *workdir; /* folder of the trials; relative names start there */
    const char *path;    /* PATH, NULL: none */
};

/* Finds the file as execvp(3) would with that PATH and that current folder.
 * HT_NOT_FOUND  no such file; the sentence gives a hint when one is known
 * HT_DENIED     it is there, but cannot be executed */
enum ht_status cli_program_find(struct arena *arena,
                                const struct cli_program_query *query,
                                const char **program, struct ht_error *err);

#endif
