#include "hypertune/cli/spec/code.h"

#include <stdio.h>
#include <string.h>

#include "hypertune/cli/frame/runners.h"
#include "hypertune/cli/study/study.h"
#include "proto/base/machine_id.h"
#include "proto/transfer/transfer.h"
#include "proto/tree/walk.h"

enum {
    MEBIBYTE = 1024 * 1024,
    MOST_MEBIBYTES = 100,
    MOST_FILES = 100000,
    PATIENCE_MS = 30000
};

/* ---- other machines ---- */

struct machines {
    char own[TOKEN_TEXT_BYTES];
    const char *other; /* host of a runner elsewhere, or NULL */
};

static bool visit(const struct node *runner, void *context)
{
    struct machines *machines = context;
    const char *machine =
        node_get_string(node_find(runner, "rules"), "machine", machines->own);
    if (cli_runners_is_online(runner) && !cli_runners_has_images(runner) &&
        strcmp(machine, machines->own) != 0)
        machines->other = node_get_string(runner, "host", "another machine");
    return machines->other == NULL;
}

static void find_machines(struct cli *cli, struct machines *machines)
{
    machine_id(machines->own, NULL);
    machines->other = NULL;
    (void)cli_runners_each(cli, visit, machines, NULL);
}

/* ---- what there is ---- */

static void add_size(struct text *out, int64_t bytes)
{
    if (bytes < 1000)
        text_printf(out, "%lld B", (long long)bytes);
    else if (bytes < 1000000)
        text_printf(out, "%.1f kB", (double)bytes / 1e3);
    else
        text_printf(out, "%.1f MB", (double)bytes / 1e6);
}

/* "." is clearer than a long path. */
static const char *shown_folder(struct cli *cli, const char *folder)
{
    return strcmp(folder, cli_spec_folder(cli)) == 0 ? "." : folder;
}

static void say_size(struct cli *cli, const struct walked *walked,
                     const char *folder)
{
    struct text size = {0};
    add_size(&size, walked->bytes);
    cli_say(cli, "code: %zu file%s, %s from %s%s", walked->files,
            walked->files == 1 ? "" : "s", text_string(&size),
            shown_folder(cli, folder),
            walked->git ? " (git ignore rules)" : "");
    if (walked->n_left_out > 0)
        cli_say(cli, "code: left out %zu link%s out of the folder, such as %s",
                walked->n_left_out, walked->n_left_out == 1 ? "" : "s",
                walked->left_out);
    text_free(&size);
}

/* What is large, and how to leave it out. */
static const char *advise(struct cli *cli, const struct walked *walked)
{
    struct text out = {0};
    for (size_t i = 0; i < WALK_PARTS && walked->largest[i].path; i++) {
        text_puts(&out, "\n  ");
        add_size(&out, walked->largest[i].bytes);
        text_print_safe(&out, "  %s", walked->largest[i].path);
    }
    if (walked->largest[0].path != NULL)
        text_print_safe(
            &out,
            "\nleave out what trials do not need, in .gitignore: /%s\n"
            "or say `code: none` where the folder is on each machine",
            walked->largest[0].path);
    return text_take(&out, cli->arena);
}

/* ---- sending ---- */

static enum ht_status find_server(void *context, struct transfer_server *server,
                                  struct ht_error *err)
{
    const struct cli *cli = context;
    (void)err;
    *server = (struct transfer_server){.url = cli_http_url(cli->http),
                                       .token = cli_http_token(cli->http),
                                       .trust = *cli_http_trust(cli->http)};
    return HT_OK;
}

static enum ht_status send_tree(struct cli *cli, struct job *job,
                                const struct walked *walked,
                                const struct machines *machines,
                                struct ht_error *err)
{
    const struct transfer_settings settings = {.find = find_server,
                                               .context = cli,
                                               .project = CLI_PROJECT,
                                               .patience_ms = PATIENCE_MS};
    struct transfer_sent sent;
    char tree[TREE_NAME];
    const enum ht_status status = transfer_send(
        &settings, job->workdir, &walked->manifest, tree, &sent, err);
    if (status != HT_OK)
        return status;
    struct text size = {0};
    add_size(&size, sent.bytes);
    cli_say(cli, "code: sent %s", text_string(&size));
    text_free(&size);
    job->code.tree = arena_strdup(cli->lasting, tree);
    job->code.machine = arena_strdup(cli->lasting, machines->own);
    job->code.folder = job->workdir;
    return HT_OK;
}

int cli_code_send(struct cli *cli, const struct cli_spec *spec)
{
    const struct walk_rules rules = {.code = true,
                                     .most_bytes =
                                         (int64_t)MOST_MEBIBYTES * MEBIBYTE,
                                     .most_entries = MOST_FILES};
    struct job *job = spec->job;
    struct machines machines;
    struct walked walked;
    struct ht_error err;
    if (cli->set.no_code)
        job->code.way = CODE_NONE;
    if (job->code.way != CODE_AUTO || job->code.tree != NULL ||
        job_needs_images(job) || job->workdir == NULL)
        return CLI_DONE;
    find_machines(cli, &machines);
    enum ht_status status =
        walk_folder(cli->arena, cli_real_path(cli->arena, job->workdir), &rules,
                    &walked, &err);
    const bool too_large = status == HT_TOO_LARGE;
    if (status == HT_OK) {
        say_size(cli, &walked, job->workdir);
        status = send_tree(cli, job, &walked, &machines, &err);
    }
    if (status == HT_OK)
        return CLI_DONE;
    if (machines.other != NULL)
        return cli_fail(cli, too_large ? CLI_USAGE : CLI_REFUSED,
                        "the code cannot go to %s: %s%s", machines.other,
                        err.text, too_large ? advise(cli, &walked) : "");
    cli_say(cli, "code: stays on this machine: %s", err.text);
    return CLI_DONE;
}

void cli_code_say_older(struct cli *cli, const struct job *theirs,
                        const struct job *ours)
{
    if (theirs->code.tree != NULL && ours->code.tree != NULL &&
        strcmp(theirs->code.tree, ours->code.tree) != 0)
        cli_say(cli,
                "code: its trials on other machines get the folder as it was "
                "submitted; --continue gives those that have not begun this "
                "one");
}
