/* import_optuna.c - reads an Optuna database on this machine, so that the
 * server gets its results and never a file; no other module of the command uses
 * SQLite. Its tables changed twice: until 2.3 a trial has one value and its
 * study one direction; from 3.0 on a column marks infinite values. */

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <sqlite3.h>

#include "hypertune/cli/transfer/import.h"
#include "hypertune/cli/transfer/optuna_space.h"
#include "proto/base/clock.h"
#include "proto/base/limits.h"
#include "proto/doc/json.h"

#define ENDED "state IN ('COMPLETE', 'PRUNED', 'FAIL')"

struct source {
    struct cli *cli;
    sqlite3 *db;
    int64_t study;
    const char *name;
    const char *values_sql, *curve_sql; /* of a trial */
    size_t n_metrics;
    const char **metrics;
    struct words directions;
    struct optuna_space space;
};

/* ---- rows ---- */

/* A query; next() visits its rows, then `status` is the result. */
struct rows {
    sqlite3 *db;
    sqlite3_stmt *stmt;
    enum ht_status status;
    struct ht_error *err;
};

/* `key` is the query's ?1, if it has one. */
static struct rows ask(const struct source *source, const char *sql,
                       int64_t key, struct ht_error *err)
{
    struct rows rows = {.db = source->db, .err = err};
    sqlite3_prepare_v2(source->db, sql, -1, &rows.stmt, NULL);
    if (sqlite3_bind_parameter_count(rows.stmt) > 0)
        sqlite3_bind_int64(rows.stmt, 1, key);
    return rows;
}

/* The next row; the query is over when there is none. Call it until then; the
 * caller may set `status` for a wrong row. */
static bool next(struct rows *rows)
{
    const int code = rows->status != HT_OK ? SQLITE_DONE
                     : rows->stmt != NULL  ? sqlite3_step(rows->stmt)
                                           : SQLITE_ERROR;
    if (code == SQLITE_ROW)
        return true;
    if (code != SQLITE_DONE)
        rows->status =
            ht_fail(rows->err, HT_CORRUPT, "the tables are not Optuna's: %s",
                    sqlite3_errmsg(rows->db));
    sqlite3_finalize(rows->stmt);
    return false;
}

/* Until the next row; "" for NULL. */
static const char *text_of(const struct rows *rows, int column)
{
    const unsigned char *text = sqlite3_column_text(rows->stmt, column);
    return text != NULL ? (const char *)text : "";
}

/* Does the table have the column? The versions of Optuna differ in them. */
static bool has(const struct source *source, const char *table,
                const char *column)
{
    return sqlite3_table_column_metadata(source->db, NULL, table, column, NULL,
                                         NULL, NULL, NULL, NULL) == SQLITE_OK;
}

/* ---- which study ---- */

static int choose_study(struct source *source)
{
    struct cli *cli = source->cli;
    struct ht_error err;
    struct text names = {0};
    size_t n = 0, fit = 0;
    const char *wanted =
        cli->args.words.n == 2 ? cli->args.words.items[1] : NULL;
    struct rows rows = ask(
        source, "SELECT study_id, study_name FROM studies ORDER BY 1", 0, &err);
    for (; next(&rows); n++) {
        const char *name = arena_strdup(cli->arena, text_of(&rows, 1));
        text_printf(&names, "\n  %s", name);
        if (wanted != NULL && strcmp(name, wanted) != 0)
            continue;
        source->study = sqlite3_column_int64(rows.stmt, 0);
        source->name = name;
        fit++;
    }
    int code = CLI_DONE;
    if (rows.status != HT_OK)
        code = cli_fail_error(cli, &err);
    else if (fit != 1)
        code = cli_fail(cli, CLI_USAGE, "say which study; there %s %zu:%s",
                        n == 1 ? "is" : "are", n, n > 0 ? names.data : "");
    text_free(&names);
    return code;
}

/* ---- the study ---- */

static const char *where_finite(struct source *source, const char *table,
                                const char *column)
{
    return has(source, table, column)
               ? arena_printf(source->cli->arena, " AND %s='FINITE'", column)
               : "";
}

static const char *choose_sql(struct source *source)
{
    struct arena *arena = source->cli->arena;
    if (!has(source, "trial_values", "objective")) {
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
    struct rows rows = ask(source, choose_sql(source), source->study, err);
    while (next(&rows))
        words_add(cli->arena, &source->directions,
                  arena_strdup(cli->arena, text_of(&rows, 0)));
    source->n_metrics = source->directions.n;
    source->metrics =
        arena_alloc(cli->arena, source->n_metrics + 1, sizeof *source->metrics);
    for (size_t i = 0; i < source->n_metrics; i++)
        source->metrics[i] = source->n_metrics == 1
                                 ? name
                                 : arena_printf(cli->arena, "%s_%zu", name, i);
    return rows.status;
}

static enum ht_status read_space(struct source *source, struct ht_error *err)
{
    struct arena *arena = source->cli->arena;
    struct rows rows =
        ask(source,
            "SELECT param_name, distribution_json FROM trial_params "
            "JOIN trials USING(trial_id) WHERE study_id=?1 AND " ENDED
            " GROUP BY 1, 2 ORDER BY min(param_id)",
            source->study, err);
    while (next(&rows))
        rows.status = optuna_space_add(
            &source->space, arena, arena_strdup(arena, text_of(&rows, 0)),
            arena_strdup(arena, text_of(&rows, 1)), err);
    return rows.status;
}

/* Some trial defined other parameters than the rest. */
static enum ht_status is_open(struct source *source, bool *open,
                              struct ht_error *err)
{
    struct rows rows = ask(source,
                           "SELECT min((SELECT count(*) FROM trial_params p "
                           "WHERE p.trial_id=t.trial_id)) FROM trials t "
                           "WHERE study_id=?1 AND " ENDED,
                           source->study, err);
    *open = source->space.n == 0;
    while (next(&rows))
        if (sqlite3_column_type(rows.stmt, 0) != SQLITE_NULL &&
            sqlite3_column_int64(rows.stmt, 0) < (int64_t)source->space.n)
            *open = true;
    return rows.status;
}

/* Optuna's names may be any text. */
static const char *study_name(struct source *source)
{
    struct cli *cli = source->cli;
    if (cli->set.name != NULL)
        return cli->set.name;
    const char *theirs = source->name;
    const bool prefix = theirs[strspn(theirs, "0123456789")] == '\0' ||
                        !isalnum((unsigned char)theirs[0]);
    char *name =
        arena_printf(cli->arena, "%s%.100s", prefix ? "optuna-" : "", theirs);
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
        const char *direction = source->directions.items[i];
        json_add_string(metric, "goal",
                        strcmp(direction, "MAXIMIZE") == 0 ? direction
                                                           : "MINIMIZE");
    }
    cJSON *parameters = json_add_array(spec, "parameters");
    for (size_t i = 0; i < source->space.n; i++) {
        bool dropped;
        const struct optuna_axis *axis = &source->space.axes[i];
        cJSON_AddItemToArray(parameters,
                             optuna_space_axis_spec(axis, &dropped));
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

static void add_value(cJSON *metrics, const char *metric, double value)
{
    if (isfinite(value) && cJSON_GetObjectItem(metrics, metric) == NULL)
        json_add_double(metrics, metric, value);
}

/* Optuna's moments are local and without a zone. */
static int64_t moment_ms(const char *text)
{
    struct tm tm = {.tm_isdst = -1};
    const char *rest = strptime(text, "%Y-%m-%d %H:%M:%S", &tm);
    const time_t at = rest != NULL ? mktime(&tm) : -1;
    return at < 0 ? 0
                  : (int64_t)at * 1000 + (int64_t)(strtod(rest, NULL) * 1e3);
}

static void add_moment(cJSON *trial, const char *key, int64_t at_ms)
{
    char stamp[CLOCK_STAMP_BYTES];
    if (at_ms > 0)
        json_add_string(trial, key, clock_stamp(stamp, at_ms));
}

static enum ht_status read_moments(struct source *source, int64_t id,
                                   cJSON *trial, int64_t *started_ms,
                                   struct ht_error *err)
{
    *started_ms = 0;
    if (!has(source, "trials", "datetime_start"))
        return HT_OK;
    struct rows rows =
        ask(source,
            "SELECT datetime_start, datetime_complete FROM trials "
            "WHERE trial_id=?1",
            id, err);
    while (next(&rows)) {
        *started_ms = moment_ms(text_of(&rows, 0));
        add_moment(trial, "created", *started_ms);
        add_moment(trial, "started", *started_ms);
        add_moment(trial, "ended", moment_ms(text_of(&rows, 1)));
    }
    return rows.status;
}

/* Optuna has curves in studies with one goal only, and no time of a step. */
static enum ht_status read_curve(struct source *source, int64_t id,
                                 int64_t started_ms, cJSON *curve,
                                 struct ht_error *err)
{
    struct rows rows = ask(source, source->curve_sql, id, err);
    while (next(&rows)) {
        const double value = sqlite3_column_double(rows.stmt, 1);
        if (sqlite3_column_type(rows.stmt, 1) == SQLITE_NULL ||
            !isfinite(value))
            continue;
        cJSON *one = json_push_object(curve);
        json_add_int(one, "step", sqlite3_column_int64(rows.stmt, 0));
        json_add_int(one, "timeMs", started_ms);
        add_value(json_add_object(one, "metrics"), source->metrics[0], value);
    }
    return rows.status;
}

/* The goals that have a finite value. */
static enum ht_status read_final(struct source *source, int64_t id,
                                 cJSON *metrics, struct ht_error *err)
{
    struct rows rows = ask(source, source->values_sql, id, err);
    for (size_t i = 0; next(&rows); i++)
        if (i < source->n_metrics)
            add_value(metrics, source->metrics[i],
                      sqlite3_column_double(rows.stmt, 0));
    return rows.status;
}

/* Attributes of the user that are numbers are metrics that are no goal. */
static enum ht_status read_attributes(struct source *source, int64_t id,
                                      cJSON *metrics, struct ht_error *err)
{
    if (!has(source, "trial_user_attributes", "value_json"))
        return HT_OK;
    struct rows rows = ask(source,
                           "SELECT key, value_json FROM trial_user_attributes "
                           "WHERE trial_id=?1 ORDER BY trial_user_attribute_id",
                           id, err);
    while (next(&rows)) {
        const char *key = text_of(&rows, 0), *value = text_of(&rows, 1);
        char *end;
        const double number = strtod(value, &end);
        if (key[0] != '\0' && strlen(key) <= HT_MAX_NAME &&
            cJSON_GetArraySize(metrics) < HT_MAX_METRICS && end != value &&
            *end == '\0')
            add_value(metrics, key, number);
    }
    return rows.status;
}

static enum ht_status read_parameters(struct source *source, int64_t id,
                                      cJSON *params, struct ht_error *err)
{
    struct rows rows = ask(source,
                           "SELECT param_name, param_value FROM trial_params "
                           "WHERE trial_id=?1 ORDER BY param_id",
                           id, err);
    while (next(&rows)) {
        const char *name = text_of(&rows, 0);
        const struct optuna_axis *axis =
            optuna_space_find(&source->space, name);
        if (axis == NULL ||
            !optuna_space_add_value(axis, sqlite3_column_double(rows.stmt, 1),
                                    params))
            rows.status =
                ht_fail(err, HT_CORRUPT,
                        "trial %lld: parameter %.100s has no such value",
                        (long long)id, name);
    }
    return rows.status;
}

/* The value of a pruned trial is its last report. */
static void take_last(const struct source *source, const cJSON *curve,
                      cJSON *trial, cJSON *metrics)
{
    const char *goal = source->metrics[0];
    const int n = cJSON_GetArraySize(curve);
    if (n == 0 || cJSON_GetObjectItem(metrics, goal) != NULL)
        return;
    const cJSON *last = cJSON_GetArrayItem(curve, n - 1);
    cJSON_AddItemToObject(
        metrics, goal,
        cJSON_Duplicate(
            cJSON_GetObjectItem(cJSON_GetObjectItem(last, "metrics"), goal),
            true));
    cJSON_AddItemToObject(
        trial, "step",
        cJSON_Duplicate(cJSON_GetObjectItem(last, "step"), true));
}

static bool is_whole(const struct source *source, const cJSON *metrics)
{
    for (size_t i = 0; i < source->n_metrics; i++)
        if (cJSON_GetObjectItem(metrics, source->metrics[i]) == NULL)
            return false;
    return true;
}

static void add_state(const struct source *source, const char *state,
                      const cJSON *metrics, cJSON *trial)
{
    const bool failed = strcmp(state, "FAIL") == 0;
    const bool pruned = strcmp(state, "PRUNED") == 0;
    const bool whole = is_whole(source, metrics);
    json_add_string(trial, "state",
                    failed   ? "FAILED"
                    : !whole ? "INFEASIBLE"
                    : pruned ? "STOPPED"
                             : "SUCCEEDED");
    json_add_string(trial, "reason",
                    failed   ? "failed in Optuna"
                    : !whole ? "has no finite value"
                    : pruned ? "pruned in Optuna"
                             : "");
}

/* A line as `hypertune export -o jsonl` writes it. */
static enum ht_status import_trial(struct source *source, int64_t id,
                                   const char *state, cJSON *trial,
                                   struct ht_error *err)
{
    cJSON *params = json_add_object(trial, "params");
    cJSON *metrics = json_add_object(trial, "metrics");
    cJSON *curve = json_add_array(trial, "measurements");
    int64_t started_ms;
    enum ht_status status = read_parameters(source, id, params, err);
    if (status == HT_OK)
        status = read_moments(source, id, trial, &started_ms, err);
    if (status == HT_OK && source->n_metrics == 1)
        status = read_curve(source, id, started_ms, curve, err);
    if (status == HT_OK && strcmp(state, "FAIL") != 0)
        status = read_final(source, id, metrics, err);
    if (status == HT_OK && strcmp(state, "PRUNED") == 0)
        take_last(source, curve, trial, metrics);
    if (status == HT_OK)
        status = read_attributes(source, id, metrics, err);
    add_state(source, state, metrics, trial);
    return status;
}

static int add_trials(struct source *source, struct cli_imported *imported)
{
    struct cli *cli = source->cli;
    struct ht_error err;
    int code = CLI_DONE;
    struct rows rows =
        ask(source,
            "SELECT trial_id, state FROM trials WHERE study_id=?1 AND " ENDED
            " ORDER BY trial_id",
            source->study, &err);
    for (int64_t id = 1; next(&rows); id++) {
        if (code != CLI_DONE)
            continue; /* to the end of the query */
        cJSON *trial = cJSON_CreateObject();
        json_add_int(trial, "id", id);
        rows.status = import_trial(source, sqlite3_column_int64(rows.stmt, 0),
                                   text_of(&rows, 1), trial, &err);
        if (rows.status == HT_OK)
            code = cli_imported_add(imported, trial);
        else
            cJSON_Delete(trial);
    }
    return code == CLI_DONE && rows.status != HT_OK ? cli_fail_error(cli, &err)
                                                    : code;
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
    const bool opened = sqlite3_open_v2(path, &source.db, SQLITE_OPEN_READONLY,
                                        NULL) == SQLITE_OK;
    const int code = opened ? import_study(&source)
                            : cli_fail(cli, CLI_REFUSED, "cannot open %s: %s",
                                       path, sqlite3_errmsg(source.db));
    sqlite3_close(source.db);
    return code;
}
