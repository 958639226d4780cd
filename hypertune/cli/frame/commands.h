/* cli_commands.h - the table of commands and options of `hypertune`. */
#ifndef HT_HYPERTUNE_CLI_FRAME_COMMANDS_H
#define HT_HYPERTUNE_CLI_FRAME_COMMANDS_H

#include <stdbool.h>

#include "hypertune/cli/frame/cli.h"
#include "hypertune/cli/frame/options.h"

typedef int cli_run(struct cli *cli); /* returns an exit code */

struct cli_command {
    const char *name;
    cli_run *run;
    const char *options; /* own options, apart by blanks; NULL: every argument
                            goes to the command as it is */
    const char *usage;   /* what follows the name */
    const char *help;    /* one line; NULL: not for people, help is silent */
};

extern const struct cli_command cli_commands[];     /* ended by a NULL name */
extern const struct option_spec cli_option_table[]; /* of struct cli_settings */

const struct cli_command *cli_command_find(const char *name);
/* The option of that name, whichever commands have it; NULL: none. */
const struct option_spec *cli_option_find(const char *name, size_t len);

/* Reads argv, finds the command, runs it; returns the exit code. */
int cli_main(struct cli *cli, int argc, char *const argv[]);

/* Exactly `n` words are there; otherwise says how the command is used. */
bool cli_wants(struct cli *cli, size_t n);
/* The same for at least one word. */
bool cli_wants_some(struct cli *cli);

/* cli_submit.c */
cli_run cli_submit, cli_run_study;
/* cli_check.c, cli_init.c */
cli_run cli_check, cli_write_spec;
/* cli_list.c */
cli_run cli_list, cli_describe;
/* cli_trials.c */
cli_run cli_trials, cli_trial, cli_best;
/* cli_curves.c, cli_export.c, cli_importance.c */
cli_run cli_curves, cli_export, cli_importance;
/* cli_add.c, cli_fetch.c, cli_import.c */
cli_run cli_add, cli_fetch, cli_import;
/* cli_confirm.c, cli_replay.c */
cli_run cli_confirm, cli_replay;
/* cli_steer.c */
cli_run cli_stop_trial, cli_retry;
/* cli_complete.c: the candidates; cli_completion.c: scripts that ask for them
 */
cli_run cli_complete, cli_completion;
/* cli_watch.c, cli_top.c */
cli_run cli_watch, cli_top;
/* cli_logs.c */
cli_run cli_logs;
/* cli_control.c */
cli_run cli_pause, cli_resume, cli_stop, cli_cancel, cli_delete, cli_set;
/* cli_local.c */
cli_run cli_report, cli_should_stop, cli_params, cli_serve, cli_runner;
/* cli_doctor.c, cli_runners.c, cli_local_run.c */
cli_run cli_doctor, cli_list_runners, cli_local_run;
/* cli_gcloud_env.c, cli_ui.c */
cli_run cli_gcloud_env, cli_ui;
/* cli_help.c */
cli_run cli_version, cli_help;
void cli_help_short(struct text *out);
void cli_help_command(const struct cli_command *command, struct text *out);

#endif
