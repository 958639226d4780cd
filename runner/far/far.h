/* far.h - files of trials at a place whose file system this machine does not
 * share: a cluster behind its login node, or one pod.
 *
 * The same paths below the state folder here and below a root folder there:
 * what the runner writes is put there, what elements and trials write comes
 * here, so that the rest of the runner sees files as on a shared file system.
 * A process of ours there (runner/mirror) does the other half, at the other end
 * of one two-way connection. All that has to be known is in files on both
 * sides: when the connection lapses, or either side is killed, a new one
 * continues where the files are.
 *
 * The supervising thread calls all functions but far_settle(). Each accepts far
 * NULL, for a cluster with a shared file system: then there is nothing to do.
 * Folders are absolute and below the state folder. */
#ifndef HT_RUNNER_FAR_FAR_H
#define HT_RUNNER_FAR_FAR_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "proto/base/error.h"
#include "runner/base/site.h"
#include "runner/mirror/names.h"

struct arena;
struct far;
struct order;

enum { FAR_FAULT_BYTES = 256, FAR_WORDS_BYTES = 160 };

/* One connection: the streams of the program there. */
struct far_stream {
    int in, out, errors; /* for poll(); -1: closed. `in` and `out` may be one */
    void *data;          /* of the way */
};

/* How the place is reached; called by the thread of the connection. */
struct far_way {
    /* Starts `hypertune-shim --mirror ROOT` there. False: it could not, *words
     * has why. */
    bool (*open)(void *context, struct far_stream *stream,
                 char words[FAR_WORDS_BYTES]);
    /* As read(2) and write(2), which never block: read() is called until
     * EAGAIN, write() also with nothing while is_full(). */
    ssize_t (*read)(struct far_stream *stream, char *bytes, size_t len);
    ssize_t (*write)(struct far_stream *stream, const char *bytes, size_t len);
    bool (*is_full)(const struct far_stream *stream);
    /* Ends it, started or not; its exit code, -1: not known. *words: its last
     * ones where they come only now. */
    int (*close)(struct far_stream *stream, char words[FAR_WORDS_BYTES]);
    /* The program there ended so before its first word: whether it may be
     * started once more now. NULL: it may not. */
    bool (*mend)(void *context, struct far *far, int code);
    /* Why nothing comes or goes, for people. */
    void (*explain)(const void *context, int code,
                    const char words[FAR_WORDS_BYTES],
                    char fault[FAR_FAULT_BYTES]);
    /* The program there, for trials, in the arena; NULL: they know it. */
    const char *(*program)(const void *context, struct arena *arena,
                           const char *root);
    void (*end)(void *context); /* frees it */
};

struct far_settings { /* borrowed until far_close() */
    const struct site *site;
    const char *name;          /* of the place, for people; copied */
    const struct far_way *way; /* the context is far's from now on, also after
                                  a failure */
    void *context;
    const char *kit;         /* of far_name_kit(); NULL: no kit */
    const char *kit_without; /* borrowed */
};

/* Where the kit of this machine is there, below the root, named by its content:
 * "kit/..."; in the arena. NULL: the site has none. `without`: files of it that
 * are not put there begin so; NULL: there are none.
 * HT_IO  it cannot be read */
enum ht_status far_name_kit(const struct site *site, const char *without,
                            struct arena *arena, const char **kit,
                            struct ht_error *err);

/* Begins to connect, again and again, in the background.
 * HT_IO  no thread */
enum ht_status far_open(const struct far_settings *settings, struct far **far,
                        struct ht_error *err);
/* The same by ssh to a login node, [USER@]HOST, over the connection that a
 * person has opened. `folder`: the root there; NULL: below the user's home.
 * HT_INVALID  no such host, or the program for the other side is missing */
enum ht_status far_open_ssh(const struct site *site, const char *host,
                            const char *folder, struct far **far,
                            struct ht_error *err);
/* From now on far_settle() fails at once. */
void far_stop(struct far *far);
/* What runs there continues. */
void far_close(struct far *far);

/* Waits until there was a connection; then *site has the paths there.
 * HT_UNAVAILABLE  not within so long, with the reason */
enum ht_status far_wait(struct far *far, int64_t wait_ms, struct site *site,
                        struct ht_error *err);

/* Repeats all on a new connection. */
void far_tick(struct far *far);
/* The folder, with ours in it, is there as well from now on, and theirs come.
 * `extra` is one more file in it that grows, by its relative path; NULL: none.
 * `fresh`: of a trial that has not begun, so that what its folder there has is
 * of an earlier database, and is put aside. */
void far_watch(struct far *far, enum names_folder is, const char *folder,
               const char *extra, bool fresh);
/* The metrics file of the order, as far_watch() wants it; only one in the
 * trial's own folders comes. In the order's arena; NULL: there is none. */
const char *far_extra(const struct order *order);
/* Files of ours were written in a folder that is watched, or in one of its
 * folders. */
void far_put(struct far *far, const char *folder);
/* No more; the folder there is removed. */
void far_remove(struct far *far, const char *folder);

enum far_state { FAR_PENDING, FAR_READY };
/* A folder whose content does not change: it is put once. `path` is where,
 * below the root. */
enum far_state far_tree(struct far *far, const char *folder, const char *path);

enum far_pulled { FAR_PULLING, FAR_PULLED, FAR_NOT_PULLED };
struct far_pull_wish {
    const char *folder; /* of the trial's, here and there */
    const char *below;  /* a path in it; "": all of it */
    const char *aside;  /* a folder here that is not there yet, for this alone,
                           on the same file system */
};
/* Makes the folder here have what FOLDER/BELOW there is now, and nothing else:
 * it changes at once, when all has come. Asked again, it is the same request,
 * until it has ended; another one replaces it. A connection that lapses does
 * not end it.
 * HT_NOT_FOUND    there is no such file or folder there
 * HT_CONFLICT     it changes again and again
 * HT_UNAVAILABLE  nothing has come for a minute
 * HT_CORRUPT      its list or its names are not acceptable, with words
 * HT_IO           it cannot be written here */
enum far_pulled far_pull(struct far *far, const struct far_pull_wish *wish,
                         struct ht_error *err);

/* How often all files there have been looked at. What was there when this was
 * N has come here when it is N + 2. */
uint64_t far_looks(struct far *far);
/* Why nothing comes or goes; "" when all is well. */
void far_fault(struct far *far, char text[FAR_FAULT_BYTES]);

/* Any thread: waits until what was put before is there.
 * HT_UNAVAILABLE  there is no connection */
enum ht_status far_settle(struct far *far, struct ht_error *err);

#endif
