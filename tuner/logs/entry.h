/* entry.h - one entry of a job's log, as Cloud Logging shows it.
 *
 * Entries are ordered by time and insertId; struct entry_key has both. */
#ifndef HT_TUNER_LOGS_ENTRY_H
#define HT_TUNER_LOGS_ENTRY_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/arena.h"
#include "proto/base/text.h"
#include "proto/job/job.h"
#include "tuner/ask/filter.h"

/* Where entries come from, in the order of those of one moment. */
enum entry_origin { ENTRY_PRINTED, ENTRY_EVENT };

/* Names an entry and gives its place among all others. */
struct entry_key {
    int64_t us; /* since 1970 */
    enum entry_origin origin;
    int64_t study;
    int64_t id;   /* row of a chunk, revision of an event */
    int64_t line; /* within these, from 0 */
};
/* The key behind every line of its group. */
enum { ENTRY_LAST_LINE = 0xFFFFFF };

/* Negative, 0 or positive, for qsort(). */
int entry_key_order(const struct entry_key *a, const struct entry_key *b);

/* The insertId, 43 hexadecimal digits: its order as a text is that of the
 * keys. Returns the buffer. */
enum { ENTRY_ID_BYTES = 48 };
char *entry_id(char buffer[ENTRY_ID_BYTES], const struct entry_key *key);
/* False when the text is none. */
bool entry_id_read(const char *text, struct entry_key *key);

/* The job of some entries, with the name that the request uses. */
struct entry_job {
    int64_t study, revision; /* revision of its newest event */
    enum job_kind kind;
    const char *project;
    const char *id;       /* AI Platform's jobId or Vertex's number */
    const char *names[2]; /* both of them, for filters */
    bool is_legacy;       /* tasks have AI Platform's names */
};

/* All texts are borrowed, mostly from the arena of the request. */
struct entry {
    const struct entry_job *job;
    struct entry_key key;
    int64_t trial, attempt;  /* 0: none */
    const char *task;        /* "master-replica-0" */
    const char *stream;      /* "" when the service wrote it */
    const char *severity;    /* "INFO" */
    const char *text;        /* NULL: not read yet */
    const struct node *json; /* the text, being an object with a message */
};

/* "master-replica-0" or "workerpool0-0" of the replica "master-0". */
const char *entry_task(struct arena *arena, const struct entry_job *job,
                       const char *replica);
/* Parses the text: a JSON object with a message becomes `json`, and may set the
 * severity. */
void entry_read_json(struct arena *arena, struct entry *entry);

/* The fields of entries for filters. */
extern const struct filter_language entry_language;
/* An entry and where its texts may be made, for filter_allows(). */
struct entry_question {
    struct arena *arena;
    const struct entry *entry;
};
filter_lookup entry_look_up;

/* Appends it as a JSON object. */
void entry_write(struct arena *arena, const struct entry *entry,
                 struct text *out);

#endif
