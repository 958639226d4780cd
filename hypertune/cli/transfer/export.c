/* export.c - `export`: a study's trials, measurements and spec as CSV, JSON, a
 * page or a folder. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hypertune/cli/frame/commands.h"
#include "hypertune/cli/frame/csv.h"
#include "hypertune/cli/frame/output.h"
#include "hypertune/cli/report/report.h"
#include "hypertune/cli/study/trial.h"
#include "hypertune/cli/transfer/import.h"
#include "proto/base/clock.h"
#include "proto/doc/json.h"

enum { FLUSH_BYTES = 256 * 1024, EVENTS_PAGE = 1000, MEASURED_PAGE = 20000 };

/* Every measurement of a study, read along with its trials. The server lists
 * them by trial, so that pages of both lists are read side by side and one page
 * is kept at a time. */
struct measured {
    struct cli *cli;
    const char *study;
    struct arena *arena;     /* holds the page; NULL: none yet */
    const struct node *next; /* the first not taken; NULL: page is over */
    const char *token;       /* of the page behind, in cli->lasting; or NULL */
    bool started;
};

struct exported {
    struct cli *cli;
    struct cli_study study;
    int (*write)(struct exported *); /* all of it to `file` */
    FILE *file;                      /* NULL: stdout */
    struct cli_parameters parameters;
    struct words metrics; /* columns, declared ones first */
    bool late_metric;     /* a metric came up while rows were written */
    struct measured measured;
    size_t written;
    struct text out;
    int code;
};

static void copy_member(cJSON *object, const char *name,
                        const struct node *value)
{
    if (value != NULL)
        cJSON_AddItemToObject(object, name, json_of_node(value));
}

/* ---- measurements ---- */

static void end_measured(struct measured *measured)
{
    arena_free(measured->arena);
    measured->arena = NULL;
    measured->next = NULL;
}

static bool has_more(const struct measured *measured)
{
    return !measured->started || measured->token[0] != '\0';
}

static enum ht_status read_page(struct measured *measured, struct ht_error *err)
{
    struct cli *cli = measured->cli;
    struct arena *arena = arena_new();
    const char *path = arena_printf(
        arena, CLI_OURS "/%s/measurements?pageSize=%d%s%s",
        cli_http_segment(arena, measured->study), MEASURED_PAGE,
        measured->started ? "&pageToken=" : "",
        measured->started ? cli_http_segment(arena, measured->token) : "");
    const struct cli_http_request request = {.method = "GET", .path = path};
    struct cli_http_answer answer;
    const enum ht_status status =
        cli_http_call(cli->http, arena, &request, &answer, err);
    if (status != HT_OK) {
        arena_free(arena);
        return status;
    }
    end_measured(measured);
    measured->arena = arena;
    measured->next = node_first(answer.root, "measurements");
    measured->token = arena_strdup(
        cli->lasting, node_get_string(answer.root, "nextPageToken", ""));
    measured->started = true;
    return HT_OK;
}

static void add_measured(cJSON *list, const struct node *one)
{
    static const char *const numbers[] = {"step", "timeMs", "attempt"};
    static const char *const members[] = {"replica", "metrics", "checkpoint"};
    cJSON *object = json_push_object(list);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        json_add_int(object, numbers[i], node_get_int(one, numbers[i], 0));
    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        copy_member(object, members[i], node_find(one, members[i]));
}

/* Adds {"step","timeMs","attempt","replica","metrics"} to `list` for each
 * measurement of that trial; to be asked for trials by ascending id. */
static enum ht_status take_measured(struct measured *measured, int64_t trial,
                                    cJSON *list, struct ht_error *err)
{
    for (;;) {
        while (measured->next == NULL) {
            if (!has_more(measured))
                return HT_OK;
            const enum ht_status status = read_page(measured, err);
            if (status != HT_OK)
                return status;
        }
        const int64_t of = node_get_int(measured->next, "trial", 0);
        if (of > trial)
            return HT_OK;
        if (of == trial)
            add_measured(list, measured->next);
        measured->next = measured->next->next;
    }
}

/* ---- metrics of a trial ---- */

static const struct node *final_metrics(const struct node *trial)
{
    return node_first(node_find(trial, "finalMeasurement"), "metrics");
}

static bool note_metrics(const struct node *trial, void *context)
{
    struct exported *exported = context;
    struct arena *lasting = exported->cli->lasting;
    NODE_EACH (one, final_metrics(trial)) {
        const char *name = node_get_string(one, "metricId", "");
        if (!words_include(&exported->metrics, name))
            words_add(lasting, &exported->metrics, arena_strdup(lasting, name));
    }
    return true;
}

static int by_name(const void *a, const void *b)
{
    const char *const *left = a, *const *right = b;
    return strcmp(*left, *right);
}

/* A table needs its columns before its first row: the goals in their order,
 * what else was reported by name. */
static enum ht_status find_columns(struct exported *exported,
                                   const struct cli_pages *pages,
                                   struct ht_error *err)
{
    const struct node *goals =
        node_find(node_find(exported->study.job, "studySpec"), "metrics");
    NODE_EACH (goal, node_items(goals))
        words_add(exported->cli->lasting, &exported->metrics,
                  node_get_string(goal, "metricId", ""));
    size_t declared = exported->metrics.n;
    enum ht_status status =
        cli_pages_each(exported->cli, pages, note_metrics, exported, err);
    if (exported->metrics.n > declared)
        qsort(exported->metrics.items + declared,
              exported->metrics.n - declared, sizeof *exported->metrics.items,
              by_name);
    return status;
}

/* ---- records ---- */

static void add_title(struct exported *exported, const char *kind,
                      const char *name)
{
    text_puts(&exported->out, ",");
    csv_field(arena_printf(exported->cli->arena, "%s.%s", kind, name),
              &exported->out);
}

static void add_titles(struct exported *exported)
{
    text_puts(&exported->out, "id,state,value");
    for (size_t i = 0; i < exported->parameters.n; i++)
        add_title(exported, "params", exported->parameters.items[i].name);
    for (size_t i = 0; i < exported->metrics.n; i++)
        add_title(exported, "metrics", exported->metrics.items[i]);
    text_puts(&exported->out,
              ",step,attempt,runner,created,started,ended,reason\n");
}

static void add_cell(struct text *out, const struct node *value)
{
    text_puts(out, ",");
    csv_field(cli_scalar(value), out);
}

static const struct {
    const char *name, *member;
} times[] = {{"created", "createTimeMs"},
             {"started", "startTimeMs"},
             {"ended", "endTimeMs"}};
enum { TIMES = sizeof times / sizeof *times };

static void add_row(struct exported *exported, const struct node *trial)
{
    struct text *out = &exported->out;
    const struct node *ours = node_find(trial, "hypertune");
    const struct node *params = node_find(ours, "params");
    csv_field(cli_trial_id(trial), out);
    text_printf(out, ",%s", cli_trial_state(trial));
    add_cell(out, node_find(ours, "objective"));
    for (size_t i = 0; i < exported->parameters.n; i++)
        add_cell(out, node_find(params, exported->parameters.items[i].name));
    for (size_t i = 0; i < exported->metrics.n; i++)
        add_cell(out, cli_trial_metric(trial, exported->metrics.items[i]));
    add_cell(out, node_find(ours, "step"));
    add_cell(out, node_find(ours, "attempt"));
    add_cell(out, node_find(ours, "runner"));
    for (size_t i = 0; i < TIMES; i++) {
        char stamp[CLOCK_STAMP_BYTES] = "";
        int64_t at = node_get_int(ours, times[i].member, 0);
        text_printf(out, ",%s", at > 0 ? clock_stamp(stamp, at) : "");
    }
    add_cell(out, node_find(ours, "reason"));
    text_puts(out, "\n");
    NODE_EACH (one, final_metrics(trial))
        exported->late_metric =
            exported->late_metric ||
            !words_include(&exported->metrics,
                           node_get_string(one, "metricId", ""));
}

static void add_object(struct exported *exported, const struct node *trial)
{
    static const char *const members[] = {"attempt", "runner", "replicate",
                                          "reason"};
    const struct node *ours = node_find(trial, "hypertune");
    cJSON *object = cJSON_CreateObject();
    json_add_int(object, "id", node_get_int(trial, "id", 0));
    json_add_string(object, "state", cli_trial_state(trial));
    copy_member(object, "value", node_find(ours, "objective"));
    copy_member(object, "params", node_find(ours, "params"));
    cJSON *metrics = json_add_object(object, "metrics");
    NODE_EACH (one, final_metrics(trial))
        copy_member(metrics, node_get_string(one, "metricId", ""),
                    node_find(one, "value"));
    if (node_find(ours, "confirms") != NULL)
        json_add_int(object, "confirms", node_get_int(ours, "confirms", 0));
    copy_member(object, "client", node_find(trial, "clientId"));
    if (exported->study.home->kind == JOB_STUDY) /* a job's is its end */
        copy_member(
            object, "elapsed",
            node_find(node_find(trial, "finalMeasurement"), "elapsedDuration"));
    if (node_find(ours, "step") != NULL)
        json_add_int(object, "step", node_get_int(ours, "step", 0));
    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        copy_member(object, members[i], node_find(ours, members[i]));
    for (size_t i = 0; i < TIMES; i++) {
        char stamp[CLOCK_STAMP_BYTES];
        int64_t at = node_get_int(ours, times[i].member, 0);
        if (at > 0)
            json_add_string(object, times[i].name, clock_stamp(stamp, at));
    }
    struct ht_error err;
    if (take_measured(&exported->measured, node_get_int(trial, "id", 0),
                      json_add_array(object, "measurements"), &err) != HT_OK)
        exported->code = cli_fail_error(exported->cli, &err);
    cli_output_object(exported->cli->format, object, exported->written,
                      &exported->out);
}

/* ---- where it goes ---- */

static void flush(struct exported *exported)
{
    if (exported->file == NULL) {
        exported->code = cli_print(&exported->out);
        return;
    }
    const char *data = exported->out.data != NULL ? exported->out.data : "";
    if (fwrite(data, 1, exported->out.len, exported->file) != exported->out.len)
        exported->code =
            cli_fail(exported->cli, CLI_REFUSED, "cannot write %s: %s",
                     exported->cli->set.out, strerror(errno));
    text_clear(&exported->out);
}

static bool add_trial(const struct node *trial, void *context)
{
    struct exported *exported = context;
    if (exported->cli->format == FORMAT_CSV)
        add_row(exported, trial);
    else
        add_object(exported, trial);
    exported->written++;
    if (exported->out.len > FLUSH_BYTES)
        flush(exported);
    return exported->code == CLI_DONE;
}

static int write_all(struct exported *exported)
{
    struct ht_error err;
    struct cli *cli = exported->cli;
    struct cli_pages pages = cli_trial_pages(cli, exported->study.name, NULL);
    enum ht_status status = HT_OK;
    if (cli->format == FORMAT_CSV) {
        status = find_columns(exported, &pages, &err);
        if (status == HT_OK)
            add_titles(exported);
    }
    if (status == HT_OK)
        status = cli_pages_each(cli, &pages, add_trial, exported, &err);
    end_measured(&exported->measured);
    if (status != HT_OK) {
        text_free(&exported->out);
        return cli_fail_error(cli, &err);
    }
    cli_output_end(cli->format, exported->written, &exported->out);
    if (exported->code == CLI_DONE)
        flush(exported);
    text_free(&exported->out);
    if (exported->late_metric)
        cli_say(cli, "a trial that ended just now has another metric; export "
                     "again for its column");
    return exported->code;
}

static int write_page(struct exported *exported)
{
    struct ht_error err;
    if (report_write(exported->cli, &exported->study, &exported->out,
                     &exported->written, &err) != HT_OK)
        return cli_fail_error(exported->cli, &err);
    flush(exported);
    text_free(&exported->out);
    return exported->code;
}

/* A file appears under its name only when it is whole. */
static int write_file(struct exported *exported, const char *path)
{
    struct cli *cli = exported->cli;
    char *aside = arena_printf(cli->lasting, "%s.XXXXXX", path);
    int fd = mkstemp(aside);
    if (fd < 0)
        return cli_fail(cli, CLI_REFUSED, "cannot write %s: %s", path,
                        strerror(errno));
    mode_t mask = umask(0);
    umask(mask);
    fchmod(fd, 0666 & ~mask);
    exported->file = fdopen(fd, "w");
    int code = exported->write(exported);
    bool whole = fclose(exported->file) == 0;
    if (code == CLI_DONE && whole && rename(aside, path) == 0) {
        cli_say(cli, "wrote %zu trials to %s", exported->written, path);
        return CLI_DONE;
    }
    int cause = errno;
    unlink(aside);
    return code != CLI_DONE ? code
                            : cli_fail(cli, CLI_REFUSED, "cannot write %s: %s",
                                       path, strerror(cause));
}

/* ---- a folder, which import and submit take again ---- */

/* Writes the text, which is released. */
static int write_text(struct cli *cli, const char *folder, const char *name,
                      struct text *content)
{
    const char *path = arena_printf(cli->arena, "%s/%s", folder, name);
    FILE *file = fopen(path, "wxe");
    bool whole = file != NULL &&
                 fwrite(content->data, 1, content->len, file) == content->len;
    whole = file != NULL && fclose(file) == 0 && whole;
    const int cause = errno;
    text_free(content);
    return whole ? CLI_DONE
                 : cli_fail(cli, CLI_REFUSED, "cannot write %s: %s", path,
                            strerror(cause));
}

static int write_spec(struct cli *cli, const struct cli_study *study,
                      const char *folder)
{
    const struct node *root;
    struct ht_error err;
    if (study->home->kind == JOB_STUDY)
        return CLI_DONE; /* its clients run the trials: nothing to submit */
    if (cli_get(cli, cli_study_path(cli, study->id, "/spec?form=native"), &root,
                &err) != HT_OK)
        return cli_fail_error(cli, &err);
    struct text content = {0};
    text_puts(&content, node_get_string(root, "yaml", ""));
    return write_text(cli, folder, EXPORT_SPEC, &content);
}

static int write_study(struct cli *cli, const struct cli_study *study,
                       const char *folder)
{
    struct text content = {0};
    json_print_pretty(json_of_node(study->job), &content);
    text_puts(&content, "\n");
    return write_text(cli, folder, EXPORT_STUDY, &content);
}

static int write_events(struct cli *cli, const struct cli_study *study,
                        const char *folder)
{
    struct text content = {0};
    int64_t since = 0;
    size_t n = EVENTS_PAGE;
    text_puts(&content, "");
    while (n == EVENTS_PAGE) {
        const struct node *root;
        struct ht_error err;
        if (cli_get(cli,
                    cli_study_path(cli, study->id,
                                   "/events?since=%lld&limit=%d",
                                   (long long)since, EVENTS_PAGE),
                    &root, &err) != HT_OK) {
            text_free(&content);
            return cli_fail_error(cli, &err);
        }
        n = 0;
        for (const struct node *one = node_first(root, "events"); one != NULL;
             one = one->next, n++) {
            since = node_get_int(one, "revision", since);
            json_print(json_of_node(one), &content);
            text_puts(&content, "\n");
        }
    }
    return write_text(cli, folder, EXPORT_EVENTS, &content);
}

/* Appends the server's texts behind `since`; *more: there are more. */
static enum ht_status add_metadata(struct cli *cli,
                                   const struct cli_study *study,
                                   int64_t *since, bool *more,
                                   struct text *content, struct ht_error *err)
{
    const struct node *root;
    const enum ht_status status =
        cli_get(cli,
                cli_study_path(cli, study->id, "/metadata?since=%lld",
                               (long long)*since),
                &root, err);
    if (status != HT_OK)
        return status;
    NODE_EACH (one, node_first(root, "metadata")) {
        text_puts(content, content->len > 0 ? ",\n" : "[");
        json_print(json_of_node(one), content);
    }
    *since = node_get_int(root, "version", *since);
    *more = node_get_bool(root, "more", false);
    return HT_OK;
}

static int write_metadata(struct cli *cli, const struct cli_study *study,
                          const char *folder)
{
    struct text content = {0};
    struct ht_error err;
    int64_t since = 0;
    bool more = true;
    while (more) {
        if (add_metadata(cli, study, &since, &more, &content, &err) != HT_OK) {
            text_free(&content);
            return cli_fail_error(cli, &err);
        }
    }
    if (content.len == 0)
        return CLI_DONE;
    text_puts(&content, "]\n");
    return write_text(cli, folder, EXPORT_METADATA, &content);
}

static int write_folder(struct exported *exported)
{
    static int (*const writers[])(struct cli *, const struct cli_study *,
                                  const char *folder) = {
        write_spec, write_study, write_metadata, write_events};
    struct cli *cli = exported->cli;
    const struct cli_study *study = &exported->study;
    const char *path = cli->set.out != NULL ? cli->set.out : study->name;
    if (mkdir(path, 0777) != 0)
        return cli_fail(cli, errno == EEXIST ? CLI_CONFLICT : CLI_REFUSED,
                        "cannot make the folder %s: %s", path, strerror(errno));
    for (size_t i = 0; i < sizeof writers / sizeof *writers; i++) {
        const int code = writers[i](cli, study, path);
        if (code != CLI_DONE)
            return code;
    }
    cli->format = FORMAT_JSONL;
    return write_file(exported,
                      arena_printf(cli->arena, "%s/" EXPORT_TRIALS, path));
}

/* Another format than that for a table of trials. */
static bool is_own(const struct cli *cli, const char *format)
{
    const char *own = cli_own_format(cli);
    return own != NULL && strcmp(own, format) == 0;
}

int cli_export(struct cli *cli)
{
    const bool as_page = is_own(cli, "html");
    struct exported exported = {.cli = cli,
                                .write = as_page ? write_page : write_all};
    if (cli->set.output == NULL)
        cli->format = FORMAT_CSV;
    if (cli_own_format(cli) == NULL && cli->format != FORMAT_CSV &&
        cli->format != FORMAT_JSON && cli->format != FORMAT_JSONL)
        return cli_fail(cli, CLI_USAGE,
                        "export writes csv, jsonl, json, html or dir, not %s",
                        cli->set.output);
    int code =
        cli_study_open_trials(cli, cli->args.words.items[0], &exported.study);
    if (code != CLI_DONE)
        return code;
    cli_parameters_read(exported.study.job, &exported.parameters);
    exported.measured =
        (struct measured){.cli = cli, .study = exported.study.id};
    if (is_own(cli, "dir"))
        return write_folder(&exported);
    const char *path = cli->set.out;
    bool to_stdout = path == NULL || strcmp(path, "-") == 0;
    return to_stdout ? exported.write(&exported) : write_file(&exported, path);
}
