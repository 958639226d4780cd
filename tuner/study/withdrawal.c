#include "tuner/study/withdrawal.h"

#include "tuner/core/core.h"
#include "tuner/db/write.h"
#include "tuner/study/trial.h"

bool withdrawal_may_be(const struct trial_row *trial)
{
    return trial->attempt == 0 && trial->confirms == 0 &&
           !trial->chosen_by_person;
}

enum ht_status withdrawal_of(struct core *core, struct study_row *row,
                             const struct job *job,
                             const struct trial_row *trial, const char *reason,
                             struct ht_error *err)
{
    const enum ht_status status = trial_delete(core, job, trial, reason, err);
    return status == HT_OK ? db_study_count_withdrawn(core_db(core), row, err)
                           : status;
}

static enum ht_status withdraw_page(struct core *core, struct study_row *row,
                                    const struct job *job,
                                    const struct trial_list *page,
                                    struct ht_error *err)
{
    enum ht_status status = HT_OK;
    for (size_t i = 0; status == HT_OK && i < page->n; i++)
        if (withdrawal_may_be(&page->rows[i]))
            status = withdrawal_of(core, row, job, &page->rows[i],
                                   "withdrawn: the study has changed", err);
    return status;
}

enum ht_status withdrawal_of_all(struct core *core, struct study_row *row,
                                 const struct job *job, struct ht_error *err)
{
    enum ht_status status = HT_OK;
    struct arena *arena = arena_new();
    struct trial_list page = {.n = DB_WAITING_PAGE};
    int64_t after = 0;
    while (status == HT_OK && page.n == DB_WAITING_PAGE) {
        arena_reset(arena);
        status =
            db_trial_waiting(core_db(core), arena, row->id, after, &page, err);
        if (status != HT_OK || page.n == 0)
            break;
        after = page.rows[page.n - 1].id;
        status = withdraw_page(core, row, job, &page, err);
    }
    arena_free(arena);
    return status;
}
