/* isolation.h - decides, once for a runner of processes, what separates trials
 * from it: options and machine become the guest that every trial begins with.
 *
 * A trial can be any code, so what it must not see is hidden rather than
 * protected by its mode alone: the attempts' folder, the server's data folder
 * or the runner's token, secrets and keys. */
#ifndef HT_RUNNER_PROCESS_ISOLATION_H
#define HT_RUNNER_PROCESS_ISOLATION_H

#include "proto/base/arena.h"
#include "proto/base/error.h"
#include "runner/attempt/replica_view.h"
#include "runner/base/site.h"

struct isolation_options {
    const char *run_as;     /* "none", "auto", "FIRST-LAST" or a user */
    const char *sandbox;    /* "auto" or sandbox_name() */
    const char *limit;      /* "NAME=VALUE,..."; NULL: none */
    const char *token_file; /* of the runner */
};

/* Fills site->guest and site->limits; site->state, secrets and credentials are
 * set. Warnings are logged.
 * HT_INVALID      an option is wrong
 * HT_PRECONDITION this machine or user cannot do what an option asks for */
enum ht_status isolation_decide(struct arena *arena,
                                const struct isolation_options *options,
                                struct site *site, struct ht_error *err);

/* Makes the view that of a guest, in the arena: view->guest, and HOME and the
 * like for another user. */
void isolation_apply(struct arena *arena, const struct site *site,
                     const struct order *order, size_t replica,
                     struct replica_view *view);

/* Removes the control groups of a replica whose shim was killed. */
void isolation_forget(const struct site *site, const struct order *order,
                      size_t replica);

#endif
