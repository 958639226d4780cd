#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "proto/base/number.h"
#include "proto/base/text.h"
#include "runner/slurm/program.h"
#include "runner/slurm/rows.h"
#include "runner/slurm/way.h"

struct way {
    struct program_place place;
};

/* The last line that has something, in the arena: Slurm's own words. */
static const char *last_line(struct arena *arena, const char *output)
{
    size_t len = strlen(output);
    while (len > 0 && isspace((unsigned char)output[len - 1]))
        len--;
    size_t begin = len;
    while (begin > 0 && output[begin - 1] != '\n')
        begin--;
    return arena_strndup(arena, output + begin, len - begin);
}

/* Slurm's words that say nothing about the request itself. */
static bool is_silence(const char *output)
{
    static const char *const words[] = {"Unable to contact",
                                        "Socket timed out",
                                        "Zero Bytes",
                                        "Unexpected message",
                                        "connection failure",
                                        "Connection refused",
                                        "Unable to establish",
                                        "Communication",
                                        "Resource temporarily unavailable"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcasestr(output, words[i]) != NULL)
            return true;
    return false;
}

/* Of a program that ended with another code than 0. */
static enum ht_status refuse(struct arena *arena, const char *program,
                             const char *output, int code, struct ht_error *err)
{
    const char *words = last_line(arena, output);
    const bool silent = code > 128 || is_silence(output);
    return ht_fail(err, silent ? HT_UNAVAILABLE : HT_PRECONDITION, "%s: %s",
                   program, words[0] != '\0' ? words : "it failed");
}

/* Runs a program that answers with code 0. */
static enum ht_status ask(struct way *way, const char *const argv[],
                          const char *input, struct arena *arena,
                          const char **output, struct ht_error *err)
{
    int code = 0;
    const enum ht_status status =
        program_run(&way->place, argv, input, arena, output, &code, err);
    if (status != HT_OK || code == 0)
        return status;
    return refuse(arena, argv[0], *output, code, err);
}

/* ---- submit ---- */

/* "12" or "12;cluster" on the last line; warnings come before. */
static bool read_job(struct arena *arena, const char *output, int64_t *job)
{
    const char *line = last_line(arena, output);
    return number_int64(arena_strndup(arena, line, strcspn(line, ";")), job) &&
           *job > 0;
}

static enum ht_status submit(struct way *way, const struct slurm_batch *batch,
                             int64_t *job, struct ht_error *err)
{
    static const char *const argv[] = {"sbatch", "--parsable", NULL};
    struct arena *arena = arena_new();
    const char *output = NULL;
    enum ht_status status =
        ask(way, argv, slurm_script(arena, batch), arena, &output, err);
    if (status == HT_OK && !read_job(arena, output, job))
        status = ht_fail(err, HT_UNAVAILABLE, "sbatch named no job: %s",
                         last_line(arena, output));
    arena_free(arena);
    return status;
}

static enum ht_status test(struct way *way, const struct slurm_batch *batch,
                           struct arena *arena, const char **words,
                           struct ht_error *err)
{
    static const char *const argv[] = {"sbatch", "--test-only", NULL};
    const char *output = NULL;
    const enum ht_status status =
        ask(way, argv, slurm_script(arena, batch), arena, &output, err);
    if (status == HT_OK)
        *words = last_line(arena, output);
    return status;
}

/* ---- list ---- */

/* Not --json, which 20.11 lacks. Each element is a row of its own (-r), since
 * squeue shortens lists of them. A field is cut to its width; the name is last,
 * as it alone may have our separator. */
static enum ht_status list(struct way *way, const char *prefix,
                           struct arena *arena, struct slurm_rows *rows,
                           struct ht_error *err)
{
    static const char *const argv[] = {"env",    "SLURM_TIME_FORMAT=%s",
                                       "squeue", "-h",
                                       "-r",     "--me",
                                       "-t",     "all",
                                       "-O",     ROWS_FORMAT,
                                       NULL};
    struct arena *work = arena_new();
    const char *output = NULL;
    int code = 0;
    enum ht_status status =
        program_run(&way->place, argv, NULL, work, &output, &code, err);
    /* A wrong or partial listing would end elements that run. */
    if (status == HT_OK && code != 0)
        status =
            ht_fail(err, HT_UNAVAILABLE, "squeue: %s", last_line(work, output));
    if (status == HT_OK)
        rows_read(arena, output, prefix, rows);
    arena_free(work);
    return status;
}

/* ---- cancel ---- */

static bool is_gone(const char *output)
{
    return strcasestr(output, "Invalid job id") != NULL ||
           strcasestr(output, "already completing or completed") != NULL;
}

static enum ht_status cancel(struct way *way, int64_t job, int first, int last,
                             bool waiting, struct ht_error *err)
{
    struct arena *arena = arena_new();
    const char *elements =
        arena_printf(arena, "%" PRId64 "_[%d-%d]", job, first, last);
    const char *const all[] = {"scancel", elements, NULL};
    const char *const those[] = {"scancel", "--state=PENDING", elements, NULL};
    const char *output = NULL;
    int code = 0;
    enum ht_status status = program_run(&way->place, waiting ? those : all,
                                        NULL, arena, &output, &code, err);
    if (status == HT_OK && code != 0 && !is_gone(output))
        status = refuse(arena, "scancel", output, code, err);
    arena_free(arena);
    return status;
}

/* ---- limits ---- */

/* The value of "KEY=VALUE" in a line of scontrol -o; "" when it is absent. */
static const char *find_value(struct arena *arena, const char *line, size_t len,
                              const char *key)
{
    const size_t key_len = strlen(key);
    for (size_t i = 0; i + key_len < len; i++) {
        const bool begins = i == 0 || line[i - 1] == ' ';
        if (begins && strncmp(line + i, key, key_len) == 0 &&
            line[i + key_len] == '=') {
            const char *value = line + i + key_len + 1;
            return arena_strndup(arena, value, strcspn(value, " \n"));
        }
    }
    return "";
}

/* "MaxArraySize            = 10001" in the text of `scontrol show config`. */
static const char *find_setting(struct arena *arena, const char *config,
                                const char *key)
{
    const size_t len = strlen(key);
    for (const char *line = config; line != NULL && *line != '\0';) {
        if (strncmp(line, key, len) == 0 && line[len] == ' ') {
            const char *value = line + len + strspn(line + len, " =");
            return arena_strndup(arena, value, strcspn(value, " \n"));
        }
        line = strchr(line, '\n');
        line += line != NULL;
    }
    return "";
}

static struct slurm_partition read_partition(struct arena *arena,
                                             const char *line, size_t len)
{
    const int64_t usual =
        way_limit_ms(find_value(arena, line, len, "DefaultTime"));
    const int64_t most = way_limit_ms(find_value(arena, line, len, "MaxTime"));
    return (struct slurm_partition){
        .name = find_value(arena, line, len, "PartitionName"),
        .is_default =
            strcmp(find_value(arena, line, len, "Default"), "YES") == 0,
        .is_up = strcmp(find_value(arena, line, len, "State"), "UP") == 0,
        .default_ms = usual > 0 ? usual : 0,
        .most_ms = most > 0 ? most : 0,
    };
}

static void read_partitions(struct arena *arena, const char *text,
                            struct slurm_limits *limits)
{
    struct slurm_partition *items = NULL;
    while (*text != '\0') {
        const size_t len = strcspn(text, "\n");
        const struct slurm_partition one = read_partition(arena, text, len);
        if (one.name[0] != '\0') {
            items =
                arena_grow(arena, items, limits->n_partitions, sizeof *items);
            items[limits->n_partitions++] = one;
        }
        text += len + (text[len] == '\n');
    }
    limits->partitions = items;
}

static void read_reservations(struct arena *arena, const char *text,
                              struct slurm_limits *limits)
{
    const char **items = NULL;
    while (*text != '\0') {
        const size_t len = strcspn(text, "\n");
        const char *name = find_value(arena, text, len, "ReservationName");
        if (name[0] != '\0') {
            items =
                arena_grow(arena, items, limits->n_reservations, sizeof *items);
            items[limits->n_reservations++] = name;
        }
        text += len + (text[len] == '\n');
    }
    limits->reservations = items;
}

static enum ht_status limits(struct way *way, struct arena *arena,
                             struct slurm_limits *limits, struct ht_error *err)
{
    static const char *const config[] = {"scontrol", "show", "config", NULL};
    static const char *const partitions[] = {"scontrol", "-o", "show",
                                             "partition", NULL};
    static const char *const reservations[] = {"scontrol", "-o", "show",
                                               "reservation", NULL};
    struct slurm_limits found = {0};
    const char *output = NULL;
    int64_t most = 0;
    enum ht_status status = ask(way, config, NULL, arena, &output, err);
    if (status != HT_OK)
        return status;
    found.version = find_setting(arena, output, "SLURM_VERSION");
    if (number_int64(find_setting(arena, output, "MaxArraySize"), &most) &&
        most > 0 && most < INT32_MAX)
        found.most_array = (int)most;
    status = ask(way, partitions, NULL, arena, &output, err);
    if (status != HT_OK)
        return status;
    read_partitions(arena, output, &found);
    status = ask(way, reservations, NULL, arena, &output, err);
    if (status != HT_OK)
        return status;
    read_reservations(arena, output, &found);
    *limits = found;
    return HT_OK;
}

static void close_way(struct way *way)
{
    (void)way; /* jobs and the master of ssh are not ours to end */
}

void commands_open(struct slurm *slurm, const char *ssh, const char *socket)
{
    static const struct way_functions functions = {
        .close = close_way,
        .submit = submit,
        .test = test,
        .list = list,
        .cancel = cancel,
        .limits = limits,
    };
    struct way *way = arena_alloc(slurm->arena, 1, sizeof *way);
    if (ssh != NULL)
        way->place = (struct program_place){
            .ssh = arena_strdup(slurm->arena, ssh), .socket = socket};
    slurm->functions = &functions;
    slurm->way = way;
    slurm->name =
        ssh != NULL ? arena_printf(slurm->arena, "ssh to %s", ssh) : "commands";
}
