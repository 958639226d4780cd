#include "hypertune/cli/spec/code.h"

#include <stdio.h>
#include <string.h>

#include "hypertune/cli/frame/runners.h"
#include "hypertune/cli/frame/store.h"
#include "hypertune/cli/study/study.h"
#include "proto/base/machine_id.h"
#include "proto/net/address.h"
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
    bool here;         /* a runner of this machine is online */
    const char *other; /* host of a runner elsewhere, or NULL */
};

static bool visit(const struct node *runner, void *context)
{
    struct machines *machines = context;
    const char *machine =
        node_get_string(node_find(runner, "rules"), "machine", machines->own);
    if (!cli_runners_is_online(runner) || cli_runners_has_images(runner))
        return true;
    if (strcmp(machine, machines->own) == 0)
        machines->here = true;
    else
        machines->other = node_get_string(runner, "host", "another machine");
    return machines->other == NULL;
}

static void find_machines(struct cli *cli, struct machines *machines)
{
    *machines = (struct machines){.here = false};
    machine_id(machines->own, NULL);
    (void)cli_runners_each(cli, visit, machines, NULL);
}

/* Do the server and all its runners share this machine? The code is kept for a
 * machine that joins later, but leaves this one for none: nothing to say. The
 * runner of this user's own server may not be there yet. */
static bool is_alone(const struct cli *cli, const struct machines *machines)
{
    return machines->other == NULL && (machines->here || !cli->detached) &&
           address_url_is_loopback(cli_http_url(cli->http));
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

static enum ht_status send_tree(struct cli *cli, struct job *job,
                                const struct walked *walked,
                                const struct machines *machines, int64_t *bytes,
                                struct ht_error *err)
{
    const struct transfer_settings settings = {.find = cli_store_find,
                                               .context = cli,
                                               .project = CLI_PROJECT,
                                               .patience_ms = PATIENCE_MS};
    struct transfer_sent sent;
    char tree[TREE_NAME];
    const enum ht_status status = transfer_send(
        &settings, job->workdir, &walked->manifest, tree, &sent, err);
    if (status != HT_OK)
        return status;
    *bytes = sent.bytes;
    job->code.tree = arena_strdup(cli->lasting, tree);
    job->code.machine = arena_strdup(cli->lasting, machines->own);
    job->code.folder = job->workdir;
    return HT_OK;
}

/* What went, or why nothing could; the latter is an error where another machine
 * waits for it. */
static int say_sent(struct cli *cli, const struct machines *machines,
                    const struct walked *walked, int64_t bytes,
                    enum ht_status status, const struct ht_error *err)
{
    struct text size = {0};
    const bool too_large = status == HT_TOO_LARGE;
    if (machines->other != NULL && status != HT_OK)
        return cli_fail(cli, too_large ? CLI_USAGE : CLI_REFUSED,
                        "the code cannot go to %s: %s%s", machines->other,
                        err->text, too_large ? advise(cli, walked) : "");
    if (status != HT_OK) {
        cli_say(cli, "code: stays on this machine: %s", err->text);
        return CLI_DONE;
    }
    add_size(&size, bytes);
    cli_say(cli, "code: sent %s", text_string(&size));
    text_free(&size);
    return CLI_DONE;
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
    int64_t bytes = 0;
    if (cli->set.no_code)
        job->code.way = CODE_NONE;
    if (job->code.way != CODE_AUTO || job->code.tree != NULL ||
        job_needs_images(job) || job->workdir == NULL)
        return CLI_DONE;
    find_machines(cli, &machines);
    const bool alone = is_alone(cli, &machines);
    enum ht_status status =
        walk_folder(cli->arena, cli_real_path(cli->arena, job->workdir), &rules,
                    &walked, &err);
    if (status == HT_OK && !alone)
        say_size(cli, &walked, job->workdir);
    if (status == HT_OK)
        status = send_tree(cli, job, &walked, &machines, &bytes, &err);
    return alone ? CLI_DONE
                 : say_sent(cli, &machines, &walked, bytes, status, &err);
}

void cli_code_say_older(struct cli *cli, const struct job *theirs,
                        const struct job *ours)
{
    struct machines machines;
    if (theirs->code.tree == NULL || ours->code.tree == NULL ||
        strcmp(theirs->code.tree, ours->code.tree) == 0)
        return;
    find_machines(cli, &machines);
    if (!is_alone(cli, &machines))
        cli_say(cli,
                "code: its trials on other machines get the folder as it was "
                "submitted; --continue gives trials that have not begun this "
                "one");
}
