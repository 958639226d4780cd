/* whole.h - reads and writes of all bytes, whatever read(2) and write(2) do at
 * once, and over signals. */
#ifndef HT_PROTO_BASE_WHOLE_H
#define HT_PROTO_BASE_WHOLE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* `size` bytes from where the descriptor is, or from the offset on; fewer only
 * where the file ends before. -1 with errno. */
ssize_t whole_read(int fd, void *buffer, size_t size);
ssize_t whole_read_at(int fd, void *buffer, size_t size, int64_t offset);

/* All bytes to where the descriptor is, or to the offset. False with errno;
 * some may be written then. */
bool whole_write(int fd, const void *bytes, size_t len);
bool whole_write_at(int fd, const void *bytes, size_t len, int64_t offset);

#endif
