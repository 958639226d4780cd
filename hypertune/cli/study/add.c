/* add.c - `add`: trials with parameters that a person chose. */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "hypertune/cli/frame/commands.h"
#include "hypertune/cli/frame/output.h"
#include "hypertune/cli/study/points.h"
#include "hypertune/cli/study/trial.h"
#include "proto/doc/json.h"
#include "proto/form/form.h"
#include "proto/space/constraint.h"

enum { MOST_BYTES = 64 * 1024 * 1024 }; /* of a file; 10^5 points are less */

/* Tells the study from the values; CLI_USAGE when there is not one of the
 * first and either values or a file. */
static int read_words(struct cli *cli, const char **study, struct words *values)
{
    const struct words *words = &cli->args.words;
    size_t studies = 0;
    *values = (struct words){0};
    for (size_t i = 0; i < words->n; i++) {
        if (strchr(words->items[i], '=') != NULL)
            words_add(cli->arena, values, words->items[i]);
        else if (studies++ == 0)
            *study = words->items[i];
        else
            return cli_fail(cli, CLI_USAGE, "\"%s\" is no NAME=VALUE",
                            words->items[i]);
    }
    bool has_file = cli->set.file != NULL;
    if (studies == 1 && has_file != (values->n > 0))
        return CLI_DONE;
    return cli_fail(cli, CLI_USAGE,
                    "say a study and a point: hypertune add STUDY lr=0.01 "
                    "opt=adam, or --file points.csv");
}

static enum ht_status read_file(struct cli *cli, const char *path,
                                const char **content, struct ht_error *err)
{
    const bool is_stdin = strcmp(path, "-") == 0;
    const int fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    size_t len;
    const char *all = cli_read_all(cli->arena, fd, MOST_BYTES, &len);
    if (all == NULL)
        return ht_fail(err, errno == ENOENT ? HT_NOT_FOUND : HT_IO,
                       "cannot read %s: %s", path, strerror(errno));
    if (len > MOST_BYTES)
        return ht_fail(err, HT_INVALID, "%s is over 64 MiB", path);
    *content = all;
    return HT_OK;
}

static int read_points(struct cli *cli, const struct words *values,
                       struct cli_points *points)
{
    struct ht_error err;
    struct text faults = {0};
    struct diag *diag = points->diag;
    const char *path = cli->set.file, *content = "";
    diag_init(diag, cli->arena, "command line", NULL, 0);
    if (path == NULL) {
        cli_points_words(points, values);
    } else {
        if (read_file(cli, path, &content, &err) != HT_OK)
            return cli_fail_error(cli, &err);
        diag_init(diag, cli->arena, strcmp(path, "-") == 0 ? "<stdin>" : path,
                  content, strlen(content));
        cli_points_file(points, content);
    }
    if (diag->errors > 0) {
        diag_print(diag, &faults);
        cli_print_to(stderr, &faults);
        return cli_fail(cli, CLI_USAGE, "%zu error%s, nothing was added",
                        diag->errors, diag->errors == 1 ? "" : "s");
    }
    if (points->n == 0)
        return cli_fail(cli, CLI_USAGE, "%s holds no point", path);
    return CLI_DONE;
}

/* A request that was lost is not sent again: it may have made its trial. */
static enum ht_status send_point(struct cli *cli, const struct cli_study *study,
                                 cJSON *parameters,
                                 struct cli_http_answer *answer,
                                 struct ht_error *err)
{
    cJSON *trial = cJSON_CreateObject();
    cJSON_AddItemToObject(trial, "parameters", parameters);
    const struct cli_http_request request = {
        .method = "POST",
        .path = cli_study_path(cli, study->name, "/trials"),
        .body = json_text(cli->arena, trial)};
    return cli_http_call(cli->http, cli->arena, &request, answer, err);
}

static int send_points(struct cli *cli, const struct cli_study *study,
                       const struct cli_points *points)
{
    struct ht_error err;
    struct text out = {0};
    size_t sent = 0;
    enum ht_status status = HT_OK;
    for (; sent < points->n; sent++) {
        struct cli_http_answer answer;
        cJSON *parameters =
            cli_points_json(points->constraints->space, points->items[sent]);
        status = send_point(cli, study, parameters, &answer, &err);
        if (status != HT_OK)
            break;
        if (!cli_output_item(cli->format, answer.root, sent, &out))
            text_print_safe(&out, "%s/%s\n", study->name,
                            cli_trial_id(answer.root));
    }
    cli_output_end(cli->format, sent, &out);
    int code = cli_print(&out);
    if (status == HT_OK)
        return code;
    if (sent > 0)
        ht_wrap(&err, status, "%zu of %zu points are added, the next one", sent,
                points->n);
    code = cli_fail_error(cli, &err);
    if (cli_study_is_over(study->state) && cli_study_limit(study) > 0)
        cli_say(cli, "  more trials reopen it: hypertune set %s -n +%zu%s",
                study->name, points->n - sent, cli_where(cli));
    return code;
}

int cli_add(struct cli *cli)
{
    const char *name = NULL;
    struct words values;
    struct cli_study study;
    struct diag diag;
    int code = read_words(cli, &name, &values);
    if (code == CLI_DONE)
        code = cli_study_open_trials(cli, name, &study);
    if (code != CLI_DONE)
        return code;
    diag_init(&diag, cli->arena, "study", NULL, 0);
    const struct job *job = vertex_read(study.job, study.home->kind, &diag);
    if (job == NULL || job->space.n == 0)
        return cli_fail(cli, CLI_USAGE,
                        "%s %s has no parameters, so no trial can be added",
                        study.home->kind_name, study.name);
    struct constraint_set constraints;
    struct ht_error err;
    if (constraint_set_parse(cli->arena, &job->space, job->constraints.n,
                             job->constraints.items, &constraints,
                             &err) != HT_OK)
        return cli_fail_error(cli, &err);
    struct cli_points points = {.constraints = &constraints, .diag = &diag};
    code = read_points(cli, &values, &points);
    return code == CLI_DONE ? send_points(cli, &study, &points) : code;
}
