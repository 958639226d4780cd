/* runners.h - the server's runners and what they say they can do. */
#ifndef HT_HYPERTUNE_CLI_FRAME_RUNNERS_H
#define HT_HYPERTUNE_CLI_FRAME_RUNNERS_H

#include "hypertune/cli/frame/cli.h"
#include "proto/job/job.h"

/* Calls `visit` with each runner the server knows, until it returns false. */
enum ht_status cli_runners_each(struct cli *cli, cli_visitor *visit,
                                void *context, struct ht_error *err);

bool cli_runners_is_online(const struct node *runner);
/* Does it run images? Else it starts processes. */
bool cli_runners_has_images(const struct node *runner);
/* Appends "docker on HOST, Docker 20.10.24, 1 of 2 slots busy, GPUs 0,1". */
void cli_runners_describe(const struct node *runner, struct text *out);

/* Sees to it that the job's images can run: the server has a runner for them,
 * or gets one. This user's own server is given one when a container engine
 * answers on this machine. Returns CLI_DONE, or CLI_USAGE after having said
 * what to do. */
int cli_runners_prepare(struct cli *cli, const struct job *job,
                        const char *file);

/* Sees to it that images can run, as far as that is possible here; *offered
 * tells. This user's own server is given a runner of containers when an engine
 * answers on this machine; a named one may get its first runner later. Returns
 * CLI_DONE, or the exit code after having said why. */
int cli_runners_offer_images(struct cli *cli, bool *offered);

/* Starts the runner of containers of this user's own server again when it was
 * there before and has died, so that what it had begun is seen to. */
void cli_runners_revive(struct cli *cli, const char *folder, const char *url);

#endif
