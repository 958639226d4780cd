/* commands.h - what `hypertune` can do inside a trial.
 *
 * Shared by the command line and by the static hypertune-trial: libc only.
 * argv[0] is the command's own name; each prints its one error itself and
 * returns the exit code: 0 done, 2 usage, 3 not found, 6 not reachable. */
#ifndef HT_HYPERTUNE_TRIAL_COMMANDS_H
#define HT_HYPERTUNE_TRIAL_COMMANDS_H

enum {
    TRIAL_EXIT_OK = 0,
    TRIAL_EXIT_GO_ON = 1, /* should-stop: no */
    TRIAL_EXIT_USAGE = 2,
    TRIAL_EXIT_NOT_FOUND = 3,
    TRIAL_EXIT_UNREACHABLE = 6 /* should-stop: not known */
};

struct trial_command {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *help;
};

/* NULL when there is none of that name. */
const struct trial_command *trial_command_find(const char *name);

/* report NAME=VALUE... [--step N] [--checkpoint PATH] [--strict]
 * [--timeout T], or report --from-stdin --pattern P. */
int trial_command_report(int argc, char **argv);
/* checkpoint [PATH] [--step N]. */
int trial_command_checkpoint(int argc, char **argv);
/* should-stop: 0 stop now, 1 continue, 6 not in a trial. */
int trial_command_should_stop(int argc, char **argv);
/* params [NAME] [-o args|env|json|table]. */
int trial_command_params(int argc, char **argv);

/* What `help COMMAND` and COMMAND --help print. */
extern const char trial_help_report[];
extern const char trial_help_checkpoint[];
extern const char trial_help_should_stop[];
extern const char trial_help_params[];

#endif
