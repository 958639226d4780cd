/* host_lookup.h - the addresses of a host, without the name service switch.
 *
 * getaddrinfo(3) loads plug-ins, which a static program must not, and holds
 * locks that a fork() of the trainer would leave locked in its child. So:
 * literal addresses, /etc/hosts, then DNS by resolv.conf with state of our
 * own. */
#ifndef HT_PROTO_NET_HOST_LOOKUP_H
#define HT_PROTO_NET_HOST_LOOKUP_H

#include <netinet/in.h>
#include <sys/socket.h>

enum { HOST_LOOKUP_MAX = 8 }; /* addresses of one host that are tried */

struct host_address {
    socklen_t len; /* bytes of the member in use */
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
    } as;
};

/* Fills `found` with the host's addresses at `port`, IPv4 before IPv6 when it
 * is DNS that answers; returns how many, 0 when the name is unknown. DNS waits
 * at most 4 s. `hosts_file` is "/etc/hosts" but in tests. */
size_t host_lookup(const char *host, in_port_t port, const char *hosts_file,
                   struct host_address found[HOST_LOOKUP_MAX]);

#endif
