/* method.h - what the methods on a study or a trial have in common: they find
 * what the path names, change it and reply. Core thread. */
#ifndef HT_TUNER_API_METHOD_H
#define HT_TUNER_API_METHOD_H

#include "proto/base/error.h"
#include "tuner/core/request.h"
#include "tuner/db/rows.h"

/* What one request works on. */
struct method_call {
    struct core *core;
    struct request *req;
    struct db *db;
    struct arena *arena; /* of the request */
    struct study_row study;
    const struct job *job;  /* of the study; from METHOD_JOB on */
    struct trial_row trial; /* from METHOD_TRIAL on */
};

/* What is found before the body begins. */
enum method_path {
    METHOD_STUDY,
    METHOD_JOB,
    METHOD_TRIAL,
    METHOD_CLIENT_TRIAL /* one that a client runs, not a job */
};

typedef enum ht_status method_body(struct method_call *call,
                                   struct ht_error *err);

struct method_call method_call(struct core *core, struct request *req);

/* Finds what the path names, then calls the body and, unless that holds the
 * request, `reply`; NULL: the body has replied.
 * HT_NOT_FOUND     there is no such study or trial
 * HT_CORRUPT       the stored spec is damaged
 * HT_PRECONDITION  of METHOD_CLIENT_TRIAL: a job runs the trial */
enum ht_status method_run(struct core *core, struct request *req,
                          enum method_path path, method_body *body,
                          method_body *reply, struct ht_error *err);

/* Defines such a request_handler. */
#define METHOD(handler, path, body, reply)                                     \
    enum ht_status handler(struct core *core, struct request *req,             \
                           struct ht_error *err)                               \
    {                                                                          \
        return method_run(core, req, path, body, reply, err);                  \
    }

/* --- replies --- */

method_body method_reply_empty; /* {} */
/* The trial with its attempts and measurements. */
method_body method_reply_trial;
/* The study as its kind of job, after it was settled: it shows what the method
 * led to. */
method_body method_reply_job;
/* Settles the study and reads its row again. */
method_body method_settle;

/* --- checks: HT_PRECONDITION with the reason --- */

method_body method_check_study_open;  /* the study has not ended */
method_body method_check_trial_open;  /* the trial has not */
method_body method_check_not_stopped; /* the study is neither cancelled nor
                                         being stopped or cancelled */
method_body method_check_clients;     /* clients run the trials, not a job */
/* Always fails: "study S has ended: STATE" */
method_body method_study_ended;

/* --- changes --- */

/* Stores the row and the job as its spec, with the event study.changed. */
enum ht_status method_store_job(struct method_call *call, const struct job *job,
                                const char *reason, struct ht_error *err);
/* Deletes the study, which ends its shares. */
method_body method_delete_study;
/* A point of the study's space as its canonical text, in the arena. */
const char *method_params(const struct method_call *call,
                          const struct value point[]);

#endif
