#include "runner/base/placement.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "proto/base/quote.h"
#include "proto/base/text.h"
#include "proto/doc/node.h"
#include "runner/base/disk.h"
#include "runner/base/ports.h"

static const char file_name[] = "placement.json";
static const char loopback[] = "127.0.0.1:";

static struct placement make_empty(const struct order *order)
{
    struct placement placement = {
        .n = order->n_replicas,
        .seats = arena_alloc(order->arena, order->n_replicas,
                             sizeof *placement.seats),
    };
    for (size_t i = 0; i < placement.n; i++)
        placement.seats[i].claim = -1;
    return placement;
}

void placement_release(struct placement *placement)
{
    for (size_t i = 0; i < placement->n; i++) {
        if (placement->seats[i].claim >= 0)
            close(placement->seats[i].claim);
        placement->seats[i].claim = -1;
    }
}

enum ht_status
placement_choose(const struct site *site, const struct order *order,
                 const struct strings *free_gpus, placement_address *address,
                 struct placement *placement, struct ht_error *err)
{
    const int64_t needed = order_gpus(order);
    if (needed > (int64_t)free_gpus->n)
        return ht_fail(err, HT_UNAVAILABLE, "GPUs needed: %lld, free: %zu",
                       (long long)needed, free_gpus->n);
    struct placement chosen = make_empty(order);
    size_t used = 0;
    enum ht_status status = HT_OK;
    for (size_t i = 0; i < chosen.n && status == HT_OK; i++) {
        struct seat *seat = &chosen.seats[i];
        const size_t n = (size_t)order->replicas[i].gpus;
        const char **gpus = arena_alloc(order->arena, n + 1, sizeof *gpus);
        for (size_t k = 0; k < n; k++)
            gpus[k] = arena_strdup(order->arena, free_gpus->items[used++]);
        seat->gpus = (struct strings){.n = n, .items = gpus};
        status = address(site, order, i, &seat->address, &seat->claim, err);
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
    text_puts(&out, "{");
    for (size_t i = 0; i < placement->n; i++) {
        const struct seat *seat = &placement->seats[i];
        text_printf(&out, "%s\n\"%s\":{\"address\":", i > 0 ? "," : "",
                    order->replicas[i].name);
        quote_json(&out, seat->address);
        text_puts(&out, ",\"gpus\":[");
        for (size_t k = 0; k < seat->gpus.n; k++) {
            text_puts(&out, k > 0 ? "," : "");
            quote_json(&out, seat->gpus.items[k]);
        }
        text_puts(&out, "]}");
    }
    if (placement->relay_port > 0)
        text_printf(&out, ",\n\"relay\":%d", placement->relay_port);
    text_puts(&out, "}\n");
    const enum ht_status status =
        disk_replace(attempt_folder, file_name, out.data, out.len, 0600, err);
    text_free(&out);
    return status;
}

static bool read_seat(const struct order *order, const struct node *map,
                      struct seat *seat)
{
    seat->address = node_get_string(map, "address", NULL);
    const struct node *list = node_find(map, "gpus");
    if (seat->address == NULL || list == NULL || list->kind != NODE_LIST)
        return false;
    const char **gpus =
        arena_alloc(order->arena, list->count + 1, sizeof *gpus);
    for (const struct node *item = list->first; item; item = item->next) {
        gpus[seat->gpus.n] = node_string(item);
        if (gpus[seat->gpus.n++] == NULL)
            return false;
    }
    seat->gpus.items = gpus;
    return true;
}

/* Elsewhere than on loopback ports are nobody else's. */
static int claim_again(const char *address)
{
    const size_t len = sizeof loopback - 1;
    if (strncmp(address, loopback, len) != 0)
        return -1;
    return ports_claim((int)strtol(address + len, NULL, 10));
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
        if (!read_seat(order, node_find(map, order->replicas[i].name),
                       &read.seats[i]))
            return ht_fail(err, HT_CORRUPT, "%s does not place %s", file_name,
                           order->replicas[i].name);
    }
    for (size_t i = 0; i < read.n; i++)
        read.seats[i].claim = claim_again(read.seats[i].address);
    const int64_t relay = node_get_int(map, "relay", 0);
    read.relay_port = relay > 0 && relay <= UINT16_MAX ? (int)relay : 0;
    *placement = read;
    return HT_OK;
}
