#include "hypertune/cli/spec/submit.h"

#include <string.h>

#include "hypertune/cli/frame/commands.h"
#include "hypertune/cli/frame/runners.h"
#include "hypertune/cli/live/watch.h"
#include "hypertune/cli/spec/smoke.h"
#include "hypertune/cli/spec/summary.h"
#include "hypertune/cli/study/control.h"
#include "hypertune/cli/study/logs.h"
#include "proto/doc/diag.h"
#include "proto/doc/json.h"
#include "proto/form/plan.h"

/* ---- the study of a spec ---- */

static const char *home_of(enum job_kind kind)
{
    size_t i = 0;
    while (i + 1 < CLI_COLLECTIONS && cli_collections[i].kind != kind)
        i++;
    return cli_collections[i].path;
}

static enum ht_status create(struct cli *cli, const struct cli_spec *spec,
                             struct cli_study *study, struct ht_error *err)
{
    struct text body = {0};
    struct cli_http_answer answer;
    json_print(vertex_write(spec->job), &body);
    enum ht_status status = cli_call(cli, "POST", home_of(spec->job->kind),
                                     body.data, &answer, err);
    text_free(&body);
    if (status == HT_OK)
        cli_study_read(answer.root, study);
    return status;
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
    struct text body = {0};
    struct cli_http_answer answer;
    cJSON *patch = cJSON_CreateObject();
    cJSON_AddItemToObject(patch, "job", vertex_write(spec->job));
    json_print(patch, &body);
    char *path = arena_printf(cli->arena, CLI_OURS "/%s",
                              cli_http_segment(cli->arena, study->name));
    enum ht_status status =
        cli_call(cli, "PATCH", path, body.data, &answer, &err);
    text_free(&body);
    if (status != HT_OK)
        return cli_fail_error(cli, &err);
    cli_study_read(answer.root, study);
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
    return create(cli, spec, study, &err) == HT_OK ? CLI_DONE
                                                   : cli_fail_error(cli, &err);
}

static int refuse_conflict(struct cli *cli, const struct cli_study *study,
                           const struct text *lines)
{
    return cli_fail(cli, CLI_CONFLICT,
                    "study %s exists with another spec:\n%s"
                    "choose:  --name OTHER  a study of its own\n"
                    "         --continue    go on with the changed spec\n"
                    "         --replace     delete the old one first",
                    study->name, lines->data ? lines->data : "");
}

static int settle_existing(struct cli *cli, const struct cli_spec *spec,
                           struct cli_study *study, enum submit_result *result)
{
    struct ht_error err;
    struct text lines = {0};
    size_t n = 0;
    if (cli_study_get_own(cli, spec->job->name, study, &err) != HT_OK)
        return cli_fail_error(cli, &err);
    int code = compare(cli, study, spec, &n, &lines);
    if (code == CLI_DONE && cli->set.replace) {
        code = replace_study(cli, spec, study);
        *result = SUBMIT_CREATED;
    } else if (code == CLI_DONE && n == 0) {
        *result = SUBMIT_ATTACHED;
    } else if (code == CLI_DONE && cli->set.resume) {
        code = continue_study(cli, spec, study);
        *result = SUBMIT_CHANGED;
    } else if (code == CLI_DONE) {
        code = refuse_conflict(cli, study, &lines);
    }
    text_free(&lines);
    return code;
}

void cli_submit_say_warnings(struct cli *cli, const struct cli_study *study)
{
    for (const struct node *one = node_first(study->status, "warnings");
         one != NULL; one = one->next) {
        const char *field = node_get_string(one, "field", "");
        cli_say(cli, "warning: %s%s%s", field, field[0] != '\0' ? ": " : "",
                node_get_string(one, "description", ""));
    }
}

static void say_created(struct cli *cli, const struct job *job,
                        const struct cli_study *study)
{
    if (job->kind == JOB_CUSTOM) {
        cli_say(cli, "created custom job %s (id %s)", study->name, study->id);
        return;
    }
    cli_say(cli,
            "created study %s (id %s): %lld trial%s, %lld at a time, %s, %s %s",
            study->name, study->id, (long long)job->max_trials,
            job->max_trials == 1 ? "" : "s", (long long)job->parallel,
            form_plan_algorithm(job->algorithm),
            job->metrics[0].maximize ? "maximize" : "minimize",
            job->metrics[0].name);
}

static void say_result(struct cli *cli, const struct cli_spec *spec,
                       const struct cli_study *study, enum submit_result result)
{
    const struct job *job = spec->job;
    switch (result) {
    case SUBMIT_CREATED:
        say_created(cli, job, study);
        cli_submit_say_warnings(cli, study);
        return;
    case SUBMIT_ATTACHED:
        cli_say(cli,
                "%s %s exists with the same spec: %s, %lld of %lld "
                "trials ended",
                job->kind == JOB_CUSTOM ? "custom job" : "study", study->name,
                study->state, cli_study_ended(study),
                (long long)job->max_trials);
        return;
    case SUBMIT_CHANGED:
        cli_say(cli, "study %s goes on with the changed spec", study->name);
        return;
    }
}

int cli_submit_spec(struct cli *cli, const struct cli_spec *spec,
                    struct cli_study *study, enum submit_result *result)
{
    struct ht_error err;
    int code = cli_connect(cli);
    if (code == CLI_DONE)
        code = cli_runners_prepare(cli, spec->job, spec->file);
    if (code != CLI_DONE)
        return code;
    *result = SUBMIT_CREATED;
    enum ht_status status = create(cli, spec, study, &err);
    if (status == HT_EXISTS || status == HT_CONFLICT)
        code = settle_existing(cli, spec, study, result);
    else if (status != HT_OK)
        return cli_fail_error(cli, &err);
    if (code == CLI_DONE)
        say_result(cli, spec, study, *result);
    return code;
}

static int print_plan(struct cli *cli, const struct cli_spec *spec)
{
    struct text out = {0};
    cli_spec_describe(cli, spec, &out);
    return cli_print(&out);
}

/* What submit and run have in common. *planned: only the plan was asked for,
 * and printed; there is no study. */
static int submit_asked(struct cli *cli, struct cli_spec *spec,
                        struct cli_study *study, bool *planned)
{
    enum submit_result result;
    *planned = cli->set.dry_run;
    if (cli->set.resume && cli->set.replace) {
        cli_fail(cli, CLI_USAGE,
                 "--continue keeps the results, --replace deletes them: say "
                 "one");
        return CLI_USAGE;
    }
    int code = cli_spec_load(cli, spec);
    if (code != CLI_DONE)
        return code;
    if (*planned)
        return print_plan(cli, spec);
    if (cli->set.smoke)
        code = cli_smoke(cli, spec);
    return code == CLI_DONE ? cli_submit_spec(cli, spec, study, &result) : code;
}

int cli_submit(struct cli *cli)
{
    struct cli_spec spec;
    struct cli_study study = {0};
    bool planned;
    int code = submit_asked(cli, &spec, &study, &planned);
    if (code != CLI_DONE || planned)
        return code;
    struct text out = {0};
    text_escape(&out, study.name);
    text_puts(&out, "\n");
    code = cli_print(&out);
    if (code != CLI_DONE || cli->set.wait)
        return code != CLI_DONE ? code : cli_watch_wait(cli, study.name);
    cli_say(cli, "next: hypertune watch %s%s", study.name, cli_where(cli));
    return CLI_DONE;
}

/* A job without a search has no best trial to show: its log is what a person
 * waits for. */
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
    const char *reason = node_get_string(study.status, "reason", "");
    cli_say(cli, "custom job %s %s%s%s", study.name, study.state,
            reason[0] != '\0' ? ": " : "", reason);
    return code;
}

int cli_run_study(struct cli *cli)
{
    struct cli_spec spec;
    struct cli_study study = {0};
    bool planned;
    int code = submit_asked(cli, &spec, &study, &planned);
    if (code != CLI_DONE || planned)
        return code;
    if (spec.job->kind == JOB_CUSTOM)
        return run_custom(cli, study.name);
    code = cli_watch_run(cli, study.name);
    return code == CLI_DONE || code == CLI_FAILED
               ? cli_summary_run(cli, &spec, study.name, code)
               : code;
}
