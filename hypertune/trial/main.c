/* main.c - hypertune-trial: the commands that make sense inside a trial, in one
 * static file that runs in any image. Installed there under the name hypertune.
 */

#include <stdio.h>
#include <string.h>

#include "hypertune/trial/commands.h"
#include "hypertune/trial/trial.h"

static const char help[] =
    "hypertune - report metrics from inside a trial\n"
    "\n"
    "  hypertune report accuracy=0.93 --step 4   report metrics\n"
    "  hypertune checkpoint                      a checkpoint is whole\n"
    "  hypertune should-stop && exit             end early when asked to\n"
    "  hypertune params [NAME]                   this trial's parameters\n"
    "  hypertune help COMMAND | version\n";

static bool is_one_of(const char *word, const char *a, const char *b)
{
    return strcmp(word, a) == 0 || strcmp(word, b) == 0;
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fputs(help, stderr);
        return TRIAL_EXIT_USAGE;
    }
    if (is_one_of(argv[1], "version", "--version")) {
        puts("hypertune " HT_VERSION);
        return TRIAL_EXIT_OK;
    }
    bool asks_help = is_one_of(argv[1], "help", "--help");
    if (asks_help && argc == 2) {
        fputs(help, stdout);
        return TRIAL_EXIT_OK;
    }
    const char *name = asks_help ? argv[2] : argv[1];
    const struct trial_command *command = trial_command_find(name);
    if (command == NULL)
        return trial_usage("\"%s\" is not a command here; see \"hypertune "
                           "help\"",
                           name);
    if (!asks_help)
        return command->run(argc - 1, argv + 1);
    fputs(command->help, stdout);
    return TRIAL_EXIT_OK;
}
