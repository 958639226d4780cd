/* frame.h - what the runner and the process on a login node send each other
 * (runner/far, runner/mirror/serve.h) over the two streams of one ssh.
 *
 * Each is a frame of at most FRAME_MOST bytes, all of one layout. Paths are
 * relative to the state folder here and to the root there. */
#ifndef HT_RUNNER_MIRROR_FRAME_H
#define HT_RUNNER_MIRROR_FRAME_H

#include <stddef.h>
#include <stdint.h>

#include "proto/base/error.h"
#include "proto/base/text.h"

enum {
    FRAME_VERSION = 2,
    FRAME_DATA = 48 * 1024, /* bytes of data in one frame, at most */
    FRAME_PATH = 4000,      /* bytes of a path, at most */
    FRAME_TAIL = 64,        /* bytes by which a part of a file is compared */
    FRAME_MOST = FRAME_DATA + FRAME_PATH + 64
};

/* What comes before the first frame: a login shell may print something. */
#define FRAME_BEGIN "\n#hypertune-mirror\n"

enum frame_kind {
    FRAME_HELLO = 1, /* number: version; from there also path: the root,
                        absolute */
    /* To the login node. */
    FRAME_WATCH,  /* path: a folder, number: enum names_folder, data: another
                     file in it that grows, or "" */
    FRAME_HAVE,   /* path: a file of it, number: bytes of it that are here,
                     data: the last of them */
    FRAME_FORGET, /* path: a folder that is not watched any more */
    FRAME_FOLDER, /* path, mode: made with its parents */
    FRAME_FILE,   /* path, mode, data, number: 1 begins it, 2 ends it, 3 both */
    FRAME_LINK,   /* path, data: the target */
    FRAME_RENAME, /* path, data: the new path */
    FRAME_REMOVE, /* path: a file or tree */
    FRAME_ASK,    /* number, path: FRAME_THERE answers */
    FRAME_LIST,   /* number, path: a file or tree, FRAME_ENTRY for each of it,
                     then FRAME_LISTED */
    FRAME_READ,   /* path: a file, number: an offset; FRAME_PART answers */
    /* From there. */
    FRAME_THERE,  /* number, mode: 1 if the path exists; what was sent before
                     FRAME_ASK is done */
    FRAME_SOME,   /* path, number: where the data belongs in the file */
    FRAME_WHOLE,  /* path, data: the file */
    FRAME_GONE,   /* path: a file that is not there any more */
    FRAME_FOUND,  /* path: what an earlier connection has left there */
    FRAME_LOOKED, /* all was sent that was there a moment ago */
    FRAME_ENTRY,  /* path, mode: the number of FRAME_LIST, number: size, data:
                     a struct give_entry as text */
    FRAME_LISTED, /* path, number, mode: 1 if it exists, data: words, why the
                     list lacks something, or "" */
    FRAME_PART,   /* path, number: offset, mode: stamp of the file as it is
                     now, 0: it cannot be read; data: at most FRAME_DATA */
    FRAME_FAULT,  /* data: words, why something cannot be done there */
    FRAME_KINDS
};

struct frame {
    enum frame_kind kind;
    unsigned mode;
    uint64_t number;
    const char *path; /* ends with NUL */
    const char *data; /* len bytes, and a NUL behind them */
    size_t len;
};

/* Appends it; path NULL: "". What is longer than the limits is a bug. */
void frame_write(struct text *out, const struct frame *frame);
/* Reads the first one; its texts are in `bytes`. *used: its length.
 * HT_NOT_FOUND  there is no whole frame yet
 * HT_CORRUPT    it is none */
enum ht_status frame_read(const char *bytes, size_t len, struct frame *frame,
                          size_t *used, struct ht_error *err);

#endif
