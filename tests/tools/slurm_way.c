/* slurm_way.c - the interface runner/slurm/slurm.h from the command line.
 *
 *     slurm_way [rest=URL] [token=FILE] [ssh=HOST] [folder=FOLDER] COMMAND
 *
 *     way
 *     submit NAME FOLDER ELEMENTS SCRIPT [OPTION[=VALUE]...]
 *     test NAME FOLDER ELEMENTS SCRIPT [OPTION[=VALUE]...]
 *     list PREFIX
 *     cancel JOB FIRST LAST [waiting]
 *     limits
 *
 * SCRIPT is the text itself; a row that is cut has + behind its last element.
 * Prints lines of words; a failure is its google.rpc
 * name and its words at stderr, and code 1. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <curl/curl.h>

#include "runner/slurm/slurm.h"

enum { MOST_OPTIONS = 32, USAGE = 2 };

static const char *const states[] = {
    "PENDING",   "RUNNING",  "ENDING",   "COMPLETED",     "FAILED",
    "CANCELLED", "TIMEOUT",  "DEADLINE", "OUT_OF_MEMORY", "NODE_FAIL",
    "PREEMPTED", "REQUEUED", "HELD",     "UNKNOWN"};

static void add(struct slurm_option options[], size_t *n, const char *name,
                const char *value)
{
    options[*n] = (struct slurm_option){name, value};
    ++*n;
}

/* NAME FOLDER ELEMENTS SCRIPT [OPTION[=VALUE]...] */
static enum ht_status send_batch(struct slurm *slurm, struct arena *arena,
                                 bool test, char **words, struct ht_error *err)
{
    struct slurm_option options[MOST_OPTIONS + 4];
    struct slurm_batch batch = {.name = words[0],
                                .folder = words[1],
                                .elements = (int)strtol(words[2], NULL, 10),
                                .script = words[3],
                                .tasks = 1,
                                .options = options};
    size_t *n = &batch.n_options;
    add(options, n, "job-name", batch.name);
    add(options, n, "array", arena_printf(arena, "0-%d", batch.elements - 1));
    add(options, n, "chdir", batch.folder);
    add(options, n, "output", arena_printf(arena, "%s/%%a.out", batch.folder));
    for (words += 4; *words != NULL && *n < MOST_OPTIONS; words++) {
        char *equals = strchr(*words, '=');
        if (equals != NULL)
            *equals = '\0';
        add(options, n, *words, equals != NULL ? equals + 1 : NULL);
    }
    int64_t job = 0;
    const char *said = "";
    const enum ht_status status =
        test ? slurm_test(slurm, &batch, arena, &said, err)
             : slurm_submit(slurm, &batch, &job, err);
    if (status == HT_OK && test)
        printf("%s\n", said);
    else if (status == HT_OK)
        printf("%lld\n", (long long)job);
    return status;
}

static enum ht_status list(struct slurm *slurm, struct arena *arena,
                           const char *prefix, struct ht_error *err)
{
    struct slurm_rows rows = {0};
    const enum ht_status status = slurm_list(slurm, prefix, arena, &rows, err);
    for (size_t i = 0; i < rows.n; i++) {
        const struct slurm_row *row = &rows.rows[i];
        printf("%lld|%d|%d%s|%s|%s|%s|%lld|%d|%d|%s\n", (long long)row->job,
               row->first, row->last, row->cut ? "+" : "", states[row->state],
               row->reason, row->nodes, (long long)row->end_ms, row->exit,
               row->signal, row->name);
    }
    return status;
}

static enum ht_status limits(struct slurm *slurm, struct arena *arena,
                             struct ht_error *err)
{
    struct slurm_limits all = {0};
    const enum ht_status status = slurm_limits(slurm, arena, &all, err);
    if (status != HT_OK)
        return status;
    printf("version %s\nmost_array %d\n", all.version, all.most_array);
    for (size_t i = 0; i < all.n_partitions; i++) {
        const struct slurm_partition *one = &all.partitions[i];
        printf("partition %s %d %d %lld %lld\n", one->name, one->is_default,
               one->is_up, (long long)one->default_ms, (long long)one->most_ms);
    }
    for (size_t i = 0; i < all.n_reservations; i++)
        printf("reservation %s\n", all.reservations[i]);
    return HT_OK;
}

static enum ht_status cancel(struct slurm *slurm, int n, char **words,
                             struct ht_error *err)
{
    return slurm_cancel(slurm, strtoll(words[0], NULL, 10),
                        (int)strtol(words[1], NULL, 10),
                        (int)strtol(words[2], NULL, 10), n == 4, err);
}

/* -1: no such command. */
static int order(struct slurm *slurm, struct arena *arena, int n, char **words,
                 struct ht_error *err)
{
    const char *verb = words[0];
    const bool test = strcmp(verb, "test") == 0;
    if ((test || strcmp(verb, "submit") == 0) && n >= 5)
        return (int)send_batch(slurm, arena, test, words + 1, err);
    if (strcmp(verb, "list") == 0 && n == 2)
        return (int)list(slurm, arena, words[1], err);
    if (strcmp(verb, "cancel") == 0 && (n == 4 || n == 5))
        return (int)cancel(slurm, n - 1, words + 1, err);
    if (strcmp(verb, "limits") == 0 && n == 1)
        return (int)limits(slurm, arena, err);
    if (strcmp(verb, "way") != 0 || n != 1)
        return -1;
    printf("%s\n", slurm_way(slurm));
    return HT_OK;
}

/* Takes NAME=VALUE at the beginning; false: another word. */
static bool take_setting(struct slurm_settings *settings, const char *word)
{
    const struct {
        const char *name;
        const char **value;
    } all[] = {{"rest=", &settings->rest},
               {"token=", &settings->token_file},
               {"ssh=", &settings->ssh},
               {"folder=", &settings->folder}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        const size_t len = strlen(all[i].name);
        if (strncmp(word, all[i].name, len) == 0) {
            *all[i].value = word + len;
            return true;
        }
    }
    return false;
}

int main(int argc, char **argv)
{
    struct ht_error err;
    struct slurm_settings settings = {0};
    struct slurm *slurm = NULL;
    int first = 1;
    while (first < argc && take_setting(&settings, argv[first]))
        first++;
    if (first == argc)
        return USAGE;
    curl_global_init(CURL_GLOBAL_DEFAULT);
    struct arena *arena = arena_new();
    int code = (int)slurm_open(&settings, &slurm, &err);
    if (code == HT_OK)
        code = order(slurm, arena, argc - first, argv + first, &err);
    if (code > HT_OK)
        (void)fprintf(stderr, "%s %s\n", ht_status_rpc(err.status), err.text);
    slurm_close(slurm);
    arena_free(arena);
    curl_global_cleanup();
    if (code < 0)
        return USAGE;
    return code == HT_OK ? 0 : 1;
}
