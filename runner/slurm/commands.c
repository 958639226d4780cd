/* commands.c - the way of Slurm's commands, here or over ssh: slurm.h. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "proto/base/clock.h"
#include "proto/net/ssh_control.h"
#include "runner/slurm/call.h"
#include "runner/slurm/listing.h"
#include "runner/slurm/way.h"

struct commands {
    struct arena *arena; /* of what lasts */
    struct call_place place;
    const char *name;
};

static int64_t deadline(void)
{
    return clock_monotonic_ms() + SLURM_PATIENCE_MS;
}

/* A question, which fails for no reason but that Slurm is away. */
static enum ht_status ask(const struct commands *commands, struct arena *arena,
                          const char *const argv[], int64_t until_ms,
                          const char **output, struct ht_error *err)
{
    const struct call call = {.argv = argv, .until_ms = until_ms};
    struct call_answer answer;
    const enum ht_status status =
        call_run(arena, &commands->place, &call, &answer, err);
    if (status != HT_OK)
        return status;
    if (answer.exit != 0)
        return ht_fail(err, HT_UNAVAILABLE, "Slurm does not answer: %s",
                       listing_words(arena, answer.errors));
    *output = answer.output;
    return HT_OK;
}

/* ---- opening ---- */

static void commands_close(void *state)
{
    struct commands *commands = state;
    if (commands == NULL)
        return;
    if (commands->place.abort >= 0)
        close(commands->place.abort);
    arena_free(commands->arena);
    free(commands);
}

static void commands_abort(void *state)
{
    const struct commands *commands = state;
    (void)eventfd_write(commands->place.abort, 1);
}

static enum ht_status set_place(struct commands *commands,
                                const struct slurm_settings *settings,
                                struct ht_error *err)
{
    commands->name = "commands";
    if (settings->ssh == NULL)
        return HT_OK;
    commands->place.ssh = arena_strdup(commands->arena, settings->ssh);
    commands->name =
        arena_printf(commands->arena, "ssh to %s", commands->place.ssh);
    return ssh_control_path(commands->arena, settings->folder, settings->ssh,
                            &commands->place.control, err);
}

static enum ht_status commands_open(const struct slurm_settings *settings,
                                    void **state, struct ht_error *err)
{
    static const char *const version[] = {"env", "squeue", "--version", NULL};
    struct commands *commands = ht_xcalloc(1, sizeof *commands);
    const char *output;
    commands->arena = arena_new();
    commands->place.abort = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    enum ht_status status =
        commands->place.abort < 0
            ? ht_fail_errno(err, errno, "cannot make an eventfd")
            : set_place(commands, settings, err);
    if (status == HT_OK)
        status =
            ask(commands, commands->arena, version, deadline(), &output, err);
    if (status != HT_OK) {
        commands_close(commands);
        return status;
    }
    *state = commands;
    return HT_OK;
}

static const char *commands_name(const void *state)
{
    return ((const struct commands *)state)->name;
}

/* ---- submitting ---- */

static enum ht_status send_batch(struct commands *commands, struct arena *arena,
                                 const char *option,
                                 const struct slurm_batch *batch,
                                 struct call_answer *answer,
                                 struct ht_error *err)
{
    const char *const argv[] = {"env", "sbatch", option, NULL};
    const struct call call = {.argv = argv,
                              .input = slurm_script(arena, batch),
                              .until_ms = deadline()};
    const enum ht_status status =
        call_run(arena, &commands->place, &call, answer, err);
    if (status != HT_OK || answer->exit == 0)
        return status;
    const char *words = listing_words(arena, answer->errors);
    if (listing_is_refusal(answer->errors))
        return ht_fail(err, HT_PRECONDITION, "Slurm refuses the job: %s",
                       words);
    return ht_fail(err, HT_UNAVAILABLE, "Slurm does not answer: %s",
                   *words != '\0' ? words : "sbatch failed without a word");
}

static enum ht_status commands_submit(void *state,
                                      const struct slurm_batch *batch,
                                      int64_t *job, struct ht_error *err)
{
    struct arena *arena = arena_new();
    struct call_answer answer;
    enum ht_status status =
        send_batch(state, arena, "--parsable", batch, &answer, err);
    if (status == HT_OK) {
        /* "12", or "12;cluster" */
        char *end;
        errno = 0;
        const long long id = strtoll(answer.output, &end, 10);
        if (errno != 0 || id < 1 || strchr("; \n", *end) == NULL)
            status = ht_fail(err, HT_UNAVAILABLE,
                             "sbatch did not answer with the job's id");
        else
            *job = id;
    }
    arena_free(arena);
    return status;
}

static enum ht_status commands_test(void *state,
                                    const struct slurm_batch *batch,
                                    struct arena *arena, const char **words,
                                    struct ht_error *err)
{
    struct call_answer answer;
    const enum ht_status status =
        send_batch(state, arena, "--test-only", batch, &answer, err);
    if (status == HT_OK)
        *words = listing_words(arena, answer.errors);
    return status;
}

/* ---- the rest ---- */

static enum ht_status commands_list(void *state, const char *prefix,
                                    struct arena *arena,
                                    struct slurm_rows *rows,
                                    struct ht_error *err)
{
    static const char *const argv[] = {"env",
                                       "SLURM_TIME_FORMAT=%s",
                                       "SLURM_BITSTR_LEN=0",
                                       "squeue",
                                       "-h",
                                       "-a",
                                       "--me",
                                       "-t",
                                       "all",
                                       "-o",
                                       LISTING_FORMAT,
                                       NULL};
    const char *output = NULL;
    const enum ht_status status =
        ask(state, arena, argv, deadline(), &output, err);
    return status == HT_OK ? listing_rows(arena, output, prefix, rows, err)
                           : status;
}

/* Whether each line says that an element is gone. */
static bool are_gone(const char *errors)
{
    static const char *const signs[] = {"Invalid job id", "already complet",
                                        "already finished"};
    while (*errors != '\0') {
        const size_t len = strcspn(errors, "\n");
        bool gone = len == 0;
        for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
            const char *at = strstr(errors, signs[i]);
            gone = gone || (at != NULL && at < errors + len);
        }
        if (!gone)
            return false;
        errors += len + (errors[len] == '\n');
    }
    return true;
}

/* Cancels by the words of scancel behind its name, ended by NULL. */
static enum ht_status cancel_words(struct commands *commands,
                                   struct arena *arena,
                                   const char *const argv[],
                                   struct ht_error *err)
{
    const struct call call = {.argv = argv, .until_ms = deadline()};
    struct call_answer answer;
    const enum ht_status status =
        call_run(arena, &commands->place, &call, &answer, err);
    if (status == HT_OK && answer.exit != 0 && !are_gone(answer.errors))
        return ht_fail(err, HT_UNAVAILABLE, "scancel failed: %s",
                       listing_words(arena, answer.errors));
    return status;
}

/* By what waits now, named exactly: scancel --state=PENDING JOB_[A-B] ends all
 * that waits of the array, and a hold holds all of it (22.05). One that begins
 * within the milliseconds between the two commands is cancelled too. */
static enum ht_status cancel_waiting(struct commands *commands,
                                     struct arena *arena, int64_t job,
                                     int first, int last, struct ht_error *err)
{
    struct slurm_rows rows = {0};
    const enum ht_status status =
        commands_list(commands, "", arena, &rows, err);
    if (status != HT_OK)
        return status;
    size_t n = 2;
    const char **argv = arena_alloc(arena, rows.n + 3, sizeof *argv);
    argv[0] = "env";
    argv[1] = "scancel";
    for (size_t i = 0; i < rows.n; i++) {
        const struct slurm_row *row = &rows.rows[i];
        const int from = row->first > first ? row->first : first;
        const int to = row->last < last ? row->last : last;
        const bool waits =
            row->state == SLURM_PENDING || row->state == SLURM_HELD;
        if (row->job == job && waits && from <= to)
            argv[n++] = listing_elements(arena, job, from, to);
    }
    return n == 2 ? HT_OK : cancel_words(commands, arena, argv, err);
}

static enum ht_status commands_cancel(void *state, int64_t job, int first,
                                      int last, bool waiting,
                                      struct ht_error *err)
{
    struct arena *arena = arena_new();
    const char *const argv[] = {
        "env", "scancel", listing_elements(arena, job, first, last), NULL};
    const enum ht_status status =
        waiting ? cancel_waiting(state, arena, job, first, last, err)
                : cancel_words(state, arena, argv, err);
    arena_free(arena);
    return status;
}

static enum ht_status commands_limits(void *state, struct arena *arena,
                                      struct slurm_limits *limits,
                                      struct ht_error *err)
{
    static const char *const config[] = {"env", "scontrol", "show", "config",
                                         NULL};
    static const char *const partitions[] = {"env",  "scontrol",  "-o",
                                             "show", "partition", NULL};
    static const char *const reservations[] = {"env",  "scontrol",    "-o",
                                               "show", "reservation", NULL};
    const int64_t until_ms = deadline();
    struct slurm_limits found = {0};
    const char *output = NULL;
    enum ht_status status = ask(state, arena, config, until_ms, &output, err);
    if (status == HT_OK)
        status = listing_config(arena, output, &found, err);
    if (status == HT_OK)
        status = ask(state, arena, partitions, until_ms, &output, err);
    if (status != HT_OK)
        return status;
    listing_partitions(arena, output, &found);
    status = ask(state, arena, reservations, until_ms, &output, err);
    if (status != HT_OK)
        return status;
    listing_reservations(arena, output, &found);
    *limits = found;
    return HT_OK;
}

const struct way way_commands = {.open = commands_open,
                                 .close = commands_close,
                                 .abort = commands_abort,
                                 .name = commands_name,
                                 .submit = commands_submit,
                                 .test = commands_test,
                                 .list = commands_list,
                                 .cancel = commands_cancel,
                                 .limits = commands_limits};
