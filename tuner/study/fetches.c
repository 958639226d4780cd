#include "tuner/study/fetches.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/doc/json.h"
#include "proto/job/job.h"
#include "proto/tree/manifest.h"
#include "tuner/core/core.h"
#include "tuner/db/db.h"
#include "tuner/db/rows.h"
#include "tuner/db/trees.h"

enum {
    MOST_OF_RUNNER = 32,  /* that wait or are sent */
    PATIENCE_MS = 300000, /* without a question: it is given up */
    KEPT_MS = 3600 * 1000 /* of a tree, the same */
};

struct fetch {
    struct fetch *next;
    int64_t id, study, trial, attempt;
    char runner[HT_MAX_NAME + 1];
    char boot[LIVE_BOOT_BYTES]; /* of the runner that has heard of it */
    char *project;
    enum fetch_state state;
    int64_t bytes, of;
    char tree[TREE_NAME];
    struct ht_error why; /* of FETCH_REFUSED */
    int64_t asked_ms;    /* monotonic */
};

struct fetches {
    int64_t last_id; /* given; runners may remember those of an earlier start */
    struct fetch *first;
};

enum ht_status fetches_start(struct core *core, void **data,
                             struct ht_error *err)
{
    struct fetches *fetches = ht_xcalloc(1, sizeof *fetches);
    (void)err;
    fetches->last_id = core_wall_ms(core);
    *data = fetches;
    return HT_OK;
}

static void drop(struct fetches *fetches, struct fetch *fetch)
{
    struct fetch **link = &fetches->first;
    while (*link != fetch)
        link = &(*link)->next;
    *link = fetch->next;
    free(fetch->project);
    free(fetch);
}

void fetches_stop(void *data)
{
    struct fetches *fetches = data;
    if (fetches == NULL)
        return;
    while (fetches->first != NULL)
        drop(fetches, fetches->first);
    free(fetches);
}

/* --- what is there --- */

static struct fetches *fetches_of(struct core *core)
{
    return core_part(core, CORE_FETCHES);
}

static bool is_open(const struct fetch *fetch)
{
    return fetch->state == FETCH_WAITING || fetch->state == FETCH_SENDING;
}

static void expire(struct core *core)
{
    struct fetch *fetch = fetches_of(core)->first;
    while (fetch != NULL) {
        struct fetch *next = fetch->next;
        const int64_t kept_ms =
            fetch->state == FETCH_READY ? KEPT_MS : PATIENCE_MS;
        if (core_now_ms(core) - fetch->asked_ms >= kept_ms)
            drop(fetches_of(core), fetch);
        fetch = next;
    }
}

static struct fetch *find(struct core *core, int64_t study, int64_t trial)
{
    struct fetch *fetch = fetches_of(core)->first;
    while (fetch != NULL && (fetch->study != study || fetch->trial != trial))
        fetch = fetch->next;
    return fetch;
}

static size_t count_open(struct core *core, const char *runner)
{
    const struct fetch *fetch = fetches_of(core)->first;
    size_t n = 0;
    for (; fetch != NULL; fetch = fetch->next)
        n += is_open(fetch) && strcmp(fetch->runner, runner) == 0;
    return n;
}

/* --- who has the outputs --- */

struct holder {
    struct attempt_row attempt;
    const char *host, *folder; /* "": not known */
};

/* The attempt whose measurements are the trial's; else the newest that began.
 */
static const struct attempt_row *find_attempt(const struct attempt_list *list)
{
    const struct attempt_row *found = NULL;
    for (size_t i = 0; i < list->n; i++)
        if (list->rows[i].started_ms > 0 && (found == NULL || !found->winner))
            found = &list->rows[i];
    return found;
}

static enum ht_status check_there(const struct fetch_question *question,
                                  const struct attempt_row *attempt,
                                  struct ht_error *err)
{
    const long long trial = (long long)question->trial->id;
    if (attempt == NULL || attempt->runner[0] == '\0')
        return ht_fail(err, HT_NOT_FOUND,
                       "trial %lld has no outputs that the server knows of",
                       trial);
    if (attempt->outputs == OUTPUTS_UNWANTED ||
        attempt->outputs == OUTPUTS_DISCARDED)
        return ht_fail(err, HT_NOT_FOUND,
                       "the outputs of trial %lld were discarded: the spec "
                       "keeps those of the best alone",
                       trial);
    if (question->job->output_dir != NULL)
        return ht_fail(
            err, HT_PRECONDITION,
            "the outputs of trial %lld are in its outputDir, %.120s, "
            "which no runner sends",
            trial, question->job->output_dir);
    return HT_OK;
}

static enum ht_status find_holder(struct core *core, struct arena *arena,
                                  const struct fetch_question *question,
                                  struct holder *holder, struct ht_error *err)
{
    struct attempt_list list = {0};
    enum ht_status status =
        db_attempt_list(core_db(core), arena, question->study->id,
                        question->trial->id, &list, err);
    if (status != HT_OK)
        return status;
    const struct attempt_row *attempt = find_attempt(&list);
    status = check_there(question, attempt, err);
    if (status != HT_OK)
        return status;
    const struct node *facts = node_read_stored(arena, attempt->facts);
    holder->attempt = *attempt;
    holder->host = node_get_string(facts, "host", "");
    holder->folder = node_get_string(facts, "output", "");
    return HT_OK;
}

static enum ht_status check_runner(struct core *core,
                                   const struct holder *holder,
                                   struct ht_error *err)
{
    const char *name = holder->attempt.runner;
    const struct live_runner *runner = live_find_runner(core_live(core), name);
    const char *on = holder->host[0] != '\0' ? " on " : "";
    if (runner == NULL || !runner->online)
        return ht_fail(err, HT_PRECONDITION,
                       "runner %.64s%s%.80s, which has the outputs of trial "
                       "%lld, is away",
                       name, on, holder->host,
                       (long long)holder->attempt.trial);
    if (!runner->rules.outputs)
        return ht_fail(err, HT_PRECONDITION,
                       "runner %.64s%s%.80s has the outputs of trial %lld and "
                       "is of a release that cannot send them",
                       name, on, holder->host,
                       (long long)holder->attempt.trial);
    return HT_OK;
}

/* --- a question --- */

/* Whether it is what is asked for. */
static bool is_meant(const struct fetch *fetch,
                     const struct fetch_question *question,
                     const struct holder *holder)
{
    if (fetch->attempt != holder->attempt.n ||
        strcmp(fetch->runner, holder->attempt.runner) != 0)
        return false;
    return fetch->id == question->id || is_open(fetch) ||
           (fetch->state == FETCH_READY &&
            db_trial_state_is_final(question->trial->state));
}

/* Its hour begins anew. */
static enum ht_status renew(struct core *core, const struct fetch *fetch,
                            bool *has, struct ht_error *err)
{
    struct db *db = core_db(core);
    const enum ht_status status =
        db_tree_has(db, fetch->project, fetch->tree, has, err);
    return status == HT_OK && *has
               ? db_tree_renew(db, fetch->project, fetch->tree,
                               core_wall_ms(core), err)
               : status;
}

/* *fetch: NULL unless it is there and can be answered with. */
static enum ht_status find_meant(struct core *core,
                                 const struct fetch_question *question,
                                 const struct holder *holder,
                                 struct fetch **found, struct ht_error *err)
{
    struct fetch *fetch = find(core, question->study->id, question->trial->id);
    bool usable = fetch != NULL && is_meant(fetch, question, holder);
    enum ht_status status = HT_OK;
    *found = NULL;
    if (usable && fetch->state == FETCH_REFUSED)
        return ht_fail(err, fetch->why.status, "%s", fetch->why.text);
    if (usable && fetch->state == FETCH_READY)
        status = renew(core, fetch, &usable, err);
    if (fetch != NULL && !usable)
        drop(fetches_of(core), fetch);
    else
        *found = fetch;
    return status;
}

/* No row has it, so there is no COMMIT to wait for. NULL: HT_LIMIT. */
static struct fetch *begin(struct core *core,
                           const struct fetch_question *question,
                           const struct holder *holder, struct ht_error *err)
{
    struct fetches *fetches = fetches_of(core);
    const char *runner = holder->attempt.runner;
    if (count_open(core, runner) >= MOST_OF_RUNNER) {
        ht_fail(err, HT_LIMIT,
                "%d fetches wait for runner %.64s already: try it later",
                MOST_OF_RUNNER, runner);
        return NULL;
    }
    struct fetch *fetch = ht_xcalloc(1, sizeof *fetch);
    fetch->id = ++fetches->last_id;
    fetch->study = question->study->id;
    fetch->trial = question->trial->id;
    fetch->attempt = holder->attempt.n;
    fetch->project = ht_xstrdup(question->study->project);
    snprintf(fetch->runner, sizeof fetch->runner, "%s", runner);
    fetch->next = fetches->first;
    fetches->first = fetch;
    core_wake(core, CORE_POLLS, 0);
    return fetch;
}

enum ht_status fetches_ask(struct core *core, struct arena *arena,
                           const struct fetch_question *question,
                           struct fetch_answer *answer, struct ht_error *err)
{
    struct holder holder;
    struct fetch *fetch = NULL;
    expire(core);
    enum ht_status status = find_holder(core, arena, question, &holder, err);
    if (status == HT_OK)
        status = find_meant(core, question, &holder, &fetch, err);
    if (status == HT_OK && (fetch == NULL || is_open(fetch)))
        status = check_runner(core, &holder, err);
    if (status != HT_OK)
        return status;
    if (fetch == NULL)
        fetch = begin(core, question, &holder, err);
    if (fetch == NULL)
        return HT_LIMIT;
    fetch->asked_ms = core_now_ms(core);
    *answer =
        (struct fetch_answer){.id = fetch->id,
                              .state = fetch->state,
                              .runner = arena_strdup(arena, fetch->runner),
                              .host = holder.host,
                              .bytes = fetch->bytes,
                              .of = fetch->of,
                              .tree = arena_strdup(arena, fetch->tree)};
    return HT_OK;
}

/* --- what is known without a question --- */

static enum ht_status find_tree(struct core *core, struct arena *arena,
                                const struct fetch_question *question,
                                struct fetch_place *place, struct ht_error *err)
{
    const struct fetch *fetch =
        find(core, question->study->id, question->trial->id);
    bool has = false;
    if (fetch == NULL || fetch->state != FETCH_READY ||
        fetch->attempt != place->attempt)
        return HT_OK;
    const enum ht_status status =
        db_tree_has(core_db(core), fetch->project, fetch->tree, &has, err);
    if (status == HT_OK && has)
        place->tree = arena_strdup(arena, fetch->tree);
    return status;
}

enum ht_status fetches_look(struct core *core, struct arena *arena,
                            const struct fetch_question *question,
                            struct fetch_place *place, struct ht_error *err)
{
    struct holder holder;
    *place = (struct fetch_place){.runner = "", .host = "", .folder = ""};
    expire(core);
    if (find_holder(core, arena, question, &holder, &place->why) != HT_OK)
        return place->why.status == HT_NOT_FOUND ||
                       place->why.status == HT_PRECONDITION
                   ? HT_OK
                   : ht_fail(err, place->why.status, "%s", place->why.text);
    place->attempt = holder.attempt.n;
    place->runner = holder.attempt.runner;
    place->host = holder.host;
    place->folder = holder.folder;
    (void)check_runner(core, &holder, &place->why);
    return find_tree(core, arena, question, place, err);
}

enum ht_status fetches_note_use(struct core *core,
                                const struct fetch_question *question,
                                struct ht_error *err)
{
    struct fetch *fetch = find(core, question->study->id, question->trial->id);
    bool has = false;
    if (fetch == NULL || fetch->state != FETCH_READY)
        return HT_OK;
    fetch->asked_ms = core_now_ms(core);
    return renew(core, fetch, &has, err);
}

/* --- its runner --- */

void fetches_add_wanted(struct core *core, const struct live_runner *runner,
                        bool fresh, cJSON *list)
{
    expire(core);
    struct fetch *fetch = fetches_of(core)->first;
    for (; fetch != NULL; fetch = fetch->next) {
        if (!is_open(fetch) || strcmp(fetch->runner, runner->id) != 0 ||
            (fresh && strcmp(fetch->boot, runner->boot) == 0))
            continue;
        if (fresh)
            memcpy(fetch->boot, runner->boot, sizeof fetch->boot);
        cJSON *item = json_push_object(list);
        json_add_int(item, "fetch", fetch->id);
        json_add_int(item, "study", fetch->study);
        json_add_int(item, "trial", fetch->trial);
        json_add_string(item, "project", fetch->project);
    }
}

static void refuse(struct fetch *fetch, enum ht_status status, const char *why)
{
    fetch->state = FETCH_REFUSED;
    ht_fail(&fetch->why, status, "runner %.64s: %s", fetch->runner, why);
}

/* The store has answered for the tree before the runner names it. */
static enum ht_status note_tree(struct core *core, struct fetch *fetch,
                                const char *tree, struct ht_error *err)
{
    struct tree_hash hash;
    bool has = false;
    enum ht_status status = HT_OK;
    if (tree_name_read(tree, &hash, NULL) == HT_OK)
        status = db_tree_has(core_db(core), fetch->project, tree, &has, err);
    if (status != HT_OK)
        return status;
    if (has) {
        fetch->state = FETCH_READY;
        snprintf(fetch->tree, sizeof fetch->tree, "%s", tree);
    } else {
        refuse(fetch, HT_PRECONDITION, "the store lacks what it has sent");
    }
    return HT_OK;
}

static enum ht_status note(struct core *core, struct fetch *fetch,
                           const struct node *item, struct ht_error *err)
{
    const char *tree = node_get_string(item, "tree", NULL);
    const char *error = node_get_string(item, "error", NULL);
    if (tree != NULL)
        return note_tree(core, fetch, tree, err);
    if (error != NULL) {
        const bool gone = node_get_bool(item, "gone", false);
        refuse(fetch, gone ? HT_NOT_FOUND : HT_PRECONDITION, error);
        return HT_OK;
    }
    fetch->state = FETCH_SENDING;
    fetch->bytes = node_get_int(item, "bytes", 0);
    fetch->of = node_get_int(item, "of", 0);
    return HT_OK;
}

enum ht_status fetches_settle(struct core *core, const struct request *req,
                              const struct live_runner *runner,
                              struct ht_error *err)
{
    enum ht_status status = HT_OK;
    NODE_EACH (item, node_first(req->body, "outputs")) {
        const int64_t id = node_get_int(item, "fetch", 0);
        struct fetch *fetch = fetches_of(core)->first;
        while (fetch != NULL && fetch->id != id)
            fetch = fetch->next;
        if (status == HT_OK && fetch != NULL && is_open(fetch) &&
            strcmp(fetch->runner, runner->id) == 0)
            status = note(core, fetch, item, err);
    }
    return status;
}
