/* names.h - which files of a folder that is mirrored belong to whom. Both sides
 * ask it: the one for what to send, the other for what to accept, since a trial
 * makes names, too. */
#ifndef HT_RUNNER_MIRROR_NAMES_H
#define HT_RUNNER_MIRROR_NAMES_H

#include <stdbool.h>

enum names_folder {
    NAMES_ATTEMPT = 1, /* STUDY/TRIAL/ATTEMPT, in it a folder a replica */
    NAMES_BATCH        /* batches/NAME, in it a folder an element */
};

enum names_file {
    NAMES_NONE,  /* is not mirrored */
    NAMES_OURS,  /* the runner writes it */
    NAMES_WHOLE, /* from there, replaced as a whole */
    NAMES_GROWS  /* from there, appended to */
};

/* Relative, without "." and "..", empty parts and control characters. */
bool names_is_path(const char *path);

/* `path` is relative to the folder; `extra` another one that grows, or "". */
enum names_file names_of(enum names_folder folder, const char *extra,
                         const char *path);
/* Whether a folder in that folder may have files of ours. */
bool names_is_inner(enum names_folder folder, const char *name);
/* The most bytes of a file. */
long long names_most(const char *path);
/* Whether the file may be removed there while it is still used. */
bool names_may_go(const char *path);
/* A path that can be left from earlier: an attempt, a batch or a tree of
 * code. */
bool names_is_found(const char *path);

#endif
