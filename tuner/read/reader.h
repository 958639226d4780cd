/* reader.h - the threads that answer questions from snapshots of the database,
 * so that no question waits for the core or delays it.
 *
 * Each answer uses one snapshot. A list stops after READER_SLICE_MS or a page
 * and returns where the next one begins, so that no snapshot holds up
 * checkpoints. */
#ifndef HT_TUNER_READ_READER_H
#define HT_TUNER_READ_READER_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/error.h"
#include "tuner/core/request.h"

struct models;
struct logs;
struct reader_pool;
struct replay;
struct secrets_state;
struct last_seen;
struct backup_board;
struct store_board;
struct tls_board;
struct tracker_board;
struct webhook_board;

enum { READER_SLICE_MS = 2000, READERS_MOST = 4 };

/* Facts about the server; set once before the first request. */
struct server_facts {
    const char *server_id, *http, *report, *control; /* borrowed */
    const char *folder;                              /* data, borrowed, too */
    struct last_seen *last_seen;                     /* borrowed as well */
    struct webhook_board *webhooks;                  /* and this */
    struct tracker_board *trackers;                  /* and this */
    struct backup_board *backups;                    /* and this */
    struct store_board *store;                       /* and this */
    struct tls_board *tls;                           /* NULL: no TLS */
    const struct secrets_state *secrets;             /* borrowed */
    int64_t started_ms;                              /* monotonic */
};

/* Takes a study's revision for the streams of events. */
typedef void revision_publisher(void *stream, int64_t study, int64_t revision,
                                const char *project);

/* The input of a handler; valid during one call. */
struct reader {
    struct db *db;             /* inside a snapshot */
    const struct request *req; /* that is answered */
    struct logs *logs;
    revision_publisher *publish; /* what a stream of events begins with */
    void *stream;
    const struct server_facts *facts;
    const char *damage;     /* why the server is read-only, NULL: it is not */
    int64_t deadline_ms;    /* monotonic */
    struct models **models; /* the thread's own */
    struct replay **replay; /* the same, see replay.c */
};

/* Fills req->reply with JSON. On failure `err` is the answer. A long answer
 * comes in pieces: with req->more set the reply is one of them, and the handler
 * is called again, in another snapshot, with the req->cursor that it set. */
typedef enum ht_status reader_handler(struct reader *reader,
                                      struct request *req,
                                      struct ht_error *err);

/* All pointers are borrowed until reader_stop(). */
struct reader_options {
    const char *path; /* of hypertune.db */
    struct logs *logs;
    revision_publisher *publish; /* what a stream of events begins with */
    void *stream;
    const struct server_facts *facts;
    size_t threads; /* 1 to READERS_MOST */
};

/* Starts the threads; each opens its connection with its first question. */
enum ht_status reader_start(const struct reader_options *options,
                            struct reader_pool **readers, struct ht_error *err);
/* Answers what is queued and ends the threads; accepts NULL. */
void reader_stop(struct reader_pool *readers);

/* Hands over a request; req->answer is called on a reader thread. Any thread.
 * Its turn comes as fair_queue.h says. A question that took long before, of
 * that study, is a slow one: it leaves one thread to quick ones, and a
 * principal may have no more of them waiting than its budget allows: HT_LIMIT
 * at once. After reader_stop() began the answer is HT_UNAVAILABLE. */
void reader_post(struct reader_pool *readers, struct request *req,
                 reader_handler *handler);

/* Starts quick_check on a reader: what it, or an answer, finds damaged is in
 * damage.h. */
void reader_check(struct reader_pool *readers);

/* True when the slice of this answer is used up, or its client has gone. To be
 * asked after some progress: a piece that has none would come again. */
bool reader_is_late(const struct reader *reader);

void read_replay_free(struct replay *replay); /* accepts NULL */

/* The handlers the route table names. */
reader_handler read_jobs, read_custom_jobs, read_studies; /* jobs.c */
reader_handler read_study, read_all_kinds, read_any_kind; /* jobs.c */
reader_handler read_job;                                  /* jobs.c */
reader_handler read_aip_job, read_aip_jobs;               /* aip.c */
reader_handler read_lookup, read_optimal;                 /* vizier.c */
reader_handler read_trials, read_trial;                   /* trials.c */
reader_handler read_metadata, read_notes;                 /* vizier.c */
reader_handler read_table;                                /* table.c */
reader_handler read_best, read_logs, read_changes;        /* trials.c */
reader_handler read_confirmation;                         /* trials.c */
reader_handler read_measurements;                         /* measurements.c */
reader_handler read_usage;                                /* usage.c */
reader_handler read_curves;                               /* curves.c */
reader_handler read_importances, read_slice;              /* insight.c */
reader_handler read_health;                               /* health.c */
reader_handler read_replay, read_preview;                 /* replay.c */
reader_handler read_server, read_runners, read_events;    /* server.c */
reader_handler read_audit;                                /* audit.c */
reader_handler read_metrics;                              /* metrics.c */
reader_handler read_revisions; /* server.c: seeds a stream */
reader_handler read_entries;   /* entries.c */
reader_handler read_printed;   /* printed.c: for study_read_logs */
reader_handler read_spec, read_template, read_draft; /* spec.c */

#endif
