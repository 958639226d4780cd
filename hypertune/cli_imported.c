#include "hypertune/cli_imported.h"

#include <math.h>
#include <time.h>

#include "hypertune/cli_study.h"
#include "proto/json.h"

#define STUDIES "/v1/projects/local/locations/local/studies"

void cli_imported_metric(cJSON *metrics, const char *name, double value)
{
    if (!isfinite(value))
        return;
    cJSON *metric = json_push_object(metrics);
    json_add_string(metric, "metricId", name);
    json_add_double(metric, "value", value);
}

/* One request; the answer lives in `arena`. The body is released. */
static int post(struct cli *cli, struct arena *arena, const char *path,
                cJSON *object, struct cli_http_answer *answer)
{
    struct text body = {0};
    struct ht_error err;
    json_print(object, &body);
    const struct cli_http_request request = {
        .method = "POST", .path = path, .body = body.data};
    const enum ht_status status =
        cli_http_call(cli->http, arena, &request, answer, &err);
    text_free(&body);
    return status == HT_OK ? CLI_DONE : cli_fail_error(cli, &err);
}

static sigset_t taken_signals(void)
{
    sigset_t taken;
    sigemptyset(&taken);
    sigaddset(&taken, SIGINT);
    sigaddset(&taken, SIGTERM);
    sigaddset(&taken, SIGHUP);
    return taken;
}

/* CLI_DONE unless a signal has come. */
static int check_signals(void)
{
    const sigset_t taken = taken_signals();
    const int signal = sigtimedwait(&taken, NULL, &(struct timespec){0});
    if (signal < 0)
        return CLI_DONE;
    return signal == SIGINT ? CLI_INTERRUPTED : CLI_TERMINATED;
}

int cli_imported_open(struct cli *cli, cJSON *study,
                      struct cli_imported *imported)
{
    struct cli_http_answer answer;
    struct cli_study made;
    int code = cli_connect(cli);
    if (code != CLI_DONE) {
        cJSON_Delete(study);
        return code;
    }
    code = post(cli, cli->arena, STUDIES, study, &answer);
    if (code != CLI_DONE)
        return code;
    cli_study_read(answer.root, &made);
    *imported = (struct cli_imported){
        .cli = cli,
        .name = made.name,
        .path = arena_printf(cli->arena, STUDIES "/%s", made.id)};
    const sigset_t taken = taken_signals();
    sigprocmask(SIG_BLOCK, &taken, &imported->before);
    return CLI_DONE;
}

/* A trial without curve comes with its result at once. */
static int tell_at_once(struct cli_imported *imported, struct arena *arena,
                        const struct cli_imported_trial *trial)
{
    struct cli_http_answer answer;
    cJSON *body = cJSON_CreateObject();
    cJSON_AddItemToObject(body, "parameters", trial->parameters);
    json_add_string(body, "state",
                    trial->final != NULL ? "SUCCEEDED" : "INFEASIBLE");
    if (trial->final != NULL)
        cJSON_AddItemToObject(body, "finalMeasurement", trial->final);
    else
        json_add_string(body, "infeasibleReason", trial->reason);
    return post(imported->cli, arena,
                arena_printf(arena, "%s/trials", imported->path), body,
                &answer);
}

/* The next measurements of the curve, as many as surely fit into a request. */
static int tell_measurements(struct cli_imported *imported, struct arena *arena,
                             const char *trial, cJSON *curve)
{
    enum { AT_ONCE = 100 };
    struct cli_http_answer answer;
    cJSON *one, *body = cJSON_CreateObject();
    cJSON *list = json_add_array(body, "measurements");
    for (int n = 0; n < AT_ONCE && (one = curve->child) != NULL; n++)
        cJSON_AddItemToArray(list, cJSON_DetachItemViaPointer(curve, one));
    return post(imported->cli, arena,
                arena_printf(arena, "%s/trials/%s:addTrialMeasurement",
                             imported->path, trial),
                body, &answer);
}

static int complete(struct cli_imported *imported, struct arena *arena,
                    const char *trial, const struct cli_imported_trial *told)
{
    struct cli_http_answer answer;
    cJSON *body = cJSON_CreateObject();
    if (told->final != NULL) {
        cJSON_AddItemToObject(body, "finalMeasurement", told->final);
    } else {
        json_add_bool(body, "trialInfeasible", true);
        json_add_string(body, "infeasibleReason", told->reason);
    }
    return post(
        imported->cli, arena,
        arena_printf(arena, "%s/trials/%s:complete", imported->path, trial),
        body, &answer);
}

static int tell_with_curve(struct cli_imported *imported, struct arena *arena,
                           const struct cli_imported_trial *trial)
{
    struct cli_http_answer answer;
    cJSON *body = cJSON_CreateObject();
    cJSON_AddItemToObject(body, "parameters", trial->parameters);
    json_add_string(body, "state", "ACTIVE");
    int code =
        post(imported->cli, arena,
             arena_printf(arena, "%s/trials", imported->path), body, &answer);
    if (code != CLI_DONE) {
        cJSON_Delete(trial->final);
        return code;
    }
    const char *id = node_get_string(answer.root, "id", "");
    while (code == CLI_DONE && trial->curve->child != NULL)
        code = tell_measurements(imported, arena, id, trial->curve);
    if (code != CLI_DONE) {
        cJSON_Delete(trial->final);
        return code;
    }
    return complete(imported, arena, id, trial);
}

int cli_imported_add(struct cli_imported *imported,
                     const struct cli_imported_trial *trial)
{
    struct arena *arena = arena_new();
    const bool has_curve = cJSON_GetArraySize(trial->curve) > 0;
    int code = has_curve ? tell_with_curve(imported, arena, trial)
                         : tell_at_once(imported, arena, trial);
    cJSON_Delete(trial->curve);
    arena_free(arena);
    imported->n += code == CLI_DONE;
    imported->infeasible += code == CLI_DONE && trial->final == NULL;
    return code == CLI_DONE ? check_signals() : code;
}

static void drop(const struct cli_imported *imported)
{
    struct cli *cli = imported->cli;
    struct cli_http_answer answer;
    struct ht_error err;
    if (cli_call(cli, "DELETE", imported->path, NULL, &answer, &err) == HT_OK)
        cli_say(cli, "nothing was imported");
    else
        cli_say(cli, "study %s has %zu trials and could not be removed: %s",
                imported->name, imported->n, err.text);
}

static int finish(const struct cli_imported *imported)
{
    struct cli *cli = imported->cli;
    struct cli_http_answer answer;
    struct text out = {0};
    const int code =
        post(cli, cli->arena,
             arena_printf(cli->arena, CLI_OURS "/%s:stop",
                          cli_http_segment(cli->arena, imported->name)),
             cJSON_CreateObject(), &answer);
    if (code != CLI_DONE)
        return code;
    cli_say(cli, "imported study %s: %zu trials, %zu without a result",
            imported->name, imported->n, imported->infeasible);
    cli_say(cli,
            "next: hypertune best %s%s, or submit a spec with "
            "--warm-start %s",
            imported->name, cli_where(cli), imported->name);
    text_escape(&out, imported->name);
    text_puts(&out, "\n");
    return cli_print(&out);
}

int cli_imported_close(struct cli_imported *imported, int code)
{
    if (code == CLI_DONE)
        code = finish(imported);
    else
        drop(imported);
    sigprocmask(SIG_SETMASK, &imported->before, NULL);
    return code;
}
