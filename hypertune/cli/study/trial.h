/* trial.h - trials as the server describes them, in words, as tables and in the
 * other formats of -o. */
#ifndef HT_HYPERTUNE_CLI_STUDY_TRIAL_H
#define HT_HYPERTUNE_CLI_STUDY_TRIAL_H

#include <stdbool.h>
#include <stddef.h>

#include "hypertune/cli/study/study.h"
#include "proto/base/limits.h"

/* Asks the server for one trial by its id, in cli->arena; errors as cli_get(),
 * of which HT_NOT_FOUND means that the study or the trial is not there. */
enum ht_status cli_trial_get(struct cli *cli, const char *study,
                             const char *trial, const struct node **found,
                             struct ht_error *err);

/* The list of a study's trials by id, of one state unless that is NULL. */
struct cli_pages cli_trial_pages(struct cli *cli, const char *study,
                                 const char *state);

/* The last bytes that the master of a trial's newest attempt printed to
 * "stdout" or "stderr", without the last line end; "" when there are none. */
const char *cli_trial_log_tail(struct cli *cli, const char *study,
                               const char *trial, const char *stream,
                               int bytes);

/* Its newest attempt; NULL: it has none, or is an item of a list. */
const struct node *cli_trial_newest(const struct node *trial);
/* Why a trial that has not ended does not run, after its name: "waits: no
 * runner is connected"; of one that is being started the last line of its
 * runner. NULL: it runs or has ended. In cli->arena. */
const char *cli_trial_waits(struct cli *cli, const struct cli_study *study,
                            const struct node *trial);
/* Of one trial resource. */
const char *cli_trial_id(const struct node *trial);
const char *cli_trial_state(const struct node *trial);
/* Appends the parameters as one line of flags, safe to paste. */
void cli_trial_args(const struct node *trial, struct text *out);
/* The same for a person to read: numbers in at most 6 digits, control bytes
 * escaped. */
void cli_trial_flags(const struct node *trial, struct text *out);
/* Appends "name=value name=value", numbers in at most 4 digits. */
void cli_trial_params(const struct node *trial, struct text *out);
/* The objective; NaN: none. */
double cli_trial_score(const struct node *trial);
/* Appends it in at most 6 digits, or "-". */
void cli_trial_objective(const struct node *trial, struct text *out);
/* The final value of any metric; NULL, or NaN, when it has none. */
const struct node *cli_trial_metric(const struct node *trial,
                                    const char *metric);
double cli_trial_value(const struct node *trial, const char *metric);
/* Appends "accuracy=0.9 latency=31": every metric of the study. */
void cli_trial_results(const struct cli_study *study, const struct node *trial,
                       struct text *out);
/* Appends the objective of the best trial, and how many are as good when there
 * are several goals: "accuracy=0.9 of 3"; nothing without one. */
void cli_trial_best(const struct cli_study *study, struct text *out);
/* Milliseconds that it ran, up to `now` while it runs; 0: never started. */
int64_t cli_trial_elapsed(const struct node *trial, int64_t now_ms);
/* Appends "lr=0.0011 bs=128 opt=adam" for a map of parameters: names over 4
 * bytes by the first letters of their words, or by their first two when they
 * are one word; numbers in at most 4 digits. Names stay whole when two of them
 * would become one. */
void cli_trial_brief(const struct node *params, struct text *out);

struct cli_parameter {
    const char *name; /* borrowed from the resource */
    bool labels;      /* has texts for values */
};

struct cli_parameters {
    size_t n;
    struct cli_parameter items[HT_MAX_PARAMETERS];
};

/* All of a resource with a studySpec, in declared order; a name that several
 * have comes once. */
void cli_parameters_read(const struct node *job,
                         struct cli_parameters *parameters);

/* Adds the names of what a trial measured beside the study's metrics to the n
 * of `names`, each once; returns the list, which may have moved. */
const char **cli_trial_others(struct cli *cli, const struct cli_study *study,
                              const struct node *trial, const char **names,
                              size_t *n);

/* One trial, appended; false when the form is that for people. */
bool cli_trial_table_fields(struct cli *cli, const struct cli_study *study,
                            const struct node *trial, struct text *out);

/* Prints a list of trials in any form: an exit code. */
int cli_trial_table_print(struct cli *cli, const struct cli_study *study,
                          size_t n, const struct node *const trials[]);

#endif
