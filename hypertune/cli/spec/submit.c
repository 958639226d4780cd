#include "hypertune/cli/spec/submit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "hypertune/cli/frame/commands.h"
#include "hypertune/cli/frame/output.h"
#include "hypertune/cli/frame/runners.h"
#include "hypertune/cli/live/live.h"
#include "hypertune/cli/spec/since.h"
#include "hypertune/cli/study/describe.h"
#include "hypertune/cli/study/logs.h"
#include "hypertune/cli/study/study.h"
#include "proto/doc/json.h"
#include "proto/form/form.h"
#include "proto/form/native.h"

/* ---- the study of a spec ---- */

enum ht_status cli_submit_create(struct cli *cli, const struct job *job,
                                 struct cli_study *study, struct ht_error *err)
{
    struct cli_http_answer answer;
    size_t i = 0;
    while (i + 1 < CLI_COLLECTIONS && cli_collections[i].kind != job->kind)
        i++;
    const enum ht_status status =
        cli_call(cli, "POST", cli_collections[i].path,
                 json_text(cli->arena, vertex_write(job)), &answer, err);
    if (status == HT_OK)
        cli_study_read(answer.root, study);
    return status;
}

void cli_submit_say_warnings(struct cli *cli, const struct cli_study *study)
{
    NODE_EACH (one, node_first(study->status, "warnings")) {
        const char *field = node_get_string(one, "field", "");
        cli_say(cli, "warning: %s%s%s", field, field[0] != '\0' ? ": " : "",
                node_get_string(one, "description", ""));
    }
}

static int say_created(struct cli *cli, const struct job *job,
                       const struct cli_study *study)
{
    if (job->kind == JOB_CUSTOM)
        cli_say(cli, "created custom job %s (id %s)", study->name, study->id);
    else
        cli_say(cli,
                "created study %s (id %s): %lld trial%s, %lld at a time, %s, "
                "%s %s",
                study->name, study->id, (long long)job->max_trials,
                job->max_trials == 1 ? "" : "s", (long long)job->parallel,
                form_plan_algorithm(job->algorithm),
                job->metrics[0].maximize ? "maximize" : "minimize",
                job->metrics[0].name);
    cli_submit_say_warnings(cli, study);
    return CLI_DONE;
}

/* Differences between the server's study and the spec, as lines. */
static int compare(struct cli *cli, const struct cli_study *study,
                   const struct cli_spec *spec, size_t *n, struct text *lines)
{
    struct diag diag;
    diag_init(&diag, cli->arena, "the server's job", NULL, 0);
    if (study->home->kind != spec->job->kind)
        return cli_fail(cli, CLI_CONFLICT,
                        "the name %s is taken by a %s; choose another with "
                        "--name",
                        study->name, study->home->kind_name);
    struct job *theirs = vertex_read(study->job, spec->job->kind, &diag);
    if (theirs == NULL)
        return cli_fail(cli, CLI_REFUSED,
                        "the server's job \"%s\" cannot be read: %s",
                        study->name, diag.first ? diag.first->text : "");
    *n = form_diff(theirs, spec->job, lines);
    return CLI_DONE;
}

static int continue_study(struct cli *cli, const struct cli_spec *spec,
                          struct cli_study *study)
{
    struct ht_error err;
    cJSON *patch = cJSON_CreateObject();
    cJSON_AddItemToObject(patch, "job", vertex_write(spec->job));
    if (cli_control_patch(cli, study->name, patch, study, &err) != HT_OK)
        return cli_fail_error(cli, &err);
    cli_say(cli, "study %s continues with the changed spec", study->name);
    return CLI_DONE;
}

static int replace_study(struct cli *cli, const struct cli_spec *spec,
                         struct cli_study *study)
{
    struct ht_error err;
    if (!cli_study_is_over(study->state))
        return cli_fail(cli, CLI_CONFLICT,
                        "study %s is %s; cancel it before it is replaced:\n"
                        "  hypertune cancel %s%s",
                        study->name, study->state, study->name, cli_where(cli));
    int code = cli_control_delete(cli, study);
    if (code != CLI_DONE)
        return code;
    return cli_submit_create(cli, spec->job, study, &err) == HT_OK
               ? say_created(cli, spec->job, study)
               : cli_fail_error(cli, &err);
}

static int settle_existing(struct cli *cli, const struct cli_spec *spec,
                           struct cli_study *study)
{
    struct ht_error err;
    struct text lines = {0};
    size_t n = 0;
    if (cli_study_get_own(cli, spec->job->name, study, &err) != HT_OK)
        return cli_fail_error(cli, &err);
    int code = compare(cli, study, spec, &n, &lines);
    const bool asked = cli->set.replace || cli->set.resume;
    if (n > 0 && !asked && cli_since_explains(cli, study, text_string(&lines)))
        n = 0;
    if (code == CLI_DONE && cli->set.replace) {
        code = replace_study(cli, spec, study);
    } else if (code == CLI_DONE && n == 0) {
        cli_say(cli,
                "%s %s exists with the same spec: %s, %lld of %lld trials "
                "ended",
                spec->job->kind == JOB_CUSTOM ? "custom job" : "study",
                study->name, study->state, cli_study_ended(study),
                cli_study_limit(study));
    } else if (code == CLI_DONE && cli->set.resume) {
        code = continue_study(cli, spec, study);
    } else if (code == CLI_DONE) {
        code =
            cli_fail(cli, CLI_CONFLICT,
                     "study %s exists with another spec:\n%s"
                     "choose:  --name OTHER  a study of its own\n"
                     "         --continue    continue with the changed spec\n"
                     "         --replace     delete the old one first",
                     study->name, text_string(&lines));
    }
    text_free(&lines);
    return code;
}

int cli_submit_spec(struct cli *cli, const struct cli_spec *spec,
                    struct cli_study *study)
{
    struct ht_error err;
    int code = cli_connect(cli);
    if (code == CLI_DONE)
        code = cli_runners_prepare(cli, spec->job, spec->file);
    if (code != CLI_DONE)
        return code;
    const enum ht_status status =
        cli_submit_create(cli, spec->job, study, &err);
    if (status == HT_EXISTS || status == HT_CONFLICT)
        return settle_existing(cli, spec, study);
    return status == HT_OK ? say_created(cli, spec->job, study)
                           : cli_fail_error(cli, &err);
}

int cli_submit_print_name(const char *study)
{
    struct text out = {0};
    text_escape(&out, study);
    text_puts(&out, "\n");
    return cli_print(&out);
}

static int print_plan(struct cli *cli, const struct cli_spec *spec)
{
    struct text out = {0};
    text_escape(&out, spec->file);
    text_puts(&out, " is valid\n");
    cli_plan_line("name", spec->job->name, &out);
    cli_plan_describe(cli, spec->job, CLI_PLAN_EXAMPLES, &out);
    if (spec->program != NULL)
        cli_plan_line("program", spec->program, &out);
    return cli_print(&out);
}

/* The plan with --dry-run, else the study of the spec; its name is NULL when
 * there is none to follow. */
static int submit(struct cli *cli, struct cli_spec *spec,
                  struct cli_study *study)
{
    if (cli->set.resume && cli->set.replace)
        return cli_fail(cli, CLI_USAGE,
                        "--continue keeps the results, --replace deletes them: "
                        "say one");
    int code = cli_spec_load(cli, spec);
    if (code == CLI_DONE && cli->set.dry_run)
        return print_plan(cli, spec);
    if (code == CLI_DONE && cli->set.smoke)
        code = cli_smoke(cli, spec);
    return code == CLI_DONE ? cli_submit_spec(cli, spec, study) : code;
}

int cli_submit(struct cli *cli)
{
    struct cli_spec spec;
    struct cli_study study = {0};
    int code = submit(cli, &spec, &study);
    if (code != CLI_DONE || study.name == NULL)
        return code;
    code = cli_submit_print_name(study.name);
    if (code == CLI_DONE && cli->set.wait)
        return cli_watch_wait(cli, study.name);
    if (code == CLI_DONE)
        cli_say(cli, "next: hypertune watch %s%s", study.name, cli_where(cli));
    return code;
}

/* A job without a search has no best trial; its log is shown. */
static int run_custom(struct cli *cli, const char *name)
{
    struct ht_error err;
    struct cli_study study;
    int code = cli_logs_follow(cli, name, "1");
    if (code == CLI_DONE)
        code = cli_watch_wait(cli, name);
    if (code != CLI_DONE && code != CLI_FAILED)
        return code;
    if (cli_study_get(cli, name, &study, &err) != HT_OK)
        return cli_fail_error(cli, &err);
    if (code == CLI_FAILED)
        cli_log_say_last(cli, name, "stderr");
    cli_say(cli, "custom job %s %s%s%s", study.name, study.state,
            study.reason[0] != '\0' ? ": " : "", study.reason);
    return code;
}

int cli_run_study(struct cli *cli)
{
    struct cli_spec spec;
    struct cli_study study = {0};
    int code = submit(cli, &spec, &study);
    if (code != CLI_DONE || study.name == NULL)
        return code;
    if (spec.job->kind == JOB_CUSTOM)
        return run_custom(cli, study.name);
    code = cli_watch_run(cli, study.name);
    return code == CLI_DONE || code == CLI_FAILED
               ? cli_best_of_run(cli, &spec, study.name, code)
               : code;
}

/* ---- check: the plan, or another form ---- */

/* The tree of the form that -o names, and the format it is shown in. */
static int find_form(struct cli *cli, const struct job *job,
                     struct diag *losses, const struct node **tree)
{
    struct ht_error err;
    cJSON *object;
    const bool vertex = strcmp(cli->set.output, "vertex") == 0;
    const bool as_it_is = cli->format != FORMAT_TABLE;
    const char *form = !as_it_is                 ? cli->set.output
                       : job->kind == JOB_CUSTOM ? "vertex"
                                                 : "native";
    if (form_write(job, form, losses, &object, &err) != HT_OK)
        return cli_fail(cli, CLI_USAGE, "%s", err.text);
    *tree = cli_spec_tree(cli, object, losses);
    if (cli->format == FORMAT_TABLE)
        cli->format = vertex ? FORMAT_JSON : FORMAT_YAML;
    return CLI_DONE;
}

static int show_form(struct cli *cli)
{
    struct cli_spec spec;
    struct diag losses;
    struct text out = {0};
    const struct node *tree = NULL;
    int code = cli_spec_read(cli, &spec);
    if (code != CLI_DONE)
        return code;
    diag_init(&losses, cli->arena, spec.file, NULL, 0);
    code = find_form(cli, spec.job, &losses, &tree);
    if (code != CLI_DONE)
        return code;
    if (!cli->set.quiet)
        cli_spec_print_diag(&losses);
    cli_output_resource(cli->format, tree, &out);
    return cli_print(&out);
}

int cli_check(struct cli *cli)
{
    struct cli_spec spec;
    /* -o vertex, aip, native and the formats of documents. */
    const bool wants_form =
        cli->set.output != NULL &&
        (cli->format == FORMAT_JSON || cli->format == FORMAT_JSONL ||
         cli->format == FORMAT_YAML || cli_own_format(cli) != NULL);
    if (wants_form && !cli->set.smoke)
        return show_form(cli);
    int code = cli_spec_load(cli, &spec);
    if (code != CLI_DONE)
        return code;
    code = print_plan(cli, &spec);
    return code == CLI_DONE && cli->set.smoke ? cli_smoke(cli, &spec) : code;
}

/* ---- init ---- */

static const char *guess_command(struct cli *cli)
{
    const char *python =
        cli_variable(cli, "VIRTUAL_ENV") || cli_variable(cli, "CONDA_PREFIX")
            ? "python"
            : "python3";
    if (access("train.py", F_OK) != 0 && access("train.sh", F_OK) == 0)
        return "[sh, train.sh]";
    return arena_printf(cli->arena, "[%s, train.py]", python);
}

int cli_write_spec(struct cli *cli)
{
    const char *path =
        cli->args.words.n == 1 ? cli->args.words.items[0] : "spec.yaml";
    int flags =
        O_WRONLY | O_CREAT | O_CLOEXEC | (cli->set.force ? O_TRUNC : O_EXCL);
    int fd = open(path, flags, 0644);
    if (fd < 0 && errno == EEXIST)
        return cli_fail(cli, CLI_CONFLICT,
                        "%s is there already; --force overwrites it", path);
    FILE *file = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (file == NULL)
        return cli_fail(cli, CLI_REFUSED, "cannot write %s: %s", path,
                        strerror(errno));
    struct text spec = {0};
    native_template(guess_command(cli), NULL, &spec);
    fputs(spec.data, file);
    text_free(&spec);
    if (fclose(file) != 0)
        return cli_fail(cli, CLI_REFUSED, "cannot write %s: %s", path,
                        strerror(errno));
    cli_say(cli, "wrote %s; next: edit it, then hypertune check %s", path,
            path);
    return CLI_DONE;
}
