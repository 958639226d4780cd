/* Any bytes as an attempt from a server or from lease.json: what is accepted
 * names no folder outside its own, and its own text reads back to the same.
 *
 * fuzz-with: runner */
#include "runner/base/order.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "proto/doc/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool leaves_its_folder(const char *name)
{
    return name[0] == '\0' || name[0] == '.' || strchr(name, '/') != NULL;
}

static void check_order(const struct order *order)
{
    struct order *again;
    if (order->n_replicas < 1 || order->key.study < 1 || order->key.trial < 1 ||
        order->key.attempt < 1)
        abort();
    for (size_t i = 0; i < order->n_replicas; i++)
        if (leaves_its_folder(order->replicas[i].name))
            abort();
    if (order_parse(order->lease, strlen(order->lease), &again, NULL) != HT_OK)
        abort();
    if (!order_key_equal(&order->key, &again->key) ||
        order_gpus(order) != order_gpus(again) ||
        order->n_replicas != again->n_replicas)
        abort();
    order_free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    json_init();
    struct order *order;
    char *text = malloc(size > 0 ? size : 1); /* exact: overreads are seen */
    memcpy(text, data, size);
    if (order_parse(text, size, &order, NULL) == HT_OK) {
        check_order(order);
        order_free(order);
    }
    free(text);
    return 0;
}
