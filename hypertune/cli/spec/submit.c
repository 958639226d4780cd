#include "hypertune/cli/spec/submit.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "hypertune/cli/frame/commands.h"
#include "hypertune/cli/frame/engine.h"
#include "hypertune/cli/frame/kubernetes.h"
#include "hypertune/cli/frame/output.h"
#include "hypertune/cli/frame/runners.h"
#include "hypertune/cli/live/live.h"
#include "hypertune/cli/spec/code.h"
#include "hypertune/cli/spec/since.h"
#include "hypertune/cli/study/describe.h"
#include "hypertune/cli/study/logs.h"
#include "hypertune/cli/study/read_logs.h"
#include "hypertune/cli/study/study.h"
#include "proto/base/words.h"
#include "proto/doc/json.h"
#include "proto/form/form.h"
#include "proto/form/native.h"
#include "proto/job/kube_template.h"

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
    if (!cli->set.resume && !cli->set.replace)
        cli_code_say_older(cli, theirs, spec->job);
    return CLI_DONE;
}

/* ---- a study that exists ---- */

static bool is_in(const struct cli_study *study, const char *states)
{
    return words_has(states, study->state);
}

/* Appends the ways to continue that this study has now, each as the command to
 * type. */
static void add_choices(struct cli *cli, const struct cli_spec *spec,
                        bool may_continue, struct text *out)
{
    const bool asks = cli->in_tty && cli->err_tty;
    struct text name = {0};
    text_puts(&name, "--name ");
    text_shell_word(&name, arena_printf(cli->arena, "%s-2", spec->job->name));
    text_printf(out, "  a study of its own:   %s\n",
                cli_again(cli, text_string(&name)));
    if (may_continue)
        text_printf(out, "  keep its results:     %s\n",
                    cli_again(cli, "--continue"));
    text_printf(out, "  delete it first:      %s",
                cli_again(cli, asks ? "--replace" : "--replace --yes"));
    text_free(&name);
}

/* A study that its user has ended for good takes no other spec, and one that
 * has all of its trials makes none with it. */
static bool may_continue(const struct cli_spec *spec,
                         const struct cli_study *study)
{
    return !is_in(study, "CANCELLED CANCELLING STOPPING DELETING") &&
           (!cli_study_is_over(study->state) ||
            spec->job->max_trials > cli_study_all(study));
}

static int refuse(struct cli *cli, const struct cli_spec *spec,
                  const struct cli_study *study, const char *differences)
{
    struct text choices = {0};
    add_choices(cli, spec, may_continue(spec, study), &choices);
    return cli_fail(cli, CLI_CONFLICT,
                    "study %s exists with another spec:\n%schoose:\n%s",
                    study->name, differences, text_take(&choices, cli->arena));
}

/* The server says what cannot change. */
static int refuse_change(struct cli *cli, const struct cli_spec *spec,
                         const struct ht_error *why)
{
    struct text choices = {0};
    if (why->status != HT_CONFLICT && why->status != HT_PRECONDITION)
        return cli_fail_error(cli, why);
    add_choices(cli, spec, false, &choices);
    return cli_fail(cli, CLI_CONFLICT, "%s\nchoose:\n%s", why->text,
                    text_take(&choices, cli->arena));
}

static int resume(struct cli *cli, struct cli_study *study)
{
    struct ht_error err;
    if (cli_control_post(cli, study->name, "resume", &err) != HT_OK ||
        cli_study_get_own(cli, study->name, study, &err) != HT_OK)
        return cli_fail_error(cli, &err);
    return CLI_DONE;
}

/* The logs may have the metric; otherwise its cause was repaired. */
static int repair(struct cli *cli, struct cli_study *study)
{
    struct ht_error err;
    if (!cli_metric_repair(cli, study))
        return cli_retry_repaired(cli, study);
    return cli_study_get_own(cli, study->name, study, &err) == HT_OK
               ? CLI_DONE
               : cli_fail_error(cli, &err);
}

/* Any pause ends, and the study runs when it can. */
static int continue_study(struct cli *cli, const struct cli_spec *spec,
                          struct cli_study *study)
{
    struct ht_error err;
    cJSON *patch = cJSON_CreateObject();
    cJSON_AddItemToObject(patch, "job", vertex_write(spec->job));
    if (cli_control_patch(cli, study->name, patch, study, &err) != HT_OK)
        return refuse_change(cli, spec, &err);
    if (cli_control_held(cli, study) != NULL)
        return repair(cli, study);
    const int code = is_in(study, "PAUSED") ? resume(cli, study) : CLI_DONE;
    if (code == CLI_DONE && is_in(study, "RUNNING"))
        cli_say(cli, "study %s continues with this spec", study->name);
    else if (code == CLI_DONE)
        cli_say(cli, "study %s has this spec now, and is %s: %s", study->name,
                study->state, study->reason);
    return code;
}

/* Waits until nothing of it runs any more. */
static int end_study(struct cli *cli, const struct cli_study *study)
{
    struct ht_error err;
    if (cli_study_is_over(study->state))
        return CLI_DONE;
    if (cli_control_post(cli, study->name, "cancel", &err) != HT_OK)
        return cli_fail_error(cli, &err);
    const int code = cli_watch_wait(cli, study->name);
    return code == CLI_FAILED ? CLI_DONE : code;
}

/* A study that was paused before it had any result has nothing to lose. */
static int replace_study(struct cli *cli, const struct cli_spec *spec,
                         struct cli_study *study)
{
    struct ht_error err;
    const bool is_lost =
        study->best != NULL || cli_control_held(cli, study) == NULL;
    int code = is_lost ? cli_control_consent(cli, study, "replace") : CLI_DONE;
    if (code == CLI_DONE)
        code = end_study(cli, study);
    if (code != CLI_DONE)
        return code;
    if (cli_control_remove(cli, study, &err) != HT_OK ||
        cli_submit_create(cli, spec->job, study, &err) != HT_OK)
        return cli_fail_error(cli, &err);
    return say_created(cli, spec->job, study);
}

/* A paused study is submitted again when its cause was repaired. */
static int attach(struct cli *cli, const struct cli_spec *spec,
                  struct cli_study *study)
{
    cli_say(cli,
            "%s %s exists with the same spec: %s, %lld of %lld trials ended",
            spec->job->kind == JOB_CUSTOM ? "custom job" : "study", study->name,
            study->state, cli_study_ended(study), cli_study_limit(study));
    return cli_control_held(cli, study) != NULL ? repair(cli, study) : CLI_DONE;
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
    if (code == CLI_DONE && cli->set.replace)
        code = replace_study(cli, spec, study);
    else if (code == CLI_DONE && cli->set.resume)
        code = continue_study(cli, spec, study);
    else if (code == CLI_DONE)
        code = n == 0 ? attach(cli, spec, study)
                      : refuse(cli, spec, study, text_string(&lines));
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
    if (code == CLI_DONE)
        code = cli_code_send(cli, spec);
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

static void add_words(const struct node *words, struct text *out)
{
    NODE_EACH (word, node_items(words)) {
        text_puts(out, out->len > 0 ? " " : "");
        text_shell_word(out, cli_scalar(word));
    }
}

/* What the container starts, as far as this machine has the image: a command of
 * the job replaces the image's entry point, its arguments the image's. */
static void describe_entry(struct cli *cli, const struct pool *pool,
                           struct text *out)
{
    struct cli_engine engine;
    if (pool->command.n > 0) {
        cli_plan_line("entry point", "the command, not the image's own", out);
        return;
    }
    const struct node *config =
        cli_engine_find(cli, &engine)
            ? node_find(cli_engine_image(cli, &engine, pool->image), "Config")
            : NULL;
    if (config == NULL) {
        cli_plan_line("entry point",
                      "the image's, which is not here to look at", out);
        return;
    }
    struct text words = {0};
    add_words(node_find(config, "Entrypoint"), &words);
    if (pool->args.n == 0)
        add_words(node_find(config, "Cmd"), &words);
    cli_plan_line("entry point", text_string(&words), out);
    text_free(&words);
}

static bool is_made_by_operator(struct cli *cli, const struct job *job)
{
    struct diag diag;
    const struct field_reader reader = {
        .diag = &diag, .arena = cli->arena, .null_is_absent = true};
    const struct place at = {
        .node = node_read_stored(cli->arena, job->kubernetes.template),
        .path = "kubernetes.template"};
    diag_init(&diag, cli->arena, "template", NULL, 0);
    return at.node != NULL && !kube_template_is_whole(&reader, at);
}

/* What runs in pods, and how the runner gets the results. */
static void describe_image(struct cli *cli, const struct job *job,
                           struct text *out)
{
    const struct pool *pool = &job->pools[0];
    const bool by_operator =
        job->kubernetes.template != NULL && is_made_by_operator(cli, job);
    if (!by_operator)
        describe_entry(cli, pool, out);
    if (by_operator)
        cli_plan_line("results",
                      "from the log of its pod, which an operator "
                      "makes",
                      out);
    else if (job->kubernetes.said && pool->command.n == 0)
        cli_plan_line("results",
                      "from the log of its pod, if the runner "
                      "cannot read the image's entry point",
                      out);
    if (job->kubernetes.said && pool->command.n == 0 && job->n_metrics > 0 &&
        job->stdout_patterns.n == 0)
        cli_plan_line("", "... which fails without `metrics: {stdout: ...}`",
                      out);
}

static int print_plan(struct cli *cli, const struct cli_spec *spec)
{
    struct text out = {0};
    text_escape(&out, spec->file);
    text_puts(&out, " is valid\n");
    cli_plan_line("name", spec->job->name, &out);
    cli_plan_describe(cli, spec->job, CLI_PLAN_EXAMPLES, &out);
    if (spec->job->n_pools > 0 && spec->job->pools[0].image != NULL)
        describe_image(cli, spec->job, &out);
    if (spec->program != NULL)
        cli_plan_line("program", spec->program, &out);
    return cli_print(&out);
}

static bool is_form(const char *form, const char *name)
{
    return form != NULL && strcmp(form, name) == 0;
}

/* `form`: of -o; NULL: none of ours. */
static int check_cluster_flags(struct cli *cli, const char *form)
{
    const char *kube = cli_kube_flag(cli);
    if (cli->set.smoke)
        return CLI_DONE;
    if (cli->set.slurm_ssh != NULL)
        return cli_fail(cli, CLI_USAGE, "--slurm-ssh is for --smoke");
    if (cli->set.slurm_defaults != NULL && !is_form(form, "sbatch"))
        return cli_fail(cli, CLI_USAGE,
                        "--slurm-defaults is for check -o sbatch and --smoke");
    if (kube != NULL && !is_form(form, "kubernetes"))
        return cli_fail(cli, CLI_USAGE,
                        "%s is for check -o kubernetes and --smoke", kube);
    return CLI_DONE;
}

/* The plan with --dry-run, else the study of the spec; its name is NULL when
 * there is none to follow. `waits`: it will be. */
static int submit(struct cli *cli, struct cli_spec *spec,
                  struct cli_study *study, bool waits)
{
    if (cli->set.resume && cli->set.replace)
        return cli_fail(cli, CLI_USAGE,
                        "--continue keeps the results, --replace deletes them: "
                        "say one");
    if (cli_metric_is_auto(&cli->set.metrics) && !waits)
        return cli_fail(cli, CLI_USAGE,
                        "--metric auto is decided when the first trial has "
                        "ended: say --wait, or run it");
    int code = check_cluster_flags(cli, NULL);
    if (code == CLI_DONE)
        code = cli_spec_load(cli, spec);
    if (code == CLI_DONE && cli->set.dry_run)
        return print_plan(cli, spec);
    if (code == CLI_DONE && cli->set.smoke)
        code = cli_smoke(cli, spec);
    return code == CLI_DONE ? cli_submit_spec(cli, spec, study) : code;
}

/* It may stay paused for ever while this waits. */
static int fail_paused(struct cli *cli, const struct cli_study *study)
{
    return cli_fail(cli, CLI_FAILED, "%s", cli_control_advice(cli, study));
}

int cli_submit(struct cli *cli)
{
    struct cli_spec spec;
    struct cli_study study = {0};
    int code = submit(cli, &spec, &study, cli->set.wait);
    if (code != CLI_DONE || study.name == NULL)
        return code;
    code = cli_submit_print_name(study.name);
    if (code == CLI_DONE && cli->set.wait)
        return is_in(&study, "PAUSED") ? fail_paused(cli, &study)
                                       : cli_watch_wait(cli, study.name);
    const char *advice = cli_control_advice(cli, &study);
    if (code == CLI_DONE && advice != NULL)
        cli_say(cli, "%s", advice);
    else if (code == CLI_DONE)
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
    int code = submit(cli, &spec, &study, true);
    if (code != CLI_DONE || study.name == NULL)
        return code;
    if (spec.job->kind == JOB_CUSTOM)
        return run_custom(cli, study.name);
    if (is_in(&study, "PAUSED"))
        return fail_paused(cli, &study);
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
    if (cli_metric_is_auto(&cli->set.metrics))
        return cli_fail(cli, CLI_USAGE,
                        "--metric auto is decided when the first trial has "
                        "ended: run it");
    const char *own = cli_own_format(cli);
    int code = check_cluster_flags(cli, own);
    if (code != CLI_DONE)
        return code;
    if (is_form(own, "sbatch") && !cli->set.smoke)
        return cli_sbatch_show(cli);
    if (is_form(own, "kubernetes") && !cli->set.smoke)
        return cli_kube_show(cli);
    /* -o vertex, aip, native and the formats of documents. */
    const bool wants_form =
        cli->set.output != NULL &&
        (cli->format == FORMAT_JSON || cli->format == FORMAT_JSONL ||
         cli->format == FORMAT_YAML || own != NULL);
    if (wants_form && !cli->set.smoke)
        return show_form(cli);
    code = cli_spec_load(cli, &spec);
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
    struct text spec = {0};
    native_template(guess_command(cli), NULL, &spec);
    const int code = cli_print_into(cli, path, &spec);
    if (code != CLI_DONE)
        return code;
    cli_say(cli, "wrote %s; next: edit it, then hypertune check %s", path,
            path);
    return CLI_DONE;
}
