#include "hypertune/cli/study/study.h"

#include <ctype.h>
#include <stdarg.h>
#include <string.h>

#include "proto/base/text.h"
#include "proto/base/words.h"

#define PLACE "/v1/projects/" CLI_PROJECT "/locations/local"

const struct cli_collection cli_collections[CLI_COLLECTIONS] = {
    {JOB_TUNING, PLACE "/hyperparameterTuningJobs", "TUNING", "tuning job"},
    {JOB_CUSTOM, PLACE "/customJobs", "CUSTOM", "custom job"},
    {JOB_STUDY, PLACE "/studies", "STUDY", "study"}};

const char *const cli_study_states[] = {
    "RUNNING", "PAUSED", "STOPPING",  "CANCELLING", "SUCCEEDED",
    "STOPPED", "FAILED", "CANCELLED", "DELETING",   NULL};
const char *const cli_trial_states[] = {
    "REQUESTED", "ACTIVE",     "STOPPING",  "SUCCEEDED", "STOPPED",
    "FAILED",    "INFEASIBLE", "CANCELLED", "PAUSED",    NULL};

/* Names a trial of a study where an id would. */
static const char best_trial[] = "best";

const char *cli_study_path(struct cli *cli, const char *name,
                           const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *rest = arena_vprintf(cli->arena, format, args);
    va_end(args);
    return arena_printf(cli->arena, CLI_OURS "/%s%s",
                        cli_http_segment(cli->arena, name), rest);
}

int cli_study_check_state(struct cli *cli, const char *word,
                          const char *const states[])
{
    struct text list = {0};
    for (size_t i = 0; word != NULL && states[i] != NULL; i++) {
        if (strcasecmp(word, states[i]) == 0)
            word = NULL;
        else
            text_printf(&list, "%s%s", i > 0 ? ", " : "", states[i]);
    }
    const char *all = text_take(&list, cli->arena);
    return word == NULL
               ? CLI_DONE
               : cli_fail(cli, CLI_USAGE, "no state \"%s\"%s; there are %s",
                          word, words_hint(cli->arena, word, states), all);
}

int cli_study_refuse(struct cli *cli, const struct cli_study *study,
                     const char *kind, const char *name,
                     const char *const names[])
{
    return cli_fail(cli, CLI_USAGE, "study %s has no %s\"%s\"%s", study->name,
                    kind, name, words_hint(cli->arena, name, names));
}

bool cli_study_is_over(const char *state)
{
    return words_has("SUCCEEDED STOPPED FAILED CANCELLED", state);
}

void cli_study_read(const struct node *job, struct cli_study *study)
{
    const struct node *status = node_find(job, "hypertuneStatus");
    const struct node *first =
        node_first(node_find(job, "studySpec"), "metrics");
    const char *path = node_get_string(job, "name", "");
    const char *slash = strrchr(path, '/');
    const char *kind = node_get_string(status, "kind", "");
    size_t i = 0;
    while (i + 1 < CLI_COLLECTIONS &&
           strcmp(cli_collections[i].status_kind, kind) != 0)
        i++;
    *study = (struct cli_study){
        .home = &cli_collections[i],
        .job = job,
        .status = status,
        .name = node_get_string(status, "name", ""),
        .state = node_get_string(status, "state", ""),
        .id = slash != NULL ? slash + 1 : path,
        .reason = node_get_string(status, "reason", ""),
        .best = node_find(status, "best"),
        .front = node_find(status, "optimal"),
        .metrics = first,
        .metric = node_get_string(first, "metricId", ""),
        .maximize = strcmp(node_get_string(first, "goal", "MAXIMIZE"),
                           "MINIMIZE") != 0};
}

static enum ht_status get_at(struct cli *cli, const char *base,
                             const char *name, struct cli_study *study,
                             struct ht_error *err)
{
    struct cli_http_answer answer;
    char *path = arena_printf(cli->arena, "%s/%s?view=BASIC", base,
                              cli_http_segment(cli->arena, name));
    enum ht_status status = cli_call(cli, "GET", path, NULL, &answer, err);
    if (status != HT_OK)
        return status;
    cli_study_read(answer.root, study);
    study->body = answer.body;
    return HT_OK;
}

enum ht_status cli_study_get(struct cli *cli, const char *name,
                             struct cli_study *study, struct ht_error *err)
{
    return get_at(cli, CLI_OURS, name, study, err);
}

enum ht_status cli_study_get_own(struct cli *cli, const char *name,
                                 struct cli_study *study, struct ht_error *err)
{
    enum ht_status status = HT_NOT_FOUND;
    for (size_t i = 0; i < CLI_COLLECTIONS && status == HT_NOT_FOUND; i++)
        status = get_at(cli, cli_collections[i].path, name, study, err);
    return status;
}

int cli_study_open(struct cli *cli, const char *name, struct cli_study *study)
{
    struct ht_error err;
    int code = cli_connect(cli);
    if (code == CLI_DONE && cli_study_get(cli, name, study, &err) != HT_OK)
        code = cli_fail_error(cli, &err);
    return code;
}

int cli_study_open_trials(struct cli *cli, const char *name,
                          struct cli_study *study)
{
    int code = cli_study_open(cli, name, study);
    if (code != CLI_DONE || study->home->kind != JOB_CUSTOM)
        return code;
    return cli_fail(cli, CLI_ABSENT,
                    "%s is a custom job, which has no trials; see hypertune "
                    "describe %s, hypertune logs %s",
                    study->name, study->name, study->name);
}

long long cli_study_count(const struct cli_study *study, const char *state)
{
    return node_get_int(node_find(study->status, "counts"), state, 0);
}

long long cli_study_ended(const struct cli_study *study)
{
    return cli_study_count(study, "succeeded") +
           cli_study_count(study, "stopped") +
           cli_study_count(study, "failed") +
           cli_study_count(study, "cancelled");
}

long long cli_study_running(const struct cli_study *study)
{
    return cli_study_count(study, "active") +
           cli_study_count(study, "stopping");
}

long long cli_study_all(const struct cli_study *study)
{
    return cli_study_ended(study) + cli_study_count(study, "requested") +
           cli_study_running(study) + cli_study_count(study, "paused");
}

bool cli_study_failed_mostly(const struct cli_study *study)
{
    return node_get_bool(node_find(study->status, "failures"), "mostly", false);
}

void cli_study_outcome(const struct cli_study *study, struct text *out)
{
    text_puts(out, study->state);
    if (cli_study_failed_mostly(study))
        text_printf(
            out, ", %s",
            node_get_string(node_find(study->status, "failures"), "words", ""));
}

void cli_study_failures(const struct cli_study *study, const char *lead,
                        struct text *out)
{
    const struct node *failures = node_find(study->status, "failures");
    const char *reason = node_get_string(failures, "reason", "");
    if (failures != NULL)
        text_printf(out, "%s%s", lead, node_get_string(failures, "words", ""));
    if (reason[0] != '\0')
        text_print_safe(out, ": most often '%s'", reason);
}

void cli_study_stops(const struct cli_study *study, const char *lead,
                     struct text *out)
{
    const struct node *stops = node_find(study->status, "earlyStops");
    const char *advice = node_get_string(stops, "advice", "");
    if (stops != NULL)
        text_printf(out, "%s%s%s%s", lead, node_get_string(stops, "words", ""),
                    advice[0] == '\0' ? "" : ": ", advice);
}

void cli_study_silent(const struct cli_study *study, const char *lead,
                      struct text *out)
{
    NODE_EACH (one, node_first(study->status, "silent"))
        text_print_safe(out, "%strial %s is %s%s\n", lead,
                        cli_scalar(node_find(one, "trial")),
                        node_get_string(one, "words", ""),
                        node_get_bool(one, "hung", false) ? ", is stopped"
                                                          : "");
}

long long cli_study_limit(const struct cli_study *study)
{
    switch (study->home->kind) {
    case JOB_TUNING:
        return node_get_int(study->job, "maxTrialCount", 1);
    case JOB_STUDY:
        return node_get_int(node_find(node_find(study->job, "studySpec"),
                                      "studyStoppingConfig"),
                            "maxNumTrials", 0);
    case JOB_CUSTOM:
        return 1;
    }
    return 0;
}

int64_t cli_study_elapsed_ms(const struct cli_study *study, int64_t now_ms)
{
    int64_t start = node_get_int(study->status, "startTimeMs", 0);
    int64_t end = node_get_int(study->status, "endTimeMs", now_ms);
    return start > 0 && end > start ? end - start : 0;
}

int64_t cli_study_left_ms(const struct cli_study *study, int64_t now_ms)
{
    /* One trial is too few: it may have filled a cache. */
    enum { LEAST_ENDED = 2 };
    const long long ended = cli_study_ended(study);
    const long long limit = cli_study_limit(study);
    const int64_t elapsed = cli_study_elapsed_ms(study, now_ms);
    if (ended < LEAST_ENDED || limit <= ended || elapsed == 0 ||
        strcmp(study->state, "RUNNING") != 0)
        return -1;
    return (int64_t)((double)elapsed / (double)ended * (double)(limit - ended));
}

const char *cli_study_filter(struct cli *cli, const char *path,
                             const char *state)
{
    const char *filter = state != NULL
                             ? arena_printf(cli->arena, "state=\"%s\"",
                                            cli_upper(cli->arena, state))
                             : NULL;
    if (cli->set.tag != NULL)
        filter = arena_printf(cli->arena, "%s%stags:\"%s\"",
                              filter != NULL ? filter : "",
                              filter != NULL ? " AND " : "", cli->set.tag);
    return cli_query(cli, path, "filter", filter);
}

void cli_study_algorithm(const struct cli_study *study, struct text *out)
{
    const char *name = node_get_string(study->status, "algorithm", "-");
    const char *suffix = strstr(name, "_SEARCH");
    size_t len = suffix != NULL ? (size_t)(suffix - name) : strlen(name);
    for (size_t i = 0; i < len; i++)
        text_printf(out, "%c", tolower((unsigned char)name[i]));
}

void cli_study_progress(const struct cli_study *study, struct text *out)
{
    const long long limit = cli_study_limit(study);
    text_printf(out, "%lld", cli_study_ended(study));
    if (limit > 0)
        text_printf(out, "/%lld", limit);
}

int cli_study_verdict(const struct cli_study *study)
{
    bool good = strcmp(study->state, "SUCCEEDED") == 0 ||
                strcmp(study->state, "STOPPED") == 0;
    bool has_best =
        study->best != NULL ||
        (study->metric[0] == '\0' && cli_study_count(study, "succeeded") > 0);
    return good && has_best ? CLI_DONE : CLI_FAILED;
}

bool cli_study_split(struct cli *cli, const char *word, const char **study,
                     const char **trial)
{
    const char *slash = strrchr(word, '/');
    if (slash == NULL || slash == word || slash[1] == '\0')
        return false;
    if (slash[1 + strspn(slash + 1, "0123456789")] != '\0' &&
        strcmp(slash + 1, best_trial) != 0)
        return false;
    *study = arena_strndup(cli->arena, word, (size_t)(slash - word));
    *trial = slash + 1;
    return true;
}

int cli_study_want_trial(struct cli *cli, const char *word, const char **study,
                         const char **trial)
{
    if (cli_study_split(cli, word, study, trial))
        return CLI_DONE;
    return cli_fail(cli, CLI_USAGE,
                    "a trial is STUDY/ID or STUDY/best, not \"%s\"", word);
}

int cli_study_resolve(struct cli *cli, const struct cli_study *study,
                      const char **trial)
{
    if (strcmp(*trial, best_trial) != 0)
        return CLI_DONE;
    *trial = node_get_string(study->best, "id", NULL);
    return *trial != NULL
               ? CLI_DONE
               : cli_fail(cli, CLI_ABSENT,
                          "study \"%s\" has no succeeded trial yet (%lld "
                          "running)",
                          study->name, cli_study_count(study, "active"));
}

int cli_study_open_trial(struct cli *cli, const char *word,
                         struct cli_study *study, const char **trial)
{
    const char *name = word, *id = NULL;
    cli_study_split(cli, word, &name, &id);
    int code = cli_study_open(cli, name, study);
    if (code != CLI_DONE)
        return code;
    *trial = study->home->kind == JOB_CUSTOM ? "1" : id;
    return *trial != NULL ? cli_study_resolve(cli, study, trial)
                          : cli_study_want_trial(cli, word, &name, &id);
}
