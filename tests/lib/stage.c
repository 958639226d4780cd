#include "tests/lib/stage.h"

#include <stdio.h>

#include "proto/doc/json.h"
#include "runner/base/procfs.h"

static const char *const gpu_names[] = {"g0", "g1", "g2"};

static void add_replica(struct text *lease, const char *type,
                        const char *script)
{
    text_printf(lease,
                "%s{\"type\":\"%s\",\"index\":0,\"gpus\":1,"
                "\"argv\":[\"/bin/sh\",\"-c\",",
                lease->data[lease->len - 1] == '[' ? "" : ",", type);
    quote_json(lease, script);
    text_puts(lease, "]}");
}

struct order *stage_parse(const struct stage *stage)
{
    struct order *order = NULL;
    struct ht_error err = {.text = ""};
    if (order_parse(stage->lease.data, stage->lease.len, &order, &err) != HT_OK)
        printf("# %s\n", err.text);
    CHECK(order != NULL);
    return order;
}

void stage_open(struct stage *stage, const char *master, const char *worker)
{
    *stage = (struct stage){.lease = {0}};
    stage->site = (struct site){.state = scratch_folder(stage->state),
                                .shim = scratch_shim,
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
    stage->order = stage_parse(stage);
    (void)snprintf(stage->folder, sizeof stage->folder, "%s/2/5/1",
                   stage->state);
    (void)snprintf(stage->replica, sizeof stage->replica, "%s/master-0",
                   stage->folder);
}

void stage_close(struct stage *stage)
{
    char worker[PATH_MAX + 64];
    (void)snprintf(worker, sizeof worker, "%s/worker-0", stage->folder);
    procfs_kill_leftovers(stage->replica, NULL, 5000);
    procfs_kill_leftovers(worker, NULL, 5000);
    order_free(stage->order);
    text_free(&stage->lease);
}

void stage_write_lease(const struct stage *stage)
{
    CHECK(prepare_lease(stage->folder, stage->order, NULL) == HT_OK);
}

void stage_write_launches(const struct stage *stage)
{
    stage_write_lease(stage);
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

struct attempt *stage_adopt(const struct stage *stage, struct attempts *fleet)
{
    attempts_init(attempts, &stage->site, &engine_process);
    attempts_scan(attempts);
    CHECK(attempts_count(attempts) == 1);
    if (attempts->first != NULL)
        attempts_adopt(attempts, attempts->first);
    return attempts->first;
}

bool stage_has_ended(struct attempt *run)
{
    attempt_tick(attempt, 1);
    return attempt->ended;
}
