#include "tuner/tracker/tensorboard.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/base/crc32c.h"
#include "proto/base/whole.h"
#include "proto/doc/node.h"
#include "tuner/tracker/tfevents.h"

/* What TensorBoard's HPARAMS page shows of a trial is its result, which is not
 * always its last measurement. */
static const char final[] = "hypertune.final.";

enum { DESCRIPTORS = 8 };

/* A file of events and what the ledger has of it. */
struct log {
    struct arena *arena;
    struct db *ledger;
    struct ledger_run *run;
    const char *folder; /* of this trial or study */
    int64_t made_ms;    /* for its name */
};

static const char *path_of(const struct log *log)
{
    return arena_printf(log->arena,
                        "%s/events.out.tfevents.%010lld.hypertune.%lld",
                        log->folder, (long long)(log->made_ms / 1000),
                        (long long)log->run->file);
}

/* --- folders --- */

/* As a name of a file: a study's name may have a "/". */
static const char *folder_name(struct arena *arena, const struct study_row *row)
{
    char *name = arena_printf(arena, "%lld-%s", (long long)row->id, row->name);
    for (char *at = name; *at != '\0'; at++)
        if (*at == '/')
            *at = '_';
    return name;
}

static enum ht_status make_folder(const char *path, struct ht_error *err)
{
    return mkdir(path, 0755) == 0 || errno == EEXIST
               ? HT_OK
               : ht_fail_errno(err, errno, "cannot make %s", path);
}

static int remove_one(const char *path, const struct stat *info, int kind,
                      struct FTW *place)
{
    (void)info, (void)kind, (void)place;
    return remove(path) == 0 || errno == ENOENT ? 0 : -1;
}

static enum ht_status remove_folder(const char *path, struct ht_error *err)
{
    return nftw(path, remove_one, DESCRIPTORS, FTW_DEPTH | FTW_PHYS) == 0 ||
                   errno == ENOENT
               ? HT_OK
               : ht_fail_errno(err, errno, "cannot remove %s", path);
}

/* --- files --- */

/* TensorBoard keeps the first that it reads of some records, so what changed
 * is written to another file. */
static enum ht_status start_again(const struct log *log, struct ht_error *err)
{
    struct ledger_run *run = log->run;
    if (run->file > 0)
        unlink(path_of(log));
    run->file++;
    run->bytes = 0;
    run->shown = "";
    return ledger_drop_sent(log->ledger, run->study, run->trial, 0, err);
}

static enum ht_status write_all(int fd, int64_t at, const struct text *events,
                                struct ht_error *err)
{
    if (ftruncate(fd, at) != 0)
        return ht_fail_errno(err, errno, "cannot cut it");
    const bool written =
        whole_write_at(fd, events->data, events->len, at) && fdatasync(fd) == 0;
    return written ? HT_OK : ht_fail_errno(err, errno, "cannot write");
}

/* Whether all that counts of the file is there. */
static bool is_whole(const struct log *log)
{
    struct stat info;
    return log->run->file > 0 &&
           (log->run->bytes == 0 ||
            (lstat(path_of(log), &info) == 0 && S_ISREG(info.st_mode) &&
             info.st_size >= log->run->bytes));
}

static enum ht_status append(const struct log *log, const struct text *events,
                             struct ht_error *err)
{
    const char *path = path_of(log);
    const int fd =
        open(path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0644);
    if (fd < 0)
        return ht_fail_errno(err, errno, "cannot open %s", path);
    const enum ht_status status = write_all(fd, log->run->bytes, events, err);
    close(fd);
    return status == HT_OK ? status : ht_wrap(err, status, "%s", path);
}

/* Appends, and notes that in the ledger: after a kill in between, the file is
 * cut to what the ledger has and written again. */
static enum ht_status write_events(const struct log *log,
                                   const struct text *events,
                                   const struct measurement_list *records,
                                   struct ht_error *err)
{
    struct ledger_run *run = log->run;
    if (events->len == 0)
        return HT_OK;
    enum ht_status status = append(log, events, err);
    if (status != HT_OK)
        return status;
    run->bytes += (int64_t)events->len;
    run->batch = run->trying = 1;
    status = db_begin(log->ledger, err);
    for (size_t i = 0; status == HT_OK && records != NULL && i < records->n;
         i++)
        status = ledger_add_sent(log->ledger, &records->rows[i], 1, err);
    if (status == HT_OK)
        status = ledger_save(log->ledger, run, err);
    return db_end(log->ledger, status, err);
}

/* --- the study --- */

static const char *home(void *self, struct arena *arena,
                        const struct study_row *study, const struct job *job)
{
    (void)self, (void)arena, (void)study;
    return job->trackers.tensorboard ? "tensorboard" : NULL;
}

static enum ht_status begin(void *self, struct tracked_study *study,
                            struct ht_error *err)
{
    const struct tensorboard *board = self;
    struct ledger_run *run = &study->run;
    struct text events = {0};
    const int64_t made_ms = study->row.created_ms;
    run->place = folder_name(study->arena, &study->row);
    const struct log log = {.arena = study->arena,
                            .ledger = study->ledger,
                            .run = run,
                            .folder = arena_printf(study->arena, "%s/%s",
                                                   board->folder, run->place),
                            .made_ms = made_ms};
    tfevents_version(&events, made_ms);
    tfevents_experiment(&events, made_ms, study->row.name, study->job, final);
    const char *shown =
        arena_printf(study->arena, "%08x", crc32c(0, events.data, events.len));
    enum ht_status status = make_folder(board->folder, err);
    if (status == HT_OK)
        status = make_folder(log.folder, err);
    /* The space of a study may change. */
    if (status == HT_OK &&
        (!is_whole(&log) || strcmp(run->shown, shown) != 0)) {
        status = start_again(&log, err);
        run->shown = shown;
        if (status == HT_OK)
            status = write_events(&log, &events, NULL, err);
    }
    text_free(&events);
    return status;
}

static enum ht_status finish(void *self, struct tracked_study *study,
                             struct ht_error *err)
{
    (void)self, (void)study, (void)err;
    return HT_OK;
}

static enum ht_status forget(void *self, struct db *ledger, int64_t study,
                             struct ht_error *err)
{
    const struct tensorboard *board = self;
    struct arena *arena = arena_new();
    struct ledger_run run;
    enum ht_status status = ledger_run(ledger, arena, study, 0, &run, err);
    if (status == HT_OK && run.place[0] != '\0')
        status = remove_folder(
            arena_printf(arena, "%s/%s", board->folder, run.place), err);
    arena_free(arena);
    return status;
}

/* --- a trial --- */

/* The members of a map of metrics, as we store it. */
static void add_metrics(struct arena *arena, const char *prefix,
                        const char *json, struct tfevents_scalar at,
                        struct text *events)
{
    const struct node *map = node_read_stored(arena, json);
    for (const struct node *one = node_items(map); one; one = one->next)
        if (node_double(one, &at.value) ||
            node_special_double(one, &at.value)) {
            at.tag = arena_printf(arena, "%s%s", prefix, one->key);
            tfevents_scalar(events, &at);
        }
}

static void add_end(struct arena *arena, const struct trial_row *row,
                    struct text *events)
{
    const struct tfevents_scalar at = {.wall_ms = row->ended_ms,
                                       .step = row->final_step};
    if (row->final_metrics != NULL)
        add_metrics(arena, final, row->final_metrics, at, events);
    tfevents_session_end(events, row->ended_ms,
                         row->state == TRIAL_SUCCEEDED ||
                             row->state == TRIAL_STOPPED);
}

static enum ht_status add_trial(const struct log *log,
                                const struct tracked_trial *trial,
                                const char *shown, struct ht_error *err)
{
    const struct trial_row *row = trial->row;
    const struct measurement_list *records = &trial->records;
    struct text events = {0};
    if (log->run->bytes == 0) {
        const int64_t begun_ms =
            row->started_ms > 0 ? row->started_ms : row->created_ms;
        tfevents_version(&events, begun_ms);
        tfevents_session_start(&events, begun_ms,
                               node_read_stored(log->arena, row->params));
    }
    for (size_t i = 0; i < records->n; i++)
        add_metrics(
            log->arena, "", records->rows[i].metrics,
            (struct tfevents_scalar){.wall_ms = records->rows[i].time_ms,
                                     .step = records->rows[i].step},
            &events);
    if (shown[0] != '\0' && log->run->shown[0] == '\0')
        add_end(log->arena, row, &events);
    log->run->shown = shown;
    const enum ht_status status = write_events(log, &events, records, err);
    text_free(&events);
    return status;
}

static enum ht_status show_trial(void *self, struct tracked_study *study,
                                 struct tracked_trial *trial,
                                 struct ht_error *err)
{
    const struct tensorboard *board = self;
    const struct trial_row *row = trial->row;
    const struct log log = {
        .arena = trial->arena,
        .ledger = study->ledger,
        .run = &trial->run,
        .folder = arena_printf(trial->arena, "%s/%s/trial-%lld", board->folder,
                               study->run.place, (long long)trial->run.trial),
        .made_ms = row != NULL ? row->created_ms : 0};
    if (row == NULL)
        return remove_folder(log.folder, err);
    /* How it ended; a trial that runs again has not. */
    const char *shown =
        db_trial_state_is_final(row->state)
            ? arena_printf(trial->arena, "%s %s",
                           db_trial_state_name(row->state),
                           row->final_metrics != NULL ? row->final_metrics : "")
            : "";
    enum ht_status status = make_folder(log.folder, err);
    if (status == HT_OK &&
        (!is_whole(&log) ||
         (trial->run.shown[0] != '\0' && strcmp(trial->run.shown, shown) != 0)))
        status = start_again(&log, err);
    if (status == HT_OK)
        status = ledger_unsent(study->ledger, &trial->records, err);
    return status == HT_OK ? add_trial(&log, trial, shown, err) : status;
}

const struct tracker tensorboard_tracker = {.file = "tensorboard.db",
                                            .home = home,
                                            .begin = begin,
                                            .trial = show_trial,
                                            .finish = finish,
                                            .forget = forget};
