/* fetch.c - `fetch`: the output files of a trial. */

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "hypertune/cli/frame/commands.h"
#include "hypertune/cli/frame/output.h"
#include "hypertune/cli/frame/runners.h"
#include "hypertune/cli/frame/tree.h"
#include "hypertune/cli/study/fetch_elsewhere.h"
#include "hypertune/cli/study/trial.h"
#include "proto/base/clock.h"
#include "proto/base/machine_id.h"

enum { PROGRESS_MS = 250, HOST_BYTES = 256 };

/* A runner's own folders of a trial have this; its outputs do not. */
static const char attempt_mark[] = "lease.json";

struct source {
    struct cli_study study;
    const struct node *trial;
    const char *runner, *host, *output;
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
    source->runner = node_get_string(winner, "runner", "");
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

/* But for what a fetch that was broken off has left. */
static bool is_empty(const char *folder)
{
    DIR *list = opendir(folder);
    const struct dirent *entry;
    bool empty = true;
    if (list == NULL)
        return errno == ENOENT;
    while (empty && (entry = readdir(list)) != NULL)
        empty = strcmp(entry->d_name, ".") == 0 ||
                strcmp(entry->d_name, "..") == 0 ||
                cli_fetch_is_left(entry->d_name);
    closedir(list);
    return empty;
}

static int check_target(struct cli *cli, const char *folder)
{
    return cli->set.force || is_empty(folder)
               ? CLI_DONE
               : cli_fail(cli, CLI_CONFLICT,
                          "%s is there already; name another folder, or say "
                          "--force to replace files in it",
                          folder);
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

static int end_well(struct cli *cli, const struct source *source,
                    const struct tree_copy *copy, const char *folder)
{
    struct text out = {0};
    say_fetched(cli, source, copy, folder);
    text_print_safe(&out, "%s\n", folder);
    return cli_print(&out);
}

static int copy_output(struct cli *cli, const struct source *source)
{
    struct ht_error err;
    struct progress progress = {cli, 0};
    struct tree_copy copy = {
        .replace = cli->set.force, .mark = attempt_mark, .context = &progress};
    const char *folder = target_of(cli, source);
    const int code = check_target(cli, folder);
    if (code != CLI_DONE)
        return code;
    if (cli->err_tty && !cli->set.quiet)
        copy.progress = show_progress;
    enum ht_status status = tree_copy(source->output, folder, &copy, &err);
    if (progress.next_ms != 0)
        fputs("\r\033[K", stderr);
    if (status != HT_OK)
        return cli_fail_error(cli, &err);
    return end_well(cli, source, &copy, folder);
}

/* ---- from another machine ---- */

/* The newest checkpoint may be in the store where the outputs cannot be had. */
static const char *checkpoint_way(struct cli *cli,
                                  const struct cli_fetch_source *from,
                                  const struct source *source)
{
    const struct node *found = cli_fetch_find_checkpoint(cli, from);
    const char *step = node_get_string(found, "step", NULL);
    struct text word = {0};
    if (found == NULL || cli->set.checkpoint)
        return "";
    text_shell_word(&word, arena_printf(cli->arena, "%s/%s", source->study.name,
                                        cli_trial_id(source->trial)));
    return arena_printf(
        cli->arena,
        "\n  the server has its checkpoint%s%s: hypertune fetch %s "
        "--checkpoint%s",
        step != NULL ? " of step " : "", step != NULL ? step : "",
        text_take(&word, cli->arena), cli_where(cli));
}

static const char *copy_way(struct cli *cli, const struct source *source)
{
    struct text line = {0};
    if (source->host == NULL || source->output == NULL)
        return "";
    text_puts(&line, "\n  by hand: scp -r ");
    text_shell_word(
        &line, arena_printf(cli->arena, "%s:%s", source->host, source->output));
    text_puts(&line, " ");
    text_shell_word(&line, target_of(cli, source));
    return text_take(&line, cli->arena);
}

static int refuse(struct cli *cli, const struct source *source,
                  const struct cli_fetch_source *from, struct ht_error *err)
{
    const char *copy = err->status == HT_PRECONDITION && !from->checkpoint
                           ? copy_way(cli, source)
                           : "";
    const char *way =
        err->status == HT_PRECONDITION || err->status == HT_NOT_FOUND
            ? checkpoint_way(cli, from, source)
            : "";
    const int code = cli_fail_error(cli, err);
    if (*copy != '\0' || *way != '\0')
        cli_say(cli, "%s%s", *copy != '\0' ? copy + 1 : "",
                *copy != '\0' || *way == '\0' ? way : way + 1);
    return code;
}

static int fetch_elsewhere(struct cli *cli, const struct source *source)
{
    struct ht_error err;
    struct tree_copy copy = {.replace = cli->set.force};
    const char *folder = target_of(cli, source);
    const struct cli_fetch_source from = {.study = source->study.id,
                                          .trial = cli_trial_id(source->trial),
                                          .checkpoint = cli->set.checkpoint};
    const int code = check_target(cli, folder);
    if (code != CLI_DONE)
        return code;
    const enum ht_status status =
        cli_fetch_elsewhere(cli, &from, folder, &copy, &err);
    return status == HT_OK ? end_well(cli, source, &copy, folder)
                           : refuse(cli, source, &from, &err);
}

/* ---- which of them ---- */

struct machine {
    const char *runner;
    char own[TOKEN_TEXT_BYTES];
    bool other; /* the runner is of another machine than this one */
};

static bool look_at(const struct node *runner, void *context)
{
    struct machine *machine = context;
    if (strcmp(node_get_string(runner, "runner", ""), machine->runner) != 0)
        return true;
    machine->other = strcmp(node_get_string(node_find(runner, "rules"),
                                            "machine", machine->own),
                            machine->own) != 0;
    return false;
}

/* Machines may have one name; containers often do. */
static bool is_here(struct cli *cli, const struct source *source)
{
    char host[HOST_BYTES] = "";
    struct machine machine = {.runner = source->runner};
    gethostname(host, sizeof host - 1);
    if (source->host != NULL && strcmp(source->host, host) != 0)
        return false;
    machine_id(machine.own, NULL);
    (void)cli_runners_each(cli, look_at, &machine, NULL);
    return !machine.other;
}

int cli_fetch(struct cli *cli)
{
    struct source source = {0};
    const struct words *words = &cli->args.words;
    int code = find_trial(cli, words->items[0], &source);
    if (code == CLI_DONE && cli->set.checkpoint)
        return fetch_elsewhere(cli, &source);
    if (code == CLI_DONE)
        code = find_output(cli, &source);
    if (code != CLI_DONE)
        return code;
    return is_here(cli, &source) ? copy_output(cli, &source)
                                 : fetch_elsewhere(cli, &source);
}
