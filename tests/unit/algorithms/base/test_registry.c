#include "algorithms/base/algorithm.h"
#include "tests/check.h"
#include "tests/lib/taken_set.h"

static struct param small_params[] = {{.name = "whole",
                                       .type = PARAM_INTEGER,
                                       .int_min = -4,
                                       .int_max = 5,
                                       .int_step = 3},
                                      {.name = "stepped",
                                       .type = PARAM_DOUBLE,
                                       .min = 0.1,
                                       .max = 0.5,
                                       .step = 0.1}};
static const struct space small = {.n = 2, .params = small_params};

static void the_next_free_index_skips_what_is_taken(void)
{
    struct taken_set set;
    taken_set_init(&set, &small);
    for (uint64_t i = 3; i < 7; i++) {
        struct value point[2];
        subspace_point(&small, NULL, i, point);
        taken_set_add(&set, point);
    }
    const struct suggest_request request = {.taken = &set.taken};
    CHECK(algorithm_request_next(&small, &request, 0, 20) == 0);
    CHECK(algorithm_request_next(&small, &request, 3, 20) == 7);
    CHECK(algorithm_request_next(&small, &request, 3, 7) == 7);
    taken_set_fini(&set);
}

int main(void)
{
    RUN(the_next_free_index_skips_what_is_taken);
    return check_done();
}
