/* datadir.h - the server's folder: its modes, its lock, its two tokens, and
 * the file with the server's addresses for commands.
 *
 * The process with the lock owns the folder until datadir_close() or its end.
 */
#ifndef HT_TUNER_DATADIR_H
#define HT_TUNER_DATADIR_H

#include <stdint.h>

#include "proto/base/error.h"
#include "proto/base/token.h"

/* The folder while this process owns it; `path` is freed by datadir_close(). */
struct datadir {
    char *path;                          /* absolute */
    int folder_lock;                     /* descriptor of DIR */
    int lock;                            /* descriptor of DIR/lock */
    char admin_token[TOKEN_TEXT_BYTES];  /* DIR/token */
    char runner_token[TOKEN_TEXT_BYTES]; /* DIR/runner-token */
};

/* Makes the folder (and its runs/ and backups/) when absent, locks it, reads
 * or makes the tokens. Sets the umask to 077. A restore that was killed is
 * ended.
 *
 * HT_PRECONDITION  the folder or a token file is open to others or owned by
 *                  another user, or a token file is damaged, or as
 *                  datadir_files_check()
 * HT_CONFLICT      another server owns the folder; the text names it
 * HT_IO            the file system refused */
enum ht_status datadir_open(const char *path, struct datadir *dir,
                            struct ht_error *err);
/* The first half of it, for a program that serves nothing: makes the folder,
 * and locks it. The tokens are "" then. */
enum ht_status datadir_lock(const char *path, struct datadir *dir,
                            struct ht_error *err);
/* Gives the lock back; `dir` may be closed again, and no member be used. */
void datadir_close(struct datadir *dir);

/* The path of `name` in the folder, malloc'ed. */
char *datadir_path(const struct datadir *dir, const char *name);

struct datadir_note {
    const char *http, *report, *control; /* URLs */
    int64_t started_ms;                  /* wall clock */
    const char *https;                   /* NULL: no TLS */
    const char *ca, *pins;               /* of TLS; a file or "" */
};
/* Writes server.json, whole or not at all; removes it. */
enum ht_status datadir_announce(const struct datadir *dir,
                                const struct datadir_note *note,
                                struct ht_error *err);
/* Without the file nothing happens. */
void datadir_retract(const struct datadir *dir);

#endif
