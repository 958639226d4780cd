/* give.h - trees of the place, given to the runner that asks for them: first a
 * list, then each file in parts, so that the runner decides how much is under
 * way and where to continue.
 *
 * Trials make and change these trees: no link is followed, and each part comes
 * with a stamp by which the runner sees that a file has changed since it was
 * listed. Sockets, pipes and devices are left out. */
#ifndef HT_RUNNER_MIRROR_GIVE_H
#define HT_RUNNER_MIRROR_GIVE_H

#include <stdint.h>

#include "runner/mirror/look.h"

enum { GIVE_MOST = 100000 }; /* entries of a list */

enum give_kind {
    GIVE_FOLDER = 'd',
    GIVE_FILE = 'f',
    GIVE_PROGRAM = 'x', /* a file that its owner may run */
    GIVE_LINK = 'l'
};

/* The data of FRAME_ENTRY. */
struct give_entry {
    enum give_kind kind;
    uint32_t stamp;     /* of a file, not 0 */
    const char *target; /* of a link, else "" */
};
/* False: it is none. The target is in the frame. */
bool give_read_entry(const struct frame *frame, struct give_entry *entry);

/* Answer FRAME_LIST and FRAME_READ; `root` is the open folder that paths are
 * relative to. A folder comes before what it has. */
void give_list(int root, const struct frame *frame, look_send *send,
               void *context);
void give_part(int root, const struct frame *frame, look_send *send,
               void *context);

#endif
