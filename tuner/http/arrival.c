#include "tuner/http/arrival.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <arpa/inet.h>

#include "proto/base/arena.h"
#include "proto/base/limits.h"
#include "proto/base/number.h"

enum { V6_BITS = 128, V4_BITS = 32, NETWORK_BYTES = INET6_ADDRSTRLEN + 4 };

struct network {
    struct in6_addr address; /* of IPv4 mapped into IPv6 */
    int bits;                /* so many of it count */
};

struct proxies {
    bool insecure;
    const char *user_header; /* or NULL */
    size_t n;
    struct network *items;
};

/* One address, in the form of struct peer's. */
static bool read_address(const char *word, size_t len,
                         char address[INET6_ADDRSTRLEN])
{
    char copy[INET6_ADDRSTRLEN];
    struct in6_addr v6;
    struct in_addr v4;
    if (len >= sizeof copy)
        return false;
    memcpy(copy, word, len);
    copy[len] = '\0';
    if (inet_pton(AF_INET, copy, &v4) == 1)
        return inet_ntop(AF_INET, &v4, address, INET6_ADDRSTRLEN) != NULL;
    if (inet_pton(AF_INET6, copy, &v6) != 1)
        return false;
    return (IN6_IS_ADDR_V4MAPPED(&v6)
                ? inet_ntop(AF_INET, &v6.s6_addr[12], address, INET6_ADDRSTRLEN)
                : inet_ntop(AF_INET6, &v6, address, INET6_ADDRSTRLEN)) != NULL;
}

static struct in6_addr map_address(const char *address)
{
    struct in6_addr mapped = {.s6_addr = {[10] = 0xff, [11] = 0xff}};
    if (inet_pton(AF_INET, address, &mapped.s6_addr[12]) != 1)
        inet_pton(AF_INET6, address, &mapped);
    return mapped;
}

/* "ADDRESS" or "ADDRESS/BITS". */
static bool read_network(const char *word, size_t len, struct network *network)
{
    char copy[NETWORK_BYTES], address[INET6_ADDRSTRLEN];
    const size_t address_len = strcspn(word, "/,");
    if (len >= sizeof copy || !read_address(word, address_len, address))
        return false;
    memcpy(copy, word, len);
    copy[len] = '\0';
    const int most = strchr(address, ':') != NULL ? V6_BITS : V4_BITS;
    int64_t bits = most;
    if (address_len < len && (!number_int64(copy + address_len + 1, &bits) ||
                              bits < 0 || bits > most))
        return false;
    *network =
        (struct network){map_address(address), (int)bits + V6_BITS - most};
    return true;
}

/* Not one that means something else already. */
static enum ht_status check_header(const char *name, struct ht_error *err)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz"
                                  "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-";
    if (name == NULL || ((strncasecmp(name, "X-", 2) == 0 ||
                          strncasecmp(name, "Remote-", 7) == 0) &&
                         name[strspn(name, letters)] == '\0' &&
                         strcasecmp(name, "X-Forwarded-For") != 0 &&
                         strcasecmp(name, "X-Forwarded-Proto") != 0))
        return HT_OK;
    return ht_fail(err, HT_INVALID,
                   "--proxy-user-header is a name such as X-Forwarded-User or "
                   "Remote-User, not \"%.80s\"",
                   name);
}

enum ht_status proxies_new(const struct proxies_wanted *wanted,
                           struct proxies **proxies, struct ht_error *err)
{
    const enum ht_status status = check_header(wanted->user_header, err);
    if (status != HT_OK)
        return status;
    struct proxies *made = ht_xcalloc(1, sizeof *made);
    made->insecure = wanted->insecure;
    made->user_header = wanted->user_header;
    for (const char *word = wanted->list;; word++) {
        const size_t len = strcspn(word, ",");
        made->items =
            ht_xrealloc(made->items, made->n + 1, sizeof *made->items);
        if (!read_network(word, len, &made->items[made->n++])) {
            proxies_free(made);
            return ht_fail(err, HT_INVALID,
                           "--behind-proxy takes addresses of IPv4 or IPv6, "
                           "or networks such as 10.0.0.0/8, not \"%.*s\"",
                           (int)(len < 80 ? len : 80), word);
        }
        word += len;
        if (*word == '\0')
            break;
    }
    *proxies = made;
    return HT_OK;
}

void proxies_free(struct proxies *proxies)
{
    if (proxies != NULL)
        free(proxies->items);
    free(proxies);
}

const char *proxies_user_header(const struct proxies *proxies)
{
    return proxies->user_header;
}

static bool has_address(const struct network *network,
                        const struct in6_addr *address)
{
    const size_t bytes = (size_t)network->bits / 8;
    const unsigned mask = 0xffU << (8 - network->bits % 8) & 0xff;
    return memcmp(network->address.s6_addr, address->s6_addr, bytes) == 0 &&
           (mask == 0 ||
            ((network->address.s6_addr[bytes] ^ address->s6_addr[bytes]) &
             mask) == 0);
}

static bool is_declared(const struct proxies *proxies, const char *from)
{
    const struct in6_addr address = map_address(from);
    for (size_t i = 0; i < proxies->n; i++)
        if (has_address(&proxies->items[i], &address))
            return true;
    return false;
}

static bool is_this_machine(const char *address)
{
    return strncmp(address, "127.", 4) == 0 || strcmp(address, "::1") == 0;
}

/* What comes before the last hop is the client's own word. */
static bool read_last_hop(const char *list, char peer[INET6_ADDRSTRLEN])
{
    const char *comma = strrchr(list, ',');
    const char *hop = comma != NULL ? comma + 1 : list;
    hop += strspn(hop, " \t");
    size_t len = strlen(hop);
    while (len > 0 && strchr(" \t", hop[len - 1]) != NULL)
        len--;
    return read_address(hop, len, peer);
}

/* A name is shown in logs and tables and typed as an argument. Apache sends
 * "(null)" for a variable that is not set, so parentheses must be refused. */
static enum ht_status read_person(const struct arrival_words *words,
                                  const char **person, struct ht_error *err)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz"
                                  "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                  "@._+-=:/|#~%&!$*?^'";
    const char *name = words->user != NULL ? words->user : "";
    const size_t len = strlen(name);
    if (words->n_user == 0)
        return HT_OK;
    if (words->n_user > 1 || len == 0 || len > HT_MAX_NAME ||
        strspn(name, letters) != len)
        return ht_fail(err, HT_INVALID,
                       "the proxy's header that names a person comes once and "
                       "has 1 to %d letters, digits and %s",
                       HT_MAX_NAME, letters + 62);
    *person = name;
    return HT_OK;
}

enum ht_status arrival_read(const struct proxies *proxies,
                            const struct arrival_words *words,
                            struct arrival *arrival, struct ht_error *err)
{
    struct arrival read = {.secure = words->by_tls};
    snprintf(read.peer, sizeof read.peer, "%s", words->from);
    *arrival = read;
    if (proxies == NULL || words->by_tls)
        return HT_OK;
    const bool forwards = words->n_for + words->n_proto > 0;
    if (!is_declared(proxies, words->from) || !forwards)
        return is_this_machine(words->from) || proxies->insecure
                   ? HT_OK
                   : ht_fail(err, HT_DENIED,
                             "this server is asked through its proxy, whose "
                             "address is in --behind-proxy and which sends "
                             "X-Forwarded-For and X-Forwarded-Proto");
    if (words->n_for != 1 || words->n_proto != 1 ||
        !read_last_hop(words->forwarded_for, read.peer))
        return ht_fail(err, HT_INVALID,
                       "a proxy sends X-Forwarded-For, which ends in the "
                       "client's address, and X-Forwarded-Proto, once each");
    read.secure = words->forwarded_proto != NULL &&
                  strcasecmp(words->forwarded_proto, "https") == 0;
    if (!read.secure && !proxies->insecure)
        return ht_fail(err, HT_DENIED,
                       "http shows the token to the network: ask the proxy by "
                       "https, and change the token if it was sent");
    const enum ht_status status = read_person(words, &read.person, err);
    if (status == HT_OK)
        *arrival = read;
    return status;
}
