/* live.h - the core's state in memory that no table has: parsed jobs, monotonic
 * deadlines, the stops sent to runners.
 *
 * All of it may be lost: a restarted core rebuilds the jobs from the file,
 * treats every pause as over and every runner as just seen. Core thread. */
#ifndef HT_TUNER_CORE_LIVE_H
#define HT_TUNER_CORE_LIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/base/error.h"
#include "proto/base/limits.h"
#include "proto/job/job.h"
#include "tuner/core/runner_rules.h"
#include "tuner/db/rows.h"

/* A deadline that never comes. */
#define LIVE_NEVER INT64_MAX

/* A point to try, with texts in the arena of its owner. */
struct suggestion {
    const char *params; /* canonical point */
    const char *why;    /* JSON, see reason_json.h */
    bool repeats;       /* a tried point, to be measured again */
};

struct live_suggestion {      /* what a search found for clients */
    struct arena *arena;      /* holds all texts; NULL: there is none */
    const char *context;      /* that the points are of, or NULL */
    size_t n, taken;          /* taken: the first ones, given already */
    struct suggestion *items; /* see search.h */
    bool exhausted;           /* there are no further points of that context */
    bool barren;              /* see search.h */
    int64_t news;             /* what the search knew, as in the study */
    int64_t due_ms;           /* no search ahead of clients before */
    int searches_left;        /* how many such searches until a client asks */
};

struct live_made {      /* trials that were made of one answer of the search */
    int64_t from, news; /* first id, and the news that the search knew */
};
enum { LIVE_MADE = 4 }; /* so many answers, the newest last */

/* One entry for each study that the core has had to do with since its start.
 * Job and stock can be had again, and live_trim() drops them. */
struct live_study {
    int64_t id;
    struct arena *arena;  /* holds job and nothing else */
    struct job *job;      /* NULL: read it from the row again */
    bool asking;          /* a search worker has a question */
    int64_t news;         /* results added or removed, a count */
    int64_t asked_news;   /* of them, known to the search asked last */
    int64_t ask_after_ms; /* no question before, after a failed one */
    size_t n_made;        /* of the newest points, see elastic.h */
    struct live_made made[LIVE_MADE];
    struct live_suggestion stock; /* see suggestion_stock.h */
    int64_t clock_mark_ms;        /* running time is counted from here; 0: the
                                     clock is stopped */
    int64_t clock_used_ms;        /* running time at the mark */
    int64_t look_at_ms;           /* settle again then */
    int64_t waits_since_ms;       /* when it last got a runner, or its trials
                                     began to wait; 0: none waits */
    bool stale;   /* slots changed: settle as soon as possible */
    size_t bytes; /* of job and stock; 0: it is in no order of use */
    struct live_study *newer, *older; /* in the order of use */
    struct live_study *next;
};

enum { LIVE_ACTOR_BYTES = 32 }; /* a longer one is cut */

/* One entry for each trial with a pause, a recent event or a pending check. */
struct live_trial {
    int64_t study, trial;
    int64_t retry_at_ms;    /* may start again then; 0: at once */
    int64_t measured_at_ms; /* of its last trial.measured event */
    bool measured_due;      /* newer values wait for the next such event */
    char measured_by[LIVE_ACTOR_BYTES]; /* who caused them */
    bool verdict_due; /* the early stopping rule has to check it (early_stop.h)
                       */
    bool awaited;     /* a held request waits for that */
    struct live_trial *next;
};

struct live_ask { /* slots of an elastic runner that wait for a trial */
    int64_t study, n;
    int64_t owed; /* the study's news when they began to ask */
};

struct live_refusal { /* why an elastic runner cannot have slots */
    int64_t study;
    const char *reason;
};

struct live_sent_stop { /* a stop that a lease answer has carried */
    int64_t study, trial, attempt;
    bool kill;
};

enum {
    LIVE_TYPES = 8,      /* control message types with remembered answers */
    LIVE_BOOT_BYTES = 65 /* longest boot nonce with its NUL */
};

/* The newest answer to a type of message, sent again when the request comes
 * again. */
struct live_answer {
    int64_t seen; /* newest request of the type; an older one is ignored */
    int64_t id;   /* of the request answered last, 0: none */
    int64_t transaction;
    char *text;
};

/* One entry per name of a runner; it stays until the server ends. */
struct live_runner {
    char id[HT_MAX_NAME + 1];
    char boot[LIVE_BOOT_BYTES];
    int64_t seen_ms; /* monotonic, of its last message */
    int64_t slots;   /* trials at a time */
    int64_t gpus;    /* as its newest poll said; 0 before the first */
    bool online;
    char engine[HT_MAX_NAME + 1];
    enum runner_drain drain;
    struct arena *arena; /* holds the rules and nothing else; maybe NULL */
    struct runner_rules rules;
    size_t n_sent_stops;
    struct live_sent_stop *sent_stops;
    size_t n_asks; /* of its newest poll, see elastic.h */
    struct live_ask *asks;
    size_t n_refusals; /* the same */
    struct live_refusal *refusals;
    struct arena *refused; /* holds the refusals and nothing else; maybe NULL */
    int64_t slots_transaction; /* that changed asks or refusals last */
    struct live_answer answers[LIVE_TYPES]; /* of this boot */
    struct live_runner *next;
};

struct live;

/* Entries belong to the `live`: a pointer to one is valid until it is dropped,
 * and no caller frees one. */
struct live *live_new(void);
void live_free(struct live *live); /* accepts NULL */

/* Drops what mirrors rows, after a rollback: jobs, and of `transaction` (0: of
 * none) the answers that it gave, and what runners said of slots in it. */
void live_forget_rows(struct live *live, int64_t transaction);

/* Makes the entry when it is missing. */
struct live_study *live_study(struct live *live, int64_t id);
/* Its job or stock was used, or changed in size. */
void live_use(struct live *live, struct live_study *study);
/* Drops jobs, the least recently used first, until the budget `study-memory` is
 * kept; and with `stocks` the suggestions found ahead of those studies, which
 * are searched again when a client asks. Without `stocks` twice as much may be
 * kept.
 */
void live_trim(struct live *live, bool stocks);
/* Frees the entry with its job and suggestions; without one nothing happens. */
void live_drop_study(struct live *live, int64_t id);
/* The parsed spec of the row, kept until it is forgotten; borrowed until the
 * next live_forget_*, live_trim() or live_drop_study(). Fails with what
 * vertex_parse() returns, and keeps nothing then. */
enum ht_status live_job(struct live *live, const struct study_row *row,
                        const struct job **job, struct ht_error *err);
/* The same without the row: NULL when it is not kept. */
const struct job *live_find_job(struct live *live, int64_t study);
/* The spec of the row has changed: the next live_job() parses it again. */
void live_forget_job(struct live *live, int64_t study);

/* NULL when there is no entry. */
struct live_trial *live_find_trial(struct live *live, int64_t study,
                                   int64_t trial);
/* Makes the entry when it is missing, with all members 0. */
struct live_trial *live_trial(struct live *live, int64_t study, int64_t trial);
/* Without an entry nothing happens. */
void live_drop_trial(struct live *live, int64_t study, int64_t trial);

/* NULL when there is no entry. */
struct live_runner *live_find_runner(struct live *live, const char *id);
/* Makes the entry; a new boot clears what the old one was sent. */
struct live_runner *live_runner(struct live *live, const char *id,
                                const char *boot);
/* Forgets what its polls said of slots. */
void live_forget_slots(struct live_runner *runner);
/* Sets what the runner can and may do, from a JSON object; frees the rules
 * before, with all their texts. */
void live_set_rules(struct live_runner *runner, const char *json);
/* The first runner, then ->next. */
struct live_runner *live_runners(struct live *live);
/* Whether one is online. */
bool live_has_runner(const struct live *live);

/* The entry after that one, in no order: the first one after NULL, and NULL
 * after the last one. `after` must still be there. */
struct live_study *live_next_study(struct live *live,
                                   const struct live_study *after);
struct live_trial *live_next_trial(struct live *live,
                                   const struct live_trial *after);

#endif
