#include "tuner/tracker/mirror.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "proto/base/clock.h"
#include "proto/base/log.h"
#include "proto/base/text.h"
#include "proto/form/form.h"
#include "tuner/base/changed_studies.h"
#include "tuner/db/curve.h"
#include "tuner/search/pareto_trials.h"
#include "tuner/tracker/tracker.h"

enum {
    EVENTS_PAGE = 200,
    STUDIES_PAGE = 100,
    READ_MS = 200, /* between two rounds, so that a burst is one */
    FIRST_MS = 250,
    REFUSED_MS = 2000, /* at most, where only some studies fail */
    LONGEST_MS = 60000
};

struct mirror {
    struct mirror_options with;
    struct changed_studies *changed;
    const char *server_id;
    pthread_t thread;
    bool running;
    pthread_mutex_t lock; /* with the condition, for waking alone */
    pthread_cond_t woken;
    bool noted; /* since the last round; under the lock */

    /* the thread's own */
    struct db *db, *ledger; /* ledger NULL: there is none yet */
    struct tracker_row row;
    int64_t due_ms;  /* no round before; monotonic */
    int64_t refused; /* the study that the last round ended at; 0: none */
};

/* --- waking --- */

static void wake(struct mirror *mirror)
{
    pthread_mutex_lock(&mirror->lock);
    mirror->noted = true;
    pthread_cond_signal(&mirror->woken);
    pthread_mutex_unlock(&mirror->lock);
}

void mirror_note(struct mirror *mirror, int64_t study)
{
    if (changed_studies_add(mirror->changed, study))
        wake(mirror);
}

/* Until there is something to do and the time for it has come. */
static void wait_for_work(struct mirror *mirror)
{
    pthread_mutex_lock(&mirror->lock);
    while (!atomic_load(mirror->with.stopping)) {
        const int64_t left_ms = mirror->due_ms - clock_monotonic_ms();
        if (mirror->noted && left_ms <= 0)
            break;
        const struct timespec until =
            clock_in_ms(mirror->noted ? left_ms : LONGEST_MS);
        pthread_cond_timedwait(&mirror->woken, &mirror->lock, &until);
    }
    mirror->noted = false;
    pthread_mutex_unlock(&mirror->lock);
}

/* --- files --- */

static enum ht_status open_ledger(struct mirror *mirror, bool make,
                                  struct ht_error *err)
{
    struct text path = {0};
    enum ht_status status = HT_OK;
    text_printf(&path, "%s/%s", mirror->with.folder,
                mirror->with.tracker->file);
    if (mirror->ledger == NULL && (make || access(path.data, F_OK) == 0))
        status = ledger_open(path.data, &mirror->ledger, err);
    text_free(&path);
    return status;
}

static enum ht_status open_files(struct mirror *mirror, struct ht_error *err)
{
    struct text path = {0};
    enum ht_status status = HT_OK;
    text_printf(&path, "%s/hypertune.db", mirror->with.folder);
    if (mirror->db == NULL)
        status = db_open_readonly(path.data, &mirror->db, err);
    text_free(&path);
    return status == HT_OK ? open_ledger(mirror, false, err) : status;
}

/* Studies of the ledger may have been deleted when nothing listened. */
static enum ht_status note_all(struct mirror *mirror, struct ht_error *err)
{
    static const struct study_scope everything = {0};
    struct arena *arena = arena_new();
    struct id_list kept = {0};
    struct study_list list = {.n = STUDIES_PAGE};
    int64_t before = 0;
    enum ht_status status = open_files(mirror, err);
    if (status == HT_OK && mirror->ledger != NULL)
        status = ledger_studies(mirror->ledger, arena, &kept, err);
    for (size_t i = 0; i < kept.n; i++)
        changed_studies_add(mirror->changed, kept.ids[i]);
    while (status == HT_OK && list.n == STUDIES_PAGE) {
        arena_reset(arena);
        status = db_study_list(mirror->db, arena, &everything, before,
                               STUDIES_PAGE, &list, err);
        for (size_t i = 0; status == HT_OK && i < list.n; i++) {
            before = list.rows[i].id;
            changed_studies_add(mirror->changed, before);
        }
    }
    arena_free(arena);
    return status;
}

/* --- one study --- */

struct round { /* of one study: a page of its events */
    struct mirror *mirror;
    struct tracked_study study;
    struct ledger_mark mark; /* becomes that of the page's end */
    struct id_list trials;   /* that the page is about */
    bool more;
};

static enum ht_status forget(struct mirror *mirror, int64_t study,
                             struct ht_error *err)
{
    const struct mirror_options *with = &mirror->with;
    if (mirror->ledger == NULL)
        return HT_OK;
    const enum ht_status status =
        with->tracker->forget(with->self, mirror->ledger, study, err);
    return status == HT_OK ? ledger_forget(mirror->ledger, study, err) : status;
}

static void add_trial(struct round *round, int64_t trial)
{
    struct id_list *list = &round->trials;
    for (size_t i = 0; i < list->n; i++)
        if (list->ids[i] == trial)
            return;
    list->ids = db_grow(round->study.arena, list->ids, list->n, sizeof trial);
    list->ids[list->n++] = trial;
}

static enum ht_status read_page(struct round *round, struct ht_error *err)
{
    struct event_list list;
    struct tracked_study *study = &round->study;
    const enum ht_status status =
        db_event_list(round->mirror->db, study->arena, study->row.id,
                      round->mark.revision, EVENTS_PAGE, &list, err);
    if (status != HT_OK)
        return status;
    for (size_t i = 0; i < list.n; i++) {
        if (list.rows[i].trial != 0)
            add_trial(round, list.rows[i].trial);
        round->mark.revision = list.rows[i].revision;
    }
    round->more = list.n == EVENTS_PAGE;
    return HT_OK;
}

/* What the page needs of the study, in one snapshot. HT_NOT_FOUND: nothing is
 * to be shown. */
static enum ht_status read_study(struct round *round, int64_t id,
                                 struct ht_error *err)
{
    struct mirror *mirror = round->mirror;
    struct tracked_study *study = &round->study;
    const struct mirror_options *with = &mirror->with;
    enum ht_status status =
        db_study_get(mirror->db, study->arena, id, &study->row, err);
    if (status == HT_NOT_FOUND ||
        (status == HT_OK && study->row.state == STUDY_DELETING)) {
        status = forget(mirror, id, err);
        return status == HT_OK ? HT_NOT_FOUND : status;
    }
    /* Most studies have no tracker: their spec need not be read. */
    if (status == HT_OK && strstr(study->row.spec, "\"trackers\"") == NULL)
        return HT_NOT_FOUND;
    if (status == HT_OK)
        status = vertex_parse(study->arena, study->row.spec, &study->job, err);
    if (status != HT_OK)
        return status;
    study->home =
        with->tracker->home(with->self, study->arena, &study->row, study->job);
    if (study->home == NULL)
        return HT_NOT_FOUND;
    const struct pareto_trials_scope scope = {.study = id};
    if (study->job->n_metrics > 0)
        status = pareto_trials_best(mirror->db, study->arena, &scope,
                                    study->job, &study->best, err);
    return status == HT_NOT_FOUND ? HT_OK : status;
}

static enum ht_status read_mark(struct round *round, struct ht_error *err)
{
    struct mirror *mirror = round->mirror;
    struct tracked_study *study = &round->study;
    enum ht_status status = open_ledger(mirror, true, err);
    study->ledger = mirror->ledger;
    if (status == HT_OK)
        status = ledger_mark(mirror->ledger, study->arena, study->row.id,
                             &round->mark, err);
    if (status == HT_OK && round->mark.home[0] != '\0' &&
        strcmp(round->mark.home, study->home) != 0) {
        status = forget(mirror, study->row.id, err);
        round->mark.revision = 0;
    }
    round->mark.home = study->home;
    return status == HT_OK ? ledger_run(mirror->ledger, study->arena,
                                        study->row.id, 0, &study->run, err)
                           : status;
}

/* In one snapshot, too; none is kept while a tracker is asked. */
static enum ht_status read_trial(struct round *round, int64_t id,
                                 struct tracked_trial *trial,
                                 struct trial_row *row, struct ht_error *err)
{
    struct mirror *mirror = round->mirror;
    const struct job *job = round->study.job;
    const char *master = arena_printf(
        trial->arena, "%s-0", job->n_pools > 0 ? job->pools[0].type : "master");
    enum ht_status status = db_begin(mirror->db, err);
    if (status != HT_OK)
        return status;
    status = db_trial_get(mirror->db, trial->arena, round->study.row.id, id,
                          row, err);
    if (status == HT_OK) {
        trial->row = row;
        status = db_curve_records(mirror->db, trial->arena, row, master,
                                  &trial->records, err);
    }
    db_rollback(mirror->db);
    return status == HT_NOT_FOUND ? HT_OK : status;
}

static enum ht_status show_trial(struct round *round, int64_t id,
                                 struct ht_error *err)
{
    struct mirror *mirror = round->mirror;
    struct trial_row row = {0};
    struct tracked_trial trial = {.arena = arena_new()};
    enum ht_status status = read_trial(round, id, &trial, &row, err);
    if (status == HT_OK)
        status = ledger_run(mirror->ledger, trial.arena, round->study.row.id,
                            id, &trial.run, err);
    const bool is_known = trial.run.place[0] != '\0' || trial.run.file > 0;
    const bool has_begun =
        trial.row != NULL && (row.started_ms > 0 || trial.records.n > 0 ||
                              db_trial_state_is_final(row.state));
    if (status == HT_OK && (is_known || has_begun))
        status = mirror->with.tracker->trial(mirror->with.self, &round->study,
                                             &trial, err);
    arena_free(trial.arena);
    return status;
}

static enum ht_status show_page(struct round *round, struct ht_error *err)
{
    const struct mirror_options *with = &round->mirror->with;
    enum ht_status status =
        with->tracker->begin(with->self, &round->study, err);
    for (size_t i = 0;
         status == HT_OK && i < round->trials.n && !atomic_load(with->stopping);
         i++)
        status = show_trial(round, round->trials.ids[i], err);
    if (status != HT_OK)
        return status;
    if (atomic_load(with->stopping))
        return ht_fail(err, HT_UNAVAILABLE, "the server stops");
    if (!round->more)
        status = with->tracker->finish(with->self, &round->study, err);
    return status == HT_OK
               ? ledger_set_mark(round->mirror->ledger, round->study.row.id,
                                 &round->mark, err)
               : status;
}

static enum ht_status show_study(struct mirror *mirror, int64_t id,
                                 struct ht_error *err)
{
    struct round round = {
        .mirror = mirror,
        .study = {.arena = arena_new(), .server_id = mirror->server_id}};
    enum ht_status status = db_begin(mirror->db, err);
    if (status == HT_OK) {
        status = read_study(&round, id, err);
        if (status == HT_OK)
            status = read_mark(&round, err);
        if (status == HT_OK && round.mark.revision < round.study.row.revision)
            status = read_page(&round, err);
        else if (status == HT_OK)
            status = HT_NOT_FOUND;
        db_rollback(mirror->db);
    }
    const bool is_nothing = status == HT_NOT_FOUND;
    if (status == HT_OK)
        status = show_page(&round, err);
    if (status == HT_OK && round.more)
        mirror_note(mirror, id);
    arena_free(round.study.arena);
    return is_nothing ? HT_OK : status;
}

/* --- all studies --- */

static void note_failure(struct mirror *mirror, const struct ht_error *err)
{
    struct tracker_row *row = &mirror->row;
    /* Other studies wait as long as one that is refused. */
    const int64_t most_ms =
        err->status == HT_UNAVAILABLE ? LONGEST_MS : REFUSED_MS;
    int64_t pause_ms = FIRST_MS;
    for (int64_t i = 0; i < row->failures && pause_ms < most_ms; i++)
        pause_ms *= 2;
    pause_ms = pause_ms < most_ms ? pause_ms : most_ms;
    if (row->failures == 0 || strcmp(row->failure.text, err->text) != 0)
        log_event(LOG_WARN, "tracker.failed", "tracker=%s reason=\"%s\"",
                  tracker_name(mirror->with.name), err->text);
    row->failures++;
    row->failed_ms = clock_wall_ms();
    row->failure = *err;
    mirror->due_ms = clock_monotonic_ms() + pause_ms;
}

static void note_success(struct mirror *mirror)
{
    if (mirror->row.failures > 0)
        log_event(LOG_INFO, "tracker.works", "tracker=%s",
                  tracker_name(mirror->with.name));
    mirror->row.failures = 0;
    mirror->row.taken_ms = clock_wall_ms();
    mirror->due_ms = clock_monotonic_ms() + READ_MS;
}

/* A study that fails is tried again with the next round, and the others are
 * shown meanwhile; where nothing can be done, all wait. */
static void show_changed(struct mirror *mirror)
{
    int64_t *studies;
    const size_t n = changed_studies_take(mirror->changed, &studies);
    struct ht_error err, first = {0};
    enum ht_status status = HT_OK;
    size_t failed = 0, begin = 0;
    while (begin < n && studies[begin] <= mirror->refused)
        begin++; /* one study that always fails does not hold up the others */
    for (size_t i = 0; i < n; i++) {
        const int64_t study = studies[(begin + i) % n];
        if (status != HT_UNAVAILABLE && !atomic_load(mirror->with.stopping)) {
            status = show_study(mirror, study, &err);
            mirror->refused = status == HT_UNAVAILABLE ? study : 0;
        }
        if (status == HT_OK)
            continue;
        if (failed++ == 0)
            first = err;
        mirror_note(mirror, study);
    }
    free(studies);
    mirror->row.behind = (int64_t)failed;
    if (failed > 0)
        note_failure(mirror, &first);
    else
        note_success(mirror);
    tracker_board_set(mirror->with.board, mirror->with.name, &mirror->row);
}

static void *run(void *argument)
{
    struct mirror *mirror = argument;
    struct ht_error err;
    bool begun = false;
    wake(mirror);
    while (wait_for_work(mirror), !atomic_load(mirror->with.stopping)) {
        if (!begun && note_all(mirror, &err) != HT_OK) {
            note_failure(mirror, &err);
            tracker_board_set(mirror->with.board, mirror->with.name,
                              &mirror->row);
            wake(mirror);
            continue;
        }
        begun = true;
        show_changed(mirror);
    }
    return NULL;
}

struct mirror *mirror_new(const struct mirror_options *options)
{
    struct mirror *mirror = ht_xcalloc(1, sizeof *mirror);
    mirror->with = *options;
    mirror->changed = changed_studies_new();
    pthread_mutex_init(&mirror->lock, NULL);
    clock_cond_init(&mirror->woken);
    snprintf(mirror->row.place, sizeof mirror->row.place, "%s", options->place);
    tracker_board_set(options->board, options->name, &mirror->row);
    return mirror;
}

void mirror_free(struct mirror *mirror)
{
    if (mirror == NULL)
        return;
    db_close(mirror->db);
    db_close(mirror->ledger);
    changed_studies_free(mirror->changed);
    pthread_cond_destroy(&mirror->woken);
    pthread_mutex_destroy(&mirror->lock);
    free(mirror);
}

enum ht_status mirror_start(struct mirror *mirror, const char *server_id,
                            struct ht_error *err)
{
    mirror->server_id = server_id;
    const int code = pthread_create(&mirror->thread, NULL, run, mirror);
    mirror->running = code == 0;
    return code == 0 ? HT_OK
                     : ht_fail_errno(err, code,
                                     "cannot start the thread of a tracker");
}

void mirror_stop(struct mirror *mirror)
{
    if (mirror == NULL || !mirror->running)
        return;
    atomic_store(mirror->with.stopping, true);
    wake(mirror);
    pthread_join(mirror->thread, NULL);
    mirror->running = false;
}
