/* log_lines.h - where the lines of a stream end, chunk by chunk.
 *
 * A line belongs to the chunk in which its line feed arrives. A longer line
 * than LOG_LINE_MOST bytes is cut there, between two characters, so that a
 * search for its start is limited. */
#ifndef HT_TUNER_LOGS_LOG_LINES_H
#define HT_TUNER_LOGS_LOG_LINES_H

#include <stdbool.h>
#include <stddef.h>

enum { LOG_LINE_MOST = 64 * 1024 };

struct log_lines {
    const char *data; /* of a chunk */
    size_t len;
    size_t open; /* bytes before `at` that the next line began with; first
                    those of the chunks before, at most LOG_LINE_MOST */
    size_t at;   /* where what is left begins */
};

/* Moves over the next line that ends in the chunk and stores how many of its
 * bytes are in the chunk, from the old `at`, without the line feed; what was
 * open at that time comes before them. False at the unfinished rest, which is
 * then open. */
bool log_lines_next(struct log_lines *lines, size_t *len);

/* How much is open behind a chunk when `open` bytes were before it. */
size_t log_lines_open(const char *data, size_t len, size_t open);

#endif
