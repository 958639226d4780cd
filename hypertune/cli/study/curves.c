/* curves.c - `curves`: the learning curves of trials in the terminal. */

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "hypertune/cli/frame/commands.h"
#include "hypertune/cli/frame/csv.h"
#include "hypertune/cli/frame/output.h"
#include "hypertune/cli/frame/spark.h"
#include "hypertune/cli/frame/table.h"
#include "hypertune/cli/study/study.h"
#include "proto/base/clock.h"
#include "proto/doc/json.h"

enum { SPARK = 32, KEPT = 2 * SPARK, MOST_METRICS = 64 };

/* One trial's row of the table; the curve is thinned as it grows. */
struct curve {
    char trial[24];
    size_t n; /* measurements */
    double first, last, low, high;
    char step[24]; /* of the last one */
    size_t stride, n_kept;
    double kept[KEPT];
};

struct curves {
    struct cli *cli;
    struct cli_study study;
    const char *metric;
    struct text out; /* of this page */
    size_t written;
    struct table *table; /* with -o table */
    struct curve curve;
    struct words names; /* metrics that were seen, for a hint */
    int code;
};

/* ---- a curve as a row of the table ---- */

static void keep_point(struct curve *curve, double value)
{
    if (curve->n_kept == KEPT) {
        for (size_t i = 0; i < SPARK; i++)
            curve->kept[i] = curve->kept[2 * i];
        curve->n_kept = SPARK;
        curve->stride *= 2;
    }
    if (curve->n % curve->stride == 0)
        curve->kept[curve->n_kept++] = value;
}

static void flush_curve(struct curves *curves)
{
    struct curve *curve = &curves->curve;
    struct text spark = {0};
    double shown[SPARK];
    size_t n = curve->n_kept < SPARK ? curve->n_kept : SPARK;
    if (curve->n == 0)
        return;
    for (size_t i = 0; i < n; i++)
        shown[i] = curve->kept[i * curve->n_kept / n];
    shown[n - 1] = curve->last;
    spark_curve(shown, n, &spark);
    table_row(curves->table);
    table_cell(curves->table, curve->trial);
    table_cell_printf(curves->table, "%zu", curve->n);
    table_cell(curves->table, curve->step);
    table_cell_printf(curves->table, "%.6g", curve->first);
    table_cell_printf(curves->table, "%.6g", curve->last);
    table_cell_printf(curves->table, "%.6g",
                      curves->study.maximize ? curve->high : curve->low);
    table_cell_text(curves->table, &spark, "");
}

static void add_point(struct curves *curves, const struct node *measurement,
                      double value)
{
    struct curve *curve = &curves->curve;
    const char *trial = cli_scalar(node_find(measurement, "trial"));
    if (strcmp(curve->trial, trial) != 0) {
        flush_curve(curves);
        *curve = (struct curve){
            .first = value, .stride = 1, .low = INFINITY, .high = -INFINITY};
        snprintf(curve->trial, sizeof curve->trial, "%s", trial);
    }
    keep_point(curve, value);
    curve->n++;
    curve->last = value;
    curve->low = fmin(curve->low, value);
    curve->high = fmax(curve->high, value);
    snprintf(curve->step, sizeof curve->step, "%s",
             cli_scalar(node_find(measurement, "step")));
}

/* ---- one measurement in the other formats ---- */

static const char *const members[] = {"trial", "attempt", "replica", "step"};
enum { MEMBERS = sizeof members / sizeof *members };

static void add_row(struct curves *curves, const struct node *measurement,
                    const char *stamp, const struct node *value)
{
    for (size_t i = 0; i < MEMBERS; i++) {
        csv_field(cli_scalar(node_find(measurement, members[i])), &curves->out);
        text_puts(&curves->out, ",");
    }
    text_printf(&curves->out, "%s,", stamp);
    csv_field(cli_scalar(value), &curves->out);
    text_puts(&curves->out, "\n");
}

static void add_record(struct curves *curves, const struct node *measurement,
                       const struct node *value)
{
    char stamp[CLOCK_STAMP_BYTES];
    clock_stamp(stamp, node_get_int(measurement, "timeMs", 0));
    if (curves->cli->format == FORMAT_CSV) {
        add_row(curves, measurement, stamp, value);
        return;
    }
    cJSON *object = cJSON_CreateObject();
    for (size_t i = 0; i < MEMBERS; i++) {
        int64_t whole;
        const struct node *member = node_find(measurement, members[i]);
        if (node_int64(member, &whole))
            json_add_int(object, members[i], whole);
        else
            json_add_string(object, members[i], cli_scalar(member));
    }
    json_add_string(object, "time", stamp);
    cJSON_AddItemToObject(object, curves->metric, json_of_node(value));
    cli_output_object(curves->cli->format, object, curves->written,
                      &curves->out);
}

static void note_names(struct curves *curves, const struct node *metrics)
{
    NODE_EACH (one, node_items(metrics)) {
        bool known = curves->names.n == MOST_METRICS;
        for (size_t i = 0; i < curves->names.n; i++)
            known = known || strcmp(curves->names.items[i], one->key) == 0;
        if (!known)
            words_add(curves->cli->lasting, &curves->names,
                      arena_strdup(curves->cli->lasting, one->key));
    }
}

static bool take(const struct node *measurement, void *context)
{
    struct curves *curves = context;
    const struct node *metrics = node_find(measurement, "metrics");
    const struct node *value = node_find(metrics, curves->metric);
    if (value == NULL) {
        note_names(curves, metrics);
        return true;
    }
    if (curves->table != NULL)
        add_point(curves, measurement,
                  node_get_double(metrics, curves->metric, NAN));
    else
        add_record(curves, measurement, value);
    curves->written++;
    if (curves->out.len > (size_t)64 * 1024)
        curves->code = cli_print(&curves->out);
    return curves->code == CLI_DONE;
}

/* ---- the command ---- */

/* CLI_DONE when every word names this study or a trial of it. */
static int check_words(struct cli *cli, const char **study, bool *whole)
{
    const struct words *words = &cli->args.words;
    const char *trial;
    *whole = false;
    for (size_t i = 0; i < words->n; i++) {
        const char *name;
        if (!cli_study_split(cli, words->items[i], &name, &trial)) {
            name = words->items[i];
            *whole = true;
        }
        if (i > 0 && strcmp(name, *study) != 0)
            return cli_fail(cli, CLI_USAGE,
                            "curves shows one study; %s and %s are two", *study,
                            name);
        *study = name;
    }
    return CLI_DONE;
}

static enum ht_status read_all(struct curves *curves, bool whole,
                               struct ht_error *err)
{
    struct cli *cli = curves->cli;
    const char *base = cli_study_path(cli, curves->study.name, "/measurements");
    struct cli_pages pages = {.path = base, .key = "measurements"};
    if (whole)
        return cli_pages_each(cli, &pages, take, curves, err);
    enum ht_status status = HT_OK;
    const char *study, *trial;
    for (size_t i = 0; i < cli->args.words.n && status == HT_OK; i++) {
        cli_study_split(cli, cli->args.words.items[i], &study, &trial);
        curves->code = cli_study_resolve(cli, &curves->study, &trial);
        if (curves->code != CLI_DONE)
            return HT_OK;
        pages.path = cli_query(cli, base, "trial", trial);
        status = cli_pages_each(cli, &pages, take, curves, err);
    }
    return status;
}

static int finish(struct curves *curves)
{
    struct cli *cli = curves->cli;
    if (curves->code == CLI_DONE && curves->written == 0) {
        struct text seen = {0};
        text_free(&curves->out);
        for (size_t i = 0; i < curves->names.n; i++)
            text_printf(&seen, "%s%s", i > 0 ? ", " : "",
                        curves->names.items[i]);
        const char *lead = seen.len > 0 ? "was reported" : "yet";
        words_add(cli->lasting, &curves->names, NULL);
        const char *hint =
            words_hint(cli->arena, curves->metric, curves->names.items);
        const char *behind = seen.len > 0 ? "; there are " : "";
        return cli_fail(cli, CLI_ABSENT, "no measurement of \"%s\" %s%s%s%s",
                        curves->metric, lead, hint, behind,
                        text_take(&seen, cli->arena));
    }
    if (curves->table != NULL) {
        flush_curve(curves);
        cli_output_table(cli, curves->table, &curves->out);
    }
    cli_output_end(cli->format, curves->written, &curves->out);
    int code = cli_print(&curves->out);
    return curves->code != CLI_DONE ? curves->code : code;
}

static void begin(struct curves *curves)
{
    struct cli *cli = curves->cli;
    if (cli->format == FORMAT_CSV) {
        text_puts(&curves->out, "trial,attempt,replica,step,time,");
        csv_field(curves->metric, &curves->out);
        text_puts(&curves->out, "\n");
    } else if (cli_is_table(cli)) {
        curves->table = table_new(cli->arena);
        table_columns(curves->table,
                      "TRIAL,>POINTS,>STEP,>FIRST,>LAST,>BEST,CURVE");
    }
}

int cli_curves(struct cli *cli)
{
    struct ht_error err;
    const char *name = NULL;
    bool whole;
    struct curves curves = {.cli = cli};
    if (cli->format == FORMAT_NAME || cli->format == FORMAT_ARGS ||
        cli->format == FORMAT_YAML)
        return cli_fail(cli, CLI_USAGE,
                        "curves prints table, csv, json or jsonl, not %s",
                        cli->set.output);
    int code = check_words(cli, &name, &whole);
    if (code == CLI_DONE)
        code = cli_study_open(cli, name, &curves.study);
    if (code != CLI_DONE)
        return code;
    curves.metric =
        cli->set.metric != NULL ? cli->set.metric : curves.study.metric;
    if (curves.metric[0] == '\0')
        return cli_fail(cli, CLI_USAGE,
                        "%s %s has no objective; say --metric NAME",
                        curves.study.home->kind_name, curves.study.name);
    begin(&curves);
    if (read_all(&curves, whole, &err) != HT_OK) {
        text_free(&curves.out);
        return cli_fail_error(cli, &err);
    }
    return curves.code == CLI_DONE ? finish(&curves) : curves.code;
}
