/* fetch_elsewhere.h - the outputs of a trial that ran on another machine: its
 * runner sends them to the server's store, and they are fetched from there. */
#ifndef HT_HYPERTUNE_CLI_STUDY_FETCH_ELSEWHERE_H
#define HT_HYPERTUNE_CLI_STUDY_FETCH_ELSEWHERE_H

#include <stdbool.h>

#include "hypertune/cli/frame/cli.h"
#include "hypertune/cli/frame/tree.h"

/* Whether a file of a target is what a fetch that was broken off has left: the
 * next one continues with it, and removes it. */
bool cli_fetch_is_left(const char *name);

struct cli_fetch_source {
    const char *study, *trial; /* ids */
    bool checkpoint;           /* not the outputs: what the store has */
};

/* Waits for the runner and fills the folder, which is made when it is not
 * there, by the rules of tree_copy(). Shows on a terminal how far it is.
 * HT_NOT_FOUND     there are no outputs (any more), or no checkpoint
 * HT_PRECONDITION  they cannot be had now: the server's sentence
 * HT_TIMEOUT       --timeout passed
 * others           as cli_http_call(), transfer_fetch() and tree_copy() */
enum ht_status cli_fetch_elsewhere(struct cli *cli,
                                   const struct cli_fetch_source *source,
                                   const char *folder, struct tree_copy *copy,
                                   struct ht_error *err);

/* What the server answers of the newest checkpoint in its store, in cli->arena;
 * NULL: there is none, or no answer. */
const struct node *
cli_fetch_find_checkpoint(struct cli *cli,
                          const struct cli_fetch_source *source);

#endif
