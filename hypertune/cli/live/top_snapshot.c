#include "hypertune/cli/live/top_snapshot.h"

#include <math.h>
#include <string.h>

#include "hypertune/cli/frame/output.h"
#include "hypertune/cli/live/top_page.h"
#include "proto/doc/json.h"

static void add_number(cJSON *object, const char *key, double value)
{
    if (!isnan(value))
        json_add_double(object, key, value);
}

static cJSON *server_object(const struct cli *cli,
                            const struct overview *overview)
{
    int64_t busy;
    cJSON *object = cJSON_CreateObject();
    json_add_string(object, "server", cli_http_url(cli->http));
    json_add_string(object, "version", overview->version);
    json_add_int(object, "uptimeMs", overview->uptime_ms);
    json_add_int(object, "databaseBytes", overview->database_bytes);
    json_add_int(object, "diskFreeBytes", overview->disk_free);
    json_add_int(object, "diskTotalBytes", overview->disk_total);
    json_add_int(object, "slots", overview_slots(overview, &busy));
    json_add_int(object, "busy", busy);
    if (overview->read_only[0] != '\0')
        json_add_string(object, "readOnlyReason", overview->read_only);
    return object;
}

static cJSON *study_object(const struct overview_study *study)
{
    cJSON *object = cJSON_CreateObject();
    json_add_string(object, "study", study->name);
    json_add_string(object, "id", study->id);
    json_add_string(object, "kind", study->kind);
    json_add_string(object, "state", study->state);
    json_add_string(object, "reason", study->reason);
    json_add_int(object, "ended", study->ended);
    if (study->limit > 0)
        json_add_int(object, "limit", study->limit);
    json_add_int(object, "running", study->running);
    json_add_int(object, "waiting", study->waiting);
    json_add_int(object, "failed", study->failed);
    if (study->metric[0] != '\0')
        json_add_string(object, "metric", study->metric);
    add_number(object, "best", study->best);
    if (study->best_trial != NULL)
        json_add_string(object, "bestTrial", study->best_trial);
    json_add_int(object, "createTimeMs", study->create_ms);
    if (study->left_ms >= 0)
        json_add_int(object, "leftMs", study->left_ms);
    return object;
}

static cJSON *runner_object(const struct overview *overview,
                            const struct overview_runner *runner)
{
    cJSON *object = cJSON_CreateObject();
    json_add_string(object, "runner", runner->id);
    json_add_string(object, "engine", runner->engine);
    json_add_string(object, "host", runner->host);
    json_add_string(object, "state", runner->state);
    json_add_int(object, "slots", runner->slots);
    json_add_int(object, "busy", runner->busy);
    cJSON *list = json_add_array(object, "trials");
    for (size_t i = 0; i < overview->n_trials; i++) {
        const struct overview_trial *trial = &overview->trials[i];
        if (strcmp(trial->runner, runner->id) != 0)
            continue;
        cJSON *item = json_push_object(list);
        json_add_string(item, "trial", trial->name);
        json_add_int(item, "startTimeMs", trial->start_ms);
        if (trial->metric[0] == '\0')
            continue;
        json_add_string(item, "step", trial->step);
        json_add_string(item, "metric", trial->metric);
        json_add_double(item, "value", trial->value);
    }
    return object;
}

/* One object, or with -o jsonl a line for the server and each of the others. */
static void print_objects(const struct cli *cli,
                          const struct overview *overview, struct text *out)
{
    cJSON *server = server_object(cli, overview);
    const bool lines = cli->format == FORMAT_JSONL;
    cJSON *studies = lines ? NULL : json_add_array(server, "studies");
    cJSON *runners = lines ? NULL : json_add_array(server, "runners");
    size_t n = 1;
    if (lines)
        cli_output_object(cli->format, server, 0, out);
    for (size_t i = 0; i < overview->n_studies; i++) {
        cJSON *study = study_object(&overview->studies[i]);
        if (lines)
            cli_output_object(cli->format, study, n++, out);
        else
            cJSON_AddItemToArray(studies, study);
    }
    for (size_t i = 0; i < overview->n_runners; i++) {
        cJSON *runner = runner_object(overview, &overview->runners[i]);
        if (lines)
            cli_output_object(cli->format, runner, n++, out);
        else
            cJSON_AddItemToArray(runners, runner);
    }
    if (lines)
        return;
    json_print_pretty(server, out);
    text_puts(out, "\n");
}

static void number_cell(struct table *table, bool known, int64_t n)
{
    if (known)
        table_cell_printf(table, "%lld", (long long)n);
    else
        table_cell(table, "");
}

/* Numbers as they are, for a spreadsheet; without those of the server. */
static void print_csv(const struct cli *cli, const struct overview *overview,
                      struct text *out)
{
    static const char *const titles[] = {
        "study",   "id",     "kind",   "state", "ended",   "limit", "running",
        "waiting", "failed", "metric", "best",  "left_ms", "reason"};
    char best[TEXT_DOUBLE_BYTES];
    struct table *table = table_new(cli->arena);
    for (size_t i = 0; i < sizeof titles / sizeof *titles; i++)
        table_column(table, titles[i], ALIGN_LEFT);
    for (size_t i = 0; i < overview->n_studies; i++) {
        const struct overview_study *study = &overview->studies[i];
        table_row(table);
        table_cell(table, study->name);
        table_cell(table, study->id);
        table_cell(table, study->kind);
        table_cell(table, study->state);
        number_cell(table, true, study->ended);
        number_cell(table, study->limit > 0, study->limit);
        number_cell(table, true, study->running);
        number_cell(table, true, study->waiting);
        number_cell(table, true, study->failed);
        table_cell(table, study->metric);
        table_cell(table,
                   isnan(study->best) ? "" : text_of_double(best, study->best));
        number_cell(table, study->left_ms >= 0, study->left_ms);
        table_cell(table, study->reason);
    }
    table_csv(table, out);
}

static void print_tables(const struct cli *cli, const struct overview *overview,
                         struct text *out)
{
    const bool wide = cli->format == FORMAT_WIDE;
    const size_t width = wide ? 0 : cli->width;
    struct table *studies =
        top_page_studies(cli->arena, overview, 0, SIZE_MAX, wide);
    table_print(studies, width, out);
    text_puts(out, "\n");
    table_print(top_page_runners(cli->arena, overview, SIZE_MAX), width, out);
}

void top_snapshot_print(const struct cli *cli, const struct overview *overview,
                        struct text *out)
{
    if (cli->format == FORMAT_JSON || cli->format == FORMAT_JSONL)
        print_objects(cli, overview, out);
    else if (cli->format == FORMAT_CSV)
        print_csv(cli, overview, out);
    else
        print_tables(cli, overview, out);
}
