/* A database of Optuna. Its tables changed twice: until 2.3 a trial has one
 * value and its study one direction; from 3.0 on infinite values are told by a
 * column of their own. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "hypertune/cli_import.h"
#include "hypertune/cli_imported.h"
#include "hypertune/cli_optuna_db.h"
#include "hypertune/cli_optuna_space.h"
#include "proto/json.h"

#define ENDED "state IN ('COMPLETE', 'PRUNED', 'FAIL')"

struct source {
    struct cli *cli;
    struct optuna_db *db;
    int64_t study;
    const char *name;
    const char *values_sql, *curve_sql; /* of a trial */
    size_t n_metrics;
    const char **metrics;
    struct optuna_rows directions;
    struct optuna_space space;
};

static enum ht_status ask(struct source *source, const char *sql, int64_t key,
                          struct optuna_rows *rows, struct ht_error *err)
{
    return optuna_db_rows(source->db, source->cli->arena, sql, key, rows, err);
}

/* ---- which study ---- */

static int list_studies(struct cli *cli, const struct optuna_rows *rows)
{
    struct text names = {0};
    for (size_t i = 0; i < rows->n; i++) {
        text_puts(&names, "\n  ");
        text_puts(&names, rows->items[i].cells[1]);
    }
    const int code =
        cli_fail(cli, CLI_USAGE, "say which study; there %s %zu:%s",
                 rows->n == 1 ? "is" : "are", rows->n,
                 names.data != NULL ? names.data : "");
    text_free(&names);
    return code;
}

static int choose_study(struct source *source)
{
    struct cli *cli = source->cli;
    struct optuna_rows rows;
    struct ht_error err;
    if (ask(source, "SELECT study_id, study_name FROM studies ORDER BY 1", 0,
            &rows, &err) != HT_OK)
        return cli_fail_error(cli, &err);
    const char *wanted =
        cli->args.words.n == 2 ? cli->args.words.items[1] : NULL;
    for (size_t i = 0; i < rows.n; i++) {
        const char *name = rows.items[i].cells[1];
        if (wanted != NULL ? strcmp(name, wanted) != 0 : rows.n > 1)
            continue;
        source->study = strtoll(rows.items[i].cells[0], NULL, 10);
        source->name = name;
        return CLI_DONE;
    }
    return list_studies(cli, &rows);
}

/* ---- the study ---- */

static const char *where_finite(struct source *source, const char *table,
                                const char *column)
{
    return optuna_db_has(source->db, table, column)
               ? arena_printf(source->cli->arena, " AND %s='FINITE'", column)
               : "";
}

static const char *choose_sql(struct source *source)
{
    struct arena *arena = source->cli->arena;
    if (!optuna_db_has(source->db, "trial_values", "objective")) {
        source->values_sql = "SELECT value, 0 FROM trials "
                             "WHERE trial_id=?1 AND value IS NOT NULL";
        source->curve_sql = "SELECT step, value FROM trial_values "
                            "WHERE trial_id=?1 ORDER BY step";
        return "SELECT direction FROM studies WHERE study_id=?1";
    }
    source->values_sql = arena_printf(
        arena,
        "SELECT value, objective FROM trial_values "
        "WHERE trial_id=?1 AND value IS NOT NULL%s ORDER BY objective",
        where_finite(source, "trial_values", "value_type"));
    source->curve_sql =
        arena_printf(arena,
                     "SELECT step, intermediate_value"
                     " FROM trial_intermediate_values WHERE trial_id=?1"
                     " AND intermediate_value IS NOT NULL%s ORDER BY step",
                     where_finite(source, "trial_intermediate_values",
                                  "intermediate_value_type"));
    return "SELECT direction FROM study_directions WHERE study_id=?1 "
           "ORDER BY objective";
}

static enum ht_status read_goals(struct source *source, struct ht_error *err)
{
    struct cli *cli = source->cli;
    const char *name = cli->set.metric != NULL ? cli->set.metric : "value";
    const enum ht_status status = ask(source, choose_sql(source), source->study,
                                      &source->directions, err);
    if (status != HT_OK)
        return status;
    source->n_metrics = source->directions.n;
    source->metrics =
        arena_alloc(cli->arena, source->n_metrics + 1, sizeof *source->metrics);
    for (size_t i = 0; i < source->n_metrics; i++)
        source->metrics[i] = source->n_metrics == 1
                                 ? name
                                 : arena_printf(cli->arena, "%s_%zu", name, i);
    return HT_OK;
}

static enum ht_status read_space(struct source *source, struct ht_error *err)
{
    struct optuna_rows rows;
    enum ht_status status =
        ask(source,
            "SELECT param_name, distribution_json FROM trial_params "
            "JOIN trials USING(trial_id) WHERE study_id=?1 AND " ENDED
            " GROUP BY 1, 2 ORDER BY min(param_id)",
            source->study, &rows, err);
    for (size_t i = 0; status == HT_OK && i < rows.n; i++)
        status = optuna_space_add(&source->space, source->cli->arena,
                                  rows.items[i].cells[0],
                                  rows.items[i].cells[1], err);
    return status;
}

/* Some trial defined other parameters than the rest. */
static enum ht_status is_open(struct source *source, bool *open,
                              struct ht_error *err)
{
    struct optuna_rows rows;
    const enum ht_status status =
        ask(source,
            "SELECT min((SELECT count(*) FROM trial_params p "
            "WHERE p.trial_id=t.trial_id)) FROM trials t "
            "WHERE study_id=?1 AND " ENDED,
            source->study, &rows, err);
    if (status != HT_OK)
        return status;
    const char *least = rows.n > 0 ? rows.items[0].cells[0] : NULL;
    *open = source->space.n == 0 ||
            (least != NULL && strtoull(least, NULL, 10) < source->space.n);
    return HT_OK;
}

/* Optuna's names may be any text. */
static const char *study_name(struct source *source)
{
    struct cli *cli = source->cli;
    if (cli->set.name != NULL)
        return cli->set.name;
    const char *said = source->name;
    const bool prefix = said[strspn(said, "0123456789")] == '\0' ||
                        !isalnum((unsigned char)said[0]);
    char *name =
        arena_printf(cli->arena, "%s%.100s", prefix ? "optuna-" : "", said);
    for (char *at = name; *at != '\0'; at++)
        if (!isalnum((unsigned char)*at) && strchr("_./-", *at) == NULL)
            *at = '-';
    return name;
}

static cJSON *make_study(struct source *source, bool open)
{
    cJSON *study = cJSON_CreateObject();
    json_add_string(study, "displayName", source->name);
    cJSON *spec = json_add_object(study, "studySpec");
    cJSON *metrics = json_add_array(spec, "metrics");
    for (size_t i = 0; i < source->n_metrics; i++) {
        cJSON *metric = json_push_object(metrics);
        json_add_string(metric, "metricId", source->metrics[i]);
        const char *direction = source->directions.items[i].cells[0];
        json_add_string(metric, "goal",
                        strcmp(direction, "MAXIMIZE") == 0 ? direction
                                                           : "MINIMIZE");
    }
    cJSON *parameters = json_add_array(spec, "parameters");
    for (size_t i = 0; i < source->space.n; i++) {
        bool dropped;
        const struct optuna_axis *axis = &source->space.axes[i];
        cJSON_AddItemToArray(parameters, optuna_axis_spec(axis, &dropped));
        if (dropped)
            cli_say(source->cli,
                    "parameter %s: its steps of %g are not carried over",
                    axis->name, axis->step);
    }
    cJSON *ours = json_add_object(study, "hypertune");
    json_add_string(ours, "name", study_name(source));
    if (open)
        json_add_bool(ours, "openSpace", true);
    return study;
}

/* ---- trials ---- */

static cJSON *new_measurement(const char *step)
{
    cJSON *measurement = cJSON_CreateObject();
    if (step != NULL)
        json_add_string(measurement, "stepCount", step);
    json_add_array(measurement, "metrics");
    return measurement;
}

static void add_value(cJSON *measurement, const char *metric, const char *value)
{
    cli_imported_metric(cJSON_GetObjectItem(measurement, "metrics"), metric,
                        strtod(value, NULL));
}

/* Optuna has curves in studies with one goal only. */
static enum ht_status read_curve(struct source *source, int64_t trial,
                                 cJSON *curve, struct ht_error *err)
{
    struct optuna_rows rows;
    const enum ht_status status =
        ask(source, source->curve_sql, trial, &rows, err);
    for (size_t i = 0; status == HT_OK && i < rows.n; i++) {
        cJSON *one = new_measurement(rows.items[i].cells[0]);
        add_value(one, source->metrics[0], rows.items[i].cells[1]);
        cJSON_AddItemToArray(curve, one);
    }
    return status;
}

/* *final stays NULL unless every goal has a finite value. */
static enum ht_status read_final(struct source *source, int64_t trial,
                                 cJSON **final, struct ht_error *err)
{
    struct optuna_rows rows;
    const enum ht_status status =
        ask(source, source->values_sql, trial, &rows, err);
    if (status != HT_OK || rows.n < source->n_metrics)
        return status;
    cJSON *measurement = new_measurement(NULL);
    for (size_t i = 0; i < source->n_metrics; i++)
        add_value(measurement, source->metrics[i], rows.items[i].cells[0]);
    *final = measurement;
    return HT_OK;
}

static enum ht_status read_parameters(struct source *source, int64_t trial,
                                      cJSON *parameters, struct ht_error *err)
{
    struct optuna_rows rows;
    enum ht_status status =
        ask(source,
            "SELECT param_name, param_value FROM trial_params "
            "WHERE trial_id=?1 ORDER BY param_id",
            trial, &rows, err);
    for (size_t i = 0; status == HT_OK && i < rows.n; i++) {
        const struct optuna_axis *axis =
            optuna_space_find(&source->space, rows.items[i].cells[0]);
        cJSON *value =
            axis != NULL
                ? optuna_axis_value(axis, strtod(rows.items[i].cells[1], NULL))
                : NULL;
        if (value == NULL)
            return ht_fail(err, HT_CORRUPT,
                           "trial %lld: parameter %.100s has no such value",
                           (long long)trial, rows.items[i].cells[0]);
        cJSON_AddItemToArray(parameters, value);
    }
    return status;
}

static enum ht_status read_trial(struct source *source, int64_t id,
                                 const char *state,
                                 struct cli_imported_trial *trial,
                                 struct ht_error *err)
{
    const bool failed = strcmp(state, "FAIL") == 0;
    enum ht_status status = read_parameters(source, id, trial->parameters, err);
    if (status == HT_OK && source->n_metrics == 1)
        status = read_curve(source, id, trial->curve, err);
    if (status == HT_OK && !failed)
        status = read_final(source, id, &trial->final, err);
    /* The value of a pruned trial is the last one it told. */
    const int told = cJSON_GetArraySize(trial->curve);
    if (status == HT_OK && strcmp(state, "PRUNED") == 0 && told > 0 &&
        trial->final == NULL)
        trial->final =
            cJSON_Duplicate(cJSON_GetArrayItem(trial->curve, told - 1), true);
    trial->reason = failed ? "failed in Optuna" : "has no finite value";
    return status;
}

static int add_trials(struct source *source, struct cli_imported *imported)
{
    struct cli *cli = source->cli;
    struct arena *whole = cli->arena;
    struct optuna_rows rows;
    struct ht_error err;
    int code = CLI_DONE;
    if (ask(source,
            "SELECT trial_id, state FROM trials WHERE study_id=?1 AND " ENDED
            " ORDER BY trial_id",
            source->study, &rows, &err) != HT_OK)
        return cli_fail_error(cli, &err);
    for (size_t i = 0; i < rows.n && code == CLI_DONE; i++) {
        struct cli_imported_trial trial = {.parameters = cJSON_CreateArray(),
                                           .curve = cJSON_CreateArray()};
        cli->arena = arena_new();
        const enum ht_status status =
            read_trial(source, strtoll(rows.items[i].cells[0], NULL, 10),
                       rows.items[i].cells[1], &trial, &err);
        if (status == HT_OK) {
            code = cli_imported_add(imported, &trial);
        } else {
            cJSON_Delete(trial.parameters);
            cJSON_Delete(trial.curve);
            code = cli_fail_error(cli, &err);
        }
        arena_free(cli->arena);
        cli->arena = whole;
    }
    return code;
}

static int import_study(struct source *source)
{
    struct cli *cli = source->cli;
    struct cli_imported imported;
    struct ht_error err;
    bool open = false;
    int code = choose_study(source);
    if (code != CLI_DONE)
        return code;
    enum ht_status status = read_goals(source, &err);
    if (status == HT_OK)
        status = read_space(source, &err);
    if (status == HT_OK)
        status = is_open(source, &open, &err);
    if (status != HT_OK)
        return cli_fail_error(cli, &err);
    code = cli_imported_open(cli, make_study(source, open), &imported);
    if (code != CLI_DONE)
        return code;
    return cli_imported_close(&imported, add_trials(source, &imported));
}

int cli_import_optuna(struct cli *cli, const char *path)
{
    struct source source = {.cli = cli};
    struct ht_error err;
    if (optuna_db_open(path, &source.db, &err) != HT_OK)
        return cli_fail_error(cli, &err);
    const int code = import_study(&source);
    optuna_db_close(source.db);
    return code;
}
