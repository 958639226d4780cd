/* results_file.h - the metrics file that the user's program writes, and which
 * of its lines are this attempt's.
 *
 * A line that was there when the attempt began is not its result, wherever in
 * the file it is found later: the file may be appended to, read and written
 * back, sorted, emptied, renamed or replaced. Lines are compared by step and
 * values and counted, so equal results stay results. */
#ifndef HT_RUNNER_REPORTS_RESULTS_FILE_H
#define HT_RUNNER_REPORTS_RESULTS_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/error.h"
#include "proto/base/text.h"
#include "runner/base/hash_map.h"
#include "runner/base/order.h"
#include "runner/base/tail.h"
#include "runner/reports/metrics_line.h"
#include "runner/reports/metrics_seen.h"

/* The file's content before the attempt began, and whether a program has read
 * it since. The attempt's folder has a copy for a restarted runner. */
enum { RESULTS_FILE_LEFTOVER = 64 * 1024 * 1024 }; /* bytes, at most */
struct leftover {
    const char *folder; /* the attempt's; borrowed */
    int watch;          /* inotify on the old file, -1: none */
    bool gone;          /* none of it is in the file any more */
};

/* Gets each new record, once. */
typedef void results_file_take(void *context, const struct report *report);

struct results_file {
    const struct order *order;
    struct metrics_seen *seen; /* of the replica; gets all names of the file */
    results_file_take *take;
    void *context;
    struct arena *arena;   /* paths */
    struct arena *scratch; /* one line */
    const char *folder;    /* that has it; NULL: there is no file */
    struct tail tail;
    struct metrics_header header;
    struct leftover leftover;
    struct hash_map before; /* lines that are not this attempt's */
    struct hash_map lines;  /* lines that were found since the file's start */
    struct hash_map known;  /* records that were taken */
    int64_t torn_at;        /* offset of an unfinished line of before, */
    size_t torn_len;        /* its length; 0: there is none */
    uint64_t torn_hash;     /* of its bytes */
    uint64_t torn;          /* of its step and values */
    int64_t passes;         /* how often the file was read from its start */
    bool begun;             /* the content from before is known */
    bool fresh;             /* this pass brought a new record */
    uint64_t newest;        /* seq of the newest record */
    struct text last;       /* the attempt's last line in the file, */
    uint64_t last_seq;      /* and the seq of its record; 0: there is none */
    uint64_t skipped;       /* lines without a metric */
};

/* Only for replica 0 there is a file; `folder` is the replica's. All is
 * borrowed. */
void results_file_init(struct results_file *file, const struct order *order,
                       size_t replica, const char *folder,
                       const struct guest *guest, struct metrics_seen *seen);
/* Frees what it owns and closes the file; the copy in the attempt's folder
 * stays. */
void results_file_fini(struct results_file *file);

/* Before anything of the attempt starts: lines of the file now are not its.
 * HT_PRECONDITION  it is longer than RESULTS_FILE_LEFTOVER
 * HT_IO            it cannot be read or copied */
enum ht_status results_file_begin(struct results_file *file,
                                  const char *attempt_folder,
                                  struct ht_error *err);
/* The same for an attempt that began before the runner's restart.
 * HT_IO  the copy cannot be read */
enum ht_status results_file_resume(struct results_file *file,
                                   const char *attempt_folder,
                                   struct ht_error *err);

/* Reads new lines, a bounded amount; true when there is more. Does nothing
 * before one of the two above, nor once all was read with `final`. */
bool results_file_read(struct results_file *file, size_t budget, bool final);

/* Why the file had no record: "missing", "empty", "unchanged"; NULL: other, or
 * it had one. */
const char *results_file_state(const struct results_file *file);

/* Whether both are one file, through any links. */
bool results_file_is_same(const struct results_file *a,
                          const struct results_file *b);

#endif
