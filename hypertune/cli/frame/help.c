/* help.c - `help`, `--help` and `version`, written from the table of commands.
 */

#include "hypertune/cli/frame/commands.h"

#include <string.h>

#include "hypertune/cli/frame/output.h"
#include "hypertune/cli/frame/refusal.h"

static void list_commands(enum cli_group group, struct text *out)
{
    static const char *const titles[] = {
        [GROUP_STUDIES] = "Studies",        [GROUP_TRIALS] = "Trials",
        [GROUP_LEARNT] = "What was learnt", [GROUP_TRIAL] = "In a trial",
        [GROUP_SERVER] = "Server",          [GROUP_OTHER] = "Other"};
    text_printf(out, "%s:\n", titles[group]);
    for (const struct cli_command *c = cli_commands; c->name != NULL; c++) {
        if (c->help != NULL && c->group == group)
            text_printf(out, "  %-12s %s\n", c->name, c->help);
    }
    text_puts(out, "\n");
}

void cli_help_short(struct text *out)
{
    text_puts(out,
              "hypertune - tune hyperparameters and report metrics\n\n"
              "Common:\n"
              "  hypertune run spec.yaml               tune, watch, show the "
              "best\n"
              "  hypertune submit spec.yaml            create a study and run "
              "its trials\n"
              "  hypertune watch STUDY                 live view\n"
              "  hypertune best STUDY                  the best trial\n"
              "  hypertune report accuracy=0.93        inside a trial: report "
              "a metric\n\n");
    for (int group = 0; group <= GROUP_OTHER; group++)
        list_commands((enum cli_group)group, out);
    text_puts(out, "Global flags:\n");
    flags_help(cli_flags, "", true, out);
}

void cli_help_command(const struct cli_command *command, struct text *out)
{
    if (command->manual != NULL) {
        text_puts(out, command->manual);
        return;
    }
    text_printf(out, "usage: hypertune %s%s%s\n  %s\n", command->name,
                command->usage[0] != '\0' ? " " : "", command->usage,
                command->help);
    if (command->formats[0] != '\0')
        text_printf(out, "  -o has also: %s\n", command->formats);
    if (command->options == NULL)
        return;
    if (command->options[0] != '\0') {
        text_puts(out, "\nFlags:\n");
        flags_help(cli_flags, command->options, false, out);
    }
    text_puts(out, "\nGlobal flags:\n");
    flags_help(cli_flags, "", true, out);
}

static void help_exit(struct text *out)
{
    text_puts(out, "  0  done\n"
                   "  1  the server refused, or an internal error\n"
                   "  2  usage, or an invalid spec\n"
                   "  3  not found, or nothing there yet\n"
                   "  4  not allowed (token)\n"
                   "  5  conflict: the name is taken by another spec\n"
                   "  6  server not reachable\n"
                   "  7  study or trial failed\n"
                   "  8  --timeout passed\n"
                   "  9  describe -o line: the study has not ended\n"
                   "125  local-run: not started; else as the trial ended\n"
                   "130  interrupted    143  terminated\n");
}

static void help_environment(struct text *out)
{
    text_puts(out,
              "HYPERTUNE_SERVER      URL of a server, instead of your own\n"
              "HYPERTUNE_TOKEN_FILE  file of its token\n"
              "HYPERTUNE_CA          file of the authority of its certificate\n"
              "HYPERTUNE_PIN         its public key: sha256//KEY\n"
              "HYPERTUNE_CERT        certificate that this client shows\n"
              "HYPERTUNE_KEY         file of its key\n"
              "HYPERTUNE_INSECURE    1: the token may go over http\n"
              "HYPERTUNE_STATE       folder of your own server (default\n"
              "                      $XDG_STATE_HOME/hypertune, "
              "~/.local/state/hypertune)\n"
              "DOCKER_HOST           container engine, instead of the usual\n"
              "                      sockets of Docker and Podman\n"
              "NO_COLOR              no colours\n"
              "COLUMNS               width of tables on a terminal\n");
}

int cli_help(struct cli *cli)
{
    static const struct {
        const char *name;
        void (*write)(struct text *out);
    } topics[] = {{"spec", cli_help_spec},
                  {"exit", help_exit},
                  {"environment", help_environment}};
    struct text out = {0};
    if (cli->args.words.n == 0) {
        cli_help_short(&out);
        text_puts(&out, "\nTopics: help COMMAND, help spec, help exit, help "
                        "environment\n");
        return cli_print(&out);
    }
    const char *topic = cli->args.words.items[0];
    const char *names[sizeof topics / sizeof *topics + 1] = {NULL};
    for (size_t i = 0; i < sizeof topics / sizeof *topics; i++) {
        names[i] = topics[i].name;
        if (strcmp(topics[i].name, topic) == 0) {
            topics[i].write(&out);
            return cli_print(&out);
        }
    }
    const struct cli_command *command = cli_command_find(topic);
    if (command == NULL || command->help == NULL)
        return cli_refuse_topic(cli, topic, names);
    cli_help_command(command, &out);
    return cli_print(&out);
}

int cli_version(struct cli *cli)
{
    struct node version = {
        .kind = NODE_STRING, .key = "version", .text = HT_VERSION};
    const struct node root = {.kind = NODE_MAP, .first = &version, .count = 1};
    struct text out = {0};
    if (!cli_output_resource(cli->format, &root, &out))
        text_puts(&out, "hypertune " HT_VERSION "\n");
    return cli_print(&out);
}
