/* attempt_fixture.h - an attempt in its own state folder, as if just
 * leased, for tests of what the runner does with it. */
#ifndef HT_TESTS_LIB_ATTEMPT_FIXTURE_H
#define HT_TESTS_LIB_ATTEMPT_FIXTURE_H

#include <limits.h>
#include <stdbool.h>

#include "proto/base/text.h"
#include "runner/attempt/attempt.h"
#include "runner/attempt/attempts.h"
#include "runner/base/order.h"
#include "runner/base/site.h"
#include "tests/check.h"

struct attempt_fixture {
    char state[PATH_MAX];
    struct site site;
    struct text lease;
    struct order *order;         /* the test's own; attempts parse theirs */
    char folder[PATH_MAX + 32];  /* of the attempt */
    char replica[PATH_MAX + 64]; /* of the master */
};

/* Each script is for /bin/sh -c; `worker` may be NULL. */
void attempt_fixture_open(struct attempt_fixture *fixture, const char *master,
                          const char *worker);
/* Kills what is left of the replicas. */
void attempt_fixture_close(struct attempt_fixture *fixture);
/* The lease as an order, which the caller frees. */
struct order *attempt_fixture_parse(const struct attempt_fixture *fixture);

/* Writes lease.json; the other, all that precedes a start. */
void attempt_fixture_write_lease(const struct attempt_fixture *fixture);
void attempt_fixture_write_launches(const struct attempt_fixture *fixture);

/* A new runner scans the state folder and adopts the attempt. */
struct attempt *attempt_fixture_adopt(const struct attempt_fixture *fixture,
                                      struct attempts *attempts);
bool attempt_fixture_has_ended(struct attempt *attempt);

#endif
