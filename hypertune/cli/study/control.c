/* control.c - commands that change a study's state: stop, pause, resume,
 * delete. */

#include "hypertune/cli/study/study.h"

#include <string.h>

#include "hypertune/cli/frame/commands.h"
#include "hypertune/cli/study/read_logs.h"
#include "proto/doc/json.h"

enum ht_status cli_control_post(struct cli *cli, const char *study,
                                const char *verb, struct ht_error *err)
{
    struct cli_http_answer answer;
    return cli_call(cli, "POST", cli_study_path(cli, study, ":%s", verb), "{}",
                    &answer, err);
}

enum ht_status cli_control_patch(struct cli *cli, const char *study,
                                 cJSON *patch, struct cli_study *changed,
                                 struct ht_error *err)
{
    struct cli_http_answer answer;
    const enum ht_status status =
        cli_call(cli, "PATCH",
                 arena_printf(cli->arena, CLI_OURS "/%s",
                              cli_http_segment(cli->arena, study)),
                 json_text(cli->arena, patch), &answer, err);
    if (status == HT_OK)
        cli_study_read(answer.root, changed);
    return status;
}

/* Asks before something that cannot be taken back. */
static int consent(struct cli *cli, const char *what, const char *question,
                   const char *want)
{
    if (cli->set.yes)
        return CLI_DONE;
    if (!cli->in_tty || !cli->err_tty)
        return cli_fail(
            cli, CLI_USAGE,
            "%s; say --yes when there is no terminal to ask on:\n  %s", what,
            cli_again(cli, cli->set.replace ? "--replace --yes" : "--yes"));
    if (cli_ask(cli, arena_printf(cli->arena, "%s; %s", what, question), want))
        return CLI_DONE;
    return cli_fail(cli, CLI_REFUSED, "nothing was changed");
}

/* A command for a study that has not ended. */
struct order {
    const char *verb, *done;
    const char *aim; /* the state that it leads to; NULL: it does not end */
};

/* Orders that end running trials are asked about when there are some. */
static int consent_to(struct cli *cli, const struct cli_study *study,
                      const struct order *order)
{
    const long long running = cli_study_running(study);
    if (order->aim == NULL || running == 0)
        return CLI_DONE;
    const char *what =
        arena_printf(cli->arena, "%s ends %lld running trial%s", order->verb,
                     running, running == 1 ? "" : "s");
    return consent(cli, what, "continue? [y/N]", "yes");
}

int cli_order(struct cli *cli)
{
    static const struct order orders[] = {
        {"pause", "starts no more trials until resume", NULL},
        {"resume", "continues", NULL},
        {"stop", "ends; its results are kept", "STOPPED"},
        {"cancel", "is cancelled", "CANCELLED"}};
    const struct order *order = orders;
    struct ht_error err;
    struct cli_study study;
    while (strcmp(order->verb, cli->command->name) != 0)
        order++;
    int code = cli_study_open(cli, cli->args.words.items[0], &study);
    if (code != CLI_DONE)
        return code;
    /* The state that the order leads to is no refusal. */
    const bool over = cli_study_is_over(study.state);
    if (over && (order->aim == NULL || strcmp(study.state, order->aim) != 0))
        return cli_fail(cli, CLI_REFUSED,
                        "study %s had already ended: %s; nothing to %s",
                        study.name, study.state, order->verb);
    if (over) {
        cli_say(cli, "study %s was already %s", study.name, study.state);
        return CLI_DONE;
    }
    code = consent_to(cli, &study, order);
    if (code != CLI_DONE)
        return code;
    if (cli_control_post(cli, study.name, order->verb, &err) != HT_OK)
        return cli_fail_error(cli, &err);
    cli_say(cli, "study %s %s", study.name, order->done);
    return CLI_DONE;
}

enum ht_status cli_control_remove(struct cli *cli,
                                  const struct cli_study *study,
                                  struct ht_error *err)
{
    struct cli_http_answer answer;
    return cli_call(cli, "DELETE",
                    arena_printf(cli->arena, CLI_OURS "/%s", study->id), NULL,
                    &answer, err);
}

int cli_control_consent(struct cli *cli, const struct cli_study *study,
                        const char *verb)
{
    const long long trials = cli_study_all(study);
    const long long running = cli_study_running(study);
    const char *ends =
        running == 0
            ? ""
            : arena_printf(cli->arena, ", and ends the %lld that run%s",
                           running, running == 1 ? "s" : "");
    const char *what =
        arena_printf(cli->arena,
                     "%s removes study %s with %lld trial%s, reports and "
                     "logs%s",
                     verb, study->name, trials, trials == 1 ? "" : "s", ends);
    return consent(cli, what, "type the name to continue:", study->name);
}

int cli_control_delete(struct cli *cli, const struct cli_study *study)
{
    struct ht_error err;
    int code = cli_control_consent(cli, study, "delete");
    if (code == CLI_DONE && cli_control_remove(cli, study, &err) != HT_OK)
        code = cli_fail_error(cli, &err);
    return code;
}

/* The study of that name, which must have ended; one of clients may never do so
 * by itself. */
static int open_deletable(struct cli *cli, const char *name,
                          struct cli_study *study)
{
    int code = cli_study_open(cli, name, study);
    return code != CLI_DONE || cli_study_is_over(study->state) ||
                   study->home->kind == JOB_STUDY
               ? code
               : cli_fail(cli, CLI_CONFLICT,
                          "study %s is %s; end it first: hypertune stop %s%s",
                          study->name, study->state, study->name,
                          cli_where(cli));
}

int cli_delete(struct cli *cli)
{
    struct cli_study study;
    const struct words *words = &cli->args.words;
    int code = CLI_DONE;
    /* One that cannot be deleted is found before any is. */
    for (size_t i = 0; words->n > 1 && code == CLI_DONE && i < words->n; i++)
        code = open_deletable(cli, words->items[i], &study);
    for (size_t i = 0; code == CLI_DONE && i < words->n; i++) {
        code = open_deletable(cli, words->items[i], &study);
        if (code == CLI_DONE)
            code = cli_control_delete(cli, &study);
        if (code == CLI_DONE)
            cli_say(cli, "study %s is deleted", study.name);
    }
    return code;
}

const char *cli_control_held(struct cli *cli, const struct cli_study *study)
{
    if (!node_get_bool(study->status, "held", false))
        return NULL;
    const char *where = cli_where(cli);
    return arena_printf(
        cli->arena,
        "study %s is %s\n"
        "  repaired: hypertune retry %s --failed%s   as it is: "
        "hypertune resume %s%s   give up: hypertune stop %s%s%s",
        study->name, study->reason, study->name, where, study->name, where,
        study->name, where, cli_metric_advice(cli, study));
}

const char *cli_control_advice(struct cli *cli, const struct cli_study *study)
{
    const char *held = cli_control_held(cli, study), *where = cli_where(cli);
    if (held != NULL)
        return held;
    if (strcmp(study->state, "PAUSED") == 0)
        return arena_printf(cli->arena,
                            "study %s is %s\n"
                            "  continue: hypertune resume %s%s   give up: "
                            "hypertune stop %s%s",
                            study->name, study->reason, study->name, where,
                            study->name, where);
    if (study->home->kind == JOB_TUNING && cli_study_is_over(study->state) &&
        strcmp(study->state, "CANCELLED") != 0 &&
        cli_study_count(study, "failed") > 0)
        return arena_printf(cli->arena,
                            "failed trials run again: hypertune retry %s "
                            "--failed%s%s",
                            study->name, where, cli_metric_advice(cli, study));
    return NULL;
}
