#include "tuner/tracker/mlflow.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "proto/doc/json.h"

/* Of one log-batch. */
enum {
    METRICS_ENOUGH = 900, /* metrics, parameters and tags: 1000 */
    PARAMS_MOST = 100,
    VALUE_MOST = 500, /* bytes of a parameter, before MLflow 2.8 */
    TAG_MOST = 4000   /* of a tag: 5000 */
};

static const char batch_tag[] = "hypertune.batch";

/* One call about one run. */
struct session {
    struct mlflow *mlflow;
    struct arena *arena;
    const struct tracked_study *study;
    struct ledger_run *run;
};

/* --- JSON --- */

static cJSON *new_body(const struct session *session)
{
    cJSON *body = cJSON_CreateObject();
    json_add_string(body, "run_id", session->run->place);
    return body;
}

static void add_pair(cJSON *list, const char *key, const char *value)
{
    cJSON *item = json_push_object(list);
    json_add_string(item, "key", key);
    json_add_string(item, "value", value);
}

static const char *cut(struct arena *arena, const char *text, size_t most)
{
    if (strlen(text) <= most)
        return text;
    most -= 3;
    while (most > 0 && ((unsigned char)text[most] & 0xc0) == 0x80)
        most--; /* not within a character */
    return arena_printf(arena, "%.*s...", (int)most, text);
}

static void add_tag(const struct session *session, cJSON *tags, const char *key,
                    const char *value)
{
    add_pair(tags, key, cut(session->arena, value, TAG_MOST));
}

static const char *number_text(struct arena *arena, int64_t number)
{
    return arena_printf(arena, "%lld", (long long)number);
}

/* protobuf's JSON has words for what is not finite. */
static void add_value(cJSON *metric, double value)
{
    if (isfinite(value))
        json_add_double(metric, "value", value);
    else
        json_add_string(metric, "value",
                        isnan(value) ? "NaN"
                        : value > 0  ? "Infinity"
                                     : "-Infinity");
}

struct moment {
    int64_t time_ms, step;
};

/* The members of a map of metrics, as we store it. */
static void add_metrics(struct arena *arena, const char *prefix,
                        const char *json, struct moment at, cJSON *metrics)
{
    const struct node *map = node_read_stored(arena, json);
    for (const struct node *one = node_items(map); one; one = one->next) {
        double value;
        if (!node_double(one, &value) && !node_special_double(one, &value))
            continue;
        cJSON *metric = json_push_object(metrics);
        json_add_string(
            metric, "key",
            mlflow_name(arena, arena_printf(arena, "%s%s", prefix, one->key)));
        add_value(metric, value);
        json_add_int(metric, "timestamp", at.time_ms);
        json_add_int(metric, "step", at.step);
    }
}

/* --- a run --- */

static enum ht_status ask(const struct session *session, const char *path,
                          cJSON *body, const struct node **answer,
                          struct ht_error *err)
{
    return mlflow_call(&session->mlflow->server, session->arena, path, body,
                       answer, err);
}

static enum ht_status save(const struct session *session, struct ht_error *err)
{
    return ledger_save(session->study->ledger, session->run, err);
}

static const char *experiment_of(const struct tracked_study *study)
{
    const char *name = study->job->trackers.mlflow;
    return name[0] != '\0' ? name : study->row.name;
}

static const char *mark_of(const struct session *session)
{
    return arena_printf(
        session->arena, "ht-%s-%lld-%lld", session->study->server_id,
        (long long)session->study->row.id, (long long)session->run->trial);
}

static enum ht_status find_experiment(const struct session *session,
                                      struct ht_error *err)
{
    struct mlflow *mlflow = session->mlflow;
    const char *name = experiment_of(session->study);
    const struct node *answer = NULL;
    if (mlflow->experiment != NULL && strcmp(mlflow->experiment, name) == 0)
        return HT_OK;
    enum ht_status status =
        ask(session,
            arena_printf(session->arena,
                         "experiments/get-by-name?experiment_name=%s",
                         mlflow_quoted(&mlflow->server, session->arena, name)),
            NULL, &answer, err);
    if (status == HT_OK)
        answer = node_find(answer, "experiment");
    if (status == HT_NOT_FOUND) {
        cJSON *body = cJSON_CreateObject();
        json_add_string(body, "name", name);
        status = ask(session, "experiments/create", body, &answer, err);
    }
    /* Another one made it in between. */
    if (status == HT_EXISTS)
        return HT_UNAVAILABLE;
    if (status != HT_OK)
        return status;
    free(mlflow->experiment);
    free(mlflow->experiment_id);
    mlflow->experiment = ht_xstrdup(name);
    mlflow->experiment_id =
        ht_xstrdup(node_get_string(answer, "experiment_id", ""));
    return HT_OK;
}

/* After a request without an answer: it may have made the run. */
static enum ht_status search_run(const struct session *session,
                                 struct ht_error *err)
{
    const struct node *answer = NULL;
    cJSON *body = cJSON_CreateObject();
    json_push_string(json_add_array(body, "experiment_ids"),
                     session->mlflow->experiment_id);
    json_add_string(body, "filter",
                    arena_printf(session->arena, "tags.`hypertune.id` = '%s'",
                                 mark_of(session)));
    json_add_int(body, "max_results", 1);
    const enum ht_status status =
        ask(session, "runs/search", body, &answer, err);
    if (status != HT_OK)
        return status;
    const struct node *run = node_first(answer, "runs");
    if (run != NULL)
        session->run->place =
            node_get_string(node_find(run, "info"), "run_id", "");
    return HT_OK;
}

static cJSON *run_body(const struct session *session, int64_t begun_ms)
{
    const struct tracked_study *study = session->study;
    const int64_t trial = session->run->trial;
    const char *number = number_text(session->arena, trial);
    const char *name = trial == 0 ? study->row.name
                                  : arena_printf(session->arena, "%s-%s",
                                                 study->row.name, number);
    cJSON *body = cJSON_CreateObject();
    json_add_string(body, "experiment_id", session->mlflow->experiment_id);
    json_add_string(body, "run_name", name);
    json_add_int(body, "start_time", begun_ms);
    cJSON *tags = json_add_array(body, "tags");
    add_tag(session, tags, "mlflow.runName", name);
    add_tag(session, tags, "hypertune.id", mark_of(session));
    add_tag(session, tags, "hypertune.study", study->row.name);
    if (trial != 0) {
        add_tag(session, tags, "mlflow.parentRunId", study->run.place);
        add_tag(session, tags, "hypertune.trial", number);
    }
    return body;
}

static enum ht_status make_run(const struct session *session, int64_t begun_ms,
                               struct ht_error *err)
{
    struct ledger_run *run = session->run;
    const struct node *answer = NULL;
    enum ht_status status = find_experiment(session, err);
    if (status == HT_OK && run->trying > run->batch)
        status = search_run(session, err);
    if (status == HT_OK && run->place[0] == '\0') {
        run->trying = run->batch + 1;
        status = save(session, err);
        if (status == HT_OK)
            status = ask(session, "runs/create", run_body(session, begun_ms),
                         &answer, err);
        if (status == HT_OK)
            run->place = node_get_string(
                node_find(node_find(answer, "run"), "info"), "run_id", "");
    }
    if (status != HT_OK)
        return status;
    if (run->place[0] == '\0')
        return ht_fail(err, HT_UNAVAILABLE, "runs/create: it names no run");
    run->trying = run->batch;
    return save(session, err);
}

/* The batch under way when the last request had no answer: did it arrive? */
static enum ht_status settle_batch(const struct session *session,
                                   struct ht_error *err)
{
    struct ledger_run *run = session->run;
    const struct node *answer = NULL;
    int64_t arrived = 0;
    enum ht_status status = ask(
        session, arena_printf(session->arena, "runs/get?run_id=%s", run->place),
        NULL, &answer, err);
    if (status != HT_OK)
        return status;
    const struct node *data = node_find(node_find(answer, "run"), "data");
    for (const struct node *tag = node_first(data, "tags"); tag;
         tag = tag->next)
        if (strcmp(node_get_string(tag, "key", ""), batch_tag) == 0)
            arrived = strtoll(node_get_string(tag, "value", "0"), NULL, 10);
    if (arrived == run->trying) {
        run->batch = run->trying;
        run->shown = run->next;
    } else {
        status = ledger_drop_sent(session->study->ledger, run->study,
                                  run->trial, run->trying, err);
    }
    run->trying = run->batch;
    return status == HT_OK ? save(session, err) : status;
}

/* --- batches --- */

struct batch { /* of measurements and tags */
    cJSON *metrics, *tags;
    size_t n;                            /* of the measurements */
    const struct measurement_row *first; /* that it has */
    const char *shown;                   /* the state after it */
};

static enum ht_status note_batch(const struct session *session,
                                 const struct batch *batch,
                                 struct ht_error *err)
{
    struct ledger_run *run = session->run;
    struct db *ledger = session->study->ledger;
    enum ht_status status = db_begin(ledger, err);
    run->trying = run->batch + 1;
    run->next = batch->shown;
    for (size_t i = 0; status == HT_OK && i < batch->n; i++)
        status = ledger_add_sent(ledger, &batch->first[i], run->trying, err);
    if (status == HT_OK)
        status = save(session, err);
    return db_end(ledger, status, err);
}

/* Takes the lists over. */
static enum ht_status send_batch(const struct session *session,
                                 struct batch *batch, struct ht_error *err)
{
    struct ledger_run *run = session->run;
    const struct node *answer;
    cJSON *body = new_body(session);
    enum ht_status status = note_batch(session, batch, err);
    add_tag(session, batch->tags, batch_tag,
            number_text(session->arena, run->trying));
    cJSON_AddItemToObject(body, "metrics", batch->metrics);
    cJSON_AddItemToObject(body, "tags", batch->tags);
    if (status != HT_OK) {
        cJSON_Delete(body);
        return status;
    }
    status = ask(session, "runs/log-batch", body, &answer, err);
    if (status != HT_OK)
        return status;
    run->batch = run->trying;
    run->shown = run->next;
    return save(session, err);
}

static struct batch new_batch(const char *shown)
{
    return (struct batch){.metrics = cJSON_CreateArray(),
                          .tags = cJSON_CreateArray(),
                          .shown = shown};
}

/* As many measurements at a time as one request takes. One that has more
 * metrics goes alone, and MLflow says why it refuses it. */
static enum ht_status send_measurements(const struct session *session,
                                        const struct measurement_list *list,
                                        struct ht_error *err)
{
    enum ht_status status = HT_OK;
    for (size_t i = 0; status == HT_OK && i < list->n;) {
        struct batch batch = new_batch(session->run->shown);
        batch.first = &list->rows[i];
        do {
            const struct measurement_row *row = &list->rows[i++];
            add_metrics(session->arena, "", row->metrics,
                        (struct moment){row->time_ms, row->step},
                        batch.metrics);
            batch.n++;
        } while (i < list->n &&
                 cJSON_GetArraySize(batch.metrics) < METRICS_ENOUGH);
        status = send_batch(session, &batch, err);
    }
    return status;
}

/* They never change, so it is harmless to send them again. */
static enum ht_status send_params(const struct session *session,
                                  const char *params, struct ht_error *err)
{
    struct arena *arena = session->arena;
    const struct node *one = node_items(node_read_stored(arena, params));
    enum ht_status status = HT_OK;
    while (status == HT_OK && one != NULL) {
        const struct node *answer;
        cJSON *body = new_body(session);
        cJSON *list = json_add_array(body, "params");
        for (int n = 0; n < PARAMS_MOST && one != NULL; n++, one = one->next) {
            const char *text = node_string(one);
            add_pair(
                list, mlflow_name(arena, one->key),
                cut(arena,
                    text != NULL ? text : json_text(arena, json_of_node(one)),
                    VALUE_MOST));
        }
        status = ask(session, "runs/log-batch", body, &answer, err);
    }
    return status;
}

static enum ht_status send_state(const struct session *session,
                                 const char *state, int64_t ended_ms,
                                 struct ht_error *err)
{
    const struct node *answer;
    cJSON *body = new_body(session);
    json_add_string(body, "status", state);
    if (ended_ms > 0 && strcmp(state, "RUNNING") != 0)
        json_add_int(body, "end_time", ended_ms);
    return ask(session, "runs/update", body, &answer, err);
}

/* --- the study --- */

static const char *home(void *self, struct arena *arena,
                        const struct study_row *study, const struct job *job)
{
    const struct mlflow *mlflow = self;
    const char *name = job->trackers.mlflow;
    if (name == NULL)
        return NULL;
    return arena_printf(arena, "%s %s", mlflow->server.url,
                        name[0] != '\0' ? name : study->name);
}

/* There is a run, and what is under way is settled. */
static enum ht_status begin_run(const struct session *session, int64_t begun_ms,
                                struct ht_error *err)
{
    struct ledger_run *run = session->run;
    enum ht_status status = HT_OK;
    if (run->place[0] == '\0')
        status = make_run(session, begun_ms, err);
    else if (run->trying > run->batch)
        status = settle_batch(session, err);
    return status;
}

static enum ht_status begin(void *self, struct tracked_study *study,
                            struct ht_error *err)
{
    const struct session session = {self, study->arena, study, &study->run};
    return begin_run(&session, study->row.created_ms, err);
}

static const char *study_state(enum study_state state)
{
    switch (state) {
    case STUDY_SUCCEEDED:
    case STUDY_STOPPED:
        return "FINISHED";
    case STUDY_FAILED:
        return "FAILED";
    case STUDY_CANCELLED:
    case STUDY_DELETING:
        return "KILLED";
    case STUDY_RUNNING:
    case STUDY_PAUSED:
    case STUDY_STOPPING:
    case STUDY_CANCELLING:
        break;
    }
    return "RUNNING";
}

static enum ht_status add_best(const struct session *session,
                               struct batch *batch, struct ht_error *err)
{
    const struct trial_row *best = &session->study->best;
    struct arena *arena = session->arena;
    struct ledger_run run;
    const enum ht_status status = ledger_run(session->study->ledger, arena,
                                             best->study, best->id, &run, err);
    if (status != HT_OK)
        return status;
    add_tag(session, batch->tags, "hypertune.best_trial",
            number_text(arena, best->id));
    add_tag(session, batch->tags, "hypertune.best_run", run.place);
    add_tag(session, batch->tags, "hypertune.best_params", best->params);
    add_metrics(arena, "hypertune.best.", best->final_metrics,
                (struct moment){best->ended_ms, best->id}, batch->metrics);
    return HT_OK;
}

static enum ht_status finish(void *self, struct tracked_study *study,
                             struct ht_error *err)
{
    const struct session session = {self, study->arena, study, &study->run};
    const struct study_row *row = &study->row;
    const struct trial_row *best = &study->best;
    const char *state = db_study_state_name(row->state);
    const char *found =
        arena_printf(study->arena, "%lld %s\n", (long long)best->id,
                     best->final_metrics != NULL ? best->final_metrics : "");
    const char *shown =
        arena_printf(study->arena, "%s%s %s", found, state, row->reason);
    if (strcmp(shown, study->run.shown) == 0)
        return HT_OK;
    enum ht_status status =
        send_state(&session, study_state(row->state), row->ended_ms, err);
    struct batch batch = new_batch(shown);
    add_tag(&session, batch.tags, "hypertune.state", state);
    add_tag(&session, batch.tags, "hypertune.reason", row->reason);
    if (status == HT_OK && best->final_metrics != NULL &&
        strncmp(found, study->run.shown, strlen(found)) != 0)
        status = add_best(&session, &batch, err);
    if (status == HT_OK)
        return send_batch(&session, &batch, err);
    cJSON_Delete(batch.metrics);
    cJSON_Delete(batch.tags);
    return status;
}

/* --- a trial --- */

static const char *trial_state(enum trial_state state)
{
    switch (state) {
    case TRIAL_SUCCEEDED:
    case TRIAL_STOPPED:
        return "FINISHED";
    case TRIAL_FAILED:
    case TRIAL_INFEASIBLE:
        return "FAILED";
    case TRIAL_CANCELLED:
        return "KILLED";
    case TRIAL_PREPARED:
    case TRIAL_REQUESTED:
    case TRIAL_ACTIVE:
    case TRIAL_STOPPING:
    case TRIAL_PAUSED:
        break;
    }
    return "RUNNING";
}

static enum ht_status show_state(const struct session *session,
                                 const struct trial_row *row,
                                 struct ht_error *err)
{
    const bool final = db_trial_state_is_final(row->state);
    const char *state = db_trial_state_name(row->state);
    const char *metrics =
        final && row->final_metrics != NULL ? row->final_metrics : "{}";
    const char *shown =
        arena_printf(session->arena, "%s %lld %s %s", state,
                     (long long)row->attempt, metrics, row->reason);
    if (strcmp(shown, session->run->shown) == 0)
        return HT_OK;
    const enum ht_status status =
        send_state(session, trial_state(row->state), row->ended_ms, err);
    if (status != HT_OK)
        return status;
    struct batch batch = new_batch(shown);
    add_tag(session, batch.tags, "hypertune.state", state);
    add_tag(session, batch.tags, "hypertune.reason", row->reason);
    add_tag(session, batch.tags, "hypertune.attempt",
            number_text(session->arena, row->attempt));
    if (row->confirms != 0)
        add_tag(session, batch.tags, "hypertune.confirms",
                number_text(session->arena, row->confirms));
    add_metrics(session->arena, "hypertune.final.", metrics,
                (struct moment){row->ended_ms, row->final_step}, batch.metrics);
    return send_batch(session, &batch, err);
}

/* Deleted here: its run stays, as what was measured was measured. */
static enum ht_status show_deleted(const struct session *session,
                                   struct ht_error *err)
{
    static const char shown[] = "DELETED";
    if (strcmp(session->run->shown, shown) == 0)
        return HT_OK;
    const enum ht_status status = send_state(session, "KILLED", 0, err);
    if (status != HT_OK)
        return status;
    struct batch batch = new_batch(shown);
    add_tag(session, batch.tags, "hypertune.state", shown);
    return send_batch(session, &batch, err);
}

static enum ht_status show_trial(void *self, struct tracked_study *study,
                                 struct tracked_trial *trial,
                                 struct ht_error *err)
{
    const struct session session = {self, trial->arena, study, &trial->run};
    const struct trial_row *row = trial->row;
    enum ht_status status =
        begin_run(&session,
                  row != NULL && row->started_ms > 0 ? row->started_ms
                  : row != NULL                      ? row->created_ms
                                                     : study->row.created_ms,
                  err);
    if (status == HT_OK && row == NULL)
        return show_deleted(&session, err);
    if (status == HT_OK && trial->run.batch == 0)
        status = send_params(&session, row->params, err);
    /* Now that it is known which batches arrived. */
    if (status == HT_OK)
        status = ledger_unsent(study->ledger, &trial->records, err);
    if (status == HT_OK)
        status = send_measurements(&session, &trial->records, err);
    return status == HT_OK ? show_state(&session, row, err) : status;
}

/* MLflow keeps what was measured. */
static enum ht_status forget(void *self, struct db *ledger, int64_t study,
                             struct ht_error *err)
{
    (void)self, (void)ledger, (void)study, (void)err;
    return HT_OK;
}

const struct tracker mlflow_tracker = {.file = "mlflow.db",
                                       .home = home,
                                       .begin = begin,
                                       .trial = show_trial,
                                       .finish = finish,
                                       .forget = forget};
