#include "runner/base/ports.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <netinet/in.h>

enum {
    FIRST_PORT = 20000,  /* registered services mostly have lower ones */
    USUAL_LOCAL = 32768, /* where Linux begins to serve connections */
    FEWEST_PORTS = 1000, /* below that many the kernel chooses better */
    KERNEL_TRIES = 100   /* ports asked of the kernel */
};

int ports_claim(int port)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    /* The first byte stays NUL: a name outside the file system. */
    const int len = snprintf(name.sun_path + 1, sizeof name.sun_path - 1,
                             "hypertune-port-%d", port);
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    const size_t size =
        offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)len;
    if (bind(fd, (struct sockaddr *)&name, (socklen_t)size) == 0)
        return fd;
    const int code = errno;
    close(fd);
    errno = code;
    return -1;
}

/* Binds the port, 0 for any, and lets it go again; the port or -1. */
static int try_port(int port)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof address;
    /* sockaddr_in goes where sockaddr is asked, as in every BSD socket call. */
    struct sockaddr *generic = (struct sockaddr *)&address;
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    const bool bound =
        bind(fd, generic, len) == 0 && getsockname(fd, generic, &len) == 0;
    const int code = errno;
    close(fd);
    errno = code;
    return bound ? ntohs(address.sin_port) : -1;
}

/* Descriptors may run out here, too, and then no other port would do. */
static bool is_taken(int code)
{
    return code == EADDRINUSE || code == EACCES;
}

static bool take(int wanted, int *port, int *claim)
{
    *port = try_port(wanted);
    if (*port < 0)
        return false;
    *claim = ports_claim(*port);
    return *claim >= 0;
}

/* How many ports are ours, from FIRST_PORT on. */
static int count_own_ports(void)
{
    char line[64] = "";
    FILE *file = fopen("/proc/sys/net/ipv4/ip_local_port_range", "re");
    if (file != NULL) {
        if (fgets(line, sizeof line, file) == NULL)
            line[0] = '\0';
        (void)fclose(file);
    }
    const long local = strtol(line, NULL, 10);
    const int n = (local > 0 ? (int)local : USUAL_LOCAL) - FIRST_PORT;
    return n >= FEWEST_PORTS ? n : 0;
}

enum ht_status ports_find(int *port, int *claim, struct ht_error *err)
{
    const int own = count_own_ports();
    unsigned start = 0;
    if (getrandom(&start, sizeof start, 0) != (ssize_t)sizeof start)
        start = (unsigned)getpid();
    errno = EADDRINUSE;
    for (int i = 0; i < own + KERNEL_TRIES && is_taken(errno); i++) {
        const int wanted =
            i < own ? FIRST_PORT + (int)((start + (unsigned)i) % (unsigned)own)
                    : 0;
        int found, held;
        if (take(wanted, &found, &held)) {
            *port = found;
            *claim = held;
            return HT_OK;
        }
    }
    return ht_fail_errno(err, errno, "no free port on 127.0.0.1");
}
