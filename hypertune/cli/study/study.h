/* study.h - studies as the server describes them, and the commands that change
 * one. */
#ifndef HT_HYPERTUNE_CLI_STUDY_STUDY_H
#define HT_HYPERTUNE_CLI_STUDY_STUDY_H

#include <stdbool.h>
#include <stdint.h>

#include <cjson/cJSON.h>

#include "hypertune/cli/frame/cli.h"
#include "proto/doc/node.h"
#include "proto/job/job.h"

/* CLI_OURS "/NAME" and what is printed behind it; `name` may be foreign. */
__attribute__((format(printf, 3, 4))) const char *
cli_study_path(struct cli *cli, const char *name, const char *format, ...);

/* Each kind of study has its own collection in Google's API. Ours are in the
 * project and location "local". */
struct cli_collection {
    enum job_kind kind;
    const char *path;        /* where one is created */
    const char *status_kind; /* of hypertuneStatus */
    const char *kind_name;   /* for people */
};
/* Of what the command makes. */
#define CLI_PROJECT "local"

enum { CLI_COLLECTIONS = 3 };
extern const struct cli_collection cli_collections[CLI_COLLECTIONS];

/* One answer of the server; all is borrowed from the tree of that answer. */
struct cli_study {
    const struct cli_collection *home;
    const struct node *job;    /* the whole resource, without its trials */
    const struct node *status; /* its hypertuneStatus */
    const char *body;          /* as it came */
    const char *name;
    const char *state;          /* "RUNNING" ... */
    const char *reason;         /* for it, "" for none */
    const char *id;             /* number as text */
    const struct node *best;    /* trial, NULL: none yet */
    const struct node *front;   /* the ids of trials that no other one beats, of
                                   several goals; NULL: it has one goal */
    const struct node *metrics; /* the first, the objective; NULL: none */
    const char *metric;         /* objective; "" for a job without one */
    bool maximize;
};

/* Finds a study of any kind by its name or number; of equal names in several
 * places the newest. What `study` points to is in cli->arena.
 * HT_NOT_FOUND  there is none; others as cli_http_call() */
enum ht_status cli_study_get(struct cli *cli, const char *name,
                             struct cli_study *study, struct ht_error *err);
/* Finds the one that prevents a new one of ours with this name. */
enum ht_status cli_study_get_own(struct cli *cli, const char *name,
                                 struct cli_study *study, struct ht_error *err);
/* Connects and finds the study: CLI_DONE, or another exit code after a
 * message. */
int cli_study_open(struct cli *cli, const char *name, struct cli_study *study);
/* The same for a study with trials; a custom job is refused. */
int cli_study_open_trials(struct cli *cli, const char *name,
                          struct cli_study *study);
/* Fills `study` from a resource of any kind. */
void cli_study_read(const struct node *job, struct cli_study *study);
/* The states of studies and of trials; NULL ends each list. */
extern const char *const cli_study_states[];
extern const char *const cli_trial_states[];
/* CLI_DONE when `word` is one of the states in any case, or NULL; else
 * CLI_USAGE after a message with the states. */
int cli_study_check_state(struct cli *cli, const char *word,
                          const char *const states[]);

/* CLI_USAGE after a message that the study has nothing of that name, with the
 * nearest of the NULL-terminated names; `kind` is "" or a word and a blank. */
int cli_study_refuse(struct cli *cli, const struct cli_study *study,
                     const char *kind, const char *name,
                     const char *const names[]);

/* Has it ended, so that no trial will run unless it is changed? */
bool cli_study_is_over(const char *state);
/* Trials by a key of the server's counts, of which "failed" has all failed
 * ones, "infeasible" among them; all that have ended; all, without prepared
 * ones. 0 when the server sent no counts. */
long long cli_study_count(const struct cli_study *study, const char *state);
long long cli_study_ended(const struct cli_study *study);
long long cli_study_all(const struct cli_study *study);
/* Trials that have a runner now, stopping ones too. */
long long cli_study_running(const struct cli_study *study);
/* Trials that may run in all; 0: no limit. */
long long cli_study_limit(const struct cli_study *study);

/* Appends its state, and how many trials failed when most of them did:
 * "SUCCEEDED, 4 of 6 failed". */
void cli_study_outcome(const struct cli_study *study, struct text *out);
/* Appends `lead` and "4 of 6 failed: most often 'exit 1'" of a study that ended
 * well although trials failed; nothing of any other. */
void cli_study_failures(const struct cli_study *study, const char *lead,
                        struct text *out);
/* Appends `lead` and "early stopping ended 9 of 10 trials (90 %)", with advice
 * where these are too many; nothing where its rule stopped none. */
void cli_study_stops(const struct cli_study *study, const char *lead,
                     struct text *out);
/* Appends a line for each trial that probably hangs: `lead`, "trial 7 is silent
 * for 12m, usually reports every 20s". */
void cli_study_silent(const struct cli_study *study, const char *lead,
                      struct text *out);
/* Have more than half of its trials failed although it ended well? */
bool cli_study_failed_mostly(const struct cli_study *study);

/* Milliseconds that it took until its end or now; 0: nothing has run. */
int64_t cli_study_elapsed_ms(const struct cli_study *study, int64_t now_ms);
/* Milliseconds that the rest of its trials would take at the rate of those
 * that have ended; -1: unknown. */
int64_t cli_study_left_ms(const struct cli_study *study, int64_t now_ms);

/* The path of a list, of those in `state` alone unless that is NULL, and with
 * the tag of --tag. */
const char *cli_study_filter(struct cli *cli, const char *path,
                             const char *state);

/* Appends how it searches as a spec has it: RANDOM_SEARCH is "random", "-" when
 * it does not search. */
void cli_study_algorithm(const struct cli_study *study, struct text *out);

/* Appends how many trials ended, and their limit if it has one: "3/40". */
void cli_study_progress(const struct cli_study *study, struct text *out);

/* The exit code of a study: CLI_DONE when it ended with a best trial, else
 * CLI_FAILED. */
int cli_study_verdict(const struct cli_study *study);

/* Splits "STUDY/ID" or "STUDY/best"; false when it is no such name. */
bool cli_study_split(struct cli *cli, const char *word, const char **study,
                     const char **trial);
/* The same: CLI_DONE, or CLI_USAGE after a message. */
int cli_study_want_trial(struct cli *cli, const char *word, const char **study,
                         const char **trial);
/* The id of the best trial in place of "best": CLI_DONE, or CLI_ABSENT after a
 * message that there is none yet. */
int cli_study_resolve(struct cli *cli, const struct cli_study *study,
                      const char **trial);
/* Connects and finds the study and the id of the trial that the word names; of
 * a custom job its only one. CLI_DONE, or another exit code after a message. */
int cli_study_open_trial(struct cli *cli, const char *word,
                         struct cli_study *study, const char **trial);

/* Deletes the study, without a question. */
enum ht_status cli_control_remove(struct cli *cli,
                                  const struct cli_study *study,
                                  struct ht_error *err);
/* Asks whether what is lost with the study may be: the study is deleted next,
 * which `verb` calls it. Returns as the next one. */
int cli_control_consent(struct cli *cli, const struct cli_study *study,
                        const char *verb);
/* Deletes the study after a question (--yes answers it; without a terminal
 * --yes is needed). Returns CLI_DONE, or another exit code after a message. */
int cli_control_delete(struct cli *cli, const struct cli_study *study);

/* Why the server has paused the study, and advice, in cli->arena; NULL when it
 * is not held. */
const char *cli_control_held(struct cli *cli, const struct cli_study *study);
/* The same of a study that anybody has paused, and of one that has ended with
 * failed trials that can run again; else NULL. */
const char *cli_control_advice(struct cli *cli, const struct cli_study *study);

/* Runs the failed trials of a study that the server has paused again, and
 * resumes it: the cause is repaired. `study` is as it is then. Returns
 * CLI_DONE, or another exit code after a message. */
int cli_retry_repaired(struct cli *cli, struct cli_study *study);

/* POSTs "pause", "resume" or "stop" for a study. */
enum ht_status cli_control_post(struct cli *cli, const char *study,
                                const char *verb, struct ht_error *err);

/* PATCHes a study with members of its resource, which are released; fills
 * `changed` from the answer. */
enum ht_status cli_control_patch(struct cli *cli, const char *study,
                                 cJSON *patch, struct cli_study *changed,
                                 struct ht_error *err);

#endif
