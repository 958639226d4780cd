/* file_mark.h - a sign by which is known for certain whether a file was
 * emptied meanwhile, however fast it was filled again and with whatever.
 *
 * A private page of the file is written to. The kernel takes such a page away
 * when the file is cut off before it, and at no other event: not when the file
 * is read, written or appended to, nor when memory is short. */
#ifndef HT_RUNNER_BASE_FILE_MARK_H
#define HT_RUNNER_BASE_FILE_MARK_H

#include <stdbool.h>

enum { FILE_MARK_BYTES = 16 };

struct file_mark { /* zeroed = not set */
    void *page;
    unsigned char sign[FILE_MARK_BYTES];
};

/* Sets it anew; it stays unset when the file is empty or cannot be mapped. */
void file_mark_set(struct file_mark *mark, int fd);
void file_mark_clear(struct file_mark *mark);
bool file_mark_is_set(const struct file_mark *mark);
/* It was set, and the file has been cut to nothing since. */
bool file_mark_is_gone(const struct file_mark *mark);

#endif
