/* searching.h - an algorithm as tests of one objective use it: it gets
 * plain values and is asked for points. */
#ifndef HT_TESTS_LIB_SEARCHING_H
#define HT_TESTS_LIB_SEARCHING_H

#include "algorithms/base/algorithm.h"

/* A state for a study with one objective. */
enum ht_status search_new(const struct algorithm *algorithm,
                          const struct space *space, uint64_t seed,
                          void **state, struct ht_error *err);
/* Tells a result; larger is better. */
enum ht_status search_tell(const struct algorithm *algorithm, void *state,
                           const struct value point[], bool feasible,
                           double value);
/* Asks for a point, whatever the reason. */
enum ht_status search_ask(const struct algorithm *algorithm, void *state,
                          const struct suggest_request *request,
                          struct value point[], struct ht_error *err);

bool same_point(const struct space *space, const struct value a[],
                const struct value b[]);

#endif
