/* relay_listener.c - a listener of the relay: what it was asked for, checked,
 * with its limits. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "proto/base/arena.h"
#include "proto/net/relay_parts.h"

enum {
    MOST = 128,
    UNFINISHED = 256,
    UNFINISHED_EACH = 16,
    HANDSHAKE_MS = 10000
};

static void fill_limits(struct relay_listener *set)
{
    set->most = set->most > 0 ? set->most : MOST;
    set->most_each = set->most_each > 0 ? set->most_each : set->most;
    set->unfinished = set->unfinished > 0 ? set->unfinished : UNFINISHED;
    set->unfinished_each =
        set->unfinished_each > 0 ? set->unfinished_each : UNFINISHED_EACH;
    set->handshake_ms =
        set->handshake_ms > 0 ? set->handshake_ms : HANDSHAKE_MS;
}

enum ht_status listener_resolve(const struct relay_listener *wanted,
                                struct target *target, struct ht_error *err)
{
    *target = (struct target){.host = ""};
    if (wanted->to == NULL ||
        address_of_url(wanted->to, &target->address, target->host))
        return HT_OK;
    return ht_fail(err, HT_INVALID,
                   "%.160s is not tcp://HOST:PORT, or its host has no address",
                   wanted->to);
}

void listener_aim(struct listener *listener, const struct target *target)
{
    listener->to = target->address;
    memcpy(listener->host, target->host, sizeof listener->host);
}

enum ht_status listener_make(const struct relay_listener *wanted,
                             const struct target *target,
                             struct listener **listener, struct ht_error *err)
{
    struct address here;
    if (strlen(wanted->address) >= GATEWAY_BYTES ||
        (wanted->fd <= 0 &&
         !address_read(wanted->address, wanted->port, &here)))
        return ht_fail(err, HT_INVALID, "%.64s is no address to listen at",
                       wanted->address);
    const int fd = wanted->fd > 0 ? wanted->fd : address_listen(&here);
    if (fd < 0)
        return ht_fail_errno(err, errno, "cannot listen at %s port %d",
                             wanted->address, wanted->port);
    (void)fcntl(fd, F_SETFL, O_NONBLOCK);
    struct listener *made = ht_xcalloc(1, sizeof *made);
    made->source.kind = SOURCE_LISTENER;
    made->set = *wanted;
    made->fd = fd;
    made->port = address_port(fd);
    listener_aim(made, target);
    (void)snprintf(made->name, sizeof made->name, "%s", wanted->address);
    made->set.address = made->name;
    made->set.to = NULL; /* resolved; the text is the caller's */
    fill_limits(&made->set);
    for (int i = 0; i < PLACES; i++)
        TAILQ_INIT(&made->lists[i]);
    *listener = made;
    return HT_OK;
}
