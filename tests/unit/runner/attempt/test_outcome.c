/* How an attempt ended, from the ends of its replicas. */
#include "tests/check.h"

#include "runner/attempt/replicas.h"

enum { REPLICAS = 3 };

static const struct replica_order replicas[REPLICAS] = {
    {.name = "master-0"}, {.name = "worker-0"}, {.name = "worker-1"}};
static const struct order order = {.n_replicas = REPLICAS,
                                   .replicas = replicas};

static struct ending stored[REPLICAS];
static const struct ending *endings[REPLICAS];

static void everything_runs(void)
{
    for (size_t i = 0; i < REPLICAS; i++)
        endings[i] = NULL;
}

static void ends(size_t replica, enum outcome outcome, int64_t ended_ms)
{
    stored[replica] = (struct ending){.outcome = outcome, .ended_ms = ended_ms};
    (void)snprintf(stored[replica].reason, sizeof stored[replica].reason,
                   "reason %zu", replica);
    endings[replica] = &stored[replica];
}

static void nothing_is_decided_while_the_master_runs(void)
{
    everything_runs();
    CHECK(replicas_decisive(&order, endings) == REPLICAS);
    ends(1, OUTCOME_SUCCEEDED, 5);
    ends(2, OUTCOME_SUCCEEDED, 6);
    CHECK(replicas_decisive(&order, endings) == REPLICAS);
}

static void the_master_decides_before_what_fails_later(void)
{
    everything_runs();
    ends(0, OUTCOME_SUCCEEDED, 10);
    ends(1, OUTCOME_STOPPED, 9);
    ends(2, OUTCOME_FAILED, 11);
    CHECK(replicas_decisive(&order, endings) == 0);
    ends(2, OUTCOME_LOST, 11);
    CHECK(replicas_decisive(&order, endings) == 0);
}

static void the_first_failure_decides_before_the_master(void)
{
    everything_runs();
    ends(0, OUTCOME_SUCCEEDED, 10);
    ends(1, OUTCOME_FAILED, 9);
    ends(2, OUTCOME_FAILED, 8);
    CHECK(replicas_decisive(&order, endings) == 2);
    ends(2, OUTCOME_TIMEOUT, 7);
    CHECK(replicas_decisive(&order, endings) == 2);
}

static void a_loss_is_the_cause_of_failures_that_come_first(void)
{
    everything_runs();
    ends(0, OUTCOME_FAILED, 10);
    ends(2, OUTCOME_LOST, 15);
    CHECK(replicas_decisive(&order, endings) == 2);
}

static void a_stopped_master_outweighs_stopped_others(void)
{
    everything_runs();
    ends(1, OUTCOME_STOPPED, 5);
    CHECK(replicas_decisive(&order, endings) == 1); /* all shall be stopped */
    ends(0, OUTCOME_STOPPED, 9);
    CHECK(replicas_decisive(&order, endings) == 0);
}

static void the_reason_of_a_failure_names_its_replica(void)
{
    everything_runs();
    ends(2, OUTCOME_FAILED, 1);
    CHECK_TEXT(replicas_outcome(&order, 2, endings[2]).reason,
               "worker-1: reason 2");
    ends(0, OUTCOME_SUCCEEDED, 1);
    CHECK_TEXT(replicas_outcome(&order, 0, endings[0]).reason, "reason 0");
    const struct order alone = {.n_replicas = 1, .replicas = replicas};
    ends(0, OUTCOME_FAILED, 1);
    CHECK_TEXT(replicas_outcome(&alone, 0, endings[0]).reason, "reason 0");
}

int main(void)
{
    RUN(nothing_is_decided_while_the_master_runs);
    RUN(the_master_decides_before_what_fails_later);
    RUN(the_first_failure_decides_before_the_master);
    RUN(a_loss_is_the_cause_of_failures_that_come_first);
    RUN(a_stopped_master_outweighs_stopped_others);
    RUN(the_reason_of_a_failure_names_its_replica);
    return check_done();
}
