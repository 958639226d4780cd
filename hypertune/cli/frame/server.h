/* server.h - this user's own server: its folder, whether it runs, and
 * starting it on demand.
 *
 * A data directory holds `server.json`, written by the server when it is
 * ready, and `lock`, which the server holds by flock(2) until it ends.
 * server.json is valid only while the lock is held. */
#ifndef HT_HYPERTUNE_CLI_FRAME_SERVER_H
#define HT_HYPERTUNE_CLI_FRAME_SERVER_H

#include <stdbool.h>
#include <sys/types.h>

#include "proto/base/arena.h"
#include "proto/base/error.h"
#include "proto/base/text.h"

struct cli_server_info {
    const char *url;               /* "http://127.0.0.1:8470" */
    const char *token_file;        /* of the admin token */
    const char *runner_token_file; /* of the runners' token */
    pid_t pid;
};

/* The variables that name the state folder; each may be NULL. */
struct cli_server_variables {
    const char *own;   /* HYPERTUNE_STATE */
    const char *state; /* XDG_STATE_HOME */
    const char *home;  /* HOME */
};

/* The state folder; NULL when no variable is set. */
const char *
cli_server_state_folder(struct arena *arena,
                        const struct cli_server_variables *variables);

/* Reads server.json of `folder`.
 * HT_NOT_FOUND  no server runs there
 * HT_CORRUPT    a server runs, but its server.json cannot be read */
enum ht_status cli_server_find(struct arena *arena, const char *folder,
                               struct cli_server_info *info,
                               struct ht_error *err);

/* Finds the server of `folder`, starting one when none runs; the folder is
 * made (0700). *started: this call did. Several callers at once
 * end up with one server. On failure `log` has the last lines of server.log.
 * HT_UNAVAILABLE  it did not get ready within 10 s, or ended
 * HT_IO           the folder cannot be used, no hypertuned was found */
enum ht_status cli_server_ensure(struct arena *arena, const char *folder,
                                 struct cli_server_info *info, bool *started,
                                 struct text *log, struct ht_error *err);

/* Makes the folder and those above it, mode 0700. HT_IO. */
enum ht_status cli_server_make_folder(struct arena *arena, const char *folder,
                                      struct ht_error *err);

/* Starts a server with these flags (ended by NULL, at most 64) in an existing
 * absolute folder that no other server uses, and waits until it is ready. It is
 * a child of this process. HT_UNAVAILABLE, HT_IO as above. */
enum ht_status cli_server_start(struct arena *arena, const char *folder,
                                const char *const flags[],
                                struct cli_server_info *info,
                                struct ht_error *err);

/* Appends the last lines of a log in that folder, indented and escaped. */
void cli_server_log_tail(struct arena *arena, const char *folder,
                         const char *name, struct text *log);

#endif
