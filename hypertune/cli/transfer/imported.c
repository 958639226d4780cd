#include "hypertune/cli/transfer/imported.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "hypertune/cli/study/study.h"
#include "proto/doc/json.h"

#define STUDIES "/v1/projects/local/locations/local/studies"

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
        .id = made.id,
        .path = arena_printf(cli->arena, STUDIES "/%s", made.id)};
    const sigset_t taken = taken_signals();
    sigprocmask(SIG_BLOCK, &taken, &imported->before);
    return CLI_DONE;
}

/* ---- trials, several in a request ---- */

enum {
    ENOUGH_BYTES = 256 * 1024, /* a quarter of what a body may have */
    NOTES_AT_ONCE = 500
};

static void add_list(struct text *body, const char *key, struct text *items)
{
    text_printf(body, "\"%s\":[", key);
    text_append(body, items->data != NULL ? items->data : "", items->len);
    text_puts(body, "]");
    text_clear(items);
}

static int send_told(struct cli_imported *imported)
{
    struct cli *cli = imported->cli;
    struct arena *arena = arena_new();
    struct text body = {0};
    struct cli_http_answer answer;
    struct ht_error err;
    text_puts(&body, "{");
    add_list(&body, "trials", &imported->trials);
    text_puts(&body, ",");
    add_list(&body, "measurements", &imported->measurements);
    text_puts(&body, "}");
    const struct cli_http_request request = {
        .method = "POST",
        .path =
            arena_printf(arena, CLI_OURS "/%s/trials:restore", imported->id),
        .body = body.data};
    const int code =
        cli_http_call(cli->http, arena, &request, &answer, &err) == HT_OK
            ? CLI_DONE
            : cli_fail_error(cli, &err);
    text_free(&body);
    arena_free(arena);
    return code == CLI_DONE ? check_signals() : code;
}

static void add_item(struct text *list, cJSON *item)
{
    if (list->len > 0)
        text_puts(list, ",");
    json_print(item, list);
}

/* A curve may be longer than a request. */
static int add_curve(struct cli_imported *imported, double trial, cJSON *curve)
{
    int code = CLI_DONE;
    while (code == CLI_DONE && curve != NULL && curve->child != NULL) {
        cJSON *one = cJSON_DetachItemFromArray(curve, 0);
        cJSON_AddNumberToObject(one, "trial", trial);
        add_item(&imported->measurements, one);
        if (imported->measurements.len > ENOUGH_BYTES)
            code = send_told(imported);
    }
    cJSON_Delete(curve);
    return code;
}

static bool has_result(const cJSON *trial)
{
    const char *state =
        cJSON_GetStringValue(cJSON_GetObjectItem(trial, "state"));
    return state != NULL &&
           (strcmp(state, "SUCCEEDED") == 0 || strcmp(state, "STOPPED") == 0);
}

int cli_imported_add(struct cli_imported *imported, cJSON *trial)
{
    cJSON *curve = cJSON_DetachItemFromObject(trial, "measurements");
    const cJSON *id = cJSON_GetObjectItem(trial, "id");
    const double number = cJSON_IsRaw(id) ? strtod(id->valuestring, NULL)
                                          : cJSON_GetNumberValue(id);
    imported->n++;
    imported->without += has_result(trial) ? 0 : 1;
    add_item(&imported->trials, trial);
    if (imported->trials.len > ENOUGH_BYTES) {
        const int code = send_told(imported);
        if (code != CLI_DONE) {
            cJSON_Delete(curve);
            return code;
        }
    }
    return add_curve(imported, number, curve);
}

int cli_imported_note(struct cli_imported *imported, cJSON *metadata)
{
    struct arena *arena = arena_new();
    struct cli_http_answer answer;
    int code = send_told(imported);
    while (code == CLI_DONE && metadata->child != NULL) {
        struct text body = {0};
        struct ht_error err;
        text_puts(&body, "{\"metadata\":[");
        for (int n = 0; metadata->child != NULL && n < NOTES_AT_ONCE &&
                        body.len < ENOUGH_BYTES;
             n++) {
            text_puts(&body, n > 0 ? "," : "");
            json_print(cJSON_DetachItemFromArray(metadata, 0), &body);
        }
        text_puts(&body, "]}");
        const struct cli_http_request request = {
            .method = "PATCH",
            .path = arena_printf(arena, CLI_OURS "/%s/metadata", imported->id),
            .body = body.data};
        if (cli_http_call(imported->cli->http, arena, &request, &answer,
                          &err) != HT_OK)
            code = cli_fail_error(imported->cli, &err);
        text_free(&body);
    }
    cJSON_Delete(metadata);
    arena_free(arena);
    return code;
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
            imported->name, imported->n, imported->without);
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
        code = send_told(imported);
    if (code == CLI_DONE)
        code = finish(imported);
    else
        drop(imported);
    text_free(&imported->trials);
    text_free(&imported->measurements);
    sigprocmask(SIG_SETMASK, &imported->before, NULL);
    return code;
}
