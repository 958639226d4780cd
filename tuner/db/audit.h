/* audit.h - the audit log: who changed what, and who was refused. */
#ifndef HT_TUNER_DB_AUDIT_H
#define HT_TUNER_DB_AUDIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/base/arena.h"
#include "proto/base/error.h"

struct db;

/* One line. Texts are '' where there is none. */
struct audit_row {
    int64_t id;               /* grows; never given twice */
    int64_t time_ms, last_ms; /* of the first and the newest that it counts */
    int64_t count;            /* requests that were alike */
    bool refused;             /* for want of permission */
    int64_t code;             /* HTTP status of the answer */
    const char *who;          /* name of the principal; "": unknown */
    const char *peer;         /* its address; behind a space the name in the
                                 certificate that it showed */
    const char *forwarded;    /* the client's, as a declared proxy named it */
    const char *action;       /* method and pattern of the route */
    const char *project;
    int64_t study; /* 0: none */
    const char *study_name, *trial;
    const char *detail; /* what else it was about: a token, a path, a runner */
    const char *error;  /* of a failure, cut */
};

struct audit_list { /* in the order of ids */
    size_t n;
    struct audit_row *rows;
};

/* Which lines: all conditions that are set. */
struct audit_filter {
    int64_t since;     /* greater ids; < 0: the newest `limit` lines */
    int64_t after_ms;  /* not before this moment */
    const char *who;   /* "": any */
    const char *study; /* name or number; "": any */
    size_t limit;
};

/* *id: of the new line. */
enum ht_status db_audit_insert(struct db *db, const struct audit_row *row,
                               int64_t *id, struct ht_error *err);
/* One more like a line that db_audit_insert() wrote; *found: it is there. */
enum ht_status db_audit_count(struct db *db, int64_t id,
                              const struct audit_row *row, bool *found,
                              struct ht_error *err);
/* *last: the newest id, whatever the filter. */
enum ht_status db_audit_list(struct db *db, struct arena *arena,
                             const struct audit_filter *filter,
                             struct audit_list *list, int64_t *last,
                             struct ht_error *err);
/* Deletes at most `step` of the oldest lines: those before a moment, then of
 * changes and of refusals each what is beyond `most`, so that refusals never
 * push changes out. *deleted: how many. */
struct audit_bounds {
    int64_t before_ms, most, step;
};
enum ht_status db_audit_prune(struct db *db, const struct audit_bounds *bounds,
                              int64_t *deleted, struct ht_error *err);

#endif
