#include "tests/lib/attempt_fixture.h"

#include <stdio.h>

#include "proto/base/quote.h"
#include "runner/attempt/engine.h"
#include "runner/attempt/prepare.h"
#include "runner/attempt/replica_view.h"
#include "runner/base/placement.h"
#include "runner/base/procfs.h"
#include "tests/lib/runner_fixture.h"

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

struct order *attempt_fixture_parse(const struct attempt_fixture *fixture)
{
    struct order *order = NULL;
    struct ht_error err = {.text = ""};
    if (order_parse(fixture->lease.data, fixture->lease.len, &order, &err) !=
        HT_OK)
        printf("# %s\n", err.text);
    CHECK(order != NULL);
    return order;
}

void attempt_fixture_open(struct attempt_fixture *fixture, const char *master,
                          const char *worker)
{
    *fixture = (struct attempt_fixture){.lease = {0}};
    fixture->site =
        (struct site){.state = runner_fixture_folder(fixture->state),
                      .shim = runner_fixture_shim,
                      .slots = 2,
                      .cores = 8,
                      .gpus = {3, gpu_names}};
    text_puts(&fixture->lease,
              "{\"study\":2,\"trial\":5,\"attempt\":1,\"name\":\"ht-t-2-5-1\","
              "\"token\":\"secret\",\"graceMs\":20000,\"metrics\":[\"acc\"],"
              "\"jobName\":\"j\",\"params\":{\"lr\":0.1},\"replicas\":[");
    add_replica(&fixture->lease, "master", master);
    if (worker != NULL)
        add_replica(&fixture->lease, "worker", worker);
    text_puts(&fixture->lease, "]}");
    fixture->order = attempt_fixture_parse(fixture);
    (void)snprintf(fixture->folder, sizeof fixture->folder, "%s/2/5/1",
                   fixture->state);
    (void)snprintf(fixture->replica, sizeof fixture->replica, "%s/master-0",
                   fixture->folder);
}

void attempt_fixture_close(struct attempt_fixture *fixture)
{
    char worker[PATH_MAX + 64];
    (void)snprintf(worker, sizeof worker, "%s/worker-0", fixture->folder);
    procfs_kill_leftovers(fixture->replica, NULL, 5000);
    procfs_kill_leftovers(worker, NULL, 5000);
    order_free(fixture->order);
    text_free(&fixture->lease);
}

void attempt_fixture_write_lease(const struct attempt_fixture *fixture)
{
    CHECK(prepare_lease(fixture->folder, fixture->order, NULL) == HT_OK);
}

void attempt_fixture_write_launches(const struct attempt_fixture *fixture)
{
    attempt_fixture_write_lease(fixture);
    struct placement placement;
    struct gpu_room rooms[8];
    const struct gpu_rooms all = {fixture->site.gpus.n, rooms};
    CHECK(all.n <= 8);
    for (size_t i = 0; i < all.n; i++)
        rooms[i] = (struct gpu_room){fixture->site.gpus.items[i], 1};
    CHECK(placement_choose(&fixture->site, fixture->order, &all,
                           engine_process.address, &placement, NULL) == HT_OK);
    CHECK(placement_write(fixture->folder, fixture->order, &placement, NULL) ==
          HT_OK);
    struct replica_view views[2];
    for (size_t i = 0; i < fixture->order->n_replicas && i < 2; i++)
        views[i] = replica_view_of_process(
            fixture->order->arena, &fixture->site, fixture->order, i,
            prepare_replica_folder(fixture->order->arena, fixture->folder,
                                   &fixture->order->replicas[i]));
    CHECK(prepare_replicas(&fixture->site, fixture->order, &placement,
                           fixture->folder, views, NULL) == HT_OK);
    placement_release(&placement); /* as if this life had ended */
}

struct attempt *attempt_fixture_adopt(const struct attempt_fixture *fixture,
                                      struct attempts *attempts)
{
    attempts_init(attempts, &fixture->site, &engine_process);
    attempts_scan(attempts);
    CHECK(attempts_count(attempts) == 1);
    if (attempts->first != NULL)
        attempts_adopt(attempts, attempts->first);
    return attempts->first;
}

bool attempt_fixture_has_ended(struct attempt *attempt)
{
    attempt_tick(attempt, 1);
    return attempt->ended;
}
