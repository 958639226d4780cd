/* core_fixture.h - a core in its own directory, and a runner and a
 * reporter played by the test through core_post().
 *
 * Every call waits for its answer, so a test reads like a conversation. The
 * answers live until fixture_close(). */
#ifndef HT_TESTS_LIB_CORE_FIXTURE_H
#define HT_TESTS_LIB_CORE_FIXTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/base/clock.h"
#include "proto/doc/json.h"
#include "tests/check.h"
#include "tuner/api/study.h"
#include "tuner/api/trial.h"
#include "tuner/core/core.h"
#include "tuner/db/write.h"
#include "tuner/study/trial.h"
#include "tuner/wire/control.h"
#include "tuner/wire/report.h"

#define RUNNER_TOKEN "0123456789abcdef"

struct fixture {
    char dir[64];
    struct core_options options;
    struct core *core;
    struct arena *arena;
    struct request *answers; /* all of them, by next */
    int64_t next_id;         /* of control messages */
    const char *runner, *boot;
};

/* --- life --- */

/* Starts the core again in the same folder, with the options. */
bool fixture_start(struct fixture *fixture);

/* A core in a new folder, and a runner "r1" that has yet to say hello. */
void fixture_open(struct fixture *fixture);

/* Stops the core; the folder and the answers stay. */
void fixture_stop(struct fixture *fixture);

/* Stops the core; frees the answers, and removes the folder. */
void fixture_close(struct fixture *fixture);

/* Opens, runs the case, closes. */
void fixture_run(void (*test)(struct fixture *f));

/* Runs a case with its own core. */
#define RUN_ON_CORE(test) RUN_CALL(test, fixture_run(test))

/* --- asking --- */

/* A request with that JSON as its body, which may be NULL; not sent. */
struct request *fixture_request(struct fixture *fixture,
                                request_handler *handle, const char *body);

/* Whether a request that was posted has its answer. */
bool fixture_is_done(struct request *req);

/* Waits for the answer; the fixture owns the request from then on. */
void fixture_wait(struct fixture *fixture, struct request *req);

/* Calls a handler about a study, which may be NULL; returns with its answer. */
struct request *fixture_call(struct fixture *fixture, request_handler *handle,
                             const char *study, const char *body);

/* The same about a trial of the study. */
struct request *fixture_call_trial(struct fixture *fixture,
                                   request_handler *handle, const char *study,
                                   const char *trial, const char *body);

/* The reply as a tree. */
const struct node *fixture_reply(struct request *req);

/* --- studies --- */

/* Submits a spec in the native form. */
struct request *fixture_submit(struct fixture *fixture, const char *yaml);

/* The test's own connection, for looking; rows are in the arena. */
struct db *fixture_db(struct fixture *fixture);

/* The row of a study; without a name when there is none. */
struct study_row fixture_study(struct fixture *fixture, int64_t id);

/* The row of a trial; zeros when there is none. */
struct trial_row fixture_trial(struct fixture *fixture, int64_t study,
                               int64_t trial);

/* The trial's newest record; NULL metrics without one. */
struct measurement_row fixture_latest(struct fixture *fixture, int64_t study,
                                      int64_t trial);

/* 2 ms, for loops with a deadline. */
void fixture_nap(void);

/* Polls until `number` trials of the study are in that state. */
bool fixture_await_trials(struct fixture *fixture, int64_t study,
                          enum trial_state state, int64_t number);

/* Polls until the study is in that state. */
bool fixture_await_study(struct fixture *fixture, int64_t study,
                         enum study_state state);

/* For reasons that follow other news by a moment. */
bool fixture_await_reason(struct fixture *fixture, int64_t study,
                          const char *reason);

/* --- a runner --- */

/* Sends {v, type, token, runner, boot, id, <members>}. */
struct request *fixture_post_control(struct fixture *fixture, const char *type,
                                     int64_t id, const char *members);

/* The same with the next id; returns with the answer. */
struct request *fixture_control(struct fixture *fixture, const char *type,
                                const char *members);

/* With what it can and may do, members of `rules`. */
struct request *fixture_hello_rules(struct fixture *fixture, int slots,
                                    const char *rules);

/* Says hello as a runner of processes with that many slots. */
struct request *fixture_hello(struct fixture *fixture, int slots);

/* Says hello as a runner that runs images, too. */
struct request *fixture_hello_images(struct fixture *fixture, int slots);

struct leased { /* one attempt of a lease answer */
    struct trial_name name;
    const char *token;
    const struct node *node;
};

/* Reads the attempts of an answer; returns how many there are. */
size_t fixture_leased(struct request *req, struct leased *out, size_t most);

/* Leases until `number` attempts have come. */
size_t fixture_lease(struct fixture *fixture, int number, struct leased out[]);

/* Leases one attempt. */
struct leased fixture_lease_one(struct fixture *fixture);

/* study, trial, attempt and whatever else as members. */
struct request *fixture_tell(struct fixture *fixture, const char *type,
                             const struct trial_name *name, const char *more);

/* Leases one, which says that it has started. */
struct leased fixture_begin(struct fixture *fixture);

/* ended with the outcome, drained. */
void fixture_end(struct fixture *fixture, const struct leased *leased,
                 const char *outcome);

/* The trial reports by itself, with its token. */
struct request *fixture_report(struct fixture *fixture, const char *token,
                               const char *records);

/* One record of writer 1: sequence number, step and accuracy. */
const char *fixture_record(struct fixture *fixture, int64_t seq, int64_t step,
                           const char *accuracy);

/* started, one report, ended, drained: a trial that goes well. */
void fixture_succeed(struct fixture *fixture, const struct leased *leased,
                     const char *accuracy);

/* started, ended with the outcome, drained. */
void fixture_end_as(struct fixture *fixture, const struct leased *leased,
                    const char *outcome);

#endif
