/* table.c - all trials of a study as rows for the dashboard, or the ones that
 * changed since a revision. */

#include "tuner/read/reader.h"

#include <string.h>

#include "proto/doc/json.h"
#include "proto/doc/node.h"
#include "tuner/ask/query.h"
#include "tuner/db/event.h"
#include "tuner/db/notes.h"
#include "tuner/db/specs.h"
#include "tuner/read/trials.h"

enum {
    PIECE_ROWS = 2000,
    MOST_CHANGES = 1000, /* events; after more the whole table is written */
    MOST_OTHERS = 64     /* metrics of a trial that are no goals */
};

/* What one row is made of, in this order. */
static const char *const columns[] = {
    "id",         "state",   "objective", "step",      "createMs",
    "startMs",    "endMs",   "attempt",   "replicate", "confirms",
    "outside",    "reason",  "stopRule",  "why",       "tags",
    "parameters", "metrics", "others",    "attempts"};

/* --- one row --- */

static void push_null(cJSON *array)
{
    cJSON_AddItemToArray(array, cJSON_CreateNull());
}

static void push_member(cJSON *array, const struct node *map, const char *name)
{
    const struct node *member = node_find(map, name);
    if (member == NULL)
        push_null(array);
    else
        cJSON_AddItemToArray(array, json_of_node(member));
}

static cJSON *push_array(cJSON *array)
{
    cJSON *made = cJSON_CreateArray();
    cJSON_AddItemToArray(array, made);
    return made;
}

/* Children that exclude each other may share a name, which is listed once. */
static bool is_named_here(const struct space *space, size_t i)
{
    return space_find(space, space->params[i].name) == (int)i;
}

static void push_parameters(cJSON *row, struct arena *arena,
                            const struct job *job,
                            const struct trial_row *trial)
{
    const struct node *map = node_read_stored(arena, trial->params);
    cJSON *values = push_array(row);
    for (size_t i = 0; i < job->space.n; i++)
        if (is_named_here(&job->space, i))
            push_member(values, map, job->space.params[i].name);
}

/* The final measurement, before that the newest record. */
static enum ht_status find_measured(struct db *db, struct arena *arena,
                                    const struct trial_row *trial,
                                    struct measurement_row *measured,
                                    struct ht_error *err)
{
    if (trial->final_metrics == NULL)
        return db_trial_latest(db, arena, trial, measured, err);
    *measured = (struct measurement_row){.step = trial->final_step,
                                         .metrics = trial->final_metrics};
    return HT_OK;
}

static void push_metrics(cJSON *row, const struct job *job,
                         const struct node *map)
{
    cJSON *values = push_array(row);
    for (size_t i = 0; i < job->n_metrics; i++)
        push_member(values, map, job->metrics[i].name);
}

static bool is_goal(const struct job *job, const char *name)
{
    for (size_t i = 0; i < job->n_metrics; i++)
        if (strcmp(job->metrics[i].name, name) == 0)
            return true;
    return false;
}

/* What was measured beside the job's metrics: a map by name, or null. */
static void push_others(cJSON *row, const struct job *job,
                        const struct node *map)
{
    cJSON *others = NULL;
    int left = MOST_OTHERS;
    NODE_EACH (metric, node_items(map)) {
        if (is_goal(job, metric->key) || left == 0)
            continue;
        left--;
        if (others == NULL)
            others = json_push_object(row);
        cJSON_AddItemToObject(others, metric->key, json_of_node(metric));
    }
    if (others == NULL)
        push_null(row);
}

static void push_attempt(cJSON *array, const struct attempt_row *attempt)
{
    cJSON *item = push_array(array);
    json_push_int(item, attempt->n);
    json_push_string(item, attempt->runner);
    json_push_string(item, attempt->state == ATTEMPT_ENDED
                               ? db_attempt_outcome_name(attempt->outcome)
                               : db_attempt_state_name(attempt->state));
    json_push_int(item, attempt->started_ms);
    json_push_int(item, attempt->ended_ms);
}

static enum ht_status push_attempts(cJSON *row, struct db *db,
                                    struct arena *arena,
                                    const struct trial_row *trial,
                                    struct ht_error *err)
{
    struct attempt_list list = {0};
    const enum ht_status status =
        trial->attempt == 0
            ? HT_OK
            : db_attempt_list(db, arena, trial->study, trial->id, &list, err);
    cJSON *array = push_array(row);
    for (size_t i = 0; status == HT_OK && i < list.n; i++)
        push_attempt(array, &list.rows[i]);
    return status;
}

static enum ht_status make_row(const struct trial_walk *walk,
                               struct arena *arena,
                               const struct trial_row *trial, cJSON **out,
                               struct ht_error *err)
{
    struct measurement_row measured;
    const char *tags = ""; /* a share shows none */
    enum ht_status status =
        find_measured(walk->reader->db, arena, trial, &measured, err);
    if (status == HT_OK && walk->req->scope.study == 0)
        status = db_notes_get(
            walk->reader->db, arena,
            &(struct notes_name){trial->study, trial->id, NOTES_TAGS}, &tags,
            err);
    if (status != HT_OK)
        return status;
    const struct node *metrics = node_read_stored(arena, measured.metrics);
    cJSON *row = cJSON_CreateArray();
    json_push_int(row, trial->id);
    json_push_string(row, db_trial_state_name(trial->state));
    if (trial->has_objective)
        json_push_double(row, trial->objective);
    else
        push_null(row);
    json_push_int(row, measured.step);
    json_push_int(row, trial->created_ms);
    json_push_int(row, trial->started_ms);
    json_push_int(row, trial->ended_ms);
    json_push_int(row, trial->attempt);
    json_push_int(row, trial->replicate);
    json_push_int(row, trial->confirms);
    json_push_int(row, trial->outside);
    json_push_string(row, trial->reason);
    push_member(row, node_read_stored(arena, trial->stop), "rule");
    push_member(row, node_read_stored(arena, trial->why), "kind");
    json_push_string(row, tags);
    push_parameters(row, arena, walk->job, trial);
    push_metrics(row, walk->job, metrics);
    push_others(row, walk->job, metrics);
    status = push_attempts(row, walk->reader->db, arena, trial, err);
    if (status == HT_OK)
        *out = row;
    else
        cJSON_Delete(row);
    return status;
}

/* --- the table --- */

/* Everything in front of the rows, and the bracket that opens them. */
static void write_head(const struct trial_walk *walk, bool complete)
{
    struct text *reply = &walk->req->reply;
    const struct job *job = walk->job;
    cJSON *head = cJSON_CreateObject();
    json_add_int(head, "study", walk->study.id);
    json_add_int(head, "revision", walk->study.revision);
    json_add_bool(head, "complete", complete);
    cJSON *names = json_add_array(head, "columns");
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        json_push_string(names, columns[i]);
    cJSON *parameters = json_add_array(head, "parameters");
    for (size_t i = 0; i < job->space.n; i++)
        if (is_named_here(&job->space, i))
            json_push_string(parameters, job->space.params[i].name);
    cJSON *metrics = json_add_array(head, "metrics");
    for (size_t i = 0; i < job->n_metrics; i++)
        json_push_string(metrics, job->metrics[i].name);
    json_print(head, reply);
    reply->len--; /* its brace */
    text_puts(reply, ",\"rows\":[");
}

static enum ht_status write_all(struct trial_walk *walk, struct ht_error *err)
{
    struct request *req = walk->req;
    bool more;
    walk->page = (struct query_page){PIECE_ROWS, req->cursor};
    walk->continues = req->cursor > 0;
    if (!walk->continues)
        write_head(walk, true);
    const enum ht_status status = trials_walk(walk, &more, err);
    if (status != HT_OK)
        return status;
    if (!more)
        text_puts(&req->reply, "],\"deleted\":[]}");
    req->more = more;
    req->cursor = walk->last;
    return HT_OK;
}

/* The row of a trial that changed, or a note that it is gone. */
static enum ht_status write_changed(struct trial_walk *walk, int64_t id,
                                    cJSON *deleted, struct ht_error *err)
{
    struct arena *arena = arena_new();
    struct trial_row trial;
    cJSON *row;
    enum ht_status status =
        db_trial_get(walk->reader->db, arena, walk->study.id, id, &trial, err);
    if (status == HT_OK)
        status = make_row(walk, arena, &trial, &row, err);
    if (status == HT_OK) {
        text_puts(&walk->req->reply, walk->written++ > 0 ? "," : "");
        json_print(row, &walk->req->reply);
    } else if (status == HT_NOT_FOUND) {
        json_push_int(deleted, id);
        status = HT_OK;
    }
    arena_free(arena);
    return status;
}

static enum ht_status write_changes(struct trial_walk *walk,
                                    const struct id_list *ids,
                                    struct ht_error *err)
{
    enum ht_status status = HT_OK;
    cJSON *deleted = cJSON_CreateArray();
    write_head(walk, false);
    for (size_t i = 0; status == HT_OK && i < ids->n; i++)
        status = write_changed(walk, ids->ids[i], deleted, err);
    text_puts(&walk->req->reply, "],\"deleted\":");
    json_print(deleted, &walk->req->reply);
    text_puts(&walk->req->reply, "}");
    return status;
}

enum ht_status read_table(struct reader *reader, struct request *req,
                          struct ht_error *err)
{
    static const struct number_range revisions = {0, INT64_MAX, 0};
    struct trial_walk walk = {.reader = reader, .req = req, .view = make_row};
    struct id_list ids;
    int64_t since = 0, edited = 0;
    enum ht_status status =
        read_find_study(reader, req, &walk.study, &walk.job, err);
    if (status == HT_OK)
        status = query_number(req, "since", &revisions, &since, err);
    if (status != HT_OK)
        return status;
    const int64_t behind = walk.study.revision - since;
    status =
        db_spec_changed(reader->db, walk.study.id, INT64_MAX, &edited, err);
    if (status != HT_OK)
        return status;
    /* An edit decides of every trial whether it lies outside. */
    if (since == 0 || behind < 0 || behind > MOST_CHANGES || edited > since)
        return write_all(&walk, err);
    status = db_changed_trials(reader->db, req->arena, walk.study.id, since,
                               &ids, err);
    return status == HT_OK ? write_changes(&walk, &ids, err) : status;
}
