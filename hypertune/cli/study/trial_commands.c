#include <string.h>

#include "hypertune/cli/frame/commands.h"
#include "hypertune/cli/study/study.h"

/* One verb of a trial, and what is said about it. */
struct verb {
    const char *name, *done;
};

static const struct verb verb_stop = {"stop", "stops"};
static const struct verb verb_retry = {"retry", "runs again"};

/* Goes on after a trial that was refused, so that one of them does not keep
 * the others; the exit code is the first refusal's. */
static int steer(struct cli *cli, const struct verb *verb, const char *study,
                 const char *trial)
{
    struct ht_error err;
    struct cli_http_answer answer;
    char *path =
        arena_printf(cli->arena, CLI_OURS "/%s/trials/%s:%s",
                     cli_http_segment(cli->arena, study), trial, verb->name);
    if (cli_call(cli, "POST", path, "{}", &answer, &err) != HT_OK) {
        ht_wrap(&err, err.status, "trial %s/%s", study, trial);
        return cli_fail_error(cli, &err);
    }
    cli_say(cli, "trial %s/%s %s", study, trial, verb->done);
    return CLI_DONE;
}

static int steer_named(struct cli *cli, const struct verb *verb)
{
    const struct words *words = &cli->args.words;
    const char *study, *trial;
    int first = CLI_DONE;
    /* A name that is none is found before anything happens. */
    for (size_t i = 0; i < words->n; i++) {
        int code = cli_study_want_trial(cli, words->items[i], &study, &trial);
        if (code != CLI_DONE)
            return code;
    }
    int code = cli_connect(cli);
    if (code != CLI_DONE)
        return code;
    for (size_t i = 0; i < words->n; i++) {
        cli_study_split(cli, words->items[i], &study, &trial);
        code = steer(cli, verb, study, trial);
        first = first == CLI_DONE ? code : first;
    }
    return first;
}

int cli_stop_trial(struct cli *cli)
{
    if (!cli_wants_some(cli))
        return CLI_USAGE;
    return steer_named(cli, &verb_stop);
}

struct failed_trials {
    struct arena *arena;
    struct words ids;
};

static bool note_id(const struct node *trial, void *context)
{
    struct failed_trials *failed = context;
    cli_words_add(failed->arena, &failed->ids,
                  arena_strdup(failed->arena, cli_trial_id(trial)));
    return true;
}

/* The list is complete before the first one is changed. */
static int retry_failed(struct cli *cli, const char *name)
{
    struct ht_error err;
    struct cli_study study;
    struct failed_trials failed = {.arena = cli->arena};
    int first = cli_connect(cli);
    if (first != CLI_DONE)
        return first;
    enum ht_status status = cli_study_get(cli, name, &study, &err);
    if (status == HT_OK && study.home->kind == JOB_STUDY)
        return cli_fail(cli, CLI_REFUSED,
                        "clients run the trials of study %s, so nobody here "
                        "runs one again; hypertune add %s gives them new ones",
                        study.name, study.name);
    if (status == HT_OK) {
        struct cli_pages pages = cli_trial_pages(cli, study.name, "FAILED");
        status = cli_pages_each(cli, &pages, note_id, &failed, &err);
    }
    if (status != HT_OK)
        return cli_fail_error(cli, &err);
    if (failed.ids.n == 0)
        return cli_fail(cli, CLI_ABSENT, "study %s has no failed trial",
                        study.name);
    for (size_t i = 0; i < failed.ids.n; i++) {
        int code = steer(cli, &verb_retry, study.name, failed.ids.items[i]);
        first = first == CLI_DONE ? code : first;
    }
    if (strcmp(study.state, "PAUSED") == 0)
        cli_say(cli, "study %s is PAUSED; go on: hypertune resume %s%s",
                study.name, study.name, cli_where(cli));
    return first;
}

int cli_retry(struct cli *cli)
{
    const struct words *words = &cli->args.words;
    if (words->n == 0 || (cli->set.failed && words->n != 1))
        return cli_fail(cli, CLI_USAGE,
                        "say which trials: hypertune retry STUDY/ID..., or "
                        "hypertune retry STUDY --failed");
    return cli->set.failed ? retry_failed(cli, words->items[0])
                           : steer_named(cli, &verb_retry);
}
