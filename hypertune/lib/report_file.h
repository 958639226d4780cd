/* report_file.h - the trial's reports.jsonl: whole lines, appended.
 *
 * Any number of processes append; none ever leaves half a line, whatever the
 * disk or a limit does. One thread at a time per struct. */
#ifndef HT_HYPERTUNE_LIB_REPORT_FILE_H
#define HT_HYPERTUNE_LIB_REPORT_FILE_H

#include <sys/types.h>

struct report_file {
    const char *path; /* borrowed */
    int fd;           /* open for appending, or -1 */
    dev_t device;     /* of fd, to notice that it was taken away */
    ino_t inode;
    off_t end; /* where our newest line ended; 0: none yet */
};

/* Opens nothing yet. */
void report_file_init(struct report_file *file, const char *path);
/* Closes what a fork inherited or a user is done with. */
void report_file_close(struct report_file *file);

/* Appends `len` bytes, one line with its newline, by one write(2) under
 * flock(2); opens (0600, not through a symbolic link) when needed. Blocks at
 * most 100 ms for a lock that another process holds. Returns 0 or the errno of
 * what failed; the file is then as it was. */
int report_file_append(struct report_file *file, const char *line, size_t len);

#endif
