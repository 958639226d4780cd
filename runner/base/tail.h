/* tail.h - the lines of a file that another program appends to, truncates or
 * rewrites meanwhile.
 *
 * A tail remembers how far it read, and the line before that place. When the
 * file has shrunk, is another one or has another line there, it is read again
 * from its start: the caller must recognise records that it has seen. Symbolic
 * links, devices and pipes are never followed.
 *
 * A tail that keeps its file open also reads a renamed or removed file to its
 * end, and notices every time that the file was emptied. */
#ifndef HT_RUNNER_BASE_TAIL_H
#define HT_RUNNER_BASE_TAIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runner/base/guest.h"

enum {
    TAIL_LINE_BYTES = 64 * 1024,        /* longer lines are skipped */
    TAIL_FILE_BYTES = 256 * 1024 * 1024 /* the rest is not read */
};

struct tail_look { /* equal: the file did not change */
    uint64_t device, inode;
    int64_t size, seconds, nanoseconds;
};

/* Shows whether a file was emptied since, however fast it was filled again:
 * random bytes in a private page of the file. The kernel drops such a page when
 * the file is truncated before it, and at no other event: not when the file is
 * read, written or appended to, nor when memory is short. */
enum { TAIL_MARK_BYTES = 16 };
struct tail_mark {
    void *page; /* NULL: it is not set */
    unsigned char sign[TAIL_MARK_BYTES];
};

/* The file was emptied, or another one has its name. Called before the new
 * content is read, while the old file is still open. */
typedef void tail_rewritten(void *context);

/* How far one file was read. `path` and `root` have to last as long. */
struct tail {
    const char *path; /* borrowed; NULL: there is nothing to read */
    const char *root; /* path is relative to it and stays below; or NULL */
    const struct guest *guest; /* whose file it has to be; NULL: anybody's */
    bool outside;              /* it may be hidden from the guest */
    int64_t offset;            /* behind the last line that was read */
    uint64_t line_hash; /* of the line before `offset`, with its newline */
    int64_t line_start; /* where that line begins; == offset: there is none */
    struct tail_look look; /* at the last reading */
    int64_t line;          /* number of the line that comes next, from 1 */
    bool overlong;         /* inside a line that is skipped */
    bool cut; /* the writer was killed: a last line without newline may be
                 incomplete, and so may a number in it */
    uint64_t skipped; /* lines skipped so far */
    /* For a tail that keeps its file. */
    tail_rewritten *rewritten; /* NULL: it is not kept */
    int kept;                  /* descriptor while there is one, else -1 */
    struct tail_mark mark;
    bool missing; /* no file had the name at the last reading */
};

/* Opens nothing. `path` is borrowed; the caller ends with tail_fini() if it
 * called tail_keep(). */
void tail_init(struct tail *tail, const char *path);
/* The same for a folder in which another program may make links: none on the
 * path is followed. */
void tail_init_beneath(struct tail *tail, const char *root, const char *path);

/* A file that the guest cannot have written is not read, nor with `outside` one
 * that it cannot see: it counts as missing. */
void tail_trust(struct tail *tail, const struct guest *guest, bool outside);

/* Keeps the file from now on, beginning with the one that is there, whose
 * content counts as read, though no line was given. */
void tail_keep(struct tail *tail, tail_rewritten *rewritten);
/* Closes the file that is kept; does nothing for any other tail. */
void tail_fini(struct tail *tail);

/* `line` has no newline and is not NUL-terminated; `offset` is its place. */
typedef void tail_line(void *context, const char *line, size_t len,
                       int64_t offset);

/* Gives every complete new line, about `budget` bytes at most. With `final` all
 * writers have ended: the file is read even if it seems unchanged, and a last
 * line without newline is given too. Returns true when the budget ended
 * first. */
bool tail_read(struct tail *tail, size_t budget, bool final, tail_line *take,
               void *context);

/* FNV-1a of 64 bits: the same on every machine, and no protection from forged
 * collisions. Another seed gives other hashes. */
uint64_t tail_hash(uint64_t seed, const void *bytes, size_t len);

#endif
