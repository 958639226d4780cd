/* refusal.h - says what was meant by a word or an option where a command is
 * expected, or by a program where a spec is. */
#ifndef HT_HYPERTUNE_CLI_FRAME_REFUSAL_H
#define HT_HYPERTUNE_CLI_FRAME_REFUSAL_H

#include "hypertune/cli/frame/cli.h"

/* No command has the name words->items[0]: a spec, a program or a study has,
 * or a similar command. The other words follow it. Returns CLI_USAGE. */
int cli_refuse_command(struct cli *cli, const struct words *words);

/* An option of argv[0..argc), which came before any command, belongs behind
 * one; else `err` says what is wrong. Returns CLI_USAGE. */
int cli_refuse_leading(struct cli *cli, int argc, char *const argv[],
                       const struct ht_error *err);

/* The same of a topic of help; `own` are its topics beside commands, ended by
 * NULL. Returns CLI_ABSENT. */
int cli_refuse_topic(struct cli *cli, const char *topic,
                     const char *const own[]);

/* CLI_USAGE after a message how to tune it when the words are a program, or a
 * program with its arguments; CLI_DONE when they are not. */
int cli_refuse_trainer(struct cli *cli, const struct words *words);

#endif
