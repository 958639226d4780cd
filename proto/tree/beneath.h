/* beneath.h - files below an open folder by their paths, where other processes
 * may exchange what is there at any moment: no link is followed, not even as
 * the last part, so nothing outside of the folder is reached. */
#ifndef HT_PROTO_TREE_BENEATH_H
#define HT_PROTO_TREE_BENEATH_H

#include <stdbool.h>
#include <sys/types.h>

/* Like openat(), with a relative path; always close-on-exec. -1 with errno:
 * ELOOP of a link, ENOTDIR of what is no folder, EXDEV of "..". */
int beneath_open(int top, const char *path, int flags, mode_t mode);
/* The same for kernels before 5.6, which have no openat2(). */
int beneath_open_by_parts(int top, const char *path, int flags, mode_t mode);

/* Opens the folder that has the path's last part, which is *name then. */
int beneath_open_parent(int top, const char *path, const char **name);

/* Whether the link of that path cannot lead out, whatever other links it
 * passes: ".." is only at its begin, since behind a name it would be the
 * parent of what that name leads to. */
bool beneath_link_stays(const char *path, const char *target);

#endif
