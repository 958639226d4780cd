/* place.h - which slot has an attempt: a file in the attempt's folder, written
 * before the element gets its answer. */
#ifndef HT_RUNNER_CLUSTER_PLACE_H
#define HT_RUNNER_CLUSTER_PLACE_H

#include "proto/base/arena.h"
#include "proto/base/error.h"

extern const char place_file[];

struct place {
    const char *batch; /* its name */
    int element, turn;
};

/* HT_IO: the previous file stays. */
enum ht_status place_write(const char *attempt_folder,
                           const struct place *place, struct ht_error *err);
/* HT_NOT_FOUND: it has no slot yet; HT_CORRUPT: the file is damaged. */
enum ht_status place_read(struct arena *arena, const char *attempt_folder,
                          struct place *place, struct ht_error *err);

#endif
