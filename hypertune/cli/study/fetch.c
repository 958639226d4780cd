/* fetch.c - `fetch`: the output files of a trial. */

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "hypertune/cli/frame/commands.h"
#include "hypertune/cli/frame/output.h"
#include "hypertune/cli/frame/tree.h"
#include "hypertune/cli/study/trial.h"
#include "proto/base/clock.h"

enum { PROGRESS_MS = 250, HOST_BYTES = 256 };

/* A runner's own folders of a trial have this; its outputs do not. */
static const char attempt_mark[] = "lease.json";

struct source {
    struct cli_study study;
    const struct node *trial;
    const char *host, *output;
};

/* ---- which trial ---- */

static int find_trial(struct cli *cli, const char *word, struct source *source)
{
    const char *id;
    struct ht_error err;
    int code = cli_study_open_trial(cli, word, &source->study, &id);
    if (code == CLI_DONE && cli_trial_get(cli, source->study.name, id,
                                          &source->trial, &err) != HT_OK)
        code = cli_fail_error(cli, &err);
    return code;
}

/* Of the attempt whose measurements are the trial's; else of the newest. */
static int find_output(struct cli *cli, struct source *source)
{
    const struct node *ours = node_find(source->trial, "hypertune");
    const struct node *winner = NULL;
    const char *id = cli_trial_id(source->trial);
    NODE_EACH (one, node_first(ours, "attempts"))
        if (!node_get_bool(winner, "winner", false))
            winner = one;
    const struct node *facts = node_find(winner, "facts");
    if (strcmp(node_get_string(ours, "outputs", ""), "discarded") == 0)
        return cli_fail(cli, CLI_ABSENT,
                        "the outputs of trial %s were discarded: the spec "
                        "keeps those of the best alone",
                        id);
    source->output = node_get_string(facts, "output", NULL);
    source->host = node_get_string(facts, "host", NULL);
    if (source->output == NULL)
        return cli_fail(cli, CLI_ABSENT,
                        "trial %s has no outputs that the server knows of", id);
    return CLI_DONE;
}

/* ---- copying ---- */

static const char *target_of(struct cli *cli, const struct source *source)
{
    if (cli->args.words.n > 1)
        return cli->args.words.items[1];
    return source->study.home->kind == JOB_CUSTOM
               ? source->study.name
               : arena_printf(cli->arena, "%s-%s", source->study.name,
                              cli_trial_id(source->trial));
}

static bool is_empty(const char *folder)
{
    DIR *list = opendir(folder);
    size_t n = 0;
    if (list == NULL)
        return errno == ENOENT;
    while (n < 3 && readdir(list) != NULL)
        n++;
    closedir(list);
    return n == 2; /* itself and the one above */
}

struct progress {
    struct cli *cli;
    int64_t next_ms;
};

static void show_progress(const struct tree_copy *copy)
{
    struct progress *progress = copy->context;
    int64_t now = clock_monotonic_ms();
    if (now < progress->next_ms)
        return;
    progress->next_ms = now + PROGRESS_MS;
    fprintf(stderr, "\r%lld files, %s \033[K", (long long)copy->files,
            cli_output_size(progress->cli->arena, copy->bytes));
}

static void say_fetched(struct cli *cli, const struct source *source,
                        const struct tree_copy *copy, const char *folder)
{
    struct text value = {0};
    if (source->study.metric[0] != '\0') {
        text_printf(&value, " (%s=", source->study.metric);
        cli_trial_objective(source->trial, &value);
        text_puts(&value, ")");
    }
    cli_say(cli, "trial %s of %s%s: %lld file%s, %s in %s",
            cli_trial_id(source->trial), source->study.name,
            text_take(&value, cli->arena), (long long)copy->files,
            copy->files == 1 ? "" : "s",
            cli_output_size(cli->arena, copy->bytes), folder);
    if (copy->left_out > 0)
        cli_say(cli, "left out: %lld links or special files",
                (long long)copy->left_out);
    if (copy->files == 0)
        cli_say(cli, "the trial wrote nothing below AIP_MODEL_DIR, "
                     "AIP_CHECKPOINT_DIR or AIP_TENSORBOARD_LOG_DIR");
}

static int copy_output(struct cli *cli, const struct source *source)
{
    struct ht_error err;
    struct text out = {0};
    struct progress progress = {cli, 0};
    struct tree_copy copy = {
        .replace = cli->set.force, .mark = attempt_mark, .context = &progress};
    const char *folder = target_of(cli, source);
    if (!cli->set.force && !is_empty(folder))
        return cli_fail(cli, CLI_CONFLICT,
                        "%s is there already; name another folder, or say "
                        "--force to replace files in it",
                        folder);
    if (cli->err_tty && !cli->set.quiet)
        copy.progress = show_progress;
    enum ht_status status = tree_copy(source->output, folder, &copy, &err);
    if (progress.next_ms != 0)
        fputs("\r\033[K", stderr);
    if (status != HT_OK)
        return cli_fail_error(cli, &err);
    say_fetched(cli, source, &copy, folder);
    text_print_safe(&out, "%s\n", folder);
    return cli_print(&out);
}

static int send_elsewhere(struct cli *cli, const struct source *source)
{
    struct text line = {0};
    text_puts(&line, "  scp -r ");
    text_shell_word(
        &line, arena_printf(cli->arena, "%s:%s", source->host, source->output));
    text_puts(&line, " ");
    text_shell_word(&line, target_of(cli, source));
    return cli_fail(cli, CLI_REFUSED,
                    "trial %s ran on %s, its outputs are there:\n%s",
                    cli_trial_id(source->trial), source->host,
                    text_take(&line, cli->arena));
}

int cli_fetch(struct cli *cli)
{
    struct source source = {0};
    const struct words *words = &cli->args.words;
    int code = find_trial(cli, words->items[0], &source);
    if (code == CLI_DONE)
        code = find_output(cli, &source);
    if (code != CLI_DONE)
        return code;
    char host[HOST_BYTES] = "";
    gethostname(host, sizeof host - 1);
    return source.host == NULL || strcmp(source.host, host) == 0
               ? copy_output(cli, &source)
               : send_elsewhere(cli, &source);
}
