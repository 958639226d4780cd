#include "proto/net/host_lookup.h"

#include <arpa/inet.h>
#include <arpa/nameser.h>
#include <resolv.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

struct lookup {
    in_port_t port;
    size_t n;
    struct host_address *found;
};

static void add(struct lookup *lookup, int family, const void *address)
{
    if (lookup->n == HOST_LOOKUP_MAX)
        return;
    struct host_address *next = &lookup->found[lookup->n++];
    memset(next, 0, sizeof *next);
    next->as.any.sa_family = (sa_family_t)family;
    if (family == AF_INET) {
        next->len = sizeof next->as.v4;
        next->as.v4.sin_port = htons(lookup->port);
        memcpy(&next->as.v4.sin_addr, address, sizeof next->as.v4.sin_addr);
    } else {
        next->len = sizeof next->as.v6;
        next->as.v6.sin6_port = htons(lookup->port);
        memcpy(&next->as.v6.sin6_addr, address, sizeof next->as.v6.sin6_addr);
    }
}

static bool add_literal(struct lookup *lookup, const char *text)
{
    static const int families[] = {AF_INET, AF_INET6};
    struct in6_addr address; /* large enough for either family */
    for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
        if (inet_pton(families[i], text, &address) != 1)
            continue;
        add(lookup, families[i], &address);
        return true;
    }
    return false;
}

/* One line: an address, then its names, then perhaps a comment. */
static void add_hosts_line(struct lookup *lookup, char *line, const char *host)
{
    line[strcspn(line, "#\n")] = '\0';
    char *rest = NULL;
    const char *address = strtok_r(line, " \t\r", &rest);
    if (address == NULL)
        return;
    for (const char *name; (name = strtok_r(NULL, " \t\r", &rest)) != NULL;) {
        if (strcasecmp(name, host) == 0) {
            add_literal(lookup, address);
            return;
        }
    }
}

static void ask_hosts_file(struct lookup *lookup, const char *path,
                           const char *host)
{
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return;
    char line[1024];
    while (fgets(line, sizeof line, file) != NULL)
        add_hosts_line(lookup, line, host);
    fclose(file);
}

static unsigned get16(const unsigned char *at)
{
    return (unsigned)at[0] << 8 | at[1];
}

/* Reads the answer section (RFC 1035, 4.1). libc has no reader of it; the one
 * of libresolv would be a second library. */
static void read_dns_answer(struct lookup *lookup, const unsigned char *message,
                            const unsigned char *end, ns_type wanted)
{
    if (end - message < NS_HFIXEDSZ)
        return;
    unsigned questions = get16(message + 4);
    unsigned answers = get16(message + 6);
    const unsigned char *at = message + NS_HFIXEDSZ;
    for (unsigned i = 0; i < questions + answers; i++) {
        int name = dn_skipname(at, end);
        long fixed = i < questions ? NS_QFIXEDSZ : NS_RRFIXEDSZ;
        if (name < 0 || end - at < name + fixed)
            return;
        at += name + fixed;
        if (i < questions)
            continue;
        unsigned type = get16(at - NS_RRFIXEDSZ);
        unsigned len = get16(at - NS_INT16SZ);
        if (end - at < (long)len)
            return;
        if (type == ns_t_a && type == wanted && len == NS_INADDRSZ)
            add(lookup, AF_INET, at);
        else if (type == ns_t_aaaa && type == wanted && len == NS_IN6ADDRSZ)
            add(lookup, AF_INET6, at);
        at += len; /* others are CNAMEs on the way */
    }
}

static void ask_dns(struct lookup *lookup, struct __res_state *dns,
                    const char *host, ns_type type)
{
    unsigned char answer[4096];
    int len = res_nsearch(dns, host, ns_c_in, (int)type, answer, sizeof answer);
    /* It returns the full length even when it had to cut. */
    if (len > (int)sizeof answer)
        len = sizeof answer;
    if (len > 0)
        read_dns_answer(lookup, answer, answer + len, type);
}

size_t host_lookup(const char *host, in_port_t port, const char *hosts_file,
                   struct host_address found[HOST_LOOKUP_MAX])
{
    struct lookup lookup = {.port = port, .found = found};
    if (add_literal(&lookup, host))
        return lookup.n;
    ask_hosts_file(&lookup, hosts_file, host);
    if (lookup.n == 0 && strcasecmp(host, "localhost") == 0)
        add_literal(&lookup, "127.0.0.1"); /* RFC 6761: never asks DNS */
    if (lookup.n > 0)
        return lookup.n;
    struct __res_state dns;
    memset(&dns, 0, sizeof dns);
    if (res_ninit(&dns) != 0)
        return 0;
    dns.retrans = 1; /* s; one try each for A and AAAA, doubled by resolv */
    dns.retry = 1;
    ask_dns(&lookup, &dns, host, ns_t_a);
    ask_dns(&lookup, &dns, host, ns_t_aaaa);
    res_nclose(&dns);
    return lookup.n;
}
