#include "proto/net/address_resolve.h"

#include <string.h>

bool address_resolve(const char *host, const char *port, int flags,
                     struct address *address)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM,
                                   .ai_flags = flags};
    struct addrinfo *found;
    if (getaddrinfo(host, port, &hints, &found) != 0)
        return false;
    memcpy(&address->storage, found->ai_addr, found->ai_addrlen);
    address->len = found->ai_addrlen;
    freeaddrinfo(found);
    return true;
}
