/* parts.h - the mirror from inside, for its own files. */
#ifndef HT_RUNNER_FAR_PARTS_H
#define HT_RUNNER_FAR_PARTS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "proto/base/text.h"
#include "runner/far/far.h"
#include "runner/mirror/frame.h"

struct far_sent { /* a file of ours, as it was put on this connection */
    char *path;
    struct stat is;
};

struct far_watch {
    struct far_watch *next;
    enum names_folder is;
    bool fresh;           /* the trial's folder there is not its own */
    char *folder, *extra; /* relative; extra "": none */
    size_t n;
    struct far_sent *sent;
};

struct far_tree {
    struct far_tree *next;
    char *folder, *path;
    const char *without; /* as of struct walk_rules */
    enum far_state state;
};

struct far_pull;

struct far {
    const struct site *site;
    struct arena *arena;
    const char *name; /* of the place */
    const struct far_way *way;
    void *context;
    const char *kit; /* path there; NULL: no kit */
    const char *kit_without;
    int state; /* the state folder */
    int wake;  /* eventfd: the queue has something */
    pthread_t thread;
    pthread_mutex_t lock; /* of all below */
    pthread_cond_t changed;
    bool stopping;
    char *root;          /* absolute, once known */
    uint64_t connection; /* its number; 0: there is none */
    uint64_t last;       /* number of the last connection */
    uint64_t synced;     /* the connection on which all was repeated */
    struct text queue;   /* frames for this connection */
    uint64_t asked, answered;
    uint64_t tree_asked; /* the question of a tree, and its answer */
    bool tree_is_there;
    uint64_t looks;
    char fault[FAR_FAULT_BYTES];
    int64_t fault_at; /* monotonic: of one at the place */
    struct far_watch *first;
    struct far_tree *trees;
    struct far_pull *pull; /* NULL: none */
    uint64_t lists;        /* that were asked for */
};

/* far.c; the lock is held. */
void far_queue(struct far *far, const struct frame *frame);
struct far_watch *far_find(struct far *far, const char *path);

/* put.c; the lock is held. All of a folder, on a new connection; or what is new
 * of ours in it or in one of its folders. */
void far_tell(struct far *far, struct far_watch *watch);
void far_put_ours(struct far *far, struct far_watch *watch, const char *folder);

/* receive.c: takes a frame of the other side; the lock is held. It may be an
 * enemy's.
 * HT_CORRUPT  the connection is of no use any more
 * HT_IO       something cannot be written here */
enum ht_status far_receive(struct far *far, const struct frame *frame,
                           struct ht_error *err);

/* pull.c: takes what it asked for; the lock is held. Errors as above; what is
 * wrong with the tree alone ends the pull. */
enum ht_status far_pull_take(struct far *far, const struct frame *frame,
                             struct ht_error *err);
void far_pull_free(struct far_pull *pull); /* accepts NULL */

/* link.c: the thread. */
void *far_link(void *far);

/* ---- stream.c: one connection ---- */

bool far_is_stopping(struct far *far);

struct link {
    struct far *far;
    struct far_stream stream;
    int64_t heard_at, ask_at;
    int64_t trees_at; /* when trees are tried again */
    bool begun, greeted;
    struct text incoming, outgoing;
    size_t sent; /* of outgoing */
    char words[FAR_WORDS_BYTES];
};

/* Connects once. Its end is link_end(), also after a failure. */
bool link_start(struct link *link);
/* The exit code of the program there; -1: not known. */
int link_end(struct link *link);
/* Waits for something to do, and does it; false: the connection is gone. */
bool link_step(struct link *link);
/* Sends one frame behind all that is queued; false: the connection is gone. */
bool link_push(struct link *link, const struct frame *frame);
/* Keeps the words; false. */
bool link_fail(struct link *link, const char *words);

/* upload.c: puts the tree by link_push(). False: the connection is gone, or the
 * tree cannot be read (*err). */
bool far_upload(struct link *link, const struct far_tree *tree,
                struct ht_error *err);

#endif
