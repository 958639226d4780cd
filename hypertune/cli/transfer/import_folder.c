/* import_folder.c - reads a folder that `hypertune export -o dir` made. */

#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include "hypertune/cli/study/filter.h"
#include "hypertune/cli/study/study.h"
#include "hypertune/cli/transfer/import.h"
#include "proto/base/clock.h"
#include "proto/base/limits.h"
#include "proto/doc/json.h"
#include "proto/form/form.h"
#include "proto/job/job.h"

enum { STUDY_BYTES = 1 << 20, TRIALS_BYTES = 1 << 30 };

struct folder {
    struct cli *cli;
    struct cli_imported imported;
    const struct job *job; /* as it was */
    const char *trials;    /* the file of them */
    int64_t last;          /* id of the trial before */
    size_t open;           /* trials that had not ended */
};

/* ---- the study ---- */

static const struct node *read_study_file(struct cli *cli, const char *path)
{
    size_t len;
    char *content = cli_import_read(cli, path, STUDY_BYTES, &len);
    struct diag diag;
    if (content == NULL)
        return NULL;
    diag_init(&diag, cli->arena, path, content, len);
    const struct node *root = node_read_json(cli->arena, content, len, &diag);
    if (root == NULL)
        cli_fail(cli, CLI_USAGE, "%s is no JSON: %s", path, diag.first->text);
    return root;
}

static const struct job *job_of(struct cli *cli, const struct cli_study *from)
{
    struct diag diag;
    diag_init(&diag, cli->arena, EXPORT_STUDY, NULL, 0);
    struct job *job = vertex_read(from->job, from->home->kind, &diag);
    if (job != NULL) /* its tree is another server's */
        job->code = (struct job_code){.way = job->code.way};
    else
        cli_fail(cli, CLI_USAGE, EXPORT_STUDY ": %s: %s",
                 diag.first->path != NULL ? diag.first->path : "",
                 diag.first->text);
    return job;
}

/* The search space and the meaning of results; nothing that would end the
 * study while its trials are sent. */
static cJSON *search_of(struct cli *cli, const struct cli_study *from,
                        const struct job *theirs)
{
    const char *name = cli->set.name;
    const struct job job = {.kind = JOB_STUDY,
                            .name = name != NULL ? name : from->name,
                            .display = name != NULL ? name : theirs->display,
                            .labels = theirs->labels,
                            .space = theirs->space,
                            .n_metrics = theirs->n_metrics,
                            .metrics = theirs->metrics,
                            .algorithm = theirs->algorithm,
                            .has_seed = theirs->has_seed,
                            .seed = theirs->seed,
                            .selection = theirs->selection,
                            .noise = theirs->noise,
                            .constraints = theirs->constraints,
                            .parallel = JOB_PARALLEL,
                            .retries = JOB_RETRIES,
                            .grace_ms = JOB_GRACE_MS};
    return vertex_write(&job);
}

/* ---- lines ---- */

/* Handles one line, which has its own arena. */
typedef int line_function(struct folder *folder, const struct node *line,
                          size_t number);

/* Reports the fault of a line with its place. */
__attribute__((format(printf, 4, 5))) static int
fault(const struct folder *folder, size_t number, int column,
      const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *text = arena_vprintf(folder->cli->arena, format, args);
    va_end(args);
    return cli_fail(folder->cli, CLI_USAGE, "%s:%zu:%d: %s", folder->trials,
                    number, column, text);
}

static int each_line(struct folder *folder, const char *content, size_t len,
                     line_function *use)
{
    const char *end = content + len;
    int code = CLI_DONE;
    for (size_t number = 1; content < end && code == CLI_DONE; number++) {
        const char *stop = memchr(content, '\n', (size_t)(end - content));
        const size_t size = (size_t)((stop != NULL ? stop : end) - content);
        struct arena *arena = arena_new();
        struct diag diag;
        diag_init(&diag, arena, folder->trials, content, size);
        const struct node *line =
            size > 0 ? node_read_long_json(arena, content, size, &diag) : NULL;
        if (line != NULL)
            code = use(folder, line, number);
        else if (size > 0)
            code = fault(folder, number, diag.first->column, "%s",
                         diag.first->text);
        arena_free(arena);
        content += size + 1;
    }
    return code;
}

/* ---- checking all before anything is sent ---- */

static const char ended[] = "SUCCEEDED STOPPED FAILED INFEASIBLE CANCELLED";

/* Numbers, NaN or infinities; *wrong: the first other value. */
static bool are_numbers(const struct node *metrics, const struct node **wrong)
{
    double value;
    *wrong = metrics;
    if (metrics == NULL || metrics->kind != NODE_MAP)
        return metrics == NULL;
    for (*wrong = metrics->first; *wrong != NULL; *wrong = (*wrong)->next)
        if (!node_double(*wrong, &value) &&
            !node_special_double(*wrong, &value))
            return false;
    return true;
}

static int check_values(struct folder *folder, const struct node *line,
                        size_t number)
{
    const struct node *wrong, *metrics = node_find(line, "metrics");
    if (!are_numbers(metrics, &wrong))
        return fault(folder, number, wrong->column,
                     "metrics must be a map of names to numbers");
    const struct node *curve = node_find(line, "measurements");
    if (curve != NULL && curve->kind != NODE_LIST)
        return fault(folder, number, curve->column,
                     "measurements must be a list");
    NODE_EACH (one, node_items(curve)) {
        const struct node *measured = node_find(one, "metrics");
        if (measured == NULL || measured->first == NULL ||
            !are_numbers(measured, &wrong))
            return fault(folder, number,
                         measured != NULL ? measured->column : one->column,
                         "a measurement must have metrics that are numbers");
    }
    return CLI_DONE;
}

static int check_result(struct folder *folder, const struct node *line,
                        size_t number)
{
    const struct job *job = folder->job;
    const struct node *state = node_find(line, "state");
    const bool has_result = words_has("SUCCEEDED STOPPED", state->text);
    double value;
    for (size_t i = 0; i < job->n_metrics && has_result; i++)
        if (!node_double(
                node_find(node_find(line, "metrics"), job->metrics[i].name),
                &value))
            return fault(folder, number, state->column,
                         "%s, but there is no number for the metric %s",
                         state->text, job->metrics[i].name);
    return CLI_DONE;
}

static int check_moments(struct folder *folder, const struct node *line,
                         size_t number)
{
    static const char *const names[] = {"created", "started", "ended"};
    int64_t at;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const struct node *moment = node_find(line, names[i]);
        if (moment != NULL && (node_string(moment) == NULL ||
                               !clock_read_stamp(moment->text, &at)))
            return fault(folder, number, moment->column,
                         "%s must be a moment such as 2026-01-31T12:00:00Z",
                         names[i]);
    }
    return CLI_DONE;
}

static int check_point(struct folder *folder, const struct node *line,
                       size_t number)
{
    struct value point[HT_MAX_PARAMETERS];
    struct ht_error err;
    const struct node *params = node_find(line, "params");
    if (space_point_restore(&folder->job->space, params, point, &err) == HT_OK)
        return CLI_DONE;
    return fault(folder, number, params != NULL ? params->column : 1,
                 "params: %s", err.text);
}

static int check_line(struct folder *folder, const struct node *line,
                      size_t number)
{
    const struct node *id = node_find(line, "id");
    const struct node *state = node_find(line, "state");
    const int64_t before = folder->last;
    if (id == NULL || !node_int64(id, &folder->last) || folder->last <= before)
        return fault(folder, number, id != NULL ? id->column : 1,
                     "id must be a number above that of the line before");
    if (node_string(state) == NULL ||
        !cli_filter_has(cli_trial_states, state->text))
        return fault(folder, number, state != NULL ? state->column : 1,
                     "state is none of a trial");
    if (!words_has(ended, state->text)) {
        folder->open++;
        return CLI_DONE;
    }
    int code = check_point(folder, line, number);
    if (code == CLI_DONE)
        code = check_values(folder, line, number);
    if (code == CLI_DONE)
        code = check_result(folder, line, number);
    return code == CLI_DONE ? check_moments(folder, line, number) : code;
}

/* ---- sending ---- */

static int send_line(struct folder *folder, const struct node *line,
                     size_t number)
{
    (void)number;
    return words_has(ended, node_get_string(line, "state", ""))
               ? cli_imported_add(&folder->imported, json_of_node(line))
               : CLI_DONE;
}

/* Texts that were kept with the study and its trials; a study without any has
 * no such file. */
static int send_metadata(struct folder *folder, const char *path)
{
    struct cli *cli = folder->cli;
    size_t len;
    if (access(path, F_OK) != 0)
        return CLI_DONE;
    char *content = cli_import_read(cli, path, TRIALS_BYTES, &len);
    if (content == NULL)
        return CLI_ABSENT;
    struct diag diag;
    diag_init(&diag, cli->arena, path, content, len);
    const struct node *list =
        node_read_long_json(cli->arena, content, len, &diag);
    if (list == NULL || list->kind != NODE_LIST)
        return cli_fail(cli, CLI_USAGE, "%s:%d:%d: %s", path,
                        list == NULL ? diag.first->line : 1,
                        list == NULL ? diag.first->column : 1,
                        list == NULL ? diag.first->text : "must be a list");
    return cli_imported_note(&folder->imported, json_of_node(list));
}

static int send_all(struct folder *folder, const char *content, size_t len,
                    const char *path)
{
    struct cli *cli = folder->cli;
    int code = each_line(folder, content, len, send_line);
    if (code == CLI_DONE)
        code = send_metadata(
            folder, arena_printf(cli->arena, "%s/" EXPORT_METADATA, path));
    if (code == CLI_DONE && folder->open > 0)
        cli_say(cli, "left out: %zu trials that had not ended", folder->open);
    return code;
}

int cli_import_folder(struct cli *cli, const char *path)
{
    struct folder folder = {
        .cli = cli,
        .trials = arena_printf(cli->arena, "%s/" EXPORT_TRIALS, path)};
    struct cli_study from;
    size_t len;
    const struct node *root = read_study_file(
        cli, arena_printf(cli->arena, "%s/" EXPORT_STUDY, path));
    if (root == NULL)
        return CLI_USAGE;
    char *content = cli_import_read(cli, folder.trials, TRIALS_BYTES, &len);
    if (content == NULL)
        return CLI_ABSENT;
    cli_study_read(root, &from);
    folder.job = job_of(cli, &from);
    if (folder.job == NULL)
        return CLI_USAGE;
    int code = each_line(&folder, content, len, check_line);
    if (code == CLI_DONE)
        code = cli_imported_open(cli, search_of(cli, &from, folder.job),
                                 &folder.imported);
    if (code != CLI_DONE)
        return code;
    code = send_all(&folder, content, len, path);
    return cli_imported_close(&folder.imported, code);
}
