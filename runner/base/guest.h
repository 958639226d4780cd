/* guest.h - what separates a trial's processes from the rest of the machine:
 * their user, what they cannot see, and what they may use.
 *
 * The runner decides it (runner/process/isolation.h) and writes it into
 * launch.json; the shim carries it out. */
#ifndef HT_RUNNER_BASE_GUEST_H
#define HT_RUNNER_BASE_GUEST_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "proto/base/text.h"
#include "proto/doc/node.h"

enum sandbox {
    SANDBOX_NONE,
    SANDBOX_LANDLOCK,  /* rules of the kernel about files and signals */
    SANDBOX_NAMESPACES /* mounts and processes of its own */
};

/* "none", "landlock", "namespaces". */
const char *sandbox_name(enum sandbox sandbox);

/* All zero: nothing separates it. Times and sizes as their names say. */
struct guest {
    enum sandbox sandbox;
    int64_t first_uid, last_uid; /* one of these, for this trial alone; 0: the
                                    runner's */
    bool shared_uid;             /* first_uid may run several trials */
    int64_t gid;                 /* with first_uid; 0: the same as the uid */
    struct strings groups;       /* further ones, as numbers */
    struct strings hidden;       /* absolute files and folders it cannot see */
    struct strings kept;         /* ... but these below them */
    const char *given_root;      /* absolute; NULL: nothing is given */
    struct strings given;        /* folders below it that the uid gets as its
                                    own, with what other guests left there */
    int64_t file_bytes;          /* longest file; 0: no limit */
    int64_t processes;           /* RLIMIT_NPROC, with a uid alone; 0: none */
    struct strings cgroups;      /* folders of control groups to make */
    struct pairs cgroup_files;   /* and what to write there: path, value */
};

/* Appends the member "guest". */
void guest_write(struct text *out, const struct guest *guest);
/* Texts are in the arena; of NULL it is all zero. False: it is none. */
bool guest_read(struct arena *arena, const struct node *map,
                struct guest *guest);

/* Whether the absolute path is one that it cannot see. */
bool guest_hides(const struct guest *guest, const char *path);
/* Whether the file may be a result of the guest's: its user owns it or may
 * write into it. The runner of a guest with another user reads no other file,
 * as it would show what only the runner may read. */
bool guest_may_write(const struct guest *guest, const struct stat *file);

#endif
