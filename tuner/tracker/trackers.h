/* trackers.h - the trackers of the server: a thread for MLflow, where there is
 * one, and one for TensorBoard. The core waits for neither. */
#ifndef HT_TUNER_TRACKER_TRACKERS_H
#define HT_TUNER_TRACKER_TRACKERS_H

#include <stdint.h>

#include "proto/base/error.h"

struct tracker_board;
struct trackers;

struct trackers_options {
    const char *folder; /* with hypertune.db; copied */
    const char *mlflow; /* URL of the server, copied; NULL: none */
    /* Its token, or USER:PASSWORD: in a file, or itself; borrowed, or NULL. */
    const char *login_file, *login;
};

/* Before the core, which notes revisions; afterwards the trackers are on the
 * board. HT_INVALID: the URL is none that may be asked. */
enum ht_status trackers_new(const struct trackers_options *options,
                            struct trackers **trackers, struct ht_error *err);
/* `server_id` is borrowed. */
enum ht_status trackers_start(struct trackers *trackers, const char *server_id,
                              struct ht_error *err);
void trackers_stop(struct trackers *trackers); /* at once */
void trackers_free(struct trackers *trackers); /* accepts NULL */

/* A study has a new revision or was deleted. Any thread. */
void trackers_note(struct trackers *trackers, int64_t study);

/* Valid as long as the trackers. */
struct tracker_board *trackers_board(struct trackers *trackers);

#endif
