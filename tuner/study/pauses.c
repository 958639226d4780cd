#include "tuner/study/pauses.h"

#include <ctype.h>
#include <string.h>

#include "tuner/base/reason.h"
#include "tuner/core/core.h"
#include "tuner/db/write.h"
#include "tuner/study/move.h"

/* --- first trials without a result --- */

static int64_t most_unreported(const struct job *job)
{
    return job->parallel < UNREPORTED_MOST ? job->parallel : UNREPORTED_MOST;
}

bool pauses_for_metric(const struct study_row *study)
{
    return study->state == STUDY_PAUSED &&
           study->unreported_in_row == UNREPORTED_PAUSED;
}

static enum ht_status save(struct core *core, struct study_row *row,
                           int64_t unreported, struct ht_error *err)
{
    row->unreported_in_row = unreported;
    return db_study_set(core_db(core), row->id, STUDY_UNREPORTED, unreported,
                        err);
}

/* Whether trials are left that a pause would save. */
static enum ht_status has_more(struct core *core, const struct study_row *row,
                               const struct job *job, bool *more,
                               struct ht_error *err)
{
    struct trial_counts counts;
    const enum ht_status status =
        db_trial_counts(core_db(core), row->id, &counts, err);
    if (status != HT_OK)
        return status;
    int64_t begun = 0;
    for (int state = 0; state < TRIAL_STATES; state++)
        if (state != TRIAL_PREPARED && state != TRIAL_REQUESTED)
            begun += trial_counts_all(&counts, (enum trial_state)state);
    *more = begun < job->max_trials;
    return HT_OK;
}

static enum ht_status pause(struct core *core, struct study_row *row,
                            const char *reason, struct ht_error *err)
{
    const enum ht_status status = save(core, row, UNREPORTED_PAUSED, err);
    return status == HT_OK ? move_study(core, row, STUDY_PAUSED, reason, err)
                           : status;
}

static const char *silence_reason(const struct deciding *deciding,
                                  int64_t unreported)
{
    return unreported == 1
               ? reason_make(deciding->arena, "paused, as the first trial %s",
                             deciding->final.why)
               : reason_make(deciding->arena,
                             "paused, as the first %lld trials all %s",
                             (long long)unreported, deciding->final.why);
}

/* Ends during a pause are not counted. */
static bool may_pause(const struct deciding *deciding,
                      const struct study_row *row)
{
    return row->state == STUDY_RUNNING &&
           row->unreported_in_row != UNREPORTED_PAUSED &&
           deciding->job->metric_doctor == DOCTOR_PAUSE;
}

static enum ht_status note_unreported(const struct deciding *deciding,
                                      struct study_row *row,
                                      struct ht_error *err)
{
    bool more = false;
    if (!may_pause(deciding, row))
        return HT_OK;
    const int64_t unreported = row->unreported_in_row + 1;
    const enum ht_status status =
        has_more(deciding->core, row, deciding->job, &more, err);
    if (status != HT_OK)
        return status;
    return more && unreported >= most_unreported(deciding->job)
               ? pause(deciding->core, row,
                       silence_reason(deciding, unreported), err)
               : save(deciding->core, row, unreported, err);
}

static enum ht_status note_reported(const struct deciding *deciding,
                                    struct study_row *row, struct ht_error *err)
{
    const bool was_paused = pauses_for_metric(row);
    const enum ht_status status =
        save(deciding->core, row, UNREPORTED_NEVER_PAUSES, err);
    if (status != HT_OK || !was_paused)
        return status;
    core_wake(deciding->core, CORE_ALL_HELD, row->id);
    return move_study(deciding->core, row, STUDY_RUNNING,
                      reason_make(deciding->arena, "trial %lld reported %s",
                                  (long long)deciding->trial->id,
                                  deciding->job->metrics[0].name),
                      err);
}

/* How the attempt crashed, without the words with digits, which may be
 * addresses, places or line numbers; "" when it did not. */
static char *crash_of(const struct deciding *deciding)
{
    const struct attempt_row *attempt = deciding->attempt;
    const char *status = strstr(attempt->reason, "exit ");
    const char *line = status == NULL ? NULL : strstr(status, ": ");
    char *crash = arena_strdup(deciding->arena, attempt->reason);
    if (attempt->outcome != OUTCOME_FAILED || attempt->exit_code <= 0 ||
        deciding->final.found || line == NULL ||
        strcasestr(line, "memory") != NULL)
        return arena_strdup(deciding->arena, "");
    char *to = crash + (line - attempt->reason);
    while (*line != '\0') {
        size_t len = 0;
        bool digits = false;
        for (; isalnum((unsigned char)line[len]); len++)
            digits = digits || isdigit((unsigned char)line[len]);
        const size_t kept = digits ? 1 : len > 0 ? len : 1;
        memmove(to, digits ? "#" : line, kept);
        to += kept;
        line += len > 0 ? len : 1;
    }
    *to = '\0';
    return crash;
}

/* Attempts of one trial alone may crash for its parameters. Retries are spared
 * while trials are left that have not been made. */
static enum ht_status note_crash(const struct deciding *deciding,
                                 struct study_row *row, struct ht_error *err)
{
    const char *crash = crash_of(deciding);
    const bool alike = crash[0] != '\0' && strcmp(crash, row->crash) == 0;
    const int64_t crashes = alike ? row->crashes + 1 : crash[0] != '\0';
    if (!may_pause(deciding, row) || (crashes == 0 && row->crashes == 0))
        return HT_OK;
    const enum ht_status status = db_study_set_crash(
        core_db(deciding->core), row->id, crashes, crash, err);
    if (status != HT_OK || crashes < CRASHES_MOST ||
        crashes <= deciding->trial->failures ||
        db_study_trials_made(row) >= deciding->job->max_trials)
        return status;
    const char *reason = reason_make(
        deciding->arena, "paused, as %lld attempts in a row failed alike: %s",
        (long long)crashes, deciding->attempt->reason);
    return pause(deciding->core, row, reason, err);
}

/* Not one that was stopped, or lost with its machine. */
static bool ended_by_itself(const struct attempt_row *attempt)
{
    return attempt->outcome == OUTCOME_SUCCEEDED ||
           attempt->outcome == OUTCOME_FAILED ||
           attempt->outcome == OUTCOME_TIMEOUT;
}

enum ht_status pauses_note_result(const struct deciding *deciding,
                                  struct ht_error *err)
{
    const struct trial_row *trial = deciding->trial;
    const bool unreported =
        trial->state == TRIAL_INFEASIBLE && deciding->final.doctor != NULL;
    struct study_row row;
    if (deciding->job->n_metrics == 0 || trial->state == TRIAL_CANCELLED ||
        (!ended_by_itself(deciding->attempt) && !trial->has_objective))
        return HT_OK;
    enum ht_status status = db_study_get(
        core_db(deciding->core), deciding->arena, trial->study, &row, err);
    if (status != HT_OK || row.unreported_in_row == UNREPORTED_NEVER_PAUSES)
        return status;
    if (trial->has_objective)
        return note_reported(deciding, &row, err);
    status = note_crash(deciding, &row, err);
    return status == HT_OK && unreported ? note_unreported(deciding, &row, err)
                                         : status;
}

enum ht_status pauses_allow_unreported(struct core *core,
                                       const struct study_row *study,
                                       bool repaired, struct ht_error *err)
{
    return study->unreported_in_row == UNREPORTED_PAUSED
               ? db_study_set(core_db(core), study->id, STUDY_UNREPORTED,
                              repaired ? 0 : UNREPORTED_NEVER_PAUSES, err)
               : HT_OK;
}

/* --- attempts that cannot begin --- */

bool pauses_for_refusals(const struct study_row *study)
{
    return study->state == STUDY_PAUSED && study->refusals >= REFUSALS_MOST;
}

enum ht_status pauses_note_refusal(struct core *core, struct arena *arena,
                                   int64_t study, const char *reason,
                                   struct ht_error *err)
{
    struct study_row row;
    enum ht_status status =
        db_study_get(core_db(core), arena, study, &row, err);
    if (status == HT_OK)
        status = db_study_set(core_db(core), study, STUDY_REFUSALS,
                              ++row.refusals, err);
    if (status != HT_OK || row.refusals < REFUSALS_MOST ||
        row.state != STUDY_RUNNING)
        return status;
    return move_study(
        core, &row, STUDY_PAUSED,
        reason_make(arena,
                    "paused, as the last %d attempts could not begin: %s",
                    REFUSALS_MOST, reason),
        err);
}

enum ht_status pauses_forget_refusals(struct core *core, int64_t study,
                                      struct ht_error *err)
{
    return db_study_set(core_db(core), study, STUDY_REFUSALS, 0, err);
}
