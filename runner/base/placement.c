#include "runner/base/placement.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "proto/base/text.h"
#include "proto/base/token.h"
#include "proto/doc/node.h"
#include "runner/base/disk.h"
#include "runner/base/json.h"

static const char file_name[] = "placement.json";
static const char loopback[] = "127.0.0.1:";

/* ---- ports of 127.0.0.1 ---- */

enum {
    FIRST_PORT = 20000,  /* registered services mostly have lower ones */
    USUAL_LOCAL = 32768, /* where Linux begins to serve connections */
    FEWEST_PORTS = 1000, /* below that many the kernel chooses better */
    KERNEL_TRIES = 100   /* ports asked of the kernel */
};

int placement_claim_port(int port)
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

/* Binds the port, 0 for any, and closes it again; the port or -1. */
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

/* With any other error, such as too few descriptors, no other port helps. */
static bool is_taken(int code)
{
    return code == EADDRINUSE || code == EACCES;
}

static bool take(int wanted, int *port, int *claim)
{
    *port = try_port(wanted);
    if (*port < 0)
        return false;
    *claim = placement_claim_port(*port);
    return *claim >= 0;
}

/* Ports from FIRST_PORT on that the kernel does not choose itself. */
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

enum ht_status placement_find_port(int *port, int *claim, struct ht_error *err)
{
    const int own = count_own_ports();
    const unsigned start = (unsigned)token_random64();
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

/* ---- the choice ---- */

static struct placement make_empty(const struct order *order)
{
    struct placement placement = {
        .n = order->n_replicas,
        .replicas = arena_alloc(order->arena, order->n_replicas,
                                sizeof *placement.replicas),
    };
    for (size_t i = 0; i < placement.n; i++)
        placement.replicas[i].claim = -1;
    return placement;
}

void placement_release(struct placement *placement)
{
    for (size_t i = 0; i < placement->n; i++) {
        if (placement->replicas[i].claim >= 0)
            close(placement->replicas[i].claim);
        placement->replicas[i].claim = -1;
    }
}

/* A replica that asks for memory only does not say how much of the rest it
 * takes; but no whole GPU is given where one does. */
static const double least_part = 1e-6, slack = 1e-9;

double placement_part(const struct replica_order *replica)
{
    if (replica->gpus > 0)
        return 1;
    return replica->gpu_part > 0     ? replica->gpu_part
           : replica->gpu_memory > 0 ? least_part
                                     : 0;
}

static bool is_named(const struct replica_order *replica, const char *gpu)
{
    for (size_t i = 0; i < replica->gpu_names.n; i++)
        if (strcmp(replica->gpu_names.items[i], gpu) == 0)
            return true;
    return false;
}

/* One that is named, else for a part the fullest, else the first. */
static struct gpu_room *find_room(struct gpu_room *rooms, size_t n,
                                  const struct replica_order *replica)
{
    const double part = placement_part(replica);
    struct gpu_room *best = NULL;
    for (size_t i = 0; i < n; i++) {
        if (rooms[i].free + slack < part)
            continue;
        if (is_named(replica, rooms[i].name))
            return &rooms[i];
        if (best == NULL || (part < 1 && rooms[i].free < best->free))
            best = &rooms[i];
    }
    return best;
}

static bool take_gpus(const struct order *order, size_t replica,
                      struct gpu_room *rooms, size_t n_rooms,
                      struct strings *gpus)
{
    const struct replica_order *needs = &order->replicas[replica];
    const double part = placement_part(needs);
    const size_t n = needs->gpus > 0 ? (size_t)needs->gpus : part > 0;
    const char **names = arena_alloc(order->arena, n + 1, sizeof *names);
    for (size_t i = 0; i < n; i++) {
        struct gpu_room *room = find_room(rooms, n_rooms, needs);
        if (room == NULL)
            return false;
        room->free -= part;
        names[i] = arena_strdup(order->arena, room->name);
    }
    *gpus = (struct strings){.n = n, .items = names};
    return true;
}

static size_t count_whole(const struct gpu_rooms *rooms)
{
    size_t n = 0;
    for (size_t i = 0; i < rooms->n; i++)
        n += rooms->items[i].free + slack >= 1;
    return n;
}

static enum ht_status take_all(const struct order *order,
                               const struct gpu_rooms *rooms,
                               struct placement *placement,
                               struct ht_error *err)
{
    struct gpu_room *left =
        arena_alloc(order->arena, rooms->n + 1, sizeof *left);
    if (rooms->n > 0)
        memcpy(left, rooms->items, rooms->n * sizeof *left);
    for (size_t i = 0; i < placement->n; i++)
        if (!take_gpus(order, i, left, rooms->n, &placement->replicas[i].gpus))
            return order_gpus(order) > (int64_t)count_whole(rooms)
                       ? ht_fail(err, HT_UNAVAILABLE,
                                 "GPUs needed: %lld, free: %zu",
                                 (long long)order_gpus(order),
                                 count_whole(rooms))
                       : ht_fail(err, HT_UNAVAILABLE,
                                 "no GPU has room for a part of %g",
                                 order->replicas[i].gpu_part);
    return HT_OK;
}

enum ht_status
placement_choose(const struct site *site, const struct order *order,
                 const struct gpu_rooms *rooms, placement_address *address,
                 struct placement *placement, struct ht_error *err)
{
    struct placement chosen = make_empty(order);
    /* A cluster gives GPUs itself. */
    enum ht_status status =
        site->elastic ? HT_OK : take_all(order, rooms, &chosen, err);
    for (size_t i = 0; i < chosen.n && status == HT_OK; i++) {
        struct replica_place *place = &chosen.replicas[i];
        status = address(site, order, i, &place->address, &place->claim, err);
    }
    if (status == HT_OK)
        *placement = chosen;
    else
        placement_release(&chosen);
    return status;
}

/* ---- the file ---- */

enum ht_status placement_write(const char *attempt_folder,
                               const struct order *order,
                               const struct placement *placement,
                               struct ht_error *err)
{
    struct text out = {0};
    json_open(&out, NULL);
    for (size_t i = 0; i < placement->n; i++) {
        const struct replica_place *place = &placement->replicas[i];
        text_puts(&out, i > 0 ? ",\n" : "\n");
        json_open(&out, order->replicas[i].name);
        json_put_string(&out, "address", place->address);
        json_put_strings(&out, "gpus", &place->gpus);
        json_close(&out);
    }
    if (placement->relay_port > 0) {
        text_puts(&out, ",\n");
        json_put_int(&out, "relay", placement->relay_port);
    }
    json_close(&out);
    text_puts(&out, "\n");
    const enum ht_status status =
        disk_replace(attempt_folder, file_name, out.data, out.len, 0600, err);
    text_free(&out);
    return status;
}

static bool read_place(const struct order *order, const struct node *map,
                       struct replica_place *place)
{
    place->address = node_get_string(map, "address", NULL);
    const struct node *list = node_find(map, "gpus");
    return place->address != NULL && list != NULL &&
           json_read_strings(order->arena, list, SIZE_MAX, &place->gpus);
}

/* Only ports of loopback are shared with other programs. */
static int claim_again(const char *address)
{
    const size_t len = sizeof loopback - 1;
    if (strncmp(address, loopback, len) != 0)
        return -1;
    return placement_claim_port((int)strtol(address + len, NULL, 10));
}

enum ht_status placement_read(const char *attempt_folder,
                              const struct order *order,
                              struct placement *placement, struct ht_error *err)
{
    const struct node *map;
    const enum ht_status status =
        disk_read_json(order->arena, attempt_folder, file_name, &map, err);
    if (status != HT_OK)
        return status;
    struct placement read = make_empty(order);
    for (size_t i = 0; i < read.n; i++) {
        if (!read_place(order, node_find(map, order->replicas[i].name),
                        &read.replicas[i]))
            return ht_fail(err, HT_CORRUPT, "%s does not place %s", file_name,
                           order->replicas[i].name);
    }
    for (size_t i = 0; i < read.n; i++)
        read.replicas[i].claim = claim_again(read.replicas[i].address);
    const int64_t relay = node_get_int(map, "relay", 0);
    read.relay_port = relay > 0 && relay <= UINT16_MAX ? (int)relay : 0;
    *placement = read;
    return HT_OK;
}
