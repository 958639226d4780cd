/* output_sends.h - the outputs of trials on their way to the server's store,
 * since people elsewhere fetch them.
 *
 * One thread sends them, one after the other, and more slowly than checkpoints
 * go (transfers.h); the supervising thread calls the functions, which return at
 * once. */
#ifndef HT_RUNNER_TRANSFER_OUTPUT_SENDS_H
#define HT_RUNNER_TRANSFER_OUTPUT_SENDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/base/error.h"
#include "proto/base/text.h"
#include "proto/tree/manifest.h"
#include "runner/transfer/transfers.h"

struct output_sends;

/* `scratch`: a folder on the disk of the outputs that trials cannot enter; it
 * is made, and emptied of what an earlier start left. Copied, as the settings
 * are. HT_IO  no thread can be made */
enum ht_status output_sends_start(const struct transfers_settings *settings,
                                  const char *scratch,
                                  struct output_sends **sends,
                                  struct ht_error *err);
/* Gives up all. Accepts NULL. */
void output_sends_stop(struct output_sends *sends);

struct output_send { /* a request of the server; copied */
    int64_t id;      /* the server's number for it, above 0 */
    const char *project;
    const char *folder;   /* of the trial, absolute */
    struct strings names; /* of the folders there that are sent */
};
/* One of that id that is there already is not begun again. */
void output_sends_want(struct output_sends *sends,
                       const struct output_send *request);
/* Gives up all others than these. */
void output_sends_keep(struct output_sends *sends, const int64_t ids[],
                       size_t n);

struct output_sent {
    int64_t id;
    int64_t bytes, of;    /* sent so far, of what the store lacked */
    struct ht_error err;  /* why not; HT_NOT_FOUND: there is nothing */
    bool ended;           /* else it waits or is being sent */
    char tree[TREE_NAME]; /* ended well: it is in the store */
};
/* Fills `items` with at most `most`; returns how many. */
size_t output_sends_report(struct output_sends *sends,
                           struct output_sent items[], size_t most);
/* The server has heard the last report: what had ended there is forgotten. */
void output_sends_confirm(struct output_sends *sends);

enum output_sends_news {
    OUTPUT_SENDS_QUIET, /* there are none */
    OUTPUT_SENDS_BUSY,
    OUTPUT_SENDS_ENDED /* one has ended and was not reported */
};
enum output_sends_news output_sends_look(struct output_sends *sends);

#endif
