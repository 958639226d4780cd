/* health.c - what a person should know of a study's model, in words. */

#include <string.h>

#include "algorithms/insight/health.h"
#include "algorithms/stop/backtest.h"
#include "proto/base/text.h"
#include "proto/doc/json.h"
#include "tuner/read/insight.h"
#include "tuner/search/models.h"

/* Deviations of the difference of two results that may be chance, one time in
 * twenty. */
static const double chance = 1.96 * 1.4142135623730951;

struct telling {
    const struct study_row *study;
    const struct job *job;
    const struct health_finding *finding;
    struct text *text, *command; /* empty: there is none */
};

/* --- the model --- */

static const char *tell_quality(const struct telling *telling)
{
    static const struct {
        const char *severity, *words, *ends;
    } grades[] = {
        [HEALTH_GOOD] = {"GOOD", "ranks results it has not seen well", ""},
        [HEALTH_FAIR] = {"HINT", "ranks results it has not seen fairly", ""},
        [HEALTH_POOR] = {"WARNING", "hardly ranks results it has not seen",
                         ": noise, or too few results"}};
    const struct health_finding *finding = telling->finding;
    text_printf(telling->text, "the model %s (%.2f of 1, %zu results)%s",
                grades[finding->grade].words, finding->value, finding->n,
                grades[finding->grade].ends);
    return grades[finding->grade].severity;
}

/* --- ends of ranges --- */

static bool is_editable(const struct space *space, const char *name)
{
    size_t n = 0;
    for (size_t i = 0; i < space->n; i++)
        n += strcmp(space->params[i].name, name) == 0 ? 1 : 0;
    return n == 1 && !space->open && name[0] != '-';
}

/* "hypertune set digits lr=..1" */
static void add_set(const struct telling *telling, const struct param *param)
{
    const struct health_finding *finding = telling->finding;
    char beyond[TEXT_DOUBLE_BYTES];
    text_of_double(beyond, finding->beyond);
    struct text edit = {0};
    if (param->type == PARAM_DISCRETE)
        text_printf(&edit, "%s=+%s", param->name, beyond);
    else if (finding->upper)
        text_printf(&edit, "%s=..%s", param->name, beyond);
    else
        text_printf(&edit, "%s=%s..", param->name, beyond);
    text_puts(telling->command, "hypertune set ");
    text_shell_word(telling->command, telling->study->name);
    text_puts(telling->command, " ");
    text_shell_word(telling->command, text_string(&edit));
    text_free(&edit);
}

static const char *tell_border(const struct telling *telling)
{
    const struct health_finding *finding = telling->finding;
    const struct space *space = &telling->job->space;
    const struct param *param = &space->params[finding->param];
    char end[TEXT_DOUBLE_BYTES], beyond[TEXT_DOUBLE_BYTES];
    text_printf(telling->text,
                "the best results lie at the %s end of %s (%s): widen to %s?",
                finding->upper ? "upper" : "lower", param->name,
                text_of_double(end, finding->value),
                text_of_double(beyond, finding->beyond));
    if (is_editable(space, param->name))
        add_set(telling, param);
    return "HINT";
}

/* --- what is left, and what is chance --- */

static const char *tell_little(const struct telling *telling)
{
    text_printf(
        telling->text,
        "the last %zu results brought no notable gain, and the model expects "
        "the most promising trial to improve %s by %.2g: little more "
        "to gain near what was tried",
        telling->finding->n, telling->job->metrics[0].name,
        telling->finding->value);
    return "HINT";
}

/* Of trials that clients run only while some ask for more (study_confirm.c). */
static bool can_confirm(const struct telling *telling)
{
    return telling->study->kind == JOB_TUNING ||
           (!telling->job->space.open &&
            !db_study_state_is_final(telling->study->state));
}

static const char *tell_noise(const struct telling *telling)
{
    const struct health_finding *finding = telling->finding;
    text_printf(telling->text,
                "results of the same point differ by about %.2g (%zu "
                "repeats): a difference below %.2g may be chance",
                finding->value, finding->n, chance * finding->value);
    if (can_confirm(telling)) {
        text_puts(telling->command, "hypertune confirm ");
        text_shell_word(telling->command, telling->study->name);
    }
    return "HINT";
}

/* --- findings of the model --- */

static void add_finding(cJSON *list, const struct telling *telling)
{
    static const struct {
        const char *name;
        const char *(*tell)(const struct telling *telling);
    } kinds[] = {[HEALTH_QUALITY] = {"MODEL_QUALITY", tell_quality},
                 [HEALTH_BORDER] = {"BORDER", tell_border},
                 [HEALTH_LITTLE_TO_GAIN] = {"NOTHING_TO_GAIN", tell_little},
                 [HEALTH_NOISE] = {"NOISE", tell_noise}};
    const struct health_finding *finding = telling->finding;
    cJSON *item = json_push_object(list);
    json_add_string(item, "kind", kinds[finding->kind].name);
    json_add_string(item, "severity", kinds[finding->kind].tell(telling));
    if (finding->kind == HEALTH_BORDER)
        json_add_string(item, "parameter",
                        telling->job->space.params[finding->param].name);
    json_add_double(item, "value", finding->value);
    json_add_string(item, "text", text_string(telling->text));
    if (telling->command->len > 0)
        json_add_string(item, "command", text_string(telling->command));
}

static void add_findings(const struct asked *asked, const struct health *health,
                         cJSON *list)
{
    for (size_t i = 0; i < health->n; i++) {
        struct text text = {0}, command = {0};
        const struct telling telling = {&asked->study,
                                        models_job(asked->models),
                                        &health->findings[i], &text, &command};
        add_finding(list, &telling);
        text_free(&text);
        text_free(&command);
    }
}

/* --- early stopping --- */

/* One of the best may be an exception. */
static bool is_eager(const struct backtest *backtest)
{
    return backtest != NULL && backtest->stopped >= 2 &&
           3 * backtest->stopped >= backtest->best;
}

static void add_eager(cJSON *list, const struct job *job,
                      const struct backtest *backtest)
{
    char latest[TEXT_DOUBLE_BYTES];
    struct text text = {0};
    text_of_double(latest, backtest->latest);
    text_printf(&text,
                "early stopping would stop %zu of the %zu best finished "
                "trials, at %s%s%s or before: ",
                backtest->stopped, backtest->best,
                job->early_stop.by_time ? "" : "step ", latest,
                job->early_stop.by_time ? " s" : "");
    text_puts(&text, "a larger earlyStopping.minSteps lets trials show more");
    cJSON *item = json_push_object(list);
    json_add_string(item, "kind", "STOPPED_TOO_EARLY");
    json_add_string(item, "severity", "WARNING");
    json_add_double(item, "value",
                    (double)backtest->stopped / (double)backtest->best);
    json_add_string(item, "text", text_string(&text));
    text_free(&text);
}

/* --- the answer --- */

enum ht_status read_health(struct reader *reader, struct request *req,
                           struct ht_error *err)
{
    struct asked asked;
    const struct health *health;
    const struct backtest *backtest;
    enum ht_status status = insight_ask(reader, req, &asked, err);
    if (status == HT_OK)
        status = models_health(asked.models, asked.metric, &health, err);
    if (status == HT_OK)
        status = models_backtest(asked.models, reader->db, &backtest, err);
    if (status != HT_OK)
        return status;
    const struct job *job = models_job(asked.models);
    cJSON *object = cJSON_CreateObject();
    json_add_string(object, "metric", job->metrics[asked.metric].name);
    json_add_int(object, "results", (int64_t)insight_results(&asked));
    json_add_int(object, "least", HEALTH_LEAST);
    cJSON *list = json_add_array(object, "findings");
    add_findings(&asked, health, list);
    if (is_eager(backtest))
        add_eager(list, job, backtest);
    json_print(object, &req->reply);
    return HT_OK;
}
