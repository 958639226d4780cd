/* runners.h - the server's runners and their abilities. */
#ifndef HT_HYPERTUNE_CLI_FRAME_RUNNERS_H
#define HT_HYPERTUNE_CLI_FRAME_RUNNERS_H

#include "hypertune/cli/frame/cli.h"
#include "proto/job/job.h"

/* Calls `visit` with each runner of the server, online or not, until it
 * returns false. One request; errors are those of cli_get(). */
enum ht_status cli_runners_each(struct cli *cli, cli_visitor *visit,
                                void *context, struct ht_error *err);

/* By what the server last knew, when it made that answer. */
bool cli_runners_is_online(const struct node *runner);
/* Does it run images? Else it starts processes. A guess by its engine until it
 * has said hello. */
bool cli_runners_has_images(const struct node *runner);
/* Appends what an elastic runner has at its cluster, such as "4 run, 6 wait
 * (Priority)", and why a study gets nothing there. */
void cli_runners_add_elements(const struct node *runner, struct text *out);
/* Appends "docker on HOST, Docker 20.10.24, 1 of 2 slots busy, GPUs 0,1". */
void cli_runners_describe(const struct node *runner, struct text *out);

/* Ensures that the server has a runner for the job, if it has images or runs on
 * Slurm: this user's own server gets one when a container engine answers on
 * this machine, or it has a way to Slurm. Returns CLI_DONE, or another exit
 * code after a message. `file`: the spec's name in it. */
int cli_runners_prepare(struct cli *cli, const struct job *job,
                        const char *file);

/* The same for any image. *available: some runner runs images, or may come: a
 * named server may get its first runner later. */
int cli_runners_ensure_images(struct cli *cli, bool *available);

#endif
