#include "runner/container/container.h"

#include <stdlib.h>
#include <string.h>

#include "proto/doc/json.h"
#include "runner/attempt/mounts.h"
#include "runner/base/json.h"
#include "runner/base/placement.h"
#include "runner/container/network.h"
#include "runner/docker/image.h"
#include "tests/check.h"

static const char *const gpus[] = {"GPU-1"};
static const struct mount items[] = {
    {"/srv/kit", CONTAINER_KIT, true},
    {"/srv/runs/7/3/1/master-0", CONTAINER_TRIAL, false},
};

struct scene { /* a plan with everything it borrows */
    struct arena *arena;
    struct site site;
    struct docker_facts facts;
    struct order order;
    struct replica_order replica;
    struct replica_place place;
    struct image image;
    struct mounts mounts;
    struct network network;
    struct container_plan plan;
};

static void set_up(struct scene *scene)
{
    *scene = (struct scene){
        .arena = arena_new(),
        .site = {.runner = "r1"},
        .facts = {.gpus = true, .version = "Docker 20.10.24"},
        .replica = {.type = "master", .name = "master-0", .image = "a:1"},
        .image = {.id = "sha256:1"},
        .mounts = {2, items},
        .network = {.name = "ht-ab12-7-3-1", .has_names = true},
    };
    scene->order = (struct order){
        .arena = scene->arena,
        .key = {7, 3, 1},
        .name = "ht-ab12-7-3-1",
        .grace_ms = 5000,
        .n_replicas = 1,
        .replicas = &scene->replica,
    };
    scene->plan = (struct container_plan){
        .site = &scene->site,
        .facts = &scene->facts,
        .order = &scene->order,
        .place = &scene->place,
        .image = &scene->image,
        .mounts = &scene->mounts,
        .network = &scene->network,
    };
}

/* The body as text, in the scene's arena. */
static const char *body_of(struct scene *scene)
{
    struct text out = {0};
    container_body(&scene->plan, &out);
    const char *copy = arena_strdup(scene->arena, out.data);
    text_free(&out);
    return copy;
}

static void check_has(const char *body, const char *words)
{
    if (strstr(body, words) == NULL)
        printf("# not in %s\n", body);
    CHECK(strstr(body, words) != NULL);
}

static void check_lacks(const char *body, const char *words)
{
    if (strstr(body, words) != NULL)
        printf("# %s is in %s\n", words, body);
    CHECK(strstr(body, words) == NULL);
}

static void the_shim_is_the_first_process_of_an_image(void)
{
    struct scene scene;
    set_up(&scene);
    const char *body = body_of(&scene);
    check_has(body, "\"Image\":\"sha256:1\"");
    check_has(body, "\"Entrypoint\":[\"/hypertune/kit/bin/hypertune-shim\","
                    "\"/hypertune/trial\"],\"Cmd\":[]");
    check_has(body, "\"Init\":false");
    check_has(body, "\"StopTimeout\":15");
    check_has(body, "{\"Type\":\"bind\",\"Source\":\"/srv/kit\",\"Target\":"
                    "\"/hypertune/kit\",\"ReadOnly\":true}");
    check_has(body, "\"Env\":[\"NVIDIA_VISIBLE_DEVICES=void\"]");
    arena_free(scene.arena);
}

static bool read_label(const char *label, struct order_key *key)
{
    struct arena *arena = arena_new();
    const char *json =
        arena_printf(arena, "{\"hypertune.attempt\":\"%s\"}", label);
    const bool read =
        network_read_attempt(json_read_map(arena, json, strlen(json)), key);
    arena_free(arena);
    return read;
}

static void it_is_found_by_name_and_labels(void)
{
    struct scene scene;
    set_up(&scene);
    const char *body = body_of(&scene);
    CHECK_TEXT(container_name(scene.arena, &scene.order, 0),
               "ht-ab12-7-3-1-master-0");
    check_has(body, "\"Hostname\":\"ht-ab12-7-3-1-master-0\"");
    check_has(body, "{\"hypertune.server\":\"ab12\",\"hypertune.runner\":"
                    "\"r1\",\"hypertune.attempt\":\"7/3/1\","
                    "\"hypertune.replica\":\"master-0\"}");
    check_has(body, "\"EndpointsConfig\":{\"ht-ab12-7-3-1\":{\"Aliases\":["
                    "\"ht-ab12-7-3-1-master-0\"]}}");
    struct order_key key;
    CHECK(read_label("7/3/1", &key));
    CHECK(order_key_equal(&key, &scene.order.key));
    CHECK(!read_label("7/3/1/2", &key));
    CHECK(!read_label("7/0/1", &key));
    CHECK(!read_label("", &key));
    arena_free(scene.arena);
}

static void it_has_no_rights_unless_they_are_given(void)
{
    struct scene scene;
    set_up(&scene);
    const char *body = body_of(&scene);
    check_has(body, "\"CapDrop\":[\"ALL\"]");
    check_has(body, "\"SecurityOpt\":[\"no-new-privileges\"]");
    check_has(body, "\"Privileged\":false");
    check_has(body, "\"PidsLimit\":4096");
    check_has(body, "\"ReadonlyRootfs\":false");
    check_lacks(body, "PidMode");
    static const char *const allowed[] = {"root-capabilities"};
    scene.site.allowed = (struct strings){1, allowed};
    body = body_of(&scene);
    check_lacks(body, "CapDrop");
    check_has(body, "no-new-privileges");
    arena_free(scene.arena);
}

static void what_the_job_asks_for_is_there(void)
{
    struct scene scene;
    set_up(&scene);
    scene.order.container = (struct container_options){
        .user = "1000:100",
        .read_only = true,
        .shm_bytes = 64 << 20,
        .pids = 50,
        .host_pid = true,
    };
    scene.replica.memory = 512 << 20;
    scene.replica.cpus = 1.5;
    scene.place.gpus = (struct strings){1, gpus};
    const char *body = body_of(&scene);
    check_has(body, "\"User\":\"1000:100\"");
    check_has(body, "\"Memory\":536870912,\"MemorySwap\":536870912");
    check_has(body, "\"NanoCpus\":1500000000");
    check_has(body, "\"PidsLimit\":50");
    check_has(body, "\"ShmSize\":67108864");
    check_has(body, "\"PidMode\":\"host\"");
    check_has(body, "\"ReadonlyRootfs\":true,\"Tmpfs\":{\"/tmp\":");
    check_lacks(body, "NVIDIA_VISIBLE_DEVICES");
    check_has(body, "\"DeviceRequests\":[{\"Driver\":\"nvidia\",\"DeviceIDs\":["
                    "\"GPU-1\"],\"Capabilities\":[[\"gpu\"]]}]");
    arena_free(scene.arena);
}

static void without_a_network_there_are_no_names(void)
{
    struct scene scene;
    set_up(&scene);
    scene.network = (struct network){.name = "none"};
    const char *body = body_of(&scene);
    check_has(body, "\"NetworkMode\":\"none\"");
    check_lacks(body, "NetworkingConfig");
    scene.network = (struct network){.name = "host"};
    check_lacks(body_of(&scene), "Hostname");
    arena_free(scene.arena);
}

static void an_engine_is_asked_only_for_what_it_has(void)
{
    struct scene scene;
    struct ht_error err;
    set_up(&scene);
    CHECK(container_check(&scene.facts, &scene.order, &err) == HT_OK);
    scene.replica.gpus = 1;
    CHECK(container_check(&scene.facts, &scene.order, &err) == HT_OK);
    scene.facts.podman = true;
    CHECK(container_check(&scene.facts, &scene.order, &err) == HT_PRECONDITION);
    scene.replica = (struct replica_order){.name = "master-0"};
    CHECK(container_check(&scene.facts, &scene.order, &err) == HT_PRECONDITION);
    CHECK(strstr(err.text, "no image") != NULL);
    arena_free(scene.arena);
}

int main(void)
{
    json_init();
    RUN(the_shim_is_the_first_process_of_an_image);
    RUN(it_is_found_by_name_and_labels);
    RUN(it_has_no_rights_unless_they_are_given);
    RUN(what_the_job_asks_for_is_there);
    RUN(without_a_network_there_are_no_names);
    RUN(an_engine_is_asked_only_for_what_it_has);
    return check_done();
}
