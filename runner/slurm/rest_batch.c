#include "runner/slurm/rest_batch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/number.h"
#include "proto/base/text.h"
#include "proto/doc/json.h"
#include "runner/slurm/way.h"

enum kind {
    TEXT,
    NUMBER,
    MINUTES, /* a limit of time */
    MIB,     /* "2G", "100M", a bare number of MiB */
    NODES,   /* a number, which v0.0.38 has as text */
    TRES,    /* gres: v0.0.38 has its text, later ones a TRES */
    GPUS,    /* a number of GPUs: later versions have a TRES */
    SIGNAL,  /* "B:USR1@60" */
    NO_REQUEUE,
    HOLD,
    EXCLUSIVE,
    WORDS, /* a list; one text for v0.0.38 */
};

/* The one table of options: the member for v0.0.38, and for later versions
 * where that is another; NULL: there is none. */
static const struct member {
    const char *option;
    enum kind kind;
    const char *first, *later;
} members[] = {
    {"account", TEXT, "account", "account"},
    {"array", TEXT, "array", "array"},
    {"chdir", TEXT, "current_working_directory", "current_working_directory"},
    {"comment", TEXT, "comment", "comment"},
    {"constraint", TEXT, "constraints", "constraints"},
    {"cpus-per-task", NUMBER, "cpus_per_task", "cpus_per_task"},
    {"dependency", TEXT, "dependency", "dependency"},
    {"error", TEXT, "standard_error", "standard_error"},
    {"exclude", WORDS, NULL, "excluded_nodes"},
    {"exclusive", EXCLUSIVE, "exclusive", "shared"},
    {"gpus", GPUS, "gpus", "tres_per_job"},
    {"gpus-per-node", GPUS, "gpus_per_node", "tres_per_node"},
    {"gpus-per-task", GPUS, "gpus_per_task", "tres_per_task"},
    {"gres", TRES, "gres", "tres_per_node"},
    {"hold", HOLD, "hold", "hold"},
    {"job-name", TEXT, "name", "name"},
    {"licenses", TEXT, "licenses", "licenses"},
    {"mail-type", WORDS, "mail_type", "mail_type"},
    {"mail-user", TEXT, "mail_user", "mail_user"},
    {"mem", MIB, "memory_per_node", "memory_per_node"},
    {"mem-per-cpu", MIB, "memory_per_cpu", "memory_per_cpu"},
    {"nice", NUMBER, "nice", "nice"},
    {"no-requeue", NO_REQUEUE, "requeue", "requeue"},
    {"nodes", NODES, "nodes", "nodes"},
    {"ntasks", NUMBER, "tasks", "tasks"},
    {"ntasks-per-node", NUMBER, "tasks_per_node", "tasks_per_node"},
    {"output", TEXT, "standard_output", "standard_output"},
    {"partition", TEXT, "partition", "partition"},
    {"prefer", TEXT, "prefer", "prefer"},
    {"qos", TEXT, "qos", "qos"},
    {"reservation", TEXT, "reservation", "reservation"},
    {"signal", SIGNAL, NULL, "kill_warning_signal"},
    {"threads-per-core", NUMBER, "threads_per_core", "threads_per_core"},
    {"time", MINUTES, "time_limit", "time_limit"},
    {"time-min", MINUTES, "time_minimum", "time_minimum"},
    {"wckey", TEXT, "wckey", "wckey"},
};

enum { FIRST_TYPED = 40 }; /* the version from which members have types */

static const struct member *find_member(const char *option)
{
    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        if (strcmp(members[i].option, option) == 0)
            return &members[i];
    return NULL;
}

/* Later versions take {set, number}, and plain numbers too. */
static bool put_number(cJSON *job, const char *name, const char *value)
{
    int64_t number = 0;
    if (!number_int64(value, &number))
        return false;
    json_add_int(job, name, number);
    return true;
}

static bool put_minutes(cJSON *job, const char *name, const char *value)
{
    enum { MINUTE_MS = 60000 };
    const int64_t ms = way_limit_ms(value);
    if (ms <= 0)
        return false;
    json_add_int(job, name, (ms + MINUTE_MS - 1) / MINUTE_MS);
    return true;
}

/* Units of Slurm: K, M, G, T are powers of 1024; without one it is MiB. */
static bool put_mib(cJSON *job, const char *name, const char *value)
{
    char *end = NULL;
    const long long n = strtoll(value, &end, 10);
    if (end == value || n < 0 || n > INT32_MAX)
        return false;
    static const char units[] = "KMGT";
    const char *unit = *end != '\0' ? strchr(units, *end) : units + 1;
    if (unit == NULL || (*end != '\0' && end[1] != '\0'))
        return false;
    const int64_t kib = (int64_t)n << (10 * (unit - units));
    json_add_int(job, name, (kib + 1023) / 1024);
    return true;
}

static void put_words(cJSON *job, const char *name, const char *value,
                      int version)
{
    if (version < FIRST_TYPED) {
        json_add_string(job, name, value);
        return;
    }
    cJSON *list = json_add_array(job, name);
    while (*value != '\0') {
        char word[256];
        const size_t len = strcspn(value, ",");
        (void)snprintf(word, sizeof word, "%.*s", (int)len, value);
        json_push_string(list, word);
        value += len + (value[len] == ',');
    }
}

/* "gpu:a100:2,license:1" is "gres/gpu:a100:2,gres/license:1" as a TRES. */
static void put_tres(cJSON *job, const char *name, const char *prefix,
                     const char *value)
{
    struct text out = {0};
    while (*value != '\0') {
        const size_t len = strcspn(value, ",");
        const bool said = strncmp(value, "gres", 4) == 0;
        text_printf(&out, "%s%s%.*s", out.len > 0 ? "," : "",
                    said ? "" : prefix, (int)len, value);
        value += len + (value[len] == ',');
    }
    json_add_string(job, name, text_string(&out));
    text_free(&out);
}

/* "B:USR1@60" as the members that later versions have for it. */
static bool put_signal(cJSON *job, const char *value)
{
    const bool batch = strncmp(value, "B:", 2) == 0;
    char name[32];
    const char *begin = value + (batch ? 2 : 0);
    const size_t len = strcspn(begin, "@");
    int64_t seconds = 60; /* Slurm's */
    if (len == 0 || len >= sizeof name || strchr(begin, ':') != NULL ||
        (begin[len] == '@' && !number_int64(begin + len + 1, &seconds)))
        return false;
    (void)snprintf(name, sizeof name, "%.*s", (int)len, begin);
    json_add_string(job, "kill_warning_signal", name);
    json_add_int(job, "kill_warning_delay", seconds);
    if (batch)
        json_push_string(json_add_array(job, "kill_warning_flags"),
                         "BATCH_JOB");
    return true;
}

static bool put_exclusive(cJSON *job, const char *name, const char *value,
                          int version)
{
    if (version < FIRST_TYPED)
        json_add_string(job, name, value != NULL ? value : "true");
    else
        json_push_string(json_add_array(job, name),
                         value != NULL ? value : "none");
    return true;
}

/* False: the value is not one of this option. */
static bool put(cJSON *job, const struct member *member, const char *value,
                int version)
{
    const bool typed = version >= FIRST_TYPED;
    const char *name = typed ? member->later : member->first;
    if (member->kind == NO_REQUEUE || member->kind == HOLD) {
        json_add_bool(job, name, member->kind == HOLD);
        return value == NULL;
    }
    if (member->kind == EXCLUSIVE)
        return put_exclusive(job, name, value, version);
    if (value == NULL)
        return false;
    if (member->kind == NUMBER)
        return put_number(job, name, value);
    if (member->kind == MINUTES)
        return put_minutes(job, name, value);
    if (member->kind == MIB)
        return put_mib(job, name, value);
    if (member->kind == SIGNAL) {
        /* v0.0.38 refuses "B:", and without it the signal would go to the
         * trainer's steps. The element's shim has a clock of its own. */
        return !typed || put_signal(job, value);
    }
    if (member->kind == WORDS)
        put_words(job, name, value, version);
    else if ((member->kind == TRES || member->kind == GPUS) && typed)
        put_tres(job, name, member->kind == GPUS ? "gres/gpu:" : "gres/",
                 value);
    else
        json_add_string(job, name, value);
    return true;
}

static enum ht_status put_option(cJSON *job, const struct slurm_option *option,
                                 int version, struct ht_error *err)
{
    const struct member *member = find_member(option->name);
    const bool known =
        member != NULL &&
        ((version < FIRST_TYPED ? member->first : member->later) != NULL ||
         member->kind == SIGNAL);
    if (!known)
        return ht_fail(err, HT_PRECONDITION,
                       "--%s: slurmrestd (v0.0.%d) has nothing for it: use the "
                       "commands of Slurm or leave it out",
                       option->name, version);
    /* The last one counts, as with sbatch. */
    const char *name = version < FIRST_TYPED ? member->first : member->later;
    if (name != NULL)
        cJSON_DeleteItemFromObjectCaseSensitive(job, name);
    if (!put(job, member, option->value, version))
        return ht_fail(
            err, HT_PRECONDITION,
            "--%s=%s: slurmrestd has no such value: use the commands "
            "of Slurm",
            option->name, option->value != NULL ? option->value : "");
    return HT_OK;
}

/* Without an environment slurmrestd answers that it cannot write it. */
static void put_environment(struct arena *arena, cJSON *job, int version,
                            const char *path)
{
    const char *item = arena_printf(arena, "PATH=%s", path);
    if (version < FIRST_TYPED)
        json_add_string(json_add_object(job, "environment"), "PATH", path);
    else
        json_push_string(json_add_array(job, "environment"), item);
}

enum ht_status rest_batch(struct arena *arena, const struct slurm_batch *batch,
                          int version, const char *path, const char **body,
                          struct ht_error *err)
{
    cJSON *root = cJSON_CreateObject();
    json_add_string(root, "script", batch->script);
    cJSON *job = json_add_object(root, "job");
    put_environment(arena, job, version, path);
    for (size_t i = 0; i < batch->n_options; i++) {
        const enum ht_status status =
            put_option(job, &batch->options[i], version, err);
        if (status != HT_OK) {
            cJSON_Delete(root);
            return status;
        }
    }
    *body = json_text(arena, root);
    return HT_OK;
}
