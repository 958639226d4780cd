#include "hypertune/cli/frame/refusal.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "hypertune/cli/frame/commands.h"
#include "hypertune/cli/frame/http.h"
#include "hypertune/cli/frame/spawn.h"
#include "proto/base/text.h"
#include "proto/base/words.h"

enum { ASK_MS = 2000 };

static bool is_file(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISREG(info.st_mode);
}

static const char *suffix_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *dot = strrchr(slash != NULL ? slash : path, '.');
    return dot != NULL ? dot + 1 : "";
}

/* ---- programs ---- */

static bool begins_as_program(const char *path)
{
    char start[4] = {0};
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return false;
    const size_t n = fread(start, 1, sizeof start, file);
    fclose(file);
    return n == sizeof start &&
           (memcmp(start, "#!", 2) == 0 || memcmp(start, "\177ELF", 4) == 0);
}

/* How the shell runs the file, NULL when it is no program: its interpreter and
 * a blank, or a lead of its path. */
static const char *lead_of(const char *path)
{
    static const struct {
        const char *suffix, *lead;
    } leads[] = {{"py", "python3 "},
                 {"sh", "sh "},
                 {"R", "Rscript "},
                 {"r", "Rscript "},
                 {"jl", "julia "}};
    const char *suffix = suffix_of(path);
    if (!is_file(path) || words_has("yaml yml json", suffix))
        return NULL;
    for (size_t i = 0; i < sizeof leads / sizeof *leads; i++)
        if (strcmp(leads[i].suffix, suffix) == 0)
            return leads[i].lead;
    if (!begins_as_program(path))
        return NULL;
    return strchr(path, '/') != NULL ? "" : "./";
}

/* "python train.py", or any program of PATH with a file among its arguments:
 * a word alone may be anything. */
static bool is_command(struct cli *cli, const struct words *words)
{
    const struct cli_program_query query = {words->items[0], ".",
                                            cli_variable(cli, "PATH")};
    const char *program;
    bool has_file = false;
    for (size_t i = 1; i < words->n; i++)
        has_file = has_file || is_file(words->items[i]);
    return has_file &&
           cli_program_find(cli->arena, &query, &program, NULL) == HT_OK;
}

int cli_refuse_trainer(struct cli *cli, const struct words *words)
{
    struct text command = {0};
    const char *lead = lead_of(words->items[0]);
    if (lead == NULL && !is_command(cli, words))
        return CLI_DONE;
    text_puts(&command, lead != NULL ? lead : "");
    for (size_t i = 0; i < words->n; i++) {
        text_puts(&command, i > 0 ? " " : "");
        text_shell_word(&command, words->items[i]);
    }
    return cli_fail(cli, CLI_USAGE,
                    "%s is a program; to tune it, write its command behind "
                    "--:\n"
                    "  hypertune run --maximize METRIC --param NAME=FORM -- %s",
                    words->items[0], text_take(&command, cli->arena));
}

/* ---- where a command is expected ---- */

static bool is_study(struct cli *cli, const char *name)
{
    const struct node *answer;
    return cli_connect_silently(cli, ASK_MS) &&
           cli_get(cli,
                   arena_printf(cli->arena, CLI_OURS "/%s?view=BASIC",
                                cli_http_segment(cli->arena, name)),
                   &answer, NULL) == HT_OK;
}

/* Of the commands for people and of these other names. */
static const char *hint_of(struct cli *cli, const char *name,
                           const char *const own[])
{
    struct words names = {0};
    for (const struct cli_command *c = cli_commands; c->name != NULL; c++)
        if (c->help != NULL)
            words_add(cli->arena, &names, c->name);
    for (; *own != NULL; own++)
        words_add(cli->arena, &names, *own);
    words_add(cli->arena, &names, NULL);
    return words_hint(cli->arena, name, names.items);
}

int cli_refuse_command(struct cli *cli, const struct words *words)
{
    static const char *const none[] = {NULL};
    const char *name = words->items[0];
    const bool is_spec =
        is_file(name) && words_has("yaml yml json", suffix_of(name));
    if (is_spec) {
        struct text word = {0};
        text_shell_word(&word, name);
        return cli_fail(cli, CLI_USAGE,
                        "%s is a file, no command; run it: hypertune run %s%s",
                        name, text_take(&word, cli->arena), cli_where(cli));
    }
    if (is_study(cli, name))
        return cli_fail(
            cli, CLI_USAGE,
            "%s is a study, no command; see it: hypertune watch %s%s", name,
            name, cli_where(cli));
    const char *hint = hint_of(cli, name, none);
    if (hint[0] == '\0' && cli_refuse_trainer(cli, words) != CLI_DONE)
        return CLI_USAGE;
    return cli_fail(cli, CLI_USAGE, "no command \"%s\"%s", name,
                    hint[0] != '\0' ? hint : "; \"hypertune help\" lists them");
}

int cli_refuse_topic(struct cli *cli, const char *topic,
                     const char *const own[])
{
    return cli_fail(cli, CLI_ABSENT,
                    "no help on \"%s\"%s; \"hypertune help\" lists the topics",
                    topic, hint_of(cli, topic, own));
}

/* The command that most people mean when several have the option. */
static const char *owner_of(const char *option)
{
    if (words_has(cli_command_find("run")->options, option))
        return "run";
    for (const struct cli_command *c = cli_commands; c->name != NULL; c++)
        if (c->options != NULL && words_has(c->options, option))
            return c->name;
    return NULL;
}

int cli_refuse_leading(struct cli *cli, int argc, char *const argv[],
                       const struct ht_error *err)
{
    for (int i = 0; i < argc; i++) {
        const char *name = strncmp(argv[i], "--", 2) == 0 ? argv[i] + 2 : "";
        const struct flag *flag =
            flags_find(cli_flags, name, strcspn(name, "="));
        const char *owner =
            flag != NULL && !flag->everywhere ? owner_of(flag->name) : NULL;
        if (owner != NULL)
            return cli_fail(cli, CLI_USAGE,
                            "--%s follows the name of a command: hypertune %s "
                            "--%s ...",
                            flag->name, owner, flag->name);
    }
    return cli_fail(cli, CLI_USAGE, "%s", err->text);
}
