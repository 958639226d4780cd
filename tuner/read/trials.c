#include "tuner/read/trials.h"

#include <string.h>

#include "proto/base/words.h"
#include "proto/doc/json.h"
#include "proto/form/form.h"
#include "tuner/ask/faults.h"
#include "tuner/ask/filter.h"
#include "tuner/db/changes.h"
#include "tuner/logs/logs.h"
#include "tuner/read/jobs.h"
#include "tuner/read/reader.h"
#include "tuner/read/shared.h"
#include "tuner/search/confirm.h"
#include "tuner/search/pareto_trials.h"
#include "tuner/view/view.h"

/* --- finding --- */

enum ht_status read_find_study(struct reader *reader, struct request *req,
                               struct study_row *study, struct job **job,
                               struct ht_error *err)
{
    enum ht_status status = db_study_find(reader->db, req->arena, &req->scope,
                                          req->study, study, err);
    return status == HT_OK && job != NULL
               ? vertex_parse(req->arena, study->spec, job, err)
               : status;
}

enum ht_status read_find_trial(struct reader *reader, struct request *req,
                               const struct study_row *study, const char *text,
                               struct trial_row *trial, struct ht_error *err)
{
    int64_t id = 0;
    for (const char *at = text; id >= 0 && *at != '\0'; at++)
        id = *at >= '0' && *at <= '9' && id < INT32_MAX ? id * 10 + (*at - '0')
                                                        : -1;
    if (id <= 0)
        return ht_fail(err, HT_NOT_FOUND, "\"%.64s\" is no trial id", text);
    return db_trial_get(reader->db, req->arena, study->id, id, trial, err);
}

/* --- the walk --- */

struct asked { /* the item of the lookups */
    const struct trial_walk *walk;
    struct arena *arena;
    const struct trial_row *trial;
};

/* By our own names of states, of which FAILED stands for all that
 * hypertuneStatus.counts.failed counts; a share shows no tags. */
static size_t look_up(void *item, const char *field, const char *key,
                      const char *values[FILTER_VALUES])
{
    const struct asked *asked = item;
    const struct trial_row *trial = asked->trial;
    size_t n = 0;
    if (strcmp(field, "tags") == 0)
        return asked->walk->req->scope.study > 0
                   ? 0
                   : jobs_find_tag(asked->walk->reader->db, asked->arena,
                                   trial->study, trial->id, key, values);
    values[n++] = db_trial_state_name(trial->state);
    if (db_trial_state_is_failed(trial->state))
        values[n++] = db_trial_state_name(TRIAL_FAILED);
    return n;
}

/* Google's own list shows Vertex's states, so they are found there, too. */
static size_t look_up_vertex(void *item, const char *field, const char *key,
                             const char *values[FILTER_VALUES])
{
    const struct asked *asked = item;
    const size_t n = look_up(item, field, key, values);
    if (strcmp(field, "state") != 0)
        return n;
    values[n] = db_trial_state_vertex(asked->trial->state);
    return n + 1;
}

static enum ht_status view_vertex(const struct trial_walk *walk,
                                  struct arena *arena,
                                  const struct trial_row *trial, cJSON **out,
                                  struct ht_error *err)
{
    return view_trial(walk->reader->db, arena, &walk->study, walk->job, trial,
                      false, out, err);
}

static enum ht_status write_trial(struct trial_walk *walk, struct arena *arena,
                                  const struct trial_row *trial,
                                  struct ht_error *err)
{
    trial_viewer *view = walk->view != NULL ? walk->view : view_vertex;
    cJSON *item;
    const enum ht_status status = view(walk, arena, trial, &item, err);
    if (status != HT_OK)
        return status;
    shared_trial(&walk->req->scope, item);
    if (walk->continues || walk->written > 0)
        text_puts(&walk->req->reply, ",");
    json_print(item, &walk->req->reply);
    walk->written++;
    return HT_OK;
}

/* One batch of rows behind walk->last; *left: there may be another. */
static enum ht_status walk_batch(struct trial_walk *walk, struct arena *arena,
                                 bool *left, struct ht_error *err)
{
    enum { BATCH = 100 };
    struct trial_list list;
    filter_lookup *find =
        walk->req->scope.location == NULL ? look_up : look_up_vertex;
    enum ht_status status = db_trial_list(
        walk->reader->db, arena, walk->study.id, walk->last, BATCH, &list, err);
    if (status != HT_OK)
        return status;
    for (size_t i = 0; i < list.n; i++) {
        if (walk->written == walk->page.size ||
            (walk->last > walk->page.token && reader_is_late(walk->reader)))
            return HT_OK;
        struct asked asked = {walk, arena, &list.rows[i]};
        if (filter_allows(walk->filter, find, &asked))
            status = write_trial(walk, arena, &list.rows[i], err);
        if (status != HT_OK)
            return status;
        walk->last = list.rows[i].id;
    }
    *left = list.n == BATCH;
    return HT_OK;
}

enum ht_status trials_walk(struct trial_walk *walk, bool *more,
                           struct ht_error *err)
{
    struct arena *arena = arena_new();
    enum ht_status status = HT_OK;
    bool left = true;
    walk->last = walk->page.token;
    do {
        status = walk_batch(walk, arena, &left, err);
        arena_reset(arena);
    } while (status == HT_OK && left && walk->written < walk->page.size &&
             !reader_is_late(walk->reader));
    arena_free(arena);
    if (status == HT_OK)
        *more = left;
    return status;
}

/* --- lists and one trial --- */

enum ht_status read_trials(struct reader *reader, struct request *req,
                           struct ht_error *err)
{
    /* Vertex's states, then our own finer ones. */
    static const char *const states[] = {
        "REQUESTED", "ACTIVE", "STOPPING",  "SUCCEEDED", "INFEASIBLE",
        "STOPPED",   "FAILED", "CANCELLED", "PAUSED",    "STATE_UNSPECIFIED",
        NULL};
    static const struct filter_field fields[] = {{"state", FILTER_NAME, states},
                                                 {"tags", FILTER_MAP, NULL},
                                                 {NULL, FILTER_TEXT, NULL}};
    struct trial_walk walk = {.reader = reader, .req = req};
    bool more;
    struct ht_error why;
    query_page(req, &walk.page, err);
    enum ht_status status = filter_read(
        req->arena, request_query(req, "filter"), fields, &walk.filter, &why);
    faults_add(req, "filter", status, &why);
    status = faults_check(req, err);
    if (status == HT_OK)
        status = read_find_study(reader, req, &walk.study, &walk.job, err);
    if (status != HT_OK)
        return status;
    text_puts(&req->reply, "{\"trials\":[");
    status = trials_walk(&walk, &more, err);
    if (status == HT_OK)
        query_page_end(req, more ? walk.last : 0);
    return status;
}

enum ht_status read_trial(struct reader *reader, struct request *req,
                          struct ht_error *err)
{
    struct study_row study;
    struct trial_row trial;
    struct job *job;
    cJSON *item;
    enum ht_status status = read_find_study(reader, req, &study, &job, err);
    if (status == HT_OK)
        status = read_find_trial(reader, req, &study, req->trial, &trial, err);
    if (status == HT_OK)
        status = view_trial(reader->db, req->arena, &study, job, &trial, true,
                            &item, err);
    if (status != HT_OK)
        return status;
    shared_trial(&req->scope, item);
    json_print(item, &req->reply);
    return HT_OK;
}

/* Why there is no best trial yet, in the words of `hypertune best`. */
static enum ht_status no_best(struct reader *reader,
                              const struct study_row *study,
                              const struct job *job, struct ht_error *err)
{
    struct trial_counts counts;
    enum ht_status status =
        db_trial_counts(reader->db, study->id, &counts, err);
    if (status != HT_OK)
        return status;
    const int64_t ended = counts.of[TRIAL_SUCCEEDED] + counts.of[TRIAL_STOPPED];
    if (ended > 0 && job_objectives(job) < job->n_metrics)
        return ht_fail(err, HT_NOT_FOUND,
                       "study \"%s\" has no trial within its bounds (%lld "
                       "succeeded outside)",
                       study->name, (long long)ended);
    int64_t running = trial_counts_all(&counts, TRIAL_ACTIVE) +
                      trial_counts_all(&counts, TRIAL_STOPPING);
    int64_t waiting = trial_counts_all(&counts, TRIAL_REQUESTED);
    if (running + waiting > 0)
        return ht_fail(err, HT_NOT_FOUND,
                       "study \"%s\" has no succeeded trial yet (%lld running, "
                       "%lld waiting)",
                       study->name, (long long)running, (long long)waiting);
    return ht_fail(err, HT_NOT_FOUND,
                   "study \"%s\" has no succeeded trial (%s: %s)", study->name,
                   db_study_state_name(study->state), study->reason);
}

/* Whether the best trial is as good as it looks. */
static enum ht_status add_confirmation(struct reader *reader,
                                       struct request *req,
                                       const struct study_row *study,
                                       const struct job *job, cJSON *trial,
                                       struct ht_error *err)
{
    cJSON *view;
    const enum ht_status status =
        confirm_view(reader->db, req->arena, study, job, &view, err);
    if (status == HT_NOT_FOUND) /* deleted since */
        return HT_OK;
    if (status == HT_OK)
        cJSON_AddItemToObject(
            cJSON_GetObjectItemCaseSensitive(trial, "hypertune"),
            "confirmation", view);
    return status;
}

enum ht_status read_best(struct reader *reader, struct request *req,
                         struct ht_error *err)
{
    struct study_row study;
    struct trial_row best;
    struct job *job;
    cJSON *item;
    struct pareto_trials_scope scope = {0};
    enum ht_status status = read_find_study(reader, req, &study, &job, err);
    if (status != HT_OK)
        return status;
    if (job->n_metrics == 0)
        return ht_fail(err, HT_NOT_FOUND,
                       "\"%.128s\" has no objective, so no trial is its best",
                       study.name);
    scope.study = study.id;
    status = query_flag(req, "within", &scope.within, err);
    if (status != HT_OK)
        return status;
    status =
        pareto_trials_best(reader->db, req->arena, &scope, job, &best, err);
    if (status == HT_NOT_FOUND)
        return no_best(reader, &study, job, err);
    if (status == HT_OK)
        status = view_trial(reader->db, req->arena, &study, job, &best, false,
                            &item, err);
    if (status == HT_OK && study.confirmations > 0)
        status = add_confirmation(reader, req, &study, job, item, err);
    if (status != HT_OK)
        return status;
    shared_trial(&req->scope, item);
    json_print(item, &req->reply);
    return HT_OK;
}

enum ht_status read_confirmation(struct reader *reader, struct request *req,
                                 struct ht_error *err)
{
    struct study_row study;
    struct job *job;
    cJSON *view;
    enum ht_status status = read_find_study(reader, req, &study, &job, err);
    if (status == HT_OK)
        status = confirm_view(reader->db, req->arena, &study, job, &view, err);
    if (status == HT_OK)
        json_print(view, &req->reply);
    return status;
}

/* --- logs --- */

enum { LOG_DEFAULT = 64 * 1024, LOG_MOST = 1024 * 1024 };

struct log_question {
    struct log_key key;
    int64_t offset, limit;
    bool attempt_ended;
};

static enum ht_status read_window(struct request *req,
                                  struct log_question *question,
                                  struct ht_error *err)
{
    static const struct number_range offsets = {0, INT64_MAX, 0};
    static const struct number_range limits = {1, LOG_MOST, LOG_DEFAULT};
    static const struct number_range tails = {1, LOG_MOST, 0};
    int64_t tail = 0;
    enum ht_status status =
        query_number(req, "offset", &offsets, &question->offset, err);
    if (status == HT_OK)
        status = query_number(req, "limit", &limits, &question->limit, err);
    if (status == HT_OK)
        status = query_number(req, "tail", &tails, &tail, err);
    if (status == HT_OK && tail > 0) {
        question->offset = -tail;
        question->limit = tail;
    }
    return status;
}

static enum ht_status choose_attempt(struct reader *reader, struct request *req,
                                     const struct trial_row *trial,
                                     struct log_question *question,
                                     struct ht_error *err)
{
    const struct number_range range = {1, INT32_MAX, trial->attempt};
    struct attempt_list list;
    enum ht_status status =
        query_number(req, "attempt", &range, &question->key.attempt, err);
    if (status == HT_OK)
        status = db_attempt_list(reader->db, req->arena, trial->study,
                                 trial->id, &list, err);
    if (status != HT_OK)
        return status;
    for (size_t i = 0; i < list.n; i++) {
        if (list.rows[i].n != question->key.attempt)
            continue;
        question->attempt_ended = list.rows[i].state == ATTEMPT_ENDED;
        return HT_OK;
    }
    return list.n == 0
               ? ht_fail(err, HT_NOT_FOUND, "trial %lld has not started yet",
                         (long long)trial->id)
               : ht_fail(err, HT_NOT_FOUND, "trial %lld has no attempt %lld",
                         (long long)trial->id,
                         (long long)question->key.attempt);
}

/* A job's replicas are those of its pools; what a study's clients log is free.
 */
static enum ht_status check_replica(struct request *req, const struct job *job,
                                    const char *replica, struct ht_error *err)
{
    struct words names = {0};
    for (size_t i = 0; i < job->n_pools; i++)
        for (int k = 0; k < job->pools[i].count; k++)
            words_add(req->arena, &names,
                      arena_printf(req->arena, "%s-%d", job->pools[i].type, k));
    if (names.n == 0 || words_include(&names, replica))
        return HT_OK;
    const char *first = names.items[0], *last = names.items[names.n - 1];
    words_add(req->arena, &names, NULL);
    return ht_fail(err, HT_NOT_FOUND,
                   "there is no replica \"%.64s\"%s; there is %s%s%s", replica,
                   words_hint(req->arena, replica, names.items), first,
                   first != last ? " to " : "", first != last ? last : "");
}

static enum ht_status find_log(struct reader *reader, struct request *req,
                               struct log_question *question,
                               struct ht_error *err)
{
    struct study_row study;
    struct job *job = NULL;
    struct trial_row trial = {0};
    const char *replica = request_query(req, "replica");
    const char *stream = request_query(req, "stream");
    question->key.replica = replica != NULL ? replica : "master-0";
    question->key.stream = stream != NULL ? stream : "stdout";
    if (!logs_has_stream(question->key.stream))
        return ht_fail(err, HT_INVALID, "stream is stdout, stderr or runner");
    enum ht_status status = read_window(req, question, err);
    if (status == HT_OK)
        status = read_find_study(reader, req, &study, &job, err);
    if (status == HT_OK)
        status = read_find_trial(reader, req, &study, req->trial, &trial, err);
    if (status == HT_OK)
        status = check_replica(req, job, question->key.replica, err);
    if (status != HT_OK)
        return status;
    question->key.study = study.id;
    question->key.trial = trial.id;
    return choose_attempt(reader, req, &trial, question, err);
}

enum ht_status read_logs(struct reader *reader, struct request *req,
                         struct ht_error *err)
{
    struct log_question question = {0};
    struct log_slice slice = {0}, behind = {0};
    enum ht_status status = find_log(reader, req, &question, err);
    if (status == HT_OK)
        status =
            logs_read(reader->logs, req->arena, &question.key, question.offset,
                      (size_t)question.limit, &slice, err);
    if (status == HT_OK)
        status = logs_read(reader->logs, req->arena, &question.key, slice.next,
                           1, &behind, err);
    if (status != HT_OK)
        return status;
    cJSON *object = cJSON_CreateObject();
    json_add_int(object, "attempt", question.key.attempt);
    json_add_string(object, "replica", question.key.replica);
    json_add_string(object, "stream", question.key.stream);
    json_add_string(object, "data", slice.data);
    json_add_int(object, "offset", slice.offset);
    json_add_int(object, "next", slice.next);
    json_add_bool(object, "ended", question.attempt_ended && behind.len == 0);
    json_print(object, &req->reply);
    return HT_OK;
}

/* --- what differed from the commit --- */

/* The members of `changes`, whose text may be in the database. */
static enum ht_status answer_changes(struct reader *reader, struct request *req,
                                     const struct attempt_row *attempt,
                                     struct ht_error *err)
{
    struct diag diag;
    const char *text = NULL;
    diag_init(&diag, req->arena, "facts", NULL, 0);
    const struct node *facts = node_read_json(req->arena, attempt->facts,
                                              strlen(attempt->facts), &diag);
    const struct node *changes = node_find(node_find(facts, "git"), "changes");
    const char *sha256 = node_get_string(changes, "sha256", NULL);
    if (sha256 == NULL)
        return ht_fail(err, HT_NOT_FOUND,
                       "attempt %lld has no changes on record: it ran in no "
                       "work tree of git, or in a clean one",
                       (long long)attempt->n);
    const enum ht_status status = db_changes_get(
        reader->db, req->arena, attempt->study, sha256, &text, err);
    if (status != HT_OK)
        return status;
    if (text == NULL)
        return ht_fail(err, HT_NOT_FOUND,
                       "the changes of attempt %lld were not kept: their study "
                       "has %d others",
                       (long long)attempt->n, DB_MOST_CHANGES);
    const int64_t bytes = node_get_int(changes, "bytes", 0);
    cJSON *object = cJSON_CreateObject();
    json_add_int(object, "attempt", attempt->n);
    json_add_string(object, "sha256", sha256);
    json_add_int(object, "bytes", bytes);
    json_add_flag(object, "more", node_get_bool(changes, "more", false));
    json_add_flag(object, "cut", bytes > (int64_t)strlen(text));
    json_add_string(object, "text", text);
    json_print(object, &req->reply);
    return HT_OK;
}

enum ht_status read_changes(struct reader *reader, struct request *req,
                            struct ht_error *err)
{
    struct study_row study;
    struct trial_row trial = {0};
    struct attempt_list list;
    int64_t n;
    enum ht_status status = read_find_study(reader, req, &study, NULL, err);
    if (status == HT_OK)
        status = read_find_trial(reader, req, &study, req->trial, &trial, err);
    const struct number_range range = {1, INT32_MAX, trial.attempt};
    if (status == HT_OK)
        status = query_number(req, "attempt", &range, &n, err);
    if (status == HT_OK)
        status = db_attempt_list(reader->db, req->arena, study.id, trial.id,
                                 &list, err);
    if (status != HT_OK)
        return status;
    for (size_t i = 0; i < list.n; i++)
        if (list.rows[i].n == n)
            return answer_changes(reader, req, &list.rows[i], err);
    return ht_fail(err, HT_NOT_FOUND, "trial %lld has no attempt %lld",
                   (long long)trial.id, (long long)n);
}
