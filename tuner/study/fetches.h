/* fetches.h - people who fetch the outputs of a trial from another machine: its
 * runner is asked to send them to the store, from where they are fetched.
 *
 * What they wait for is in memory alone: they ask again and again, so after a
 * restart of the server the next question begins it anew, and the runner sends
 * only what the store lacks. The tree is kept for an hour like any that nothing
 * uses (tuner/store/commit.c), counted from the last question. Core thread. */
#ifndef HT_TUNER_STUDY_FETCHES_H
#define HT_TUNER_STUDY_FETCHES_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdint.h>

#include "proto/base/arena.h"
#include "proto/base/error.h"
#include "tuner/core/live.h"
#include "tuner/core/options.h"
#include "tuner/core/request.h"

/* The part CORE_FETCHES. */
enum ht_status fetches_start(struct core *core, void **data,
                             struct ht_error *err);
void fetches_stop(void *data); /* accepts NULL */

struct job;
struct study_row;
struct trial_row;

struct fetch_question {
    const struct study_row *study;
    const struct job *job;
    const struct trial_row *trial;
    int64_t id; /* of the answer before, 0: this is the first */
};

enum fetch_state {
    FETCH_WAITING, /* for its runner */
    FETCH_SENDING,
    FETCH_READY,  /* the tree is in the store of the study's project */
    FETCH_REFUSED /* never in an answer */
};

struct fetch_answer { /* texts are in the arena of the question */
    int64_t id;
    enum fetch_state state;
    const char *runner, *host; /* host "": not known */
    int64_t bytes, of;         /* sent, of what the store lacked */
    const char *tree;
};

/* Asks the runner that has the outputs, and says how far it is. A first
 * question joins what others wait for; a tree of before is the answer only
 * after the end of the trial, as nothing changes then.
 * HT_NOT_FOUND     the trial has no outputs, or has none any more
 * HT_PRECONDITION  its runner is away or cannot send them, or they are in an
 *                  outputDir; also what prevents it: the runner's sentence
 * HT_LIMIT         too many wait for that runner */
enum ht_status fetches_ask(struct core *core, struct arena *arena,
                           const struct fetch_question *question,
                           struct fetch_answer *answer, struct ht_error *err);

/* What is known of the outputs without asking for them. */
struct fetch_place {
    int64_t attempt;           /* that has them, 0: none */
    const char *runner, *host; /* "": not known */
    const char *folder;        /* there, "": not known */
    const char *tree;          /* that the store has of them, NULL: none */
    struct ht_error why;       /* they cannot be asked for now; or HT_OK */
};
/* Fails for the database alone. `question->id` is not used. */
enum ht_status fetches_look(struct core *core, struct arena *arena,
                            const struct fetch_question *question,
                            struct fetch_place *place, struct ht_error *err);
/* The tree that fetches_look() found is used: its hour begins anew. */
enum ht_status fetches_note_use(struct core *core,
                                const struct fetch_question *question,
                                struct ht_error *err);

/* Adds what the runner is to send to an answer; with `fresh` only what this
 * boot of it has not heard of by such an answer. */
void fetches_add_wanted(struct core *core, const struct live_runner *runner,
                        bool fresh, cJSON *list);
/* Notes what the heartbeat says of it. */
enum ht_status fetches_settle(struct core *core, const struct request *req,
                              const struct live_runner *runner,
                              struct ht_error *err);

#endif
