/* addresses.h - where reports and runners come: at the addresses that the
 * options name, or by TLS behind the front. */
#ifndef HT_TUNER_ADDRESSES_H
#define HT_TUNER_ADDRESSES_H

#include "proto/base/error.h"

struct core;
struct front;
struct logs;
struct nng_socket;
struct options;

struct addresses {
    const struct options *options;
    struct core *core;
    struct logs *logs;
    struct front *front; /* NULL: no TLS */
};

/* HT_IO, HT_EXISTS, HT_INVALID: it cannot be listened there. */
enum ht_status addresses_start_report(const struct addresses *from,
                                      struct nng_socket **socket,
                                      struct ht_error *err);
enum ht_status addresses_start_control(const struct addresses *from,
                                       struct nng_socket **socket,
                                       struct ht_error *err);

#endif
