#include "tuner/notify.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

void notify_manager(const char *state)
{
    const char *path = getenv("NOTIFY_SOCKET");
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (path == NULL || (*path != '/' && *path != '@') ||
        strlen(path) >= sizeof address.sun_path)
        return;
    const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return;
    const size_t length = strlen(path);
    memcpy(address.sun_path, path, length);
    if (*path == '@')
        address.sun_path[0] = '\0'; /* an abstract name */
    const socklen_t size =
        (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length);
    /* The server works without a manager, too. */
    ssize_t sent = sendto(fd, state, strlen(state), MSG_NOSIGNAL,
                          (const struct sockaddr *)&address, size);
    (void)sent;
    close(fd);
}
