/* hypertune import FILE: results of other programs or servers. */

#include "hypertune/cli/transfer/import.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "hypertune/cli/frame/commands.h"
#include "hypertune/cli/spec/submit.h"
#include "hypertune/cli/study/study.h"
#include "proto/base/limits.h"
#include "proto/doc/json.h"
#include "proto/doc/node.h"
#include "proto/form/form.h"
#include "proto/form/native.h"

/* ---- a study made of results ---- */

#define STUDIES "/v1/projects/local/locations/local/studies"

enum {
    ENOUGH_BYTES = 256 * 1024, /* a quarter of what a body may have */
    NOTES_AT_ONCE = 500
};

/* Sent once: a request whose answer is lost may have been done. */
static int ask(struct cli *cli, struct arena *arena,
               const struct cli_http_request *request,
               struct cli_http_answer *answer)
{
    struct ht_error err;
    return cli_http_call(cli->http, arena, request, answer, &err) == HT_OK
               ? CLI_DONE
               : cli_fail_error(cli, &err);
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
    const struct cli_http_request request = {"POST", STUDIES,
                                             json_text(cli->arena, study)};
    const sigset_t taken = taken_signals();
    sigset_t before;
    int code = cli_connect(cli);
    if (code != CLI_DONE)
        return code;
    /* Ahead of the request: a signal after it must find the study to remove. */
    sigprocmask(SIG_BLOCK, &taken, &before);
    code = ask(cli, cli->arena, &request, &answer);
    if (code != CLI_DONE) {
        sigprocmask(SIG_SETMASK, &before, NULL);
        return code;
    }
    cli_study_read(answer.root, &made);
    *imported = (struct cli_imported){
        .cli = cli, .name = made.name, .id = made.id, .before = before};
    return CLI_DONE;
}

/* Sends the body, which is released, to a resource of the study. */
static int send_to(struct cli_imported *imported, const char *method,
                   const char *what, struct text *body)
{
    struct arena *arena = arena_new();
    struct cli_http_answer answer;
    const struct cli_http_request request = {
        method, arena_printf(arena, CLI_OURS "/%s/%s", imported->id, what),
        body->data};
    const int code = ask(imported->cli, arena, &request, &answer);
    text_free(body);
    arena_free(arena);
    return code;
}

static int send_queued(struct cli_imported *imported)
{
    struct text body = {0};
    text_printf(&body, "{\"trials\":[%s],\"measurements\":[%s]}",
                text_string(&imported->trials),
                text_string(&imported->measurements));
    text_clear(&imported->trials);
    text_clear(&imported->measurements);
    const int code = send_to(imported, "POST", "trials:restore", &body);
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
            code = send_queued(imported);
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
        const int code = send_queued(imported);
        if (code != CLI_DONE) {
            cJSON_Delete(curve);
            return code;
        }
    }
    return add_curve(imported, number, curve);
}

int cli_imported_note(struct cli_imported *imported, cJSON *metadata)
{
    int code = send_queued(imported);
    while (code == CLI_DONE && metadata->child != NULL) {
        struct text list = {0}, body = {0};
        for (int n = 0; metadata->child != NULL && n < NOTES_AT_ONCE &&
                        list.len < ENOUGH_BYTES;
             n++)
            add_item(&list, cJSON_DetachItemFromArray(metadata, 0));
        text_printf(&body, "{\"metadata\":[%s]}", list.data);
        text_free(&list);
        code = send_to(imported, "PATCH", "metadata", &body);
    }
    cJSON_Delete(metadata);
    return code;
}

/* Vizier's address deletes a study that still runs. */
static void drop(const struct cli_imported *imported)
{
    struct cli *cli = imported->cli;
    struct cli_http_answer answer;
    struct ht_error err;
    if (cli_call(cli, "DELETE",
                 arena_printf(cli->arena, STUDIES "/%s", imported->id), NULL,
                 &answer, &err) == HT_OK)
        cli_say(cli, "nothing was imported");
    else
        cli_say(cli, "study %s has %zu trials and could not be removed: %s",
                imported->name, imported->n, err.text);
}

static int finish(const struct cli_imported *imported)
{
    struct cli *cli = imported->cli;
    struct ht_error err;
    if (cli_control_post(cli, imported->name, "stop", &err) != HT_OK)
        return cli_fail_error(cli, &err);
    cli_say(cli, "imported study %s: %zu trials, %zu without a result",
            imported->name, imported->n, imported->without);
    cli_say(cli,
            "next: hypertune best %s%s, or submit a spec with "
            "--warm-start %s",
            imported->name, cli_where(cli), imported->name);
    return cli_submit_print_name(imported->name);
}

int cli_imported_close(struct cli_imported *imported, int code)
{
    if (code == CLI_DONE)
        code = send_queued(imported);
    if (code == CLI_DONE)
        code = finish(imported);
    else
        drop(imported);
    text_free(&imported->trials);
    text_free(&imported->measurements);
    sigprocmask(SIG_SETMASK, &imported->before, NULL);
    return code;
}

/* ---- files ---- */

char *cli_import_read(struct cli *cli, const char *path, size_t most,
                      size_t *len)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    char *content = cli_read_all(cli->arena, fd, most, len);
    if (content == NULL)
        cli_fail(cli, CLI_ABSENT, "cannot read %s: %s", path, strerror(errno));
    else if (*len > most)
        cli_fail(cli, CLI_USAGE, "%s is over %zu MiB", path, most >> 20);
    return content != NULL && *len <= most ? content : NULL;
}

/* ---- an experiment of Katib ---- */

static const struct node *read_experiment(struct cli *cli, const char *path,
                                          struct diag *diag)
{
    size_t len;
    char *content = cli_import_read(cli, path, HT_MAX_YAML, &len);
    if (content == NULL)
        return NULL;
    diag_init(diag, cli->arena, path, content, len);
    const struct node *root = node_read(cli->arena, content, len, diag);
    if (root == NULL) {
        cli_spec_print_diag(diag);
        return NULL;
    }
    if (strcmp(node_get_string(root, "kind", ""), "Experiment") == 0 &&
        node_find(root, "spec") != NULL)
        return root;
    cli_fail(cli, CLI_USAGE,
             "%s is neither a folder of hypertune export, nor an Optuna "
             "database, nor a Katib Experiment",
             path);
    return NULL;
}

static int submit(struct cli *cli, struct job *job, const char *path)
{
    const struct cli_spec spec = {.job = job, .file = path, .named = true};
    struct cli_study study = {0};
    const int code = cli_submit_spec(cli, &spec, &study);
    return code == CLI_DONE ? cli_submit_print_name(study.name) : code;
}

static int print_spec(struct cli *cli, const struct job *job)
{
    struct text out = {0};
    struct diag diag;
    diag_init(&diag, cli->arena, "native", NULL, 0);
    native_omits(job, &diag);
    cli_spec_print_diag(&diag);
    node_write_yaml(cli_spec_tree(cli, native_write(job), &diag), &out);
    const int code = cli_print(&out);
    if (code == CLI_DONE)
        cli_say(cli,
                "next: save it, then hypertune submit FILE%s; or import "
                "again with --submit",
                cli_where(cli));
    return code;
}

/* A spec, printed or submitted; what has no counterpart gets a warning. */
static int import_katib(struct cli *cli, const char *path)
{
    struct diag diag;
    const struct node *root = read_experiment(cli, path, &diag);
    if (root == NULL)
        return CLI_USAGE;
    struct job *job = form_read(root, &diag);
    cli_spec_print_diag(&diag);
    if (job == NULL)
        return cli_fail(cli, CLI_USAGE, "%s makes no spec as it is", path);
    if (cli->set.name != NULL)
        job->name = job->display = cli->set.name;
    return cli->set.submit ? submit(cli, job, path) : print_spec(cli, job);
}

/* ---- the command ---- */

static bool is_sqlite(const char *path)
{
    static const char sqlite_mark[] = "SQLite format 3";
    char begin[sizeof sqlite_mark] = "";
    FILE *file = fopen(path, "re");
    const size_t n =
        file != NULL ? fread(begin, 1, sizeof sqlite_mark, file) : 0;
    if (file != NULL)
        fclose(file);
    return n == sizeof sqlite_mark &&
           memcmp(begin, sqlite_mark, sizeof sqlite_mark) == 0;
}

/* Trials alone do not have the search space. */
static bool is_table(const char *path)
{
    static const char *const ends[] = {".csv", ".jsonl", ".json"};
    const size_t len = strlen(path);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (len > strlen(ends[i]) &&
            strcmp(path + len - strlen(ends[i]), ends[i]) == 0)
            return true;
    return false;
}

int cli_import(struct cli *cli)
{
    const struct words *words = &cli->args.words;
    struct stat info;
    const char *path = words->items[0];
    if (stat(path, &info) != 0)
        return cli_fail(cli, CLI_ABSENT, "cannot read %s: %s", path,
                        strerror(errno));
    const bool optuna = !S_ISDIR(info.st_mode) && is_sqlite(path);
    if (words->n == 2 && !optuna)
        return cli_fail(cli, CLI_USAGE,
                        "only a database of Optuna has studies to choose "
                        "from, %s is none",
                        path);
    if (S_ISDIR(info.st_mode))
        return cli_import_folder(cli, path);
    if (!optuna && is_table(path))
        return cli_fail(cli, CLI_USAGE,
                        "%s has trials at most, not what was searched; import "
                        "the folder of: hypertune export STUDY -o dir",
                        path);
    return optuna ? cli_import_optuna(cli, path) : import_katib(cli, path);
}
