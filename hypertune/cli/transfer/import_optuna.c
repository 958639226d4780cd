/* A database of Optuna, read here, so that the server is given its results and
 * never a file; nothing else of the command line sees SQLite. Its tables
 * changed twice: until 2.3 a trial has one value and its study one direction;
 * from 3.0 on infinite values are told by a column of their own. */
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

enum { COLUMNS = 2 }; /* most of a query */

struct row {
    const char *cells[COLUMNS]; /* NULL for NULL, and behind the last */
};
struct rows {
    size_t n;
    struct row *items;
};

struct source {
    struct cli *cli;
    sqlite3 *db;
    int64_t study;
    const char *name;
    const char *values_sql, *curve_sql; /* of a trial */
    size_t n_metrics;
    const char **metrics;
    struct rows directions;
    struct optuna_space space;
};

/* ---- rows as texts ---- */

static void read_row(struct arena *arena, sqlite3_stmt *stmt, struct row *row)
{
    const int n = sqlite3_column_count(stmt);
    *row = (struct row){{NULL}};
    for (int i = 0; i < n && i < COLUMNS; i++) {
        /* Its own text of a real number has 15 digits. */
        const bool real = sqlite3_column_type(stmt, i) == SQLITE_FLOAT;
        const double number = real ? sqlite3_column_double(stmt, i) : 0;
        const unsigned char *text = sqlite3_column_text(stmt, i);
        if (real)
            row->cells[i] = arena_printf(arena, "%.17g", number);
        else if (text != NULL)
            row->cells[i] = arena_strdup(arena, (const char *)text);
    }
}

static void grow(struct arena *arena, struct rows *rows)
{
    /* Grown at each power of two, so that n tells the capacity. */
    if ((rows->n & (rows->n - 1)) != 0)
        return;
    const size_t room = rows->n == 0 ? 1 : 2 * rows->n;
    struct row *more = arena_alloc(arena, room, sizeof *more);
    for (size_t i = 0; i < rows->n; i++)
        more[i] = rows->items[i];
    rows->items = more;
}

/* All rows of a query whose ?1, if any, is `key`. HT_CORRUPT: the tables are
 * not Optuna's, or damaged. */
static enum ht_status ask(struct source *source, const char *sql, int64_t key,
                          struct rows *rows, struct ht_error *err)
{
    struct arena *arena = source->cli->arena;
    struct rows found = {0};
    sqlite3_stmt *stmt = NULL;
    int code = sqlite3_prepare_v2(source->db, sql, -1, &stmt, NULL);
    if (code == SQLITE_OK && sqlite3_bind_parameter_count(stmt) > 0)
        code = sqlite3_bind_int64(stmt, 1, key);
    if (code == SQLITE_OK)
        code = SQLITE_ROW;
    while (code == SQLITE_ROW && (code = sqlite3_step(stmt)) == SQLITE_ROW) {
        grow(arena, &found);
        read_row(arena, stmt, &found.items[found.n++]);
    }
    sqlite3_finalize(stmt);
    if (code != SQLITE_DONE)
        return ht_fail(err, HT_CORRUPT, "the tables are not Optuna's: %s",
                       sqlite3_errmsg(source->db));
    *rows = found;
    return HT_OK;
}

/* Its table has that column: what tells the versions of Optuna apart. */
static bool has(const struct source *source, const char *table,
                const char *column)
{
    return sqlite3_table_column_metadata(source->db, NULL, table, column, NULL,
                                         NULL, NULL, NULL, NULL) == SQLITE_OK;
}

/* ---- which study ---- */

static int list_studies(struct cli *cli, const struct rows *rows)
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
    struct rows rows;
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
    struct rows rows;
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
    struct rows rows;
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

static void add_value(cJSON *metrics, const char *metric, const char *value)
{
    const double number = strtod(value, NULL);
    if (isfinite(number) && cJSON_GetObjectItem(metrics, metric) == NULL)
        json_add_double(metrics, metric, number);
}

/* Optuna's moments are local and without a zone. */
static int64_t moment_ms(const char *text)
{
    struct tm tm = {.tm_isdst = -1};
    const char *rest =
        text != NULL ? strptime(text, "%Y-%m-%d %H:%M:%S", &tm) : NULL;
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
    struct rows rows;
    *started_ms = 0;
    if (!has(source, "trials", "datetime_start"))
        return HT_OK;
    const enum ht_status status =
        ask(source,
            "SELECT datetime_start, datetime_complete FROM trials "
            "WHERE trial_id=?1",
            id, &rows, err);
    if (status != HT_OK || rows.n == 0)
        return status;
    *started_ms = moment_ms(rows.items[0].cells[0]);
    add_moment(trial, "created", *started_ms);
    add_moment(trial, "started", *started_ms);
    add_moment(trial, "ended", moment_ms(rows.items[0].cells[1]));
    return HT_OK;
}

/* Optuna has curves in studies with one goal only, and no time of a step. */
static enum ht_status read_curve(struct source *source, int64_t id,
                                 int64_t started_ms, cJSON *curve,
                                 struct ht_error *err)
{
    struct rows rows;
    const enum ht_status status =
        ask(source, source->curve_sql, id, &rows, err);
    for (size_t i = 0; status == HT_OK && i < rows.n; i++) {
        cJSON *one = json_push_object(curve);
        json_add_int(one, "step", strtoll(rows.items[i].cells[0], NULL, 10));
        json_add_int(one, "timeMs", started_ms);
        add_value(json_add_object(one, "metrics"), source->metrics[0],
                  rows.items[i].cells[1]);
        if (cJSON_GetObjectItem(one, "metrics")->child == NULL)
            cJSON_Delete(cJSON_DetachItemViaPointer(curve, one));
    }
    return status;
}

/* The goals that have a finite value. */
static enum ht_status read_final(struct source *source, int64_t id,
                                 cJSON *metrics, struct ht_error *err)
{
    struct rows rows;
    const enum ht_status status =
        ask(source, source->values_sql, id, &rows, err);
    for (size_t i = 0; status == HT_OK && i < rows.n && i < source->n_metrics;
         i++)
        add_value(metrics, source->metrics[i], rows.items[i].cells[0]);
    return status;
}

/* Attributes of the user that are numbers are metrics that are no goal. */
static enum ht_status read_attributes(struct source *source, int64_t id,
                                      cJSON *metrics, struct ht_error *err)
{
    struct rows rows;
    if (!has(source, "trial_user_attributes", "value_json"))
        return HT_OK;
    const enum ht_status status =
        ask(source,
            "SELECT key, value_json FROM trial_user_attributes "
            "WHERE trial_id=?1 ORDER BY trial_user_attribute_id",
            id, &rows, err);
    for (size_t i = 0; status == HT_OK && i < rows.n; i++) {
        const char *key = rows.items[i].cells[0];
        const char *value = rows.items[i].cells[1];
        char *end;
        if (key == NULL || value == NULL || key[0] == '\0' ||
            strlen(key) > HT_MAX_NAME ||
            cJSON_GetArraySize(metrics) >= HT_MAX_METRICS)
            continue;
        strtod(value, &end);
        if (end != value && *end == '\0')
            add_value(metrics, key, value);
    }
    return status;
}

static enum ht_status read_parameters(struct source *source, int64_t id,
                                      cJSON *params, struct ht_error *err)
{
    struct rows rows;
    enum ht_status status =
        ask(source,
            "SELECT param_name, param_value FROM trial_params "
            "WHERE trial_id=?1 ORDER BY param_id",
            id, &rows, err);
    for (size_t i = 0; status == HT_OK && i < rows.n; i++) {
        const char *name = rows.items[i].cells[0];
        const struct optuna_axis *axis =
            optuna_space_find(&source->space, name);
        if (axis == NULL ||
            !optuna_space_add_value(axis, strtod(rows.items[i].cells[1], NULL),
                                    params))
            return ht_fail(err, HT_CORRUPT,
                           "trial %lld: parameter %.100s has no such value",
                           (long long)id, name);
    }
    return status;
}

/* The value of a pruned trial is the last one it told. */
static void take_last(const struct source *source, const cJSON *curve,
                      cJSON *trial, cJSON *metrics)
{
    const char *goal = source->metrics[0];
    const int told = cJSON_GetArraySize(curve);
    if (told == 0 || cJSON_GetObjectItem(metrics, goal) != NULL)
        return;
    const cJSON *last = cJSON_GetArrayItem(curve, told - 1);
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
static enum ht_status read_trial(struct source *source, int64_t id,
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
    struct arena *whole = cli->arena;
    struct rows rows;
    struct ht_error err;
    int code = CLI_DONE;
    if (ask(source,
            "SELECT trial_id, state FROM trials WHERE study_id=?1 AND " ENDED
            " ORDER BY trial_id",
            source->study, &rows, &err) != HT_OK)
        return cli_fail_error(cli, &err);
    for (size_t i = 0; i < rows.n && code == CLI_DONE; i++) {
        cJSON *trial = cJSON_CreateObject();
        cli->arena = arena_new();
        json_add_int(trial, "id", (int64_t)i + 1);
        if (read_trial(source, strtoll(rows.items[i].cells[0], NULL, 10),
                       rows.items[i].cells[1], trial, &err) == HT_OK) {
            code = cli_imported_add(imported, trial);
        } else {
            cJSON_Delete(trial);
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
    const bool opened = sqlite3_open_v2(path, &source.db, SQLITE_OPEN_READONLY,
                                        NULL) == SQLITE_OK;
    const int code = opened ? import_study(&source)
                            : cli_fail(cli, CLI_REFUSED, "cannot open %s: %s",
                                       path, sqlite3_errmsg(source.db));
    sqlite3_close(source.db);
    return code;
}
