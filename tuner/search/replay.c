#include "tuner/search/replay.h"

#include <stdlib.h>

#include "tuner/search/study.h"

struct replay {
    int64_t study;
    const struct algorithm *algorithm;
    struct search_study *search; /* NULL after a failure */
};

struct replay *replay_of(struct replay **kept, int64_t study,
                         const struct algorithm *algorithm)
{
    if (*kept == NULL || (*kept)->study != study ||
        (*kept)->algorithm != algorithm) {
        replay_free(*kept);
        *kept = ht_xcalloc(1, sizeof **kept);
        **kept = (struct replay){.study = study, .algorithm = algorithm};
    }
    return *kept;
}

void replay_free(struct replay *replay)
{
    if (replay == NULL)
        return;
    search_study_free(replay->search);
    free(replay);
}

enum ht_status replay_ask(struct replay *replay, struct db *db,
                          struct arena *arena,
                          const struct replay_question *question,
                          struct replay_answer *answer, struct ht_error *err)
{
    struct replay_answer made = {0};
    if (replay->search == NULL)
        replay->search = search_study_new(replay->study, replay->algorithm);
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
