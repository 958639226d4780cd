/* Addresses of sockets. */
#include "proto/net/address.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "proto/net/address_resolve.h"

enum { BACKLOG = 1024 };

bool address_read(const char *host, int port, struct address *address)
{
    char number[16];
    (void)snprintf(number, sizeof number, "%d", port);
    return address_resolve(host, number, AI_NUMERICHOST | AI_NUMERICSERV,
                           address);
}

bool address_of_url(const char *url, struct address *address,
                    char host[NI_MAXHOST])
{
    const char *rest = strstr(url, "://");
    if (rest == NULL ||
        (strncmp(url, "tcp://", 6) != 0 && strncmp(url, "tls+tcp://", 10) != 0))
        return false;
    (void)snprintf(host, NI_MAXHOST, "%s", rest + 3);
    char *port = strrchr(host, ':');
    if (port == NULL)
        return false;
    *port++ = '\0';
    const size_t len = strlen(host);
    if (len >= 2 && host[0] == '[' && host[len - 1] == ']') {
        char service[NI_MAXSERV];
        (void)snprintf(service, sizeof service, "%s", port);
        host[len - 1] = '\0';
        memmove(host, host + 1, len - 1);
        return address_resolve(host, service, AI_NUMERICSERV, address);
    }
    return address_resolve(host, port, AI_NUMERICSERV, address);
}

int address_listen(const struct address *address)
{
    const int family = address->storage.ss_family;
    const int yes = 1;
    const int fd =
        socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return -1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (family == AF_INET6)
        setsockopt(fd, IPPROTO_IPV6, IPV6_FREEBIND, &yes, sizeof yes);
    else
        setsockopt(fd, IPPROTO_IP, IP_FREEBIND, &yes, sizeof yes);
    if (bind(fd, (const struct sockaddr *)&address->storage, address->len) ==
            0 &&
        listen(fd, BACKLOG) == 0)
        return fd;
    const int code = errno;
    close(fd);
    errno = code;
    return -1;
}

int address_port(int fd)
{
    struct sockaddr_storage bound = {.ss_family = AF_UNSPEC};
    socklen_t len = sizeof bound;
    char port[NI_MAXSERV] = "";
    if (getsockname(fd, (struct sockaddr *)&bound, &len) != 0 ||
        getnameinfo((const struct sockaddr *)&bound, len, NULL, 0, port,
                    sizeof port, NI_NUMERICSERV) != 0)
        return 0;
    return (int)strtol(port, NULL, 10);
}

uint64_t address_key(const struct sockaddr_storage *from)
{
    uint64_t key = 0;
    if (from->ss_family == AF_INET) {
        const struct sockaddr_in *in = (const struct sockaddr_in *)from;
        key = ntohl(in->sin_addr.s_addr);
    } else if (from->ss_family == AF_INET6) {
        const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)from;
        const unsigned char *bytes = in6->sin6_addr.s6_addr;
        const bool mapped = IN6_IS_ADDR_V4MAPPED(&in6->sin6_addr);
        for (int i = mapped ? 12 : 0; i < (mapped ? 16 : 8); i++)
            key = key << 8 | bytes[i];
    }
    return key;
}

static bool is_same_host(const struct sockaddr *a, const struct sockaddr *b)
{
    if (a == NULL || a->sa_family != b->sa_family)
        return false;
    if (a->sa_family == AF_INET)
        return ((const struct sockaddr_in *)a)->sin_addr.s_addr ==
               ((const struct sockaddr_in *)b)->sin_addr.s_addr;
    return a->sa_family == AF_INET6 &&
           memcmp(&((const struct sockaddr_in6 *)a)->sin6_addr,
                  &((const struct sockaddr_in6 *)b)->sin6_addr,
                  sizeof(struct in6_addr)) == 0;
}

bool address_is_here(const struct address *address)
{
    char host[NI_MAXHOST];
    struct ifaddrs *all;
    const struct sockaddr *wanted = (const struct sockaddr *)&address->storage;
    if (getnameinfo(wanted, address->len, host, sizeof host, NULL, 0,
                    NI_NUMERICHOST) != 0)
        return false;
    if (strcmp(host, "0.0.0.0") == 0 || strcmp(host, "::") == 0 ||
        address_is_loopback(host))
        return true;
    if (getifaddrs(&all) != 0)
        return false;
    const struct ifaddrs *at = all;
    while (at != NULL && !is_same_host(at->ifa_addr, wanted))
        at = at->ifa_next;
    freeifaddrs(all);
    return at != NULL;
}

bool address_is_loopback(const char *host)
{
    struct in_addr v4;
    struct in6_addr v6;
    if (strcasecmp(host, "localhost") == 0)
        return true;
    if (inet_pton(AF_INET, host, &v4) == 1)
        return ntohl(v4.s_addr) >> 24 == IN_LOOPBACKNET;
    return inet_pton(AF_INET6, host, &v6) == 1 && IN6_IS_ADDR_LOOPBACK(&v6);
}

bool address_url_is_loopback(const char *url)
{
    char host[INET6_ADDRSTRLEN];
    /* "://" further on belongs to a path. */
    const char *start = url + strcspn(url, ":/?#@[");
    start = strncmp(start, "://", 3) == 0 ? start + 3 : url;
    if (memchr(start, '@', strcspn(start, "/?#")) != NULL)
        return false;
    const bool bracketed = start[0] == '[';
    start += bracketed;
    const size_t len = strcspn(start, bracketed ? "]" : ":/?#");
    if (len == 0 || len >= sizeof host)
        return false;
    memcpy(host, start, len);
    host[len] = '\0';
    return address_is_loopback(host);
}
