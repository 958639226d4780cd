/* retry.c - `stop-trial` and `retry`, and a study that continues after the
 * cause of its pause was repaired. */

#include <string.h>

#include "hypertune/cli/frame/commands.h"
#include "hypertune/cli/study/study.h"
#include "hypertune/cli/study/trial.h"

/* A refused trial does not keep back the others; the exit code is the first
 * refusal's. `done` says what the trial does now. */
static int steer(struct cli *cli, const char *study, const char *trial,
                 const char *verb, const char *done)
{
    struct ht_error err;
    struct cli_http_answer answer;
    const char *path = cli_study_path(cli, study, "/trials/%s:%s", trial, verb);
    if (cli_call(cli, "POST", path, "{}", &answer, &err) != HT_OK) {
        ht_wrap(&err, err.status, "trial %s/%s", study, trial);
        return cli_fail_error(cli, &err);
    }
    if (done != NULL)
        cli_say(cli, "trial %s/%s %s", study, trial, done);
    return CLI_DONE;
}

static int steer_each(struct cli *cli, const char *verb, const char *done)
{
    const struct words *words = &cli->args.words;
    struct cli_study *studies =
        arena_alloc(cli->lasting, words->n + 1, sizeof *studies);
    const char **trials =
        arena_alloc(cli->lasting, words->n + 1, sizeof *trials);
    int first = CLI_DONE;
    /* A name that is none is found before anything happens. */
    for (size_t i = 0; i < words->n; i++) {
        const int code =
            cli_study_open_trial(cli, words->items[i], &studies[i], &trials[i]);
        if (code != CLI_DONE)
            return code;
    }
    for (size_t i = 0; i < words->n; i++) {
        const int code = steer(cli, studies[i].name, trials[i], verb, done);
        first = first == CLI_DONE ? code : first;
    }
    return first;
}

int cli_stop_trial(struct cli *cli)
{
    return steer_each(cli, "stop", "stops");
}

/* ---- all failed trials of a study ---- */

struct failed_trials {
    struct arena *arena;
    struct words ids;
};

static bool note_id(const struct node *trial, void *context)
{
    struct failed_trials *failed = context;
    words_add(failed->arena, &failed->ids,
              arena_strdup(failed->arena, cli_trial_id(trial)));
    return true;
}

/* The list is complete before the first one is changed. */
static int run_again(struct cli *cli, const struct cli_study *study,
                     const char *done, size_t *n)
{
    struct ht_error err;
    struct failed_trials failed = {.arena = cli->arena};
    const struct cli_pages pages = cli_trial_pages(cli, study->name, "FAILED");
    int first = CLI_DONE;
    if (cli_pages_each(cli, &pages, note_id, &failed, &err) != HT_OK)
        return cli_fail_error(cli, &err);
    for (size_t i = 0; i < failed.ids.n; i++) {
        int code = steer(cli, study->name, failed.ids.items[i], "retry", done);
        first = first == CLI_DONE ? code : first;
    }
    *n = failed.ids.n;
    return first;
}

/* A trial that cannot run again is no reason to stay paused. */
static int resume_repaired(struct cli *cli, struct cli_study *study, size_t n)
{
    struct ht_error err;
    struct cli_http_answer answer;
    if (cli_call(cli, "POST", cli_study_path(cli, study->name, ":resume"),
                 "{\"repaired\":true}", &answer, &err) != HT_OK)
        return cli_fail_error(cli, &err);
    cli_study_read(answer.root, study);
    if (n == 0)
        cli_say(cli, "study %s continues", study->name);
    else
        cli_say(cli, "study %s continues: %zu failed trial%s run%s again",
                study->name, n, n == 1 ? "" : "s", n == 1 ? "s" : "");
    return CLI_DONE;
}

int cli_retry_repaired(struct cli *cli, struct cli_study *study)
{
    size_t n = 0;
    const int first = run_again(cli, study, NULL, &n);
    const int code = resume_repaired(cli, study, n);
    return first == CLI_DONE ? code : first;
}

static int retry_failed(struct cli *cli, const char *name)
{
    struct cli_study study;
    size_t n = 0;
    int first = cli_study_open(cli, name, &study);
    if (first != CLI_DONE)
        return first;
    if (study.home->kind == JOB_STUDY)
        return cli_fail(cli, CLI_REFUSED,
                        "clients run the trials of study %s, so no runner "
                        "runs one again; hypertune add %s NAME=VALUE...%s "
                        "gives them new ones",
                        study.name, study.name, cli_where(cli));
    const bool held = cli_control_held(cli, &study) != NULL;
    first = run_again(cli, &study, "runs again", &n);
    if (held) {
        const int code = resume_repaired(cli, &study, n);
        return first == CLI_DONE ? code : first;
    }
    if (first == CLI_DONE && n == 0)
        return cli_fail(cli, CLI_ABSENT, "study %s has no failed trial",
                        study.name);
    if (strcmp(study.state, "PAUSED") == 0)
        cli_say(cli, "study %s is PAUSED; to continue: hypertune resume %s%s",
                study.name, study.name, cli_where(cli));
    return first;
}

int cli_retry(struct cli *cli)
{
    const struct words *words = &cli->args.words;
    const char *study, *trial;
    if (words->n == 0 || (cli->set.failed && words->n != 1))
        return cli_fail(cli, CLI_USAGE,
                        "say which trials: hypertune retry STUDY/ID..., or "
                        "hypertune retry STUDY --failed");
    const bool all = cli->set.failed ||
                     (words->n == 1 &&
                      !cli_study_split(cli, words->items[0], &study, &trial));
    return all ? retry_failed(cli, words->items[0])
               : steer_each(cli, "retry", "runs again");
}
