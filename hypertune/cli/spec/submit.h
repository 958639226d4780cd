/* submit.h - makes the server's study agree with a spec: submit, run, --smoke,
 * and the best trial at the end. */
#ifndef HT_HYPERTUNE_CLI_SPEC_SUBMIT_H
#define HT_HYPERTUNE_CLI_SPEC_SUBMIT_H

#include "hypertune/cli/frame/cli.h"
#include "hypertune/cli/spec/spec.h"
#include "hypertune/cli/study/study.h"

/* Creates the study of the spec, or attaches to, continues or replaces the
 * one that has its name, as the settings say. Connects first.
 * Returns CLI_DONE, or another exit code after a message. */
int cli_submit_spec(struct cli *cli, const struct cli_spec *spec,
                    struct cli_study *study);

/* Creates the study of a job and nothing else. */
enum ht_status cli_submit_create(struct cli *cli, const struct job *job,
                                 struct cli_study *study, struct ht_error *err);

/* Shows the warnings of the server's answer to a new job: needs that no runner
 * meets now. */
void cli_submit_say_warnings(struct cli *cli, const struct cli_study *study);

/* Prints the study's name as the one line of stdout: an exit code. */
int cli_submit_print_name(const char *study);

/* Runs the first suggestion as the one trial of a temporary study on the
 * server's runners. The trial is stopped after two reports of its objective
 * (--full lets it end), and after --timeout (2 minutes).
 *
 * Returns CLI_DONE when the objective was reported, CLI_FAILED when the trial
 * ended without it, CLI_OVERDUE after the timeout, or another exit code. */
int cli_smoke(struct cli *cli, const struct cli_spec *spec);

/* `check -o sbatch`: prints the script that asks Slurm for the slots of the
 * spec's study. What only the runner knows has a place in it, which is named on
 * stderr. Returns CLI_DONE, or another exit code after a message. */
int cli_sbatch_show(struct cli *cli);

/* Asks Slurm by `sbatch --test-only` whether it would start the slots of a job
 * for its engine, where this machine has a way to it, and says what it said.
 * Nothing for other engines. Returns CLI_DONE, also when it was not asked, or
 * another exit code after a message: Slurm refuses them. */
int cli_sbatch_try(struct cli *cli, const struct job *job);

/* `check -o kubernetes`: prints the objects that the study's first trial is in
 * a Kubernetes cluster. What only the server knows has a place in them, which
 * is named on stderr. Returns CLI_DONE, or another exit code after a message.
 */
int cli_kube_show(struct cli *cli);

/* Asks the cluster of this machine's kubeconfig by a dry run whether it accepts
 * these objects of a job that runs on Kubernetes, and says so. By which engine
 * a job runs that names none, the server is asked. Returns CLI_DONE, also when
 * the cluster could not be asked, or another exit code after a message: it
 * refuses them. */
int cli_kube_try(struct cli *cli, const struct job *job);

/* The end of `run`: how the study ended, its best trial and the command that
 * repeats it. Returns `code`, or why the server failed. */
int cli_best_of_run(struct cli *cli, const struct cli_spec *spec,
                    const char *study, int code);

/* Appends the verdict of its confirmations as one line: which trial to take,
 * and how sure that is. Nothing when no run of one has ended yet. */
enum ht_status cli_confirm_verdict(struct cli *cli,
                                   const struct cli_study *study,
                                   struct text *out, struct ht_error *err);

#endif
