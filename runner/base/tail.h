/* tail.h - the lines of a file that another program writes, appends to,
 * truncates or rewrites while we look.
 *
 * A tail remembers how far it read and what the line before that place was.
 * Whenever the file shrank, became another one or shows another line there, it
 * is read again from its start: what takes the lines must know records it
 * has seen. Symbolic links, devices and pipes are never followed.
 *
 * One that keeps its file open reads to its end, too, what was renamed or
 * removed, and misses no moment at which the file was emptied. */
#ifndef HT_RUNNER_BASE_TAIL_H
#define HT_RUNNER_BASE_TAIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    TAIL_LINE_BYTES = 64 * 1024,        /* longer lines are passed over */
    TAIL_FILE_BYTES = 256 * 1024 * 1024 /* what is behind is not read */
};

struct tail_look { /* by which an untouched file is known */
    uint64_t device, inode;
    int64_t size, seconds, nanoseconds;
};

/* A sign by which is known for certain whether a file was emptied meanwhile,
 * however fast it was filled again and with whatever: a private page of the
 * file is written to. The kernel takes such a page away when the file is cut
 * off before it, and at no other event: not when the file is read, written or
 * appended to, nor when memory is short. */
enum { TAIL_MARK_BYTES = 16 };
struct tail_mark {
    void *page; /* NULL: it is not set */
    unsigned char sign[TAIL_MARK_BYTES];
};

/* Nothing is left of what the file had before: it was emptied, or another one
 * has its name. Called before anything of the new content is read, and while
 * the old file is still open. */
typedef void tail_rewritten(void *context);

struct tail {
    const char *path;   /* borrowed; NULL: there is nothing to read */
    const char *root;   /* path is relative to it and stays below; or NULL */
    int64_t offset;     /* behind the last line that was taken */
    uint64_t line_hash; /* of the line before `offset`, with its newline */
    int64_t line_start; /* where that line begins; == offset: there is none */
    struct tail_look look; /* at the last reading */
    int64_t line;          /* number of the line that comes next, from 1 */
    bool overlong;         /* inside a line that is passed over */
    bool cut; /* the writer was killed: a last line without newline may be the
                 beginning of one, and of a number */
    uint64_t skipped; /* lines passed over, ever */
    /* Of one that keeps its file. */
    tail_rewritten *rewritten; /* NULL: it does not keep it */
    int kept;                  /* descriptor while there is one, else -1 */
    struct tail_mark mark;
    bool missing; /* no file had the name at the last reading */
};

void tail_init(struct tail *tail, const char *path);
/* For a folder in which somebody else may make links: none is followed on the
 * way either. */
void tail_init_beneath(struct tail *tail, const char *root, const char *path);

/* From now on the file is kept, beginning with the one that is there: its
 * content counts as looked at, though no line of it was taken. */
void tail_keep(struct tail *tail, tail_rewritten *rewritten);
void tail_fini(struct tail *tail); /* does nothing to one that keeps none */

/* `line` has no newline and is not NUL-terminated; `offset` is its place. */
typedef void tail_line(void *context, const char *line, size_t len,
                       int64_t offset);

/* Gives every complete new line, at most about `budget` bytes of them. With
 * `final` all writers have ended: the unchanged look of the file is not
 * believed, and a last line without newline is given too. Returns true when
 * the budget ended first. */
bool tail_read(struct tail *tail, size_t budget, bool final, tail_line *take,
               void *context);

uint64_t tail_hash(uint64_t seed, const void *bytes, size_t len);

#endif
