/* address.h - addresses of sockets: URLs resolved, sockets that listen, whose
 * address counts as one peer. */
#ifndef HT_PROTO_NET_ADDRESS_H
#define HT_PROTO_NET_ADDRESS_H

#include <netdb.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

struct address {
    struct sockaddr_storage storage;
    socklen_t len;
};

/* A numeric host. False: it is none. */
bool address_read(const char *host, int port, struct address *address);
/* tcp://HOST:PORT or tls+tcp://HOST:PORT, an IPv6 address in brackets. Asks the
 * resolver. False: it is none, or the host has no address. */
bool address_of_url(const char *url, struct address *address,
                    char host[NI_MAXHOST]);
/* The address may come to exist later. -1: errno has the reason. */
int address_listen(const struct address *address);
int address_port(int fd); /* where the socket is bound; 0: nowhere */

/* Equal for one IPv4 address, and for one /64 of IPv6. */
uint64_t address_key(const struct sockaddr_storage *from);

/* Does what is sent there stay on this machine: any address of loopback or of
 * one of its interfaces, and the unspecified one? */
bool address_is_here(const struct address *address);

/* Is the host "localhost", "::1" or in 127.0.0.0/8? Asks no resolver. */
bool address_is_loopback(const char *host);
/* The same of SCHEME://HOST[:PORT][/...], or without a scheme; false where a
 * user is named, too. */
bool address_url_is_loopback(const char *url);

#endif
