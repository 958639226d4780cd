/* runner_stage.h - an attempt of a state folder of its own, as if just leased,
 * for tests of what the runner does with it. */
#ifndef HT_TESTS_UNIT_RUNNER_RUNNER_STAGE_H
#define HT_TESTS_UNIT_RUNNER_RUNNER_STAGE_H

#include "proto/doc/json.h"
#include "runner/attempt/attempt.h"
#include "runner/attempt/attempts.h"
#include "runner/attempt/engine.h"
#include "runner/attempt/prepare.h"
#include "runner/attempt/replica_view.h"
#include "runner/base/procfs.h"
#include "tests/check.h"
#include "tests/unit/runner/runner_fixture.h"

struct stage {
    char state[PATH_MAX];
    struct site site;
    struct text lease;
    struct order *order;         /* the test's own; attempts parse theirs */
    char folder[PATH_MAX + 32];  /* of the attempt */
    char replica[PATH_MAX + 64]; /* of the master */
};

static const char *const gpu_names[] = {"g0", "g1", "g2"};

static inline void add_replica(struct text *lease, const char *type,
                               const char *script)
{
    text_printf(lease,
                "%s{\"type\":\"%s\",\"index\":0,\"gpus\":1,"
                "\"argv\":[\"/bin/sh\",\"-c\",",
                lease->data[lease->len - 1] == '[' ? "" : ",", type);
    quote_json(lease, script);
    text_puts(lease, "]}");
}

static inline struct order *parse(const struct stage *stage)
{
    struct order *order = NULL;
    struct ht_error err = {.text = ""};
    if (order_parse(stage->lease.data, stage->lease.len, &order, &err) != HT_OK)
        printf("# %s\n", err.text);
    CHECK(order != NULL);
    return order;
}

/* `worker` may be NULL. */
static inline void stage_open(struct stage *stage, const char *master,
                              const char *worker)
{
    *stage = (struct stage){.lease = {0}};
    stage->site = (struct site){.state = fixture_folder(stage->state),
                                .shim = fixture_shim,
                                .slots = 2,
                                .cores = 8,
                                .gpus = {3, gpu_names}};
    text_puts(&stage->lease,
              "{\"study\":2,\"trial\":5,\"attempt\":1,\"name\":\"ht-t-2-5-1\","
              "\"token\":\"secret\",\"graceMs\":20000,\"metrics\":[\"acc\"],"
              "\"jobName\":\"j\",\"params\":{\"lr\":0.1},\"replicas\":[");
    add_replica(&stage->lease, "master", master);
    if (worker != NULL)
        add_replica(&stage->lease, "worker", worker);
    text_puts(&stage->lease, "]}");
    stage->order = parse(stage);
    (void)snprintf(stage->folder, sizeof stage->folder, "%s/2/5/1",
                   stage->state);
    (void)snprintf(stage->replica, sizeof stage->replica, "%s/master-0",
                   stage->folder);
}

static inline void stage_close(struct stage *stage)
{
    char worker[PATH_MAX + 64];
    (void)snprintf(worker, sizeof worker, "%s/worker-0", stage->folder);
    procfs_kill_leftovers(stage->replica, NULL, 5000);
    procfs_kill_leftovers(worker, NULL, 5000);
    order_free(stage->order);
    text_free(&stage->lease);
}

static inline void write_lease(const struct stage *stage)
{
    CHECK(prepare_lease(stage->folder, stage->order, NULL) == HT_OK);
}

static inline void write_launches(const struct stage *stage)
{
    write_lease(stage);
    struct placement placement;
    CHECK(placement_choose(&stage->site, stage->order, &stage->site.gpus,
                           engine_process.address, &placement, NULL) == HT_OK);
    CHECK(placement_write(stage->folder, stage->order, &placement, NULL) ==
          HT_OK);
    struct replica_view views[2];
    for (size_t i = 0; i < stage->order->n_replicas && i < 2; i++)
        views[i] = replica_view_of_process(
            stage->order->arena, &stage->site, stage->order, i,
            prepare_replica_folder(stage->order->arena, stage->folder,
                                   &stage->order->replicas[i]));
    CHECK(prepare_replicas(&stage->site, stage->order, &placement,
                           stage->folder, views, NULL) == HT_OK);
    placement_release(&placement); /* as if this life had ended */
}

/* What a runner does that finds the folder: takes it in and adopts it. */
static inline struct attempt *adopt(const struct stage *stage,
                                    struct attempts *attempts)
{
    attempts_init(attempts, &stage->site, &engine_process);
    attempts_scan(attempts);
    CHECK(attempts_count(attempts) == 1);
    if (attempts->first != NULL)
        attempts_adopt(attempts, attempts->first);
    return attempts->first;
}

static inline bool has_ended(struct attempt *attempt)
{
    attempt_tick(attempt, 1);
    return attempt->ended;
}

#endif
