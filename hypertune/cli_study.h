/* cli_study.h - studies and trials as the server tells them. */
#ifndef HT_HYPERTUNE_CLI_STUDY_H
#define HT_HYPERTUNE_CLI_STUDY_H

#include <stdbool.h>
#include <stdint.h>

#include "hypertune/cli_context.h"
#include "proto/job.h"
#include "proto/node.h"

#define CLI_JOBS "/v1/projects/local/locations/local/hyperparameterTuningJobs"
#define CLI_STUDIES "/v1/projects/local/locations/local/studies"
#define CLI_OURS "/hypertune/v1/studies"

struct cli_study {
    const struct node *job;    /* the whole resource, without its trials */
    const struct node *status; /* its hypertuneStatus */
    const char *body;          /* as it came */
    const char *name;
    const char *state;  /* "RUNNING" ... */
    const char *id;     /* number as text */
    const char *metric; /* objective; "" for a job without one */
    bool maximize;
};

enum ht_status cli_study_get(struct cli *cli, const char *name,
                             struct cli_study *study, struct ht_error *err);
/* Fills `study` from a job resource. */
void cli_study_read(const struct node *job, struct cli_study *study);
/* The states of studies and of trials; NULL ends each list. */
extern const char *const cli_study_states[];
extern const char *const cli_trial_states[];
/* CLI_DONE when `word` is one of the states in any case, or NULL; otherwise
 * says which there are. */
int cli_study_check_state(struct cli *cli, const char *word,
                          const char *const states[]);

/* Has it ended, so that no trial will run unless it is changed? */
bool cli_study_is_over(const char *state);
/* Sum of a study's counts: all trials; those that have ended. */
long long cli_study_count(const struct cli_study *study, const char *state);
long long cli_study_ended(const struct cli_study *study);

/* The exit code that says how a study went: CLI_DONE when it ended with a
 * best trial, else CLI_FAILED. */
int cli_study_verdict(const struct cli_study *study);

/* Splits "STUDY/TRIAL"; false when it is no such name. */
bool cli_study_split(struct cli *cli, const char *word, const char **study,
                     const char **trial);

enum ht_status cli_trial_get(struct cli *cli, const char *study,
                             const char *trial, const struct node **found,
                             struct ht_error *err);
/* Calls `visit` for each trial by id until it returns false. */
typedef bool cli_trial_visitor(const struct node *trial, void *context);
enum ht_status cli_trial_each(struct cli *cli, const char *study,
                              cli_trial_visitor *visit, void *context,
                              struct ht_error *err);

/* The last bytes that the master of a trial's newest attempt printed to
 * "stdout" or "stderr", without the last line end; "" when there are none. */
const char *cli_trial_log_tail(struct cli *cli, const char *study,
                               const char *trial, const char *stream,
                               int bytes);

/* Of one trial resource. */
const char *cli_trial_id(const struct node *trial);
const char *cli_trial_state(const struct node *trial);
/* Appends the parameters as one line of flags, safe to paste. */
void cli_trial_args(const struct node *trial, struct text *out);
/* Appends "name=value name=value", numbers in at most 4 digits. */
void cli_trial_params(const struct node *trial, struct text *out);
/* Appends the objective in at most 6 digits, or "-". */
void cli_trial_objective(const struct node *trial, struct text *out);
/* Milliseconds that it ran, up to `now` while it runs; 0: never started. */
int64_t cli_trial_elapsed(const struct node *trial, int64_t now_ms);

/* A scalar's text; "" for null and absent. */
const char *cli_scalar(const struct node *node);

#endif
