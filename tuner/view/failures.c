#include "tuner/view/failures.h"

#include "proto/doc/json.h"

enum ht_status failures_find(struct db *db, struct arena *arena,
                             const struct study_row *study,
                             const struct trial_counts *counts,
                             struct failures *failures, struct ht_error *err)
{
    const int64_t failed = trial_counts_failed(counts->of);
    const int64_t ended = trial_counts_ended(counts->of);
    *failures = (struct failures){.reason = ""};
    if (failed == 0 || study->kind == JOB_CUSTOM ||
        (study->state != STUDY_SUCCEEDED && study->state != STUDY_STOPPED))
        return HT_OK;
    failures->words = arena_printf(arena, "%lld of %lld failed",
                                   (long long)failed, (long long)ended);
    failures->mostly = 2 * failed > ended;
    /* A list has many studies: it is looked for where it matters. */
    return failures->mostly ? db_trial_common_failure(db, arena, study->id,
                                                      &failures->reason, err)
                            : HT_OK;
}

void failures_add(cJSON *object, const struct failures *failures)
{
    if (failures->words == NULL)
        return;
    cJSON *told = json_add_object(object, "failures");
    json_add_string(told, "words", failures->words);
    json_add_bool(told, "mostly", failures->mostly);
    if (failures->reason[0] != '\0')
        json_add_string(told, "reason", failures->reason);
}
