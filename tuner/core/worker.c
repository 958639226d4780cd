#include "tuner/core/worker.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/clock.h"
#include "tuner/core/core.h"
#include "tuner/core/fair_queue.h"

enum {
    REST_MS = 1000,          /* at most */
    ANSWER_BYTES = 16 << 20, /* that making one may take */
};

struct waiting {
    struct fair_item turn; /* must be first */
    struct worker_question question;
    char *context; /* owned, the question's */
    bool drops;    /* no question: the study is forgotten */
    int64_t asked_us;
};

struct known_study {
    int64_t study;
    char *part;  /* owned; NULL: all of it */
    void *state; /* NULL: this place and those after it are empty */
};

struct worker {
    const struct worker_role *role;
    const struct worker_receiver *receiver;
    struct core *core;
    char *path;
    pthread_t thread;
    pthread_mutex_t lock; /* guards the queue and stopping */
    pthread_cond_t wake;
    struct fair_queue *queue;
    bool stopping;

    /* the thread's own */
    struct db *db;
    bool in_use; /* the first of them, by the answer that is being made */
    struct known_study *known; /* role->studies places, newest use first */
};

/* --- the state of studies --- */

static bool is_known(const struct known_study *known, int64_t study,
                     const char *part)
{
    const bool whole = known->part == NULL || part == NULL;
    return known->state != NULL && known->study == study &&
           (whole ? known->part == part : strcmp(known->part, part) == 0);
}

static void *recall(struct worker *worker, int64_t study, const char *part)
{
    struct known_study *known = worker->known;
    size_t at = 0;
    while (at < worker->role->studies - 1 && known[at].state != NULL &&
           !is_known(&known[at], study, part))
        at++;
    struct known_study found = known[at];
    if (!is_known(&found, study, part)) {
        worker->role->free(found.state);
        free(found.part);
        known[at] = (struct known_study){0};
        found =
            (struct known_study){study, part == NULL ? NULL : ht_xstrdup(part),
                                 worker->role->new (study, part)};
    }
    memmove(known + 1, known, at * sizeof *known);
    known[0] = found;
    worker->in_use = true;
    return found.state;
}

static void forget(struct worker *worker, size_t at)
{
    struct known_study *known = worker->known;
    const size_t last = worker->role->studies - 1;
    worker->role->free(known[at].state);
    free(known[at].part);
    memmove(known + at, known + at + 1, (last - at) * sizeof *known);
    known[last] = (struct known_study){0};
}

void worker_forget(struct worker *worker)
{
    forget(worker, 0);
}

/* With all of its parts. */
static void forget_study(struct worker *worker, int64_t study)
{
    for (size_t at = worker->role->studies; at-- > 0;)
        if (worker->known[at].state != NULL && worker->known[at].study == study)
            forget(worker, at);
}

enum ht_status worker_read(struct worker *worker, int64_t study,
                           const char *part, void **out, struct ht_error *err)
{
    enum ht_status status = HT_OK;
    if (worker->db == NULL)
        status = db_open_readonly(worker->path, &worker->db, err);
    if (status == HT_OK)
        status = db_begin(worker->db, err);
    if (status != HT_OK)
        return status;
    void *state = recall(worker, study, part);
    status = worker->role->read(state, worker->db, err);
    db_rollback(worker->db);
    if (status != HT_OK) {
        worker_forget(worker);
        return status;
    }
    *out = state;
    return HT_OK;
}

/* --- the thread --- */

static void drop(struct waiting *waiting)
{
    free(waiting->context);
    free(waiting);
}

static struct waiting *take(struct worker *worker)
{
    struct fair_item *turn = NULL;
    memory_lock(&worker->lock);
    while (!worker->stopping &&
           (turn = fair_queue_pop(worker->queue, true)) == NULL)
        pthread_cond_wait(&worker->wake, &worker->lock);
    memory_unlock(&worker->lock);
    return (struct waiting *)turn;
}

static void note_cost(struct worker *worker, const struct waiting *waiting,
                      int64_t begun_us)
{
    memory_lock(&worker->lock);
    fair_queue_charge(worker->queue, &waiting->turn,
                      clock_monotonic_us() - begun_us);
    memory_unlock(&worker->lock);
}

static void rest(struct worker *worker, int64_t ms)
{
    const struct timespec until = clock_in_ms(ms < REST_MS ? ms : REST_MS);
    memory_lock(&worker->lock);
    int code = 0;
    while (!worker->stopping && code == 0)
        code = pthread_cond_timedwait(&worker->wake, &worker->lock, &until);
    memory_unlock(&worker->lock);
}

/* An answer on its way through the core's queue. */
struct posted {
    const struct worker *worker;
    const void *answer;
};

static enum ht_status handle_answer(struct core *core, struct request *req,
                                    struct ht_error *err)
{
    const struct posted *posted = req->owner;
    text_puts(&req->reply, "{}");
    return posted->worker->receiver->store(core, posted->answer, err);
}

static void end_answer(struct request *req)
{
    const struct posted *posted = req->owner;
    const struct worker *worker = posted->worker;
    if (req->status != HT_OK && core_is_here(worker->core))
        worker->receiver->give_up(worker->core, posted->answer);
    request_free(req);
}

/* An answer that is being made. */
struct making {
    struct worker *worker;
    const struct worker_question *question;
    struct request *req;
    const void *answer;
};

static void make_answer(void *context)
{
    struct making *making = context;
    making->answer = making->worker->role->answer(
        making->worker, making->question, making->req->arena);
}

/* What is known of the study may be half made: it is left where it is. */
static void give_up(struct worker *worker)
{
    struct known_study *known = worker->known;
    db_close(worker->db);
    worker->db = NULL;
    if (!worker->in_use)
        return;
    const size_t last = worker->role->studies - 1;
    memmove(known, known + 1, last * sizeof *known);
    known[last] = (struct known_study){0};
}

static void answer(struct worker *worker,
                   const struct worker_question *question)
{
    struct request *req = request_new();
    struct posted *posted = arena_alloc(req->arena, 1, sizeof *posted);
    struct making making = {worker, question, req, NULL};
    /* The core has to hear of it, whatever happens. */
    const void *refusal = worker->role->refuse(question, req->arena);
    posted->worker = worker;
    worker->in_use = false;
    if (!memory_has(ANSWER_BYTES)) {
        making.answer = refusal;
    } else if (!memory_try(make_answer, &making)) {
        give_up(worker);
        making.answer = refusal;
    }
    posted->answer = making.answer;
    if (posted->answer == NULL) {
        request_free(req);
        return;
    }
    req->owner = posted;
    req->handle = handle_answer;
    req->answer = end_answer;
    core_post(worker->core, req);
}

static void *run(void *argument)
{
    struct worker *worker = argument;
    const struct worker_role *role = worker->role;
    struct waiting *waiting;
    while ((waiting = take(worker)) != NULL) {
        const int64_t begun_ms = clock_monotonic_ms();
        const int64_t begun_us = clock_monotonic_us();
        if (waiting->drops) {
            forget_study(worker, waiting->question.study);
            drop(waiting);
            continue;
        }
        answer(worker, &waiting->question);
        note_cost(worker, waiting, begun_us);
        meter_observe_since(role->spread, waiting->asked_us);
        drop(waiting);
        rest(worker, role->rests * (clock_monotonic_ms() - begun_ms));
    }
    return NULL;
}

static bool is_same(const struct fair_item *waits, const void *wanted)
{
    const struct waiting *waiting = (const struct waiting *)waits;
    const struct worker_question *a = &waiting->question, *b = wanted;
    return !waiting->drops && a->study == b->study && a->first == b->first &&
           a->n == b->n &&
           (a->context == NULL || b->context == NULL
                ? a->context == b->context
                : strcmp(a->context, b->context) == 0);
}

void worker_ask(struct worker *worker, const struct worker_question *question)
{
    const uint64_t study = (uint64_t)question->study;
    const struct fair_item turn = {
        .owner = question->asker == NULL ? study : fair_key(question->asker),
        .study = study};
    memory_lock(&worker->lock);
    if (!fair_queue_has(worker->queue, turn.owner, turn.study, is_same,
                        question)) {
        struct waiting *waiting = ht_xcalloc(1, sizeof *waiting);
        waiting->turn = turn;
        waiting->question = *question;
        waiting->question.asker = NULL; /* only its turn follows from it */
        waiting->asked_us = clock_monotonic_us();
        if (question->context != NULL)
            waiting->question.context = waiting->context =
                ht_xstrdup(question->context);
        fair_queue_push(worker->queue, &waiting->turn);
        pthread_cond_signal(&worker->wake);
    }
    memory_unlock(&worker->lock);
}

void worker_drop(struct worker *worker, int64_t study)
{
    struct waiting *waiting = ht_xcalloc(1, sizeof *waiting);
    waiting->turn =
        (struct fair_item){.owner = (uint64_t)study, .study = (uint64_t)study};
    waiting->question.study = study;
    waiting->drops = true;
    memory_lock(&worker->lock);
    fair_queue_push(worker->queue, &waiting->turn);
    pthread_cond_signal(&worker->wake);
    memory_unlock(&worker->lock);
}

/* --- life --- */

static void release(struct worker *worker)
{
    struct fair_item *turn;
    while ((turn = fair_queue_pop(worker->queue, true)) != NULL)
        drop((struct waiting *)turn);
    fair_queue_free(worker->queue);
    for (size_t i = 0; i < worker->role->studies; i++) {
        worker->role->free(worker->known[i].state);
        free(worker->known[i].part);
    }
    free(worker->known);
    free(worker->path);
    db_close(worker->db);
    pthread_cond_destroy(&worker->wake);
    pthread_mutex_destroy(&worker->lock);
    free(worker);
}

enum ht_status worker_start(const struct worker_role *role,
                            const struct worker_receiver *receiver,
                            struct core *core, const char *path,
                            struct worker **out, struct ht_error *err)
{
    struct worker *worker = ht_xcalloc(1, sizeof *worker);
    worker->role = role;
    worker->receiver = receiver;
    worker->path = ht_xstrdup(path);
    worker->core = core;
    worker->queue = fair_queue_new();
    worker->known = ht_xcalloc(role->studies, sizeof *worker->known);
    pthread_mutex_init(&worker->lock, NULL);
    clock_cond_init(&worker->wake);
    const int code = pthread_create(&worker->thread, NULL, run, worker);
    if (code != 0) {
        release(worker);
        return ht_fail_errno(err, code, "cannot start the %s thread",
                             role->name);
    }
    *out = worker;
    return HT_OK;
}

void worker_stop(struct worker *worker)
{
    if (worker == NULL)
        return;
    memory_lock(&worker->lock);
    worker->stopping = true;
    pthread_cond_signal(&worker->wake);
    memory_unlock(&worker->lock);
    pthread_join(worker->thread, NULL);
    release(worker);
}
