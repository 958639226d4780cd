/* Addresses and GPUs of an attempt's replicas, and what these are given. */
#include "tests/check.h"

#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <netinet/in.h>

#include "proto/base/limits.h"
#include "proto/doc/json.h"
#include "runner/attempt/engine.h"
#include "runner/attempt/replica_env.h"
#include "runner/attempt/replica_view.h"
#include "runner/base/disk.h"
#include "runner/base/placement.h"
#include "tests/lib/runner_fixture.h"

static const char *const names[] = {"g0", "g1", "g2", "g3"};
static const struct gpu_room rooms_of_four[] = {
    {"g0", 1}, {"g1", 1}, {"g2", 1}, {"g3", 1}};
static const struct gpu_rooms four = {4, rooms_of_four};

/* A master without GPUs and two workers with one each. */
static struct order *make_order(const char *members)
{
    struct text lease = {0};
    text_printf(&lease,
                "{\"study\":2,\"trial\":5,\"attempt\":1,\"token\":\"t\","
                "\"jobName\":\"j\",\"metrics\":[\"acc\"]%s,\"replicas\":["
                "{\"type\":\"master\",\"index\":0,\"argv\":[\"a\"]},"
                "{\"type\":\"worker\",\"index\":0,\"argv\":[\"a\"],\"gpus\":1},"
                "{\"type\":\"worker\",\"index\":1,\"argv\":[\"a\"],"
                "\"gpus\":1}]}",
                members);
    return runner_fixture_order(&lease);
}

static int port_of(const char *address)
{
    return (int)strtol(strchr(address, ':') + 1, NULL, 10);
}

static enum ht_status choose(const struct order *order,
                             const struct gpu_rooms *rooms,
                             struct placement *placement, struct ht_error *err)
{
    static const struct site site = {.slots = 1, .cores = 1};
    return placement_choose(&site, order, rooms, engine_process.address,
                            placement, err);
}

static void every_replica_gets_an_address_and_its_gpus(void)
{
    struct order *order = make_order("");
    struct placement placement;
    CHECK(order_gpus(order) == 2);
    CHECK(choose(order, &four, &placement, NULL) == HT_OK);
    CHECK(placement.n == 3 && placement.replicas[0].gpus.n == 0);
    CHECK_TEXT(placement.replicas[1].gpus.items[0], "g0");
    CHECK_TEXT(placement.replicas[2].gpus.items[0], "g1");
    for (size_t i = 0; i < 3; i++) {
        CHECK(strncmp(placement.replicas[i].address, "127.0.0.1:", 10) == 0);
        for (size_t k = 0; k < i; k++)
            CHECK(strcmp(placement.replicas[i].address,
                         placement.replicas[k].address) != 0);
    }
    placement_release(&placement);
    order_free(order);
}

static void too_few_free_gpus_are_refused(void)
{
    struct order *order = make_order("");
    const struct gpu_rooms one = {1, rooms_of_four};
    struct placement placement;
    struct ht_error err;
    CHECK(choose(order, &one, &placement, &err) == HT_UNAVAILABLE);
    CHECK_TEXT(err.text, "GPUs needed: 2, free: 1");
    order_free(order);
}

/* A lease of one replica. */
static struct order *order_one(const char *members)
{
    struct text lease = {0};
    text_printf(&lease,
                "{\"study\":2,\"trial\":5,\"attempt\":1,\"token\":\"t\","
                "\"jobName\":\"j\",\"metrics\":[\"acc\"],\"replicas\":["
                "{\"type\":\"master\",\"index\":0,\"argv\":[\"a\"],%s}]}",
                members);
    return runner_fixture_order(&lease);
}

/* Which GPU the replica gets, "": none. */
static const char *chosen_gpu(struct order *order,
                              const struct gpu_rooms *rooms)
{
    struct placement placement;
    struct ht_error err;
    const enum ht_status status = choose(order, rooms, &placement, &err);
    if (status != HT_OK)
        return arena_strdup(order->arena, err.text);
    placement_release(&placement);
    return placement.replicas[0].gpus.n == 1
               ? placement.replicas[0].gpus.items[0]
               : "";
}

static void a_part_is_of_the_fullest_gpu_that_has_room(void)
{
    static const struct gpu_room items[] = {
        {"g0", 1}, {"g1", 0.5}, {"g2", 0.2}};
    static const struct gpu_rooms rooms = {3, items};
    struct order *half = order_one("\"gpuPart\":0.5");
    struct order *most = order_one("\"gpuPart\":0.7");
    struct order *named = order_one("\"gpuPart\":0.1,\"gpuNames\":[\"g0\"]");
    struct order *memory = order_one("\"gpuMemory\":1000");
    const struct gpu_rooms little = {2, items + 1};
    CHECK_TEXT(chosen_gpu(half, &rooms), "g1");
    CHECK_TEXT(chosen_gpu(most, &rooms), "g0");
    CHECK_TEXT(chosen_gpu(named, &rooms), "g0");
    CHECK_TEXT(chosen_gpu(memory, &rooms), "g2");
    CHECK_TEXT(chosen_gpu(most, &little), "no GPU has room for a part of 0.7");
    CHECK(order_gpus(half) == 0);
    order_free(half), order_free(most), order_free(named), order_free(memory);
}

static void whole_gpus_are_those_that_the_server_names(void)
{
    static const struct gpu_room items[] = {{"g0", 1}, {"g1", 0.5}, {"g2", 1}};
    static const struct gpu_rooms rooms = {3, items};
    struct order *order = order_one("\"gpus\":1,\"gpuNames\":[\"g2\"]");
    struct order *taken = order_one("\"gpus\":1,\"gpuNames\":[\"g1\"]");
    CHECK_TEXT(chosen_gpu(order, &rooms), "g2");
    CHECK_TEXT(chosen_gpu(taken, &rooms), "g0"); /* another has a part */
    order_free(order), order_free(taken);
}

static void a_claimed_port_is_not_given_again(void)
{
    int port, claim;
    CHECK(placement_find_port(&port, &claim, NULL) == HT_OK);
    CHECK(placement_claim_port(port) == -1);
    close(claim);
    claim = placement_claim_port(port);
    CHECK(claim >= 0);
    close(claim);
}

static void found_ports_differ_and_can_be_bound(void)
{
    /* All in one process, so every port that is found stays claimed. */
    enum { MANY = 200 };
    int ports[MANY], claims[MANY];
    for (int i = 0; i < MANY; i++) {
        CHECK(placement_find_port(&ports[i], &claims[i], NULL) == HT_OK);
        for (int k = 0; k < i; k++)
            CHECK(ports[i] != ports[k]);
        struct sockaddr_in address = {.sin_family = AF_INET,
                                      .sin_port = htons((uint16_t)ports[i]),
                                      .sin_addr.s_addr =
                                          htonl(INADDR_LOOPBACK)};
        const int fd = socket(AF_INET, SOCK_STREAM, 0);
        CHECK(bind(fd, (struct sockaddr *)&address, sizeof address) == 0);
        close(fd);
    }
    for (int i = 0; i < MANY; i++)
        close(claims[i]);
}

static void a_later_life_reads_what_was_chosen(void)
{
    char folder[PATH_MAX];
    runner_fixture_folder(folder);
    struct order *order = make_order("");
    struct placement chosen, read;
    CHECK(placement_read(folder, order, &read, NULL) == HT_NOT_FOUND);
    CHECK(choose(order, &four, &chosen, NULL) == HT_OK);
    chosen.relay_port = 4711;
    CHECK(placement_write(folder, order, &chosen, NULL) == HT_OK);
    placement_release(&chosen); /* as death does */
    CHECK(placement_read(folder, order, &read, NULL) == HT_OK);
    CHECK(read.n == 3 && read.relay_port == 4711);
    for (size_t i = 0; i < read.n; i++) {
        CHECK_TEXT(read.replicas[i].address, chosen.replicas[i].address);
        CHECK(read.replicas[i].gpus.n == chosen.replicas[i].gpus.n);
        CHECK(placement_claim_port(port_of(read.replicas[i].address)) == -1);
    }
    CHECK_TEXT(read.replicas[2].gpus.items[0], "g1");
    placement_release(&read);
    CHECK(disk_replace(folder, "placement.json", "{\"master-0\":{}}", 15, 0600,
                       NULL) == HT_OK);
    CHECK(placement_read(folder, order, &read, NULL) == HT_CORRUPT);
    order_free(order);
}

/* ---- what a replica is given of it ---- */

static const char *variable(const struct variables *variables, const char *name)
{
    for (size_t i = 0; i < variables->n; i++) {
        if (strcmp(variables->items[i].name, name) == 0)
            return variables->items[i].value;
    }
    return NULL;
}

/* The environment of worker-1, in the order's arena. */
static struct variables given_in(struct order *order, const struct site *site,
                                 const struct replica_view *view)
{
    struct variables variables = {.arena = order->arena};
    struct replica_place replicas[] = {
        {.address = "127.0.0.1:1"},
        {.address = "127.0.0.1:2"},
        {.address = "127.0.0.1:3", .gpus = {2, names}}};
    const struct placement placement = {.n = 3, .replicas = replicas};
    const struct pairs no_secrets = {0};
    const struct replica_env env = {.site = site,
                                    .order = order,
                                    .placement = &placement,
                                    .replica = 2,
                                    .view = view,
                                    .secrets = &no_secrets};
    replica_env_set(&variables, &env);
    return variables;
}

static struct variables given(struct order *order, const struct site *site)
{
    const struct replica_view view =
        replica_view_of_process(order->arena, site, order, 2, "/f");
    return given_in(order, site, &view);
}

static const struct site with_gpus = {
    .state = "/state", .slots = 1, .cores = 1, .gpus = {4, names}};
static const struct site without_gpus = {
    .state = "/state", .slots = 1, .cores = 1};

static void a_worker_sees_its_cluster_and_its_gpus(void)
{
    struct order *order = make_order(",\"form\":\"vertex\",\"jobBytes\":14,"
                                     "\"job\":{\"args\":[\"x\"]}");
    const struct variables variables = given(order, &with_gpus);
    CHECK_TEXT(variable(&variables, "CLUSTER_SPEC"),
               "{\"cluster\":{\"workerpool0\":[\"127.0.0.1:1\"],"
               "\"workerpool1\":[\"127.0.0.1:2\",\"127.0.0.1:3\"]},\"task\":{"
               "\"type\":\"workerpool1\",\"index\":1,\"trial\":\"5\"},"
               "\"job\":{\"args\":[\"x\"]},\"environment\":\"cloud\"}");
    CHECK_TEXT(variable(&variables, "TF_CONFIG"),
               "{\"cluster\":{\"chief\":[\"127.0.0.1:1\"],\"worker\":["
               "\"127.0.0.1:2\",\"127.0.0.1:3\"]},\"task\":{\"type\":"
               "\"worker\",\"index\":1,\"trial\":\"5\"},"
               "\"job\":{\"args\":[\"x\"]},\"environment\":\"cloud\"}");
    CHECK_TEXT(variable(&variables, "CUDA_VISIBLE_DEVICES"), "g0,g1");
    CHECK_TEXT(variable(&variables, "HYPERTUNE_REPLICA"), "worker-1");
    CHECK(!variables.lacks_job);
    order_free(order);
}

static void a_job_without_trials_is_reported_of_none(void)
{
    struct order *order =
        make_order(",\"form\":\"aip\",\"kind\":\"custom\",\"chief\":true");
    const struct variables variables = given(order, &without_gpus);
    CHECK_TEXT(variable(&variables, "CLUSTER_SPEC"),
               "{\"cluster\":{\"master\":[\"127.0.0.1:1\"],\"worker\":["
               "\"127.0.0.1:2\",\"127.0.0.1:3\"]},\"task\":{\"type\":"
               "\"worker\",\"index\":1},\"environment\":\"cloud\"}");
    CHECK(variable(&variables, "CLOUD_ML_TRIAL_ID") == NULL);
    CHECK(variable(&variables, "CUDA_VISIBLE_DEVICES") == NULL);
    order_free(order);
}

/* The order of a job whose JSON has so many bytes. */
static struct order *order_of_size(size_t bytes)
{
    static const char frame[] = "{\"args\":[\"\"]}";
    struct text job = {0};
    text_printf(&job, ",\"jobBytes\":%zu,\"job\":{\"args\":[\"", bytes);
    for (size_t i = strlen(frame); i < bytes; i++)
        text_puts(&job, "0");
    text_puts(&job, "\"]}");
    struct order *order = make_order(job.data);
    text_free(&job);
    return order;
}

static void a_job_is_shown_where_a_variable_can_hold_it(void)
{
    const size_t rest =
        strlen("CLUSTER_SPEC={\"cluster\":{\"master\":[\"127.0.0.1:1\"],"
               "\"worker\":[\"127.0.0.1:2\",\"127.0.0.1:3\"]},\"task\":{"
               "\"type\":\"worker\",\"index\":1,\"trial\":\"5\"},\"job\":,"
               "\"environment\":\"cloud\"}");
    for (size_t more = 0; more <= 1; more++) {
        struct order *order = order_of_size(HT_MAX_WORD - rest + more);
        const struct variables variables = given(order, &without_gpus);
        static const char *const both[] = {"CLUSTER_SPEC", "TF_CONFIG"};
        for (size_t i = 0; i < 2; i++) {
            const char *value = variable(&variables, both[i]);
            CHECK((strstr(value, ",\"job\":") == NULL) == (more == 1));
            CHECK(strlen(both[i]) + 1 + strlen(value) <= HT_MAX_WORD);
        }
        CHECK(variables.lacks_job == (more == 1));
        order_free(order);
    }
}

static void a_job_that_was_too_long_to_send_is_missed(void)
{
    struct order *order = make_order(",\"jobBytes\":500000");
    CHECK(given(order, &without_gpus).lacks_job);
    order_free(order);
}

int main(void)
{
    json_init();
    runner_fixture_init();
    RUN(every_replica_gets_an_address_and_its_gpus);
    RUN(too_few_free_gpus_are_refused);
    RUN(a_part_is_of_the_fullest_gpu_that_has_room);
    RUN(whole_gpus_are_those_that_the_server_names);
    RUN(a_claimed_port_is_not_given_again);
    RUN(found_ports_differ_and_can_be_bound);
    RUN(a_later_life_reads_what_was_chosen);
    RUN(a_worker_sees_its_cluster_and_its_gpus);
    RUN(a_job_without_trials_is_reported_of_none);
    RUN(a_job_is_shown_where_a_variable_can_hold_it);
    RUN(a_job_that_was_too_long_to_send_is_missed);
    runner_fixture_fini();
    return check_done();
}
