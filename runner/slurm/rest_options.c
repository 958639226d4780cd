#include "runner/slurm/rest_options.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/number.h"
#include "runner/base/json.h"

enum kind {
    TEXT,
    INTEGER,
    NUMBER,  /* {set, number} */
    MIB,     /* NUMBER of "64M": sbatch's default unit is MB, too */
    NODES,   /* a list with one host list in it */
    FLAGS,   /* "END,FAIL": a list of words */
    GPUS,    /* "2" or "a100:2": a text "gres/gpu:2" */
    GRES,    /* "gpu:1,shard:2": each with "gres/" before it */
    SHARING, /* a list of one word; without a value: "none" */
    SWITCH,  /* true */
    OFF,     /* false */
    WARNING  /* "B:USR1@30" */
};

/* A name that is NULL: the version has no such field. Up to 38 each value is
 * read as sbatch reads it, except switches. */
static const struct row {
    const char *option;
    const char *old, *typed; /* fields up to 38 and from 39 on */
    enum kind kind;
} rows[] = {
    {"account", "account", "account", TEXT},
    {"array", "array", "array", TEXT},
    {"bb", "burst_buffer", "burst_buffer", TEXT},
    {"begin", "begin_time", "begin_time", TEXT},
    {"chdir", "current_working_directory", "current_working_directory", TEXT},
    {"comment", "comment", "comment", TEXT},
    {"constraint", "constraints", "constraints", TEXT},
    {"core-spec", "core_specification", "core_specification", INTEGER},
    {"cpus-per-gpu", "cpus_per_gpu", "cpus_per_tres", GPUS},
    {"cpus-per-task", "cpus_per_task", "cpus_per_task", INTEGER},
    {"deadline", "deadline", NULL, TEXT},
    {"dependency", "dependency", "dependency", TEXT},
    {"distribution", "distribution", "distribution", TEXT},
    {"exclude", NULL, "excluded_nodes", NODES},
    {"exclusive", "exclusive", "shared", SHARING},
    {"gpus", "gpus", "tres_per_job", GPUS},
    {"gpus-per-task", "gpus_per_task", "tres_per_task", GPUS},
    {"gres", "gres", "tres_per_node", GRES},
    {"gres-flags", "gres_flags", NULL, TEXT},
    {"hold", "hold", "hold", SWITCH},
    {"job-name", "name", "name", TEXT},
    {"licenses", "licenses", "licenses", TEXT},
    {"mail-type", "mail_type", "mail_type", FLAGS},
    {"mail-user", "mail_user", "mail_user", TEXT},
    {"mcs-label", "mcs_label", "mcs_label", TEXT},
    {"mem", "memory_per_node", "memory_per_node", MIB},
    {"mem-per-cpu", "memory_per_cpu", "memory_per_cpu", MIB},
    {"mincpus", "minimum_cpus_per_node", "minimum_cpus_per_node", INTEGER},
    {"network", NULL, "network", TEXT},
    {"nice", "nice", "nice", INTEGER},
    {"no-requeue", "requeue", "requeue", OFF},
    {"nodelist", "nodelist", "required_nodes", NODES},
    {"nodes", "nodes", "nodes", TEXT},
    {"ntasks", "tasks", "tasks", INTEGER},
    {"ntasks-per-node", "tasks_per_node", "tasks_per_node", INTEGER},
    {"output", "standard_output", "standard_output", TEXT},
    {"partition", "partition", "partition", TEXT},
    {"prefer", "prefer", "prefer", TEXT},
    {"priority", "priority", "priority", NUMBER},
    {"qos", "qos", "qos", TEXT},
    {"reservation", "reservation", "reservation", TEXT},
    /* 38 takes a signal for the steps only, which would reach the trainer and
     * not the shim. The shim has its own clock, and this is the net below. */
    {"signal", "", "kill_warning_signal", WARNING},
    {"switches", NULL, "required_switches", NUMBER},
    {"threads-per-core", "threads_per_core", "threads_per_core", INTEGER},
    {"time", "time_limit", "time_limit", NUMBER},
    {"time-min", "time_minimum", "time_minimum", NUMBER},
    {"wckey", "wckey", "wckey", TEXT},
};

static const struct row *find_row(const char *option)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].option, option) == 0)
            return &rows[i];
    return NULL;
}

static void put_number(struct text *out, const char *field, int64_t value)
{
    json_open(out, field);
    json_put_bool(out, "set", true);
    json_put_int(out, "number", value);
    json_close(out);
}

static void put_item(struct text *out, const char *field, const char *item)
{
    json_put_strings(out, field, &(struct strings){1, &item});
}

static void put_words(struct arena *arena, struct text *out, const char *field,
                      const char *words)
{
    json_open_list(out, field);
    while (*words != '\0') {
        const size_t len = strcspn(words, ",");
        json_put_string(out, NULL, arena_strndup(arena, words, len));
        words += len + (words[len] == ',');
    }
    json_close_list(out);
}

static void put_gres(struct arena *arena, struct text *out, const char *field,
                     const char *list)
{
    struct text gres = {0};
    while (*list != '\0') {
        const size_t len = strcspn(list, ",");
        const bool named = strncmp(list, "gres", 4) == 0;
        text_printf(&gres, "%s%s%.*s", gres.len > 0 ? "," : "",
                    named ? "" : "gres/", (int)len, list);
        list += len + (list[len] == ',');
    }
    json_put_string(out, field, text_take(&gres, arena));
}

/* "B:USR1@30"; slurm_batch() writes no other form. */
static bool put_warning(struct arena *arena, struct text *out,
                        const char *value)
{
    int64_t seconds;
    const char *at = strchr(value, '@');
    if (strncmp(value, "B:", 2) != 0 || at == NULL ||
        !number_int64(at + 1, &seconds))
        return false;
    json_put_string(out, "kill_warning_signal",
                    arena_strndup(arena, value + 2, (size_t)(at - value) - 2));
    put_number(out, "kill_warning_delay", seconds);
    put_item(out, "kill_warning_flags", "BATCH_JOB");
    return true;
}

static bool read_mib(const char *value, int64_t *mib)
{
    static const char units[] = "KMGT";
    char *end;
    const long long n = strtoll(value, &end, 10);
    const char *unit = *end != '\0' ? strchr(units, *end) : units + 1;
    if (end == value || n < 0 || n > INT32_MAX || unit == NULL ||
        (*end != '\0' && end[1] != '\0'))
        return false;
    *mib = *unit == 'K' ? (n + 1023) / 1024 : n;
    for (const char *step = units + 2; step <= unit; step++)
        *mib *= 1024;
    return true;
}

/* False: the value has another form than this version wants. */
static bool put_typed(struct arena *arena, struct text *out,
                      const struct row *row, const char *value)
{
    const char *field = row->typed;
    int64_t n = 0;
    switch (row->kind) {
    case TEXT:
        json_put_string(out, field, value);
        return true;
    case INTEGER:
    case NUMBER:
        if (!number_int64(value, &n))
            return false;
        if (row->kind == NUMBER)
            put_number(out, field, n);
        else
            json_put_int(out, field, n);
        return true;
    case MIB:
        if (!read_mib(value, &n))
            return false;
        put_number(out, field, n);
        return true;
    case NODES:
    case SHARING:
        put_item(out, field, value);
        return true;
    case FLAGS:
        put_words(arena, out, field, value);
        return true;
    case GPUS:
        json_put_string(out, field, arena_printf(arena, "gres/gpu:%s", value));
        return true;
    case GRES:
        put_gres(arena, out, field, value);
        return true;
    case WARNING:
        return put_warning(arena, out, value);
    case SWITCH:
    case OFF:
        break;
    }
    return false;
}

static bool needs_no_value(const struct row *row)
{
    return row->kind == SWITCH || row->kind == OFF || row->kind == SHARING;
}

static bool put_value(struct arena *arena, struct text *out, int version,
                      const struct row *row, const char *value)
{
    const bool typed = version >= REST_TYPED;
    const char *field = typed ? row->typed : row->old;
    if (row->kind == SWITCH || row->kind == OFF) {
        json_put_bool(out, field, row->kind == SWITCH);
        return value == NULL;
    }
    if (value == NULL)
        value = typed ? "none" : "exclusive"; /* of SHARING */
    if (typed)
        return put_typed(arena, out, row, value);
    if (*field != '\0')
        json_put_string(out, field, value);
    return true;
}

static enum ht_status put_option(struct arena *arena, struct text *out,
                                 int version, const struct slurm_option *option,
                                 struct ht_error *err)
{
    const struct row *row = find_row(option->name);
    if (row == NULL || (version >= REST_TYPED ? row->typed : row->old) == NULL)
        return ht_fail(err, HT_PRECONDITION,
                       "slurmrestd v0.0.%d has no field for --%s: leave it "
                       "out, or let the runner use the commands of Slurm",
                       version, option->name);
    if ((option->value == NULL && !needs_no_value(row)) ||
        !put_value(arena, out, version, row, option->value))
        return ht_fail(err, HT_PRECONDITION,
                       "slurmrestd v0.0.%d does not take --%s%s%s: write a "
                       "plain value, or let the runner use the commands of "
                       "Slurm",
                       version, option->name, option->value ? "=" : "",
                       option->value ? option->value : "");
    return HT_OK;
}

/* Without it slurmrestd accepts no job. */
static void put_environment(struct arena *arena, struct text *out, int version,
                            const struct pairs *environment)
{
    const bool typed = version >= REST_TYPED;
    if (typed)
        json_open_list(out, "environment");
    else
        json_open(out, "environment");
    for (size_t i = 0; i < environment->n; i++) {
        const struct pair *one = &environment->items[i];
        if (typed)
            json_put_string(
                out, NULL, arena_printf(arena, "%s=%s", one->name, one->value));
        else
            json_put_string(out, one->name, one->value);
    }
    if (typed)
        json_close_list(out);
    else
        json_close(out);
}

static enum ht_status put_job(struct arena *arena, struct text *out,
                              int version, const struct pairs *environment,
                              struct slurm_options options,
                              struct ht_error *err)
{
    enum ht_status status = HT_OK;
    put_environment(arena, out, version, environment);
    for (size_t i = 0; i < options.n && status == HT_OK; i++)
        status = put_option(arena, out, version, &options.items[i], err);
    json_close(out);
    return status;
}

enum ht_status rest_batch(struct arena *arena, int version,
                          const struct slurm_batch *batch,
                          const struct pairs *environment, const char **json,
                          struct ht_error *err)
{
    struct text out = {0};
    const struct slurm_options first = {batch->n_options, batch->options};
    const bool several = batch->n_others > 0;
    json_open(&out, NULL);
    if (version < REST_TYPED)
        json_put_string(&out, "script", batch->script);
    if (several)
        json_open_list(&out, "jobs");
    json_open(&out, several ? NULL : "job");
    if (version >= REST_TYPED)
        json_put_string(&out, "script", batch->script);
    enum ht_status status =
        put_job(arena, &out, version, environment, first, err);
    for (size_t i = 0; i < batch->n_others && status == HT_OK; i++) {
        json_open(&out, NULL);
        status =
            put_job(arena, &out, version, environment, batch->others[i], err);
    }
    if (several)
        json_close_list(&out);
    json_close(&out);
    *json = text_take(&out, arena);
    return status;
}
