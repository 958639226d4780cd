/* control.c - commands that change a study: stop, pause, resume, set, delete.
 */

#include "hypertune/cli/study/study.h"

#include <string.h>

#include "hypertune/cli/frame/commands.h"
#include "proto/base/limits.h"
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
        return cli_fail(cli, CLI_USAGE,
                        "%s; say --yes when there is no terminal to ask on",
                        what);
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

int cli_control_delete(struct cli *cli, const struct cli_study *study)
{
    struct ht_error err;
    long long trials = cli_study_all(study);
    const char *what =
        arena_printf(cli->arena,
                     "delete removes study %s with %lld trial%s, reports and "
                     "logs",
                     study->name, trials, trials == 1 ? "" : "s");
    int code = consent(cli, what, "type the name to continue:", study->name);
    if (code == CLI_DONE && cli_control_remove(cli, study, &err) != HT_OK)
        code = cli_fail_error(cli, &err);
    return code;
}

int cli_delete(struct cli *cli)
{
    struct cli_study study;
    int code = cli_study_open(cli, cli->args.words.items[0], &study);
    if (code == CLI_DONE && !cli_study_is_over(study.state))
        return cli_fail(cli, CLI_CONFLICT,
                        "study %s is %s; stop or cancel it first", study.name,
                        study.state);
    if (code == CLI_DONE)
        code = cli_control_delete(cli, &study);
    if (code == CLI_DONE)
        cli_say(cli, "study %s is deleted", study.name);
    return code;
}

const char *cli_control_held(struct cli *cli, const struct cli_study *study)
{
    if (!node_get_bool(study->status, "held", false))
        return NULL;
    const char *where = cli_where(cli);
    return arena_printf(cli->arena,
                        "study %s is %s\n"
                        "  as it is: hypertune resume %s%s   give up: "
                        "hypertune stop %s%s",
                        study->name, study->reason, study->name, where,
                        study->name, where);
}

/* ---- counts ---- */

/* "trials=N" and "parallel=N" are the same as --trials N, --parallel N. */
static int read_change(struct cli *cli, const char *word)
{
    const size_t len = strcspn(word, "=");
    const struct flag *option = flags_find(cli_flags, word, len);
    if (option != NULL && word[len] == '=' &&
        words_has(cli->command->options, option->name) &&
        flags_read_count(
            word + len + 1, true,
            (int64_t *)(void *)((char *)&cli->set + option->offset)))
        return CLI_DONE;
    return cli_fail(cli, CLI_USAGE,
                    "set takes trials=N and parallel=N, where +N adds to what "
                    "there is, not \"%s\"",
                    word);
}

/* 0: its clients run as many as they ask for. */
static int64_t parallel_of(const struct cli_study *study)
{
    return study->home->kind == JOB_TUNING
               ? node_get_int(study->job, "parallelTrialCount", 1)
               : 0;
}

/* A count to be set, and its current value. */
struct count {
    const char *name, *member;
    int64_t *value; /* as given, then as sent; CLI_UNSET: unchanged */
    int64_t now;    /* 0: there is no limit */
    int64_t most;
};

static int resolve(struct cli *cli, const struct cli_study *study,
                   const struct count *count)
{
    const int64_t given = *count->value;
    if (given <= FLAG_MORE && count->now == 0)
        return cli_fail(cli, CLI_USAGE,
                        "study %s has no limit of %s to add to; say %s=N",
                        study->name, count->name, count->name);
    if (given <= FLAG_MORE)
        *count->value = FLAG_MORE - given > count->most
                            ? count->most + 1
                            : count->now + (FLAG_MORE - given);
    if (given == CLI_UNSET ||
        (*count->value >= 1 && *count->value <= count->most))
        return CLI_DONE;
    return cli_fail(cli, CLI_USAGE, "%s must be 1 to %lld, is %lld",
                    count->name, (long long)count->most,
                    (long long)*count->value);
}

static int send_change(struct cli *cli, const char *study,
                       const struct count counts[], size_t n)
{
    struct ht_error err;
    struct cli_study changed;
    cJSON *patch = cJSON_CreateObject();
    for (size_t i = 0; i < n; i++)
        if (*counts[i].value != CLI_UNSET)
            json_add_int(patch, counts[i].member, *counts[i].value);
    if (cli_control_patch(cli, study, patch, &changed, &err) != HT_OK)
        return cli_fail_error(cli, &err);
    const long long trials = cli_study_limit(&changed);
    const long long parallel = parallel_of(&changed);
    cli_say(cli, "study %s is %s: %s trials%s", changed.name, changed.state,
            trials > 0 ? arena_printf(cli->arena, "%lld", trials) : "unlimited",
            parallel > 0
                ? arena_printf(cli->arena, ", %lld at a time", parallel)
                : "");
    return CLI_DONE;
}

int cli_set(struct cli *cli)
{
    const struct words *words = &cli->args.words;
    struct cli_study study;
    for (size_t i = 1; i < words->n; i++) {
        int code = read_change(cli, words->items[i]);
        if (code != CLI_DONE)
            return code;
    }
    bool changes =
        cli->set.trials != CLI_UNSET || cli->set.parallel != CLI_UNSET;
    if (words->n == 0 || !changes)
        return cli_fail(cli, CLI_USAGE,
                        "say a study and what to set: hypertune set S "
                        "trials=60 parallel=4");
    int code = cli_study_open(cli, words->items[0], &study);
    if (code != CLI_DONE)
        return code;
    const struct count counts[] = {{"trials", "maxTrialCount", &cli->set.trials,
                                    cli_study_limit(&study), HT_MAX_TRIALS},
                                   {"parallel", "parallelTrialCount",
                                    &cli->set.parallel, parallel_of(&study),
                                    HT_MAX_PARALLEL}};
    const size_t n = sizeof counts / sizeof *counts;
    for (size_t i = 0; code == CLI_DONE && i < n; i++)
        code = resolve(cli, &study, &counts[i]);
    return code == CLI_DONE ? send_change(cli, study.name, counts, n) : code;
}
