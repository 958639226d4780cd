/* replay.c - proves each suggestion of a study from the stored history, or
 * previews the next. */

#include <stdlib.h>
#include <string.h>

#include "proto/doc/json.h"
#include "tuner/ask/query.h"
#include "tuner/ask/trial_context.h"
#include "tuner/core/live.h"
#include "tuner/read/reader.h"
#include "tuner/read/trials.h"
#include "tuner/search/asked_space.h"
#include "tuner/search/method.h"
#include "tuner/search/reason_json.h"
#include "tuner/search/study.h"

enum { DEFAULT_COUNT = 5, MOST_COUNT = 100 };

/* --- replays --- */

/* Suggestions depend on the space, the seed, the results in their order and the
 * pending trials. A replay rebuilds these from the database and asks again: the
 * same point proves the suggestion, another algorithm shows what it would have
 * suggested. It is kept between questions, since continuing is faster than
 * starting over. */
struct replay {
    int64_t study;
    const struct algorithm *algorithm;
    struct search_study *search; /* NULL after a failure */
    char *asked;                 /* owned: of which space it is, or NULL */
};

/* One question, as the search worker was or would be asked. */
struct replay_question {
    int64_t revision;   /* after this event */
    int64_t max_trials; /* 0: no limit */
    struct worker_question asked;
    int64_t deadline_ms; /* monotonic: fewer from then on, one at least */
};

struct replay_answer {
    bool faithful;            /* no data of that moment is missing */
    struct suggestions found; /* when it is */
};

void read_replay_free(struct replay *replay)
{
    if (replay == NULL)
        return;
    search_study_free(replay->search);
    free(replay->asked);
    free(replay);
}

/* The replay of that study by that algorithm (NULL: its own), taken anew into
 * *kept when that holds another one. It belongs to *kept. */
static struct replay *replay_of(struct replay **kept, int64_t study,
                                const struct algorithm *algorithm)
{
    if (*kept == NULL || (*kept)->study != study ||
        (*kept)->algorithm != algorithm) {
        read_replay_free(*kept);
        *kept = ht_xcalloc(1, sizeof **kept);
        **kept = (struct replay){.study = study, .algorithm = algorithm};
    }
    return *kept;
}

/* Answers in the reader's snapshot; texts are in the arena. */
static enum ht_status replay_ask(struct replay *replay, struct db *db,
                                 struct arena *arena,
                                 const struct replay_question *question,
                                 struct replay_answer *answer,
                                 struct ht_error *err)
{
    struct replay_answer made = {0};
    const char *asked = asked_space_of(arena, question->asked.context);
    if (!trial_context_is(asked, replay->asked)) {
        search_study_free(replay->search);
        free(replay->asked);
        replay->search = NULL;
        replay->asked = asked == NULL ? NULL : ht_xstrdup(asked);
    }
    if (replay->search == NULL)
        replay->search =
            search_study_new(replay->study, asked, replay->algorithm);
    enum ht_status status =
        search_study_go_to(replay->search, db, question->revision,
                           question->max_trials, &made.faithful, err);
    search_study_hurry(replay->search, question->deadline_ms);
    if (status == HT_OK && made.faithful)
        status = search_study_suggest(replay->search, &question->asked, arena,
                                      &made.found, err);
    if (status != HT_OK) {
        search_study_free(replay->search);
        replay->search = NULL;
        return status;
    }
    *answer = made;
    return HT_OK;
}

static enum ht_status find_study(struct reader *reader, struct request *req,
                                 struct study_row *study, struct job **job,
                                 struct ht_error *err)
{
    const enum ht_status status = read_find_study(reader, req, study, job, err);
    if (status == HT_OK && study->kind == JOB_CUSTOM)
        return ht_fail(err, HT_PRECONDITION, "\"%.128s\" searches nothing",
                       study->name);
    return status;
}

/* --- proving --- */

/* The trials of one page, and the newest answer for a whole batch of them. */
struct proving {
    struct reader *reader;
    struct request *req;
    struct replay *replay;
    const struct job *job;
    struct trial_list trials;
    struct reason_json_origin *origins; /* of each */
    bool *known;                        /* whether there is one */
    struct replay_question question;
    struct replay_answer answer;
};

static int64_t batch_begin(const struct reason_json_origin *origin)
{
    return origin->ordinal - origin->batch;
}

/* For this point and those of its batch before it. */
static struct worker_question asked_by(const struct reason_json_origin *origin)
{
    return (struct worker_question){.first = batch_begin(origin),
                                    .n = (size_t)origin->batch + 1,
                                    .context = origin->context};
}

static bool asks_alike(const struct replay_question *question,
                       const struct reason_json_origin *origin)
{
    const struct worker_question *asked = &question->asked;
    return asked->n > 0 && question->revision == origin->revision &&
           asked->first == batch_begin(origin) &&
           question->max_trials == origin->max_trials &&
           trial_context_is(asked->context, origin->context);
}

/* The question that gave trial `at` its point, as long as the trials of this
 * page need its batch: a part of that would prove nothing. */
static struct replay_question question_of(const struct proving *proving,
                                          size_t at)
{
    const struct reason_json_origin *origin = &proving->origins[at];
    struct replay_question question = {.revision = origin->revision,
                                       .max_trials = origin->max_trials,
                                       .asked = asked_by(origin),
                                       .deadline_ms = INT64_MAX};
    for (size_t i = at; i < proving->trials.n; i++) {
        const size_t needed = (size_t)proving->origins[i].batch + 1;
        if (proving->known[i] && asks_alike(&question, &proving->origins[i]) &&
            question.asked.n < needed)
            question.asked.n = needed;
    }
    return question;
}

static enum ht_status ask(struct proving *proving, size_t at,
                          struct ht_error *err)
{
    const struct reason_json_origin *origin = &proving->origins[at];
    if (asks_alike(&proving->question, origin) &&
        (size_t)origin->batch < proving->question.asked.n)
        return HT_OK;
    proving->question = question_of(proving, at);
    return replay_ask(proving->replay, proving->reader->db, proving->req->arena,
                      &proving->question, &proving->answer, err);
}

/* Of a trial of an open space what was asked for then. */
static const char *suggested_params(const struct proving *proving, size_t at)
{
    struct arena *arena = proving->req->arena;
    const char *params = proving->trials.rows[at].params, *found = NULL;
    const char *asked = asked_space_of(arena, proving->origins[at].context);
    struct job *job;
    if (asked == NULL)
        return params;
    if (asked_space_parse(arena, proving->job, asked, &job, NULL) == HT_OK)
        found = asked_space_params(arena, &job->space, params);
    return found == NULL ? params : found;
}

static enum ht_status prove(struct proving *proving, size_t at, cJSON *item,
                            struct ht_error *err)
{
    const struct trial_row *trial = &proving->trials.rows[at];
    json_add_int_text(item, "trial", trial->id);
    if (!proving->known[at]) {
        json_add_string(item, "verdict", "UNKNOWN");
        json_add_string(item, "reason", "what it was made from was not kept");
        return HT_OK;
    }
    const enum ht_status status = ask(proving, at, err);
    if (status != HT_OK)
        return status;
    if (!proving->answer.faithful) {
        json_add_string(item, "verdict", "UNKNOWN");
        json_add_string(item, "reason",
                        "a trial that was known then was deleted or retried");
        return HT_OK;
    }
    const struct suggestions *found = &proving->answer.found;
    const size_t batch = (size_t)proving->origins[at].batch;
    const char *again = batch < found->n ? found->items[batch].params : "null";
    const bool same = strcmp(again, suggested_params(proving, at)) == 0;
    json_add_string(item, "verdict", same ? "SAME" : "DIFFERS");
    cJSON_AddItemToObject(item, "params", cJSON_CreateRaw(trial->params));
    if (!same)
        cJSON_AddItemToObject(item, "again", cJSON_CreateRaw(again));
    return HT_OK;
}

/* Trials of which the search chose nothing prove nothing. */
static bool was_suggested(const struct trial_row *trial)
{
    return trial->confirms == 0 &&
           (!trial->chosen_by_person || trial->why[0] != '\0');
}

static void read_origins(struct proving *proving)
{
    struct arena *arena = proving->req->arena;
    proving->origins =
        arena_alloc(arena, proving->trials.n + 1, sizeof *proving->origins);
    proving->known =
        arena_alloc(arena, proving->trials.n + 1, sizeof *proving->known);
    for (size_t i = 0; i < proving->trials.n; i++)
        proving->known[i] = was_suggested(&proving->trials.rows[i]) &&
                            reason_json_read(arena, proving->trials.rows[i].why,
                                             &proving->origins[i]);
}

/* One at least, then as many as fit into a slice of time. */
static enum ht_status prove_all(struct proving *proving,
                                const struct query_page *page,
                                struct ht_error *err)
{
    enum ht_status status = HT_OK;
    cJSON *object = cJSON_CreateObject();
    cJSON *list = json_add_array(object, "trials");
    size_t i = 0;
    for (; status == HT_OK && i < proving->trials.n; i++) {
        if (i > 0 && reader_is_late(proving->reader))
            break;
        if (was_suggested(&proving->trials.rows[i]))
            status = prove(proving, i, json_push_object(list), err);
    }
    const bool more = i < proving->trials.n || proving->trials.n == page->size;
    if (status == HT_OK && more)
        json_add_string(
            object, "nextPageToken",
            query_page_token(proving->req, proving->trials.rows[i - 1].id));
    if (status == HT_OK)
        json_print(object, &proving->req->reply);
    else
        cJSON_Delete(object);
    return status;
}

enum ht_status read_replay(struct reader *reader, struct request *req,
                           struct ht_error *err)
{
    static const struct number_range ids = {1, INT32_MAX, 1};
    struct proving proving = {.reader = reader, .req = req};
    struct study_row study;
    struct job *job;
    struct query_page page;
    int64_t from;
    enum ht_status status = query_page(req, &page, err);
    if (status == HT_OK)
        status = query_number(req, "from", &ids, &from, err);
    if (status == HT_OK)
        status = find_study(reader, req, &study, &job, err);
    if (status == HT_OK)
        status = db_trial_list(reader->db, req->arena, study.id,
                               page.token > 0 ? page.token : from - 1,
                               page.size, &proving.trials, err);
    if (status != HT_OK)
        return status;
    proving.job = job;
    proving.replay = replay_of(reader->replay, study.id, NULL);
    read_origins(&proving);
    return prove_all(&proving, &page, err);
}

/* --- looking ahead --- */

static enum ht_status find_algorithm(const struct request *req,
                                     const struct algorithm **algorithm,
                                     struct ht_error *err)
{
    const char *name = request_query(req, "algorithm");
    *algorithm = NULL;
    if (name == NULL)
        return HT_OK;
    *algorithm = search_method_by_name(name);
    return *algorithm != NULL
               ? HT_OK
               : ht_fail(err, HT_INVALID, "algorithm: there is no \"%.64s\"",
                         name);
}

/* From now on, or from where trial `from` was chosen. */
static enum ht_status find_moment(struct reader *reader, struct request *req,
                                  const struct study_row *study,
                                  const struct job *job,
                                  struct replay_question *question,
                                  struct ht_error *err)
{
    const char *from = request_query(req, "from");
    struct trial_row trial = {0};
    struct reason_json_origin origin;
    *question = (struct replay_question){
        .revision = study->revision,
        .max_trials = job->max_trials,
        .asked = {.first = db_study_trials_made(study)}};
    if (from == NULL)
        return HT_OK;
    const enum ht_status status =
        read_find_trial(reader, req, study, from, &trial, err);
    if (status != HT_OK)
        return status;
    if (!was_suggested(&trial) ||
        !reason_json_read(req->arena, trial.why, &origin))
        return ht_fail(err, HT_PRECONDITION,
                       "what trial %lld was made from is not known",
                       (long long)trial.id);
    *question = (struct replay_question){.revision = origin.revision,
                                         .max_trials = origin.max_trials,
                                         .asked = asked_by(&origin)};
    return HT_OK;
}

static void show_points(struct request *req, const struct algorithm *algorithm,
                        const struct job *job, const struct suggestions *found)
{
    cJSON *object = cJSON_CreateObject();
    json_add_string(object, "algorithm",
                    (algorithm != NULL ? algorithm : search_method(job))->name);
    cJSON *list = json_add_array(object, "suggestions");
    for (size_t i = 0; i < found->n; i++) {
        cJSON *item = json_push_object(list);
        cJSON_AddItemToObject(item, "params",
                              cJSON_CreateRaw(found->items[i].params));
        cJSON_AddItemToObject(item, "why",
                              cJSON_CreateRaw(found->items[i].why));
    }
    json_print(object, &req->reply);
}

enum ht_status read_preview(struct reader *reader, struct request *req,
                            struct ht_error *err)
{
    static const struct number_range counts = {1, MOST_COUNT, DEFAULT_COUNT};
    const struct algorithm *algorithm = NULL;
    struct replay_question question;
    struct replay_answer answer = {0};
    struct study_row study;
    struct job *job;
    int64_t count;
    enum ht_status status = find_algorithm(req, &algorithm, err);
    if (status == HT_OK)
        status = query_number(req, "count", &counts, &count, err);
    if (status == HT_OK)
        status = find_study(reader, req, &study, &job, err);
    if (status == HT_OK)
        status = find_moment(reader, req, &study, job, &question, err);
    if (status != HT_OK)
        return status;
    if (job->space.open) {
        show_points(req, algorithm, job, &answer.found);
        return HT_OK; /* clients choose the points */
    }
    question.asked.n = (size_t)count;
    question.deadline_ms = reader->deadline_ms;
    status = replay_ask(replay_of(reader->replay, study.id, algorithm),
                        reader->db, req->arena, &question, &answer, err);
    if (status == HT_OK && !answer.faithful)
        return ht_fail(err, HT_PRECONDITION,
                       "a trial that was known then was deleted or retried");
    if (status == HT_OK)
        show_points(req, algorithm, job, &answer.found);
    return status;
}
