/* options.h - what the core is started with: its settings, and the parts of the
 * server that run on its thread. */
#ifndef HT_TUNER_CORE_OPTIONS_H
#define HT_TUNER_CORE_OPTIONS_H

#include <stdint.h>

#include "proto/base/error.h"

struct backup_board;
struct core;
struct session_board;
struct store;
struct token_board;
struct tracker_board;
struct webhook_board;

/* What a part does after the COMMIT, see core_defer(). */
typedef void core_deferred(struct core *core, const void *data);

/* One part of a tick; its failure takes back only its own changes. */
typedef enum ht_status core_tick_part(struct core *core, struct ht_error *err);

/* The parts of the server that run on the core's thread. server.c gives this
 * table to the core, which includes none of them. */
enum core_part_id {
    CORE_MACHINE_TYPES, /* struct machine_types */
    CORE_OPERATIONS,    /* struct operation_table */
    CORE_SEARCH,        /* struct worker */
    CORE_STOP_WORKER,   /* the same */
    CORE_STUDIES,
    CORE_RUNNERS,
    CORE_MEASURED,
    CORE_SILENCE, /* struct life_board */
    CORE_LIVING,  /* struct living_attempts */
    CORE_AUDIT,   /* struct audit */
    CORE_TOKENS,
    CORE_DISK, /* struct disk_guard */
    CORE_STORE,
    CORE_FETCHES, /* struct fetches */
    CORE_PARTS
};

struct core_part { /* every function may be NULL */
    /* Begins it, in the table's order; the database is open. *data is its own,
     * see core_part(). */
    enum ht_status (*start)(struct core *core, void **data,
                            struct ht_error *err);
    void (*stop)(void *data); /* after the thread has ended; accepts NULL */
    core_tick_part *tick;
    int64_t (*deadline)(struct core *core); /* of the next tick, monotonic */
    /* Does what is due for a touched study, before the COMMIT. HT_NOT_FOUND: it
     * was deleted. */
    enum ht_status (*settle)(struct core *core, int64_t study,
                             struct ht_error *err);
};

struct core_options {
    const struct core_part *parts; /* CORE_PARTS of them */
    const char *data_dir;          /* absolute */
    const char *server_id;         /* 8 hex digits; NULL: the database's own */
    const char *runner_token;      /* what control messages must carry */
    int64_t hold_ms;               /* of a lease poll; 20,000 */
    int64_t lost_after_ms;         /* without a message of a runner; 30,000 */
    int64_t retry_ms; /* before a start again, doubled by each; 1,000 */
    /* Called on the core thread after each commit, for every study that got
     * a new revision; REVISION_DELETED when it was deleted. */
    void (*on_revision)(void *context, int64_t study, int64_t revision);
    /* The same when a deleted study has left the database. */
    void (*on_deleted)(void *context, int64_t study);
    /* When a runner was heard; or NULL. */
    void (*on_seen)(void *context, const char *runner, int64_t wall_ms);
    /* What its poll says of the cluster's elements, as view.h has it; or NULL.
     */
    void (*on_elements)(void *context, const char *runner, const char *json);
    void *context;
    struct webhook_board *webhooks; /* that specs may name; NULL: none */
    struct tracker_board *trackers; /* the same */
    struct token_board *tokens;     /* named ones; NULL: none can be made */
    struct backup_board *backups;   /* that admins may ask for */
    struct session_board *sessions; /* left ones; NULL: there is no login */
    struct store *store;            /* of code and checkpoints; NULL: none */
    const char *fail;               /* "name:n", see failpoint.h; or NULL */
};

#endif
