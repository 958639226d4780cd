#include "tuner/search/search.h"

#include "algorithms/base/algorithm.h"
#include "tuner/base/log.h"
#include "tuner/core/core.h"
#include "tuner/core/worker.h"
#include "tuner/search/study.h"
#include "tuner/study/settle.h"

enum { CACHED_STUDIES = 32 };

/* --- what is kept of a study --- */

static void *new_study(int64_t study)
{
    return search_study_new(study, NULL);
}

static void free_study(void *study)
{
    search_study_free(study);
}

static enum ht_status catch_up(void *study, struct db *db, struct ht_error *err)
{
    return search_study_catch_up(study, db, err);
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

static enum ht_status find_points(struct worker *search,
                                  const struct worker_question *question,
                                  struct arena *arena,
                                  struct suggestions *found,
                                  struct ht_error *err)
{
    void *study;
    enum ht_status status = worker_read(search, question->study, &study, err);
    if (status != HT_OK)
        return status;
    const struct search_question asked = {
        .ordinal = question->number,
        .n = question->n,
        .context = question->text == NULL
                       ? NULL
                       : arena_strdup(arena, question->text)};
    status = search_study_suggest(study, &asked, arena, found, err);
    if (status != HT_OK)
        worker_forget(search);
    return status;
}

static void answer(struct worker *search, struct core *core,
                   const struct worker_question *question)
{
    struct request *req = request_new();
    struct found_owner *owner = arena_alloc(req->arena, 1, sizeof *owner);
    owner->core = core;
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
    core_post(core, req);
}

static const struct worker_role role = {.name = "search",
                                        .studies = CACHED_STUDIES,
                                        .spread = METER_SEARCH_SECONDS,
                                        .new = new_study,
                                        .free = free_study,
                                        .read = catch_up,
                                        .answer = answer};

enum ht_status search_start(struct core *core, const char *path,
                            struct worker **search, struct ht_error *err)
{
    algorithm_init();
    return worker_start(&role, core, path, search, err);
}

void search_ask(struct worker *search, int64_t study,
                const struct search_question *question)
{
    worker_ask(search, &(struct worker_question){.study = study,
                                                 .number = question->ordinal,
                                                 .n = question->n,
                                                 .text = question->context});
}
