/* commands.h - the table of commands and options of `hypertune`. */
#ifndef HT_HYPERTUNE_CLI_FRAME_COMMANDS_H
#define HT_HYPERTUNE_CLI_FRAME_COMMANDS_H

#include <limits.h>

#include "hypertune/cli/frame/cli.h"
#include "proto/base/flags.h"
#include "proto/base/text.h"

typedef int cli_run(struct cli *cli); /* returns an exit code */

/* The parts of help that commands are listed in. */
enum cli_group {
    GROUP_STUDIES,
    GROUP_TRIALS,
    GROUP_LEARNT,
    GROUP_TRIAL,
    GROUP_SERVER,
    GROUP_OTHER
};

/* Most words: any number; the same, with more after "--". */
enum { CLI_MANY = INT_MAX, CLI_ANY = -1 };

struct cli_command {
    const char *name;
    cli_run *run;
    enum cli_group group;
    int least, most;     /* words that it takes */
    const char *options; /* own options, apart by blanks; NULL: every argument
                            goes to the command as it is */
    const char *usage;   /* what follows the name */
    const char *help;    /* one line; NULL: not for people, help is silent */
    const char *formats; /* what -o may name for it alone, by blanks */
    const char *manual;  /* all of its help; NULL: made of the above */
};

extern const struct cli_command cli_commands[]; /* ended by a NULL name */
extern const struct flag cli_flags[];           /* of struct cli_settings */

/* By its whole name; NULL when there is none. */
const struct cli_command *cli_command_find(const char *name);

/* Reads the options before a command into cli->set. */
struct flags_parser cli_flags_parser(struct cli *cli);

/* Reads argv, finds the command, runs it; returns the exit code. */
int cli_main(struct cli *cli, int argc, char *const argv[]);

/* Says how the command is used; returns CLI_USAGE. */
int cli_usage(struct cli *cli);

/* spec/submit.c */
cli_run cli_submit, cli_run_study;
/* spec/check.c, spec/init.c */
cli_run cli_check, cli_write_spec;
/* study/list.c */
cli_run cli_list, cli_describe;
/* study/trials.c */
cli_run cli_trials, cli_trial;
cli_run cli_compare;
/* study/curves.c, transfer/export.c */
cli_run cli_curves, cli_export;
/* study/add.c, study/fetch.c, transfer/import.c */
cli_run cli_add, cli_fetch, cli_import;
/* spec/best.c, spec/confirm.c, study/replay.c */
cli_run cli_best, cli_confirm, cli_replay;
/* study/commands.c */
cli_run cli_importance, cli_health, cli_stop_trial, cli_retry, cli_ui, cli_note,
    cli_tag;
/* study/fleet.c */
cli_run cli_list_runners, cli_projects;
/* host/complete.c: the candidates; host/completion.c: scripts that ask for
 * them */
cli_run cli_complete, cli_completion;
/* live/watch.c, live/top.c */
cli_run cli_watch, cli_top;
/* study/logs.c */
cli_run cli_logs;
/* study/control.c */
cli_run cli_order, cli_delete;
/* spec/set.c */
cli_run cli_set, cli_clone;
/* study/audit.c */
cli_run cli_audit;
/* host/serve.c */
cli_run cli_in_trial, cli_serve, cli_runner;
/* host/doctor.c, host/gcloud_env.c, spec/local_run.c */
cli_run cli_doctor, cli_gcloud_env, cli_local_run;
/* host/backup.c */
cli_run cli_backup, cli_restore, cli_verify;
/* host/token.c, host/tls.c, host/seal.c */
cli_run cli_token, cli_share, cli_tls, cli_unseal;
/* host/manifest.c */
cli_run cli_kubernetes;
/* help.c */
cli_run cli_version, cli_help;
/* Append the list of commands, or the help of one command. */
void cli_help_short(struct text *out);
void cli_help_command(const struct cli_command *command, struct text *out);
/* schema.c: appends every field of a spec with its kind and meaning, from
 * proto/native.schema.json, which is embedded at build time. */
void cli_help_spec(struct text *out);

#endif
