/* slurm_way.c - a way to Slurm from the command line.
 *
 *     slurm_way REST TOKEN_FILE SSH FOLDER submit|test NAME ELEMENTS
 * [OPTION=VALUE...] slurm_way ... list PREFIX slurm_way ...
 * cancel|cancel-waiting JOB FIRST LAST slurm_way ... limits
 *
 * The first four may be "". A submitted script runs the file `work` of FOLDER,
 * with the element's number as its argument. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <curl/curl.h>

#include "proto/doc/json.h"
#include "runner/slurm/slurm.h"

static const char *or_null(const char *word)
{
    return word[0] != '\0' ? word : NULL;
}

static struct slurm_batch make_batch(struct arena *arena, char **argv)
{
    const int elements = (int)strtol(argv[7], NULL, 10);
    struct slurm_option *options = arena_alloc(arena, 32, sizeof *options);
    size_t n = 0;
    options[n++] = (struct slurm_option){"job-name", argv[6]};
    options[n++] = (struct slurm_option){
        "array", arena_printf(arena, "0-%d", elements - 1)};
    options[n++] = (struct slurm_option){"chdir", argv[4]};
    options[n++] = (struct slurm_option){
        "output", arena_printf(arena, "%s/%%a.out", argv[4])};
    options[n++] = (struct slurm_option){"signal", "B:USR1@60"};
    options[n++] = (struct slurm_option){"no-requeue", NULL};
    for (char **word = argv + 8; *word != NULL && n < 32; word++) {
        char *value = strchr(*word, '=');
        if (value != NULL)
            *value++ = '\0';
        options[n++] = (struct slurm_option){*word, value};
    }
    return (struct slurm_batch){
        .name = argv[6],
        .script = "#!/bin/sh\nexec ./work \"$SLURM_ARRAY_TASK_ID\"\n",
        .folder = argv[4],
        .elements = elements,
        .tasks = 1,
        .n_options = n,
        .options = options};
}

static enum ht_status list(struct slurm *slurm, struct arena *arena,
                           const char *prefix, struct ht_error *err)
{
    struct slurm_rows rows;
    const enum ht_status status = slurm_list(slurm, prefix, arena, &rows, err);
    for (size_t i = 0; status == HT_OK && i < rows.n; i++) {
        const struct slurm_row *row = &rows.rows[i];
        printf("%lld|%d|%d|%s|%d|%s|%s|%lld|%d|%d\n", (long long)row->job,
               row->first, row->last, row->name, (int)row->state, row->reason,
               row->nodes, (long long)row->end_ms, row->exit, row->signal);
    }
    return status;
}

static enum ht_status show_limits(struct slurm *slurm, struct arena *arena,
                                  struct ht_error *err)
{
    struct slurm_limits limits;
    const enum ht_status status = slurm_limits(slurm, arena, &limits, err);
    if (status != HT_OK)
        return status;
    printf("%s|%d|%zu\n", limits.version, limits.most_array,
           limits.n_reservations);
    for (size_t i = 0; i < limits.n_partitions; i++) {
        const struct slurm_partition *one = &limits.partitions[i];
        printf("%s|%d|%d|%lld|%lld\n", one->name, one->is_default, one->is_up,
               (long long)one->default_ms, (long long)one->most_ms);
    }
    return HT_OK;
}

static enum ht_status run(struct slurm *slurm, struct arena *arena, char **argv,
                          struct ht_error *err)
{
    const char *verb = argv[5], *words = "";
    int64_t job = 0;
    enum ht_status status = HT_OK;
    if (strcmp(verb, "limits") == 0)
        return show_limits(slurm, arena, err);
    if (strcmp(verb, "list") == 0)
        return list(slurm, arena, argv[6], err);
    if (strncmp(verb, "cancel", 6) == 0)
        return slurm_cancel(slurm, strtoll(argv[6], NULL, 10),
                            (int)strtol(argv[7], NULL, 10),
                            (int)strtol(argv[8], NULL, 10),
                            strcmp(verb, "cancel-waiting") == 0, err);
    const struct slurm_batch batch = make_batch(arena, argv);
    if (strcmp(verb, "test") == 0) {
        status = slurm_test(slurm, &batch, arena, &words, err);
        printf("%s\n", words);
    } else {
        status = slurm_submit(slurm, &batch, &job, err);
        printf("%lld\n", (long long)job);
    }
    return status;
}

/* Exit code: 1 plus the status. */
int main(int argc, char **argv)
{
    struct ht_error err = {.text = ""};
    struct slurm *slurm = NULL;
    if (argc < 6)
        return 2;
    json_init();
    curl_global_init(CURL_GLOBAL_DEFAULT);
    struct arena *arena = arena_new();
    const struct slurm_settings settings = {.rest = or_null(argv[1]),
                                            .token_file = or_null(argv[2]),
                                            .ssh = or_null(argv[3]),
                                            .folder = or_null(argv[4])};
    enum ht_status status = slurm_open(&settings, &slurm, &err);
    if (status == HT_OK)
        status = run(slurm, arena, argv, &err);
    if (status != HT_OK)
        (void)fprintf(stderr, "%s %s\n", ht_status_rpc(status), err.text);
    slurm_close(slurm);
    arena_free(arena);
    curl_global_cleanup();
    return status == HT_OK ? 0 : 1;
}
