/* address_resolve.h - the address of a host's name. By the system's resolver;
 * static programs link one of their own in its place, see
 * address_resolve_static.c. */
#ifndef HT_PROTO_NET_ADDRESS_RESOLVE_H
#define HT_PROTO_NET_ADDRESS_RESOLVE_H

#include <stdbool.h>

#include "proto/net/address.h"

/* The first one, with the port, a number. `flags` as getaddrinfo() takes them;
 * AI_NUMERICHOST: asks no resolver. False: there is none. */
bool address_resolve(const char *host, const char *port, int flags,
                     struct address *address);

#endif
