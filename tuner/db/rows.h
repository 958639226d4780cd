/* rows.h - what the database holds, one struct per table, and their states.
 *
 * Strings of a row are in the arena that the query was given. Times ending in
 * _ms are wall clock, 0 when not yet; they are shown, never compared. */
#ifndef HT_TUNER_DB_ROWS_H
#define HT_TUNER_DB_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/job/job.h"

/* The numbers are stored, and SQL compares them (states.h): another order
 * needs a migration. Those from STUDY_SUCCEEDED on are final. */
enum study_state {
    STUDY_RUNNING,
    STUDY_PAUSED,     /* no new trials; running ones continue */
    STUDY_STOPPING,   /* ends when its last trial has ended; results count */
    STUDY_CANCELLING, /* the same, results do not count */
    STUDY_SUCCEEDED,
    STUDY_STOPPED, /* ended early on request, results kept */
    STUDY_FAILED,
    STUDY_CANCELLED,
    STUDY_DELETING /* invisible; removed in slices by tick */
};

/* Sent instead of a revision when a study is deleted. */
#define REVISION_DELETED INT64_MAX

/* Stored by number as well. From TRIAL_SUCCEEDED to TRIAL_CANCELLED they are
 * final; a trial that did not succeed may be tried again (see move.c). */
enum trial_state {
    TRIAL_PREPARED,  /* suggestion not yet given to anyone; may be dropped */
    TRIAL_REQUESTED, /* waits for a slot (or for its retry) */
    TRIAL_ACTIVE,    /* an attempt is starting, running or draining */
    TRIAL_STOPPING,  /* its attempt has to end */
    TRIAL_SUCCEEDED,
    TRIAL_STOPPED, /* ended early on purpose, with a final measurement */
    TRIAL_FAILED,
    TRIAL_INFEASIBLE, /* ended well but without a finite objective */
    TRIAL_CANCELLED,
    TRIAL_PAUSED /* at a rung, with its checkpoint; holds no slot */
};
enum { TRIAL_STATES = TRIAL_PAUSED + 1 };

/* In this order; any state may be followed by ENDED. */
enum attempt_state {
    ATTEMPT_STARTING, /* leased to a runner, no process has begun */
    ATTEMPT_RUNNING,
    ATTEMPT_DRAINING, /* process ended, runner sends the rest */
    ATTEMPT_ENDED
};

/* Stored by number; METER_ATTEMPTS_SUCCEEDED and those after it have the same
 * order. */
enum attempt_outcome {
    OUTCOME_NONE, /* not ended */
    OUTCOME_SUCCEEDED,
    OUTCOME_FAILED,
    OUTCOME_STOPPED,
    OUTCOME_TIMEOUT,
    OUTCOME_LOST
};

/* The studies of a query. */
struct study_scope {
    const char *project, *location; /* NULL: any */
    unsigned kinds;                 /* STUDY_KIND() bits; 0: any */
    int64_t study;                  /* id of the only one; 0: any */
};
#define STUDY_KIND(kind) (1u << (kind))

/* A study, a custom job or a tuning job; `kind` tells them apart. */
struct study_row {
    int64_t id;
    /* projects/PROJECT/locations/LOCATION/studies/NAME; `display` is free text
     * that need not be unique */
    const char *project, *location, *name, *display;
    const char *spec; /* vertex_write() text */
    enum study_state state;
    const char *reason; /* why it is in this state, in words */
    /* of its newest event, from 1; only a restore skips some; 0: none yet */
    int64_t revision;
    int64_t seed;             /* of its search, chosen when the job has none */
    int64_t next_trial;       /* id the next trial gets, from 1 */
    bool exhausted;           /* the space has no untried point */
    enum study_state ends_as; /* what STOPPING becomes when nothing runs */
    int64_t stale_trials;     /* ended in a row without a better objective */
    int64_t used_ms;          /* time spent RUNNING, for until.time */
    /* updated_ms: of the newest revision; started_ms: about when its first
     * trial became ACTIVE */
    int64_t created_ms, started_ms, ended_ms, updated_ms;
    enum job_kind kind;        /* never changes */
    int64_t first_run_used_ms; /* used_ms when its first attempt ran; 0: none */
    int64_t gain_ms;           /* used_ms when the best objective last grew */
    int64_t refusals; /* attempts in a row that no runner could begin */
    int64_t unreported_in_row; /* first trials without the objective, or a mark
                       of tuner/study/pauses.h */
    int64_t crashes;   /* attempts in a row that failed alike, without a result
                          before */
    const char *crash; /* how, without what differs; "" */
    int64_t confirmations; /* of the trials made */
    int64_t withdrawn;     /* of the ids used: suggestions that a change of the
                              study deleted before they began, and ids that a
                              restore or an import skipped */
    const char *submitted; /* trainingInput of an AI Platform job, unchanged, so
                              that answers contain it as it was sent; "" */
    const char *job_spec; /* the same of a Vertex job's trialJobSpec or jobSpec,
                             for its replicas; "": that of spec */
    const char *ended;    /* RUNNING again only for confirmations: the reason of
                             the end (ends_as) that it goes back to; or "" */
};

/* Names one stored record of a trial, see measurement_row. */
struct record_name {
    int64_t attempt;
    const char *replica; /* NULL: names none */
    uint64_t writer;
    int64_t seq;
};

/* One point of a study and what came of it. Ids count from 1 within the
 * study. */
struct trial_row {
    int64_t study, id;
    enum trial_state state;
    /* canonical point: JSON, equal texts for equal points */
    const char *params;
    /* number among the trials of the study with this point, from 0 */
    int64_t replicate;
    int64_t ordinal;  /* of the suggestion in its study, from 0 */
    int64_t attempt;  /* newest attempt, 0: none */
    int64_t failures; /* attempts that failed by the trial's own fault */
    int64_t losses;   /* attempts in a row lost without progress */
    bool has_objective;
    double objective;   /* of the final measurement, when has_objective */
    int64_t final_step; /* of the final measurement */
    const char *final_metrics; /* JSON object, NULL before the end */
    struct record_name latest; /* its newest, of the master or a client */
    /* why it is in this state, in words; "" when there is nothing to add */
    const char *reason;
    int64_t revision; /* of its newest event */
    int64_t created_ms, started_ms, ended_ms;
    const char *client;    /* that asked for it in a JOB_STUDY, "" when none */
    bool chosen_by_person; /* its point, or a part of it: then `why` is about
                              the other parts */
    int64_t final_elapsed_ms; /* of the final measurement, -1: unknown */
    const char *why;          /* JSON of why the search chose it
                                 (tuner/search/reason_json.h), or "" */
    const char *stop;         /* JSON of why it was stopped early, or "" */
    int64_t confirms; /* the trial that it repeats, see confirm.h; 0: none */
    int64_t rungs_passed; /* of its early stopping rule */
    bool pausing;         /* STOPPING only to be PAUSED at rung rungs_passed */
    bool outside; /* a change of the study left its point out: it teaches, but
                     is not suggested again */
    int64_t attempts_before; /* numbers of attempts up to it may have been given
                                before a restore */
};

/* The state of the output folders of an attempt that ended. */
enum outputs_state {
    OUTPUTS_THERE,
    OUTPUTS_UNWANTED,  /* their runner has to remove them */
    OUTPUTS_DISCARDED, /* it did */
    OUTPUTS_KEPT       /* it must not: they are outside of what it may remove */
};

/* Names one attempt; attempts count from 1 within their trial. */
struct trial_name {
    int64_t study, trial, attempt;
};

/* One start of a trial on one runner. */
struct attempt_row {
    int64_t study, trial, n;
    enum attempt_state state;
    enum attempt_outcome outcome;
    /* its name; the attempt of an imported trial may have "" here */
    const char *runner;
    int64_t exit_code;  /* -1: none */
    int64_t signal;     /* 0: none */
    const char *reason; /* why it ended, in words */
    bool winner;        /* its measurements decided the trial */
    const char *facts;  /* JSON object of its machine, "" before it is known */
    const char *doctor; /* JSON of why it had no objective
                           (tuner/study/metric_doctor.h), or "" */
    enum outputs_state outputs;
    /* Its last report or output, once it is silent (tuner/study/silence.h); 0:
     * never was, -1: is no longer. */
    int64_t silent_ms;
    int64_t usual_ms; /* median between its reports then; 0: not known */
    bool hung;        /* stopped for its silence: `reason` says how long */
    bool moving;      /* stopped, for its trial to continue elsewhere */
    /* of the lease, of RUNNING, and of DRAINING or ENDED */
    int64_t created_ms, started_ms, ended_ms;
};

/* One record; study to seq name it, see proto/job/report.h. */
struct measurement_row {
    int64_t study, trial, attempt;
    /* such as "master-0"; "client" for a measurement that a client sent */
    const char *replica;
    uint64_t writer; /* random number of the reporting process */
    /* seq counts the writer's records from 1; time_ms is when it was reported,
     * by the clock of the machine that did */
    int64_t seq, step, time_ms;
    const char *metrics;    /* JSON object */
    const char *checkpoint; /* "" when none */
};

/* One revision of a study. Events stay when the trial that they are about is
 * deleted. */
struct event_row {
    int64_t study, revision, time_ms;
    const char *actor;      /* who caused it: "core", "runner NAME", "trial",
                               or a role over HTTP: see gate_actor() */
    const char *kind;       /* "trial.moved" and so on, see docs/http.md */
    int64_t trial, attempt; /* 0: none */
    const char *from, *to;  /* states or "" */
    const char *reason;
    const char *data; /* JSON object or "" */
    /* For storing: the measurement; when read it is in `data`. */
    struct record_name record;
};

/* What a person asked of a runner. */
enum runner_drain {
    RUNNER_SERVES,
    RUNNER_DRAINS, /* no new trials */
    RUNNER_MOVES   /* ... and trials there continue elsewhere */
};

/* A runner as its last hello described it; `online` and seen_ms change later,
 * too. */
struct runner_row {
    /* id: its name; boot: another text for each start of the runner */
    const char *id, *engine, *host, *boot;
    int64_t slots;   /* trials that it runs at a time */
    int64_t seen_ms; /* when it last came or went */
    bool online;
    const char *rules; /* JSON object of what it can and may do */
    enum runner_drain drain;
};

/* Constant texts, "" for a number that is no state. Several states share one
 * name of Vertex or Vizier, whose lists are shorter. */
const char *db_study_kind_name(enum job_kind kind);        /* "TUNING" */
const char *db_study_state_name(enum study_state state);   /* "RUNNING" */
const char *db_study_state_vertex(enum study_state state); /* "JOB_STATE_..." */
const char *db_study_state_vizier(enum study_state state); /* "ACTIVE" */
const char *db_trial_state_name(enum trial_state state);   /* "ACTIVE" */
const char *db_trial_state_vertex(enum trial_state state);
const char *db_attempt_state_name(enum attempt_state state);
const char *
db_attempt_outcome_name(enum attempt_outcome outcome);     /* "failed" */
const char *db_runner_drain_name(enum runner_drain drain); /* "DRAINS" */
bool db_study_state_is_final(enum study_state state);
/* Trials made so far, without confirmations and withdrawn suggestions. */
int64_t db_study_trials_made(const struct study_row *study);
/* Running again only for confirmations: no new points are tried. */
bool db_study_only_confirms(const struct study_row *study);
bool db_trial_state_is_final(enum trial_state state);
/* A failed trial for every count, filter and rule: it ended without a result by
 * its own fault, FAILED or INFEASIBLE. */
bool db_trial_state_is_failed(enum trial_state state);

#endif
