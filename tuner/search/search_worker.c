#include "tuner/search/search_worker.h"

#include "proto/base/clock.h"
#include "proto/base/log.h"
#include "tuner/search/asked_space.h"
#include "tuner/search/study.h"

enum {
    CACHED_STUDIES = 32,
    SLICE_MS = 50 /* of one question: then others have their turn */
};

/* --- what is kept of a study --- */

static void *new_study(int64_t study, const char *part)
{
    return search_study_new(study, part, NULL);
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

static enum ht_status find_points(struct worker *search,
                                  const struct worker_question *question,
                                  struct arena *arena,
                                  struct suggestions *found,
                                  struct ht_error *err)
{
    void *study;
    enum ht_status status =
        worker_read(search, question->study,
                    asked_space_of(arena, question->context), &study, err);
    if (status != HT_OK)
        return status;
    struct worker_question asked = *question;
    if (asked.context != NULL) /* it stays in the answer */
        asked.context = arena_strdup(arena, asked.context);
    search_study_hurry(study, clock_monotonic_ms() + SLICE_MS);
    status = search_study_suggest(study, &asked, arena, found, err);
    if (status != HT_OK)
        worker_forget(search);
    return status;
}

static const void *refuse(const struct worker_question *question,
                          struct arena *arena)
{
    struct suggestions *found = arena_alloc(arena, 1, sizeof *found);
    found->study = question->study;
    found->failed = true;
    return found;
}

static const void *answer(struct worker *search,
                          const struct worker_question *question,
                          struct arena *arena)
{
    struct suggestions *found = arena_alloc(arena, 1, sizeof *found);
    struct ht_error err;
    found->study = question->study;
    if (find_points(search, question, arena, found, &err) != HT_OK) {
        found->failed = true;
        log_event(LOG_ERROR, "search.failed", "study=%lld why=%s",
                  (long long)question->study, err.text);
    }
    return found;
}

const struct worker_role search_role = {.name = "search",
                                        .studies = CACHED_STUDIES,
                                        .spread = METER_SEARCH_SECONDS,
                                        .new = new_study,
                                        .free = free_study,
                                        .read = catch_up,
                                        .answer = answer,
                                        .refuse = refuse};
