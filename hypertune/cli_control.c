#include "hypertune/cli_control.h"

#include <stdlib.h>
#include <string.h>

#include "hypertune/cli_commands.h"
#include "proto/json.h"
#include "proto/limits.h"

enum ht_status cli_control_post(struct cli *cli, const char *study,
                                const char *verb, struct ht_error *err)
{
    struct cli_http_answer answer;
    char *path = arena_printf(cli->arena, CLI_OURS "/%s:%s",
                              cli_http_segment(cli->arena, study), verb);
    return cli_call(cli, "POST", path, "{}", &answer, err);
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
    if (cli_ask(cli, question, want))
        return CLI_DONE;
    return cli_fail(cli, CLI_REFUSED, "nothing was changed");
}

static int change_state(struct cli *cli, const char *verb, const char *said)
{
    struct ht_error err;
    struct cli_study study;
    if (!cli_wants(cli, 1))
        return CLI_USAGE;
    int code = cli_study_open(cli, cli->args.words.items[0], &study);
    if (code != CLI_DONE)
        return code;
    if (cli_control_post(cli, study.name, verb, &err) != HT_OK)
        return cli_fail_error(cli, &err);
    cli_say(cli, "study %s %s", study.name, said);
    return CLI_DONE;
}

int cli_pause(struct cli *cli)
{
    return change_state(cli, "pause", "starts no more trials until resume");
}

int cli_resume(struct cli *cli)
{
    return change_state(cli, "resume", "goes on");
}

/* Stop and cancel end running trials, so they ask when there are some. */
static int end_study(struct cli *cli, const char *verb, const char *said)
{
    struct cli_study study;
    if (!cli_wants(cli, 1))
        return CLI_USAGE;
    int code = cli_study_open(cli, cli->args.words.items[0], &study);
    if (code != CLI_DONE)
        return code;
    long long running =
        cli_study_count(&study, "active") + cli_study_count(&study, "stopping");
    if (running > 0) {
        const char *what =
            arena_printf(cli->arena, "%s ends %lld running trial%s", verb,
                         running, running == 1 ? "" : "s");
        code =
            consent(cli, what,
                    arena_printf(cli->arena, "%s; go on? [y/N]", what), "yes");
    }
    return code == CLI_DONE ? change_state(cli, verb, said) : code;
}

int cli_stop(struct cli *cli)
{
    return end_study(cli, "stop", "ends; its results are kept");
}

int cli_cancel(struct cli *cli)
{
    return end_study(cli, "cancel", "is cancelled");
}

int cli_control_delete(struct cli *cli, const struct cli_study *study)
{
    struct ht_error err;
    struct cli_http_answer answer;
    long long trials = cli_study_all(study);
    const char *what =
        arena_printf(cli->arena,
                     "delete removes study %s with %lld trial%s, reports and "
                     "logs",
                     study->name, trials, trials == 1 ? "" : "s");
    const char *question =
        arena_printf(cli->arena, "%s; type the name to go on:", what);
    int code = consent(cli, what, question, study->name);
    if (code != CLI_DONE)
        return code;
    char *path = arena_printf(cli->arena, CLI_OURS "/%s", study->id);
    if (cli_call(cli, "DELETE", path, NULL, &answer, &err) != HT_OK)
        return cli_fail_error(cli, &err);
    return CLI_DONE;
}

int cli_delete(struct cli *cli)
{
    struct cli_study study;
    if (!cli_wants(cli, 1))
        return CLI_USAGE;
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
                        study->name,
                        node_get_string(study->status, "reason", ""),
                        study->name, where, study->name, where);
}

/* "trials=N" and "parallel=N" are the same as --trials N, --parallel N. */
static int read_change(struct cli *cli, const char *word)
{
    static const struct {
        const char *prefix;
        size_t offset;
    } members[] = {{"trials=", offsetof(struct cli_settings, trials)},
                   {"parallel=", offsetof(struct cli_settings, parallel)}};
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        size_t len = strlen(members[i].prefix);
        if (strncmp(word, members[i].prefix, len) != 0)
            continue;
        const char *digits = word + len;
        if (digits[0] == '\0' || digits[strspn(digits, "0123456789")] != '\0' ||
            strlen(digits) > 9)
            break;
        *(int64_t *)(void *)((char *)&cli->set + members[i].offset) =
            strtoll(digits, NULL, 10);
        return CLI_DONE;
    }
    return cli_fail(cli, CLI_USAGE,
                    "set takes trials=N and parallel=N, not \"%s\"", word);
}

static int send_change(struct cli *cli, const char *study)
{
    struct ht_error err;
    struct text body = {0};
    struct cli_http_answer answer;
    struct cli_study changed;
    cJSON *patch = cJSON_CreateObject();
    if (cli->set.trials != CLI_UNSET)
        json_add_int(patch, "maxTrialCount", cli->set.trials);
    if (cli->set.parallel != CLI_UNSET)
        json_add_int(patch, "parallelTrialCount", cli->set.parallel);
    json_print(patch, &body);
    char *path = arena_printf(cli->arena, CLI_OURS "/%s",
                              cli_http_segment(cli->arena, study));
    enum ht_status status =
        cli_call(cli, "PATCH", path, body.data, &answer, &err);
    text_free(&body);
    if (status != HT_OK)
        return cli_fail_error(cli, &err);
    cli_study_read(answer.root, &changed);
    cli_say(cli, "study %s is %s: %lld trials, %lld at a time", changed.name,
            changed.state,
            (long long)node_get_int(changed.job, "maxTrialCount", 0),
            (long long)node_get_int(changed.job, "parallelTrialCount", 0));
    return CLI_DONE;
}

static int check_count(struct cli *cli, const char *what, int64_t count,
                       int64_t most)
{
    if (count == CLI_UNSET || (count >= 1 && count <= most))
        return CLI_DONE;
    return cli_fail(cli, CLI_USAGE, "%s must be 1 to %lld, is %lld", what,
                    (long long)most, (long long)count);
}

int cli_set(struct cli *cli)
{
    const struct words *words = &cli->args.words;
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
    int code = check_count(cli, "trials", cli->set.trials, HT_MAX_TRIALS);
    if (code == CLI_DONE)
        code = check_count(cli, "parallel", cli->set.parallel, HT_MAX_PARALLEL);
    if (code == CLI_DONE)
        code = cli_connect(cli);
    return code == CLI_DONE ? send_change(cli, words->items[0]) : code;
}
