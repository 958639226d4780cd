/* An experiment of Katib becomes a native spec; whatever has no counterpart is
 * said line by line. */
#include <stdlib.h>
#include <string.h>

#include "hypertune/cli/spec/spec.h"
#include "hypertune/cli/spec/submit.h"
#include "hypertune/cli/transfer/import.h"
#include "hypertune/cli/transfer/katib.h"
#include "proto/base/limits.h"
#include "proto/doc/json.h"
#include "proto/doc/yaml_write.h"

static const struct node *read_experiment(struct cli *cli, const char *path)
{
    size_t len;
    struct diag diag;
    char *content = cli_import_read(cli, path, HT_MAX_YAML, &len);
    if (content == NULL)
        return NULL;
    diag_init(&diag, cli->arena, path, content, len);
    const struct node *root = node_read(cli->arena, content, len, &diag);
    if (root == NULL) {
        struct text out = {0};
        diag_print(&diag, &out);
        cli_print_to(stderr, &out);
        return NULL;
    }
    if (strcmp(node_get_string(root, "kind", ""), "Experiment") == 0 &&
        node_find(root, "spec") != NULL)
        return root;
    cli_fail(cli, CLI_USAGE,
             "%s is neither a folder of hypertune export, nor an Optuna "
             "database, nor a Katib Experiment",
             path);
    return NULL;
}

/* The document as our own reader takes it, so that what is printed is sure to
 * be a spec. */
static struct job *check(struct cli *cli, const struct node *spec,
                         const char *path)
{
    struct diag diag;
    struct text out = {0};
    diag_init(&diag, cli->arena, path, NULL, 0);
    struct job *job = native_read(spec, &diag);
    diag_print(&diag, &out);
    cli_print_to(stderr, &out);
    return job;
}

static int submit(struct cli *cli, struct job *job, const char *path)
{
    const struct cli_spec spec = {.job = job, .file = path, .named = true};
    struct cli_study study = {0};
    enum submit_result result;
    const int code = cli_submit_spec(cli, &spec, &study, &result);
    if (code != CLI_DONE)
        return code;
    struct text out = {0};
    text_escape(&out, study.name);
    text_puts(&out, "\n");
    return cli_print(&out);
}

static int print_spec(struct cli *cli, const struct node *spec)
{
    struct text out = {0};
    yaml_write(spec, &out);
    const int code = cli_print(&out);
    if (code == CLI_DONE)
        cli_say(cli,
                "next: save it, then hypertune submit FILE%s; or import "
                "again with --submit",
                cli_where(cli));
    return code;
}

int cli_import_katib(struct cli *cli, const char *path)
{
    const struct node *root = read_experiment(cli, path);
    if (root == NULL)
        return CLI_USAGE;
    struct text json = {0};
    struct diag diag;
    struct katib_notes notes = {.arena = cli->arena};
    cJSON *made = katib_spec(root, cli->set.name, &notes);
    json_print(made, &json);
    diag_init(&diag, cli->arena, path, NULL, 0);
    const struct node *spec =
        node_read_json(cli->arena, json.data, json.len, &diag);
    text_free(&json);
    for (size_t i = 0; i < notes.lines.n; i++)
        cli_say(cli, "%s:%s", path, notes.lines.items[i]);
    struct job *job = check(cli, spec, path);
    if (job == NULL)
        return cli_fail(cli, CLI_USAGE, "%s makes no spec as it is", path);
    return cli->set.submit ? submit(cli, job, path) : print_spec(cli, spec);
}
