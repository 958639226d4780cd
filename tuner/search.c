#include "tuner/search.h"

#include <pthread.h>
#include <stdlib.h>

#include "algorithms/algorithm.h"
#include "tuner/core.h"
#include "tuner/log.h"
#include "tuner/search_study.h"
#include "tuner/study_life.h"

enum { CACHED_STUDIES = 32 }; /* states kept; the least recently used goes */

struct question {
    int64_t study, ordinal;
    size_t n;
    struct question *next;
};

struct search {
    struct core *core;
    char *path;
    pthread_t thread;
    pthread_mutex_t lock; /* guards the list and stopping */
    pthread_cond_t wake;
    struct question *first, **last;
    bool stopping;

    /* the worker's own */
    struct db *db;
    struct search_study *cache[CACHED_STUDIES]; /* newest use first */
};

/* --- the worker's cache --- */

static struct search_study *cached(struct search *search, int64_t study)
{
    size_t at = 0;
    while (at < CACHED_STUDIES - 1 && search->cache[at] != NULL &&
           search_study_id(search->cache[at]) != study)
        at++;
    struct search_study *found = search->cache[at];
    if (found == NULL || search_study_id(found) != study) {
        search_study_free(found);
        found = search_study_new(study, NULL);
    }
    for (; at > 0; at--)
        search->cache[at] = search->cache[at - 1];
    search->cache[0] = found;
    return found;
}

static void drop_newest(struct search *search)
{
    search_study_free(search->cache[0]);
    for (size_t i = 1; i < CACHED_STUDIES; i++)
        search->cache[i - 1] = search->cache[i];
    search->cache[CACHED_STUDIES - 1] = NULL;
}

/* --- answering --- */

static enum ht_status handle_found(struct core *core, struct request *req,
                                   struct ht_error *err)
{
    text_puts(&req->reply, "{}");
    return study_accept(core, req->owner, err);
}

struct found_owner {
    struct suggestions found; /* first, so that handle_found() sees it */
    struct core *core;
};

static void answer_found(struct request *req)
{
    const struct found_owner *owner = req->owner;
    if (req->status != HT_OK && core_is_here(owner->core))
        study_ask_later(owner->core, owner->found.study);
    request_free(req);
}

static enum ht_status find_points(struct search *search,
                                  const struct question *question,
                                  struct arena *arena,
                                  struct suggestions *found,
                                  struct ht_error *err)
{
    if (search->db == NULL) {
        const enum ht_status status =
            db_open_readonly(search->path, &search->db, err);
        if (status != HT_OK)
            return status;
    }
    struct search_study *study = cached(search, question->study);
    enum ht_status status = db_begin(search->db, err);
    if (status != HT_OK)
        return status;
    status = search_study_catch_up(study, search->db, err);
    db_rollback(search->db);
    if (status == HT_OK)
        status = search_study_suggest(study, question->ordinal, question->n,
                                      arena, found, err);
    if (status != HT_OK)
        drop_newest(search);
    return status;
}

static void work(struct search *search, const struct question *question)
{
    struct request *req = request_new();
    struct found_owner *owner = arena_alloc(req->arena, 1, sizeof *owner);
    owner->core = search->core;
    owner->found.study = question->study;
    req->owner = owner;
    req->handle = handle_found;
    req->answer = answer_found;
    struct ht_error err;
    if (find_points(search, question, req->arena, &owner->found, &err) !=
        HT_OK) {
        owner->found.failed = true;
        log_event(LOG_ERROR, "search.failed", "study=%lld why=%s",
                  (long long)question->study, err.text);
    }
    core_post(search->core, req);
}

static struct question *next_question(struct search *search)
{
    pthread_mutex_lock(&search->lock);
    while (search->first == NULL && !search->stopping)
        pthread_cond_wait(&search->wake, &search->lock);
    struct question *question = search->stopping ? NULL : search->first;
    if (question != NULL) {
        search->first = question->next;
        if (search->first == NULL)
            search->last = &search->first;
    }
    pthread_mutex_unlock(&search->lock);
    return question;
}

static void *run(void *argument)
{
    struct search *search = argument;
    struct question *question;
    while ((question = next_question(search)) != NULL) {
        work(search, question);
        free(question);
    }
    return NULL;
}

/* --- life --- */

static void release(struct search *search)
{
    while (search->first != NULL) {
        struct question *question = search->first;
        search->first = question->next;
        free(question);
    }
    for (size_t i = 0; i < CACHED_STUDIES; i++)
        search_study_free(search->cache[i]);
    db_close(search->db);
    pthread_cond_destroy(&search->wake);
    pthread_mutex_destroy(&search->lock);
    free(search->path);
    free(search);
}

enum ht_status search_start(struct core *core, const char *path,
                            struct search **out, struct ht_error *err)
{
    struct search *search = ht_xcalloc(1, sizeof *search);
    algorithms_init();
    search->core = core;
    search->path = ht_xstrdup(path);
    search->last = &search->first;
    pthread_mutex_init(&search->lock, NULL);
    pthread_cond_init(&search->wake, NULL);
    const int code = pthread_create(&search->thread, NULL, run, search);
    if (code != 0) {
        release(search);
        return ht_fail_errno(err, code, "cannot start the search thread");
    }
    *out = search;
    return HT_OK;
}

void search_stop(struct search *search)
{
    if (search == NULL)
        return;
    pthread_mutex_lock(&search->lock);
    search->stopping = true;
    pthread_cond_signal(&search->wake);
    pthread_mutex_unlock(&search->lock);
    pthread_join(search->thread, NULL);
    release(search);
}

void search_ask(struct search *search, int64_t study, int64_t ordinal, size_t n)
{
    struct question *question = ht_xcalloc(1, sizeof *question);
    *question = (struct question){.study = study, .ordinal = ordinal, .n = n};
    pthread_mutex_lock(&search->lock);
    *search->last = question;
    search->last = &question->next;
    pthread_cond_signal(&search->wake);
    pthread_mutex_unlock(&search->lock);
}
