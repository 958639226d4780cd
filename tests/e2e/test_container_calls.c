/* docker.h and image.h against the engines of HT_DOCKER_HOSTS (addresses with
 * spaces between), which have the image localhost/tiny:1. */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <curl/curl.h>

#include "proto/base/clock.h"
#include "proto/doc/json.h"
#include "runner/base/disk.h"
#include "runner/docker/image.h"
#include "tests/check.h"
#include "tests/lib/fake_engine.h"
#include "tests/lib/runner_fixture.h"

#define TINY "localhost/tiny:1"
#define LABEL "hypertune.test.calls"

enum { SOON_MS = 30000 };

static struct fake_engine_client client;
static char name[64]; /* of the container and the network of this test */

__attribute__((format(printf, 1, 2))) static const char *
path(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *text = arena_vprintf(client.arena, format, args);
    va_end(args);
    return text;
}

static enum ht_status call(const char *method, const char *where,
                           const char *body, const struct node **answer)
{
    const struct node *unused;
    const enum ht_status status = docker_call(
        client.docker, client.arena,
        &(struct docker_call){
            .method = method, .path = where, .body = body, .timeout_ms = 60000},
        answer != NULL ? answer : &unused, &client.err);
    return status;
}

#define CHECK_STATUS(call, want)                                               \
    do {                                                                       \
        const enum ht_status status_ = (call);                                 \
        CHECK(status_ == (want));                                              \
        if (status_ != (want) && status_ != HT_OK)                             \
            printf("# %s\n", client.err.text);                                 \
    } while (0)

static enum ht_status create(const char *command)
{
    return call("POST", path("/containers/create?name=%s", name),
                path("{\"Image\":\"" TINY "\",\"Entrypoint\":%s,"
                     "\"Labels\":{\"" LABEL "\":\"%s\"},"
                     "\"HostConfig\":{\"NetworkMode\":\"%s\"}}",
                     command, name, name),
                NULL);
}

/* Again where Podman stumbles over a network of others that goes. */
static enum ht_status create_network(void)
{
    const char *body = path("{\"Name\":\"%s\",\"CheckDuplicate\":true}", name);
    enum ht_status status;
    int tries = 0;
    do {
        status = call("POST", "/networks/create", body, NULL);
    } while (status == HT_UNAVAILABLE && ++tries < 100);
    return status;
}

static enum ht_status of_container(const char *method, const char *verb)
{
    return call(method, path("/containers/%s%s", name, verb), NULL, NULL);
}

static void clean_up(void)
{
    (void)of_container("DELETE", "?force=1&v=1");
    (void)call("DELETE", path("/networks/%s", name), NULL, NULL);
}

static void facts_name_the_engine(void)
{
    struct docker_facts facts = {.version = ""};
    CHECK_STATUS(
        docker_ask_facts(client.docker, client.arena, &facts, &client.err),
        HT_OK);
    CHECK(strncmp(facts.version, facts.podman ? "Podman " : "Docker ", 7) == 0);
    CHECK(facts.version[strlen("Docker ")] >= '1');
    CHECK(facts.cpus > 0 && facts.memory > 1 << 20);
    printf("# %s\n", facts.version);
}

static void statuses_are_the_same_on_every_engine(void)
{
    CHECK_STATUS(create_network(), HT_OK);
    CHECK_STATUS(create_network(), HT_CONFLICT);
    CHECK_STATUS(create("[\"sleep\",\"600\"]"), HT_OK);
    CHECK_STATUS(create("[\"sleep\",\"600\"]"), HT_CONFLICT);
    CHECK_STATUS(of_container("POST", "/kill"), HT_CONFLICT);
    CHECK_STATUS(of_container("POST", "/start"), HT_OK);
    CHECK_STATUS(of_container("POST", "/start"), HT_OK);
    CHECK_STATUS(of_container("DELETE", ""), HT_CONFLICT);
    CHECK_STATUS(call("DELETE", path("/networks/%s", name), NULL, NULL),
                 HT_CONFLICT);
    CHECK_STATUS(of_container("POST", "/kill"), HT_OK);
    CHECK_STATUS(of_container("DELETE", "?force=1"), HT_OK);
    CHECK_STATUS(of_container("GET", "/json"), HT_NOT_FOUND);
    CHECK_STATUS(of_container("POST", "/start"), HT_NOT_FOUND);
    CHECK_STATUS(call("DELETE", path("/networks/%s", name), NULL, NULL), HT_OK);
    CHECK_STATUS(call("DELETE", path("/networks/%s", name), NULL, NULL),
                 HT_NOT_FOUND);
    /* Podman misses the network now, dockerd at the start. */
    const enum ht_status status = create("[\"true\"]");
    CHECK_STATUS(status == HT_OK ? of_container("POST", "/start") : status,
                 HT_NOT_FOUND);
    clean_up();
}

static void a_command_that_is_not_there_is_no_missing_container(void)
{
    CHECK_STATUS(create_network(), HT_OK);
    CHECK_STATUS(create("[\"/no/such/program\"]"), HT_OK);
    const enum ht_status status = of_container("POST", "/start");
    CHECK(status == HT_INVALID || status == HT_INTERNAL);
    CHECK(client.err.text[0] != '\0');
    clean_up();
}

static void labels_find_what_is_ours(void)
{
    const struct node *list = NULL;
    CHECK_STATUS(create_network(), HT_OK);
    CHECK_STATUS(create("[\"true\"]"), HT_OK);
    const char *filter = docker_escape(
        client.arena, path("{\"label\":[\"" LABEL "=%s\"]}", name));
    CHECK_STATUS(call("GET", path("/containers/json?all=1&filters=%s", filter),
                      NULL, &list),
                 HT_OK);
    CHECK(list != NULL && list->kind == NODE_LIST && list->count == 1);
    clean_up();
}

static enum ht_status get(const char *image_name, enum job_pull pull,
                          struct image *image)
{
    const struct image_request request = {
        .name = image_name, .pull = pull, .pause_ms = 1};
    return image_get(client.docker, client.arena, &request, image, &client.err);
}

static void an_image_that_is_there_is_described(void)
{
    struct image image = {.id = NULL};
    CHECK_STATUS(get(TINY, PULL_IF_NOT_PRESENT, &image), HT_OK);
    CHECK(image.id != NULL && strncmp(image.id, "sha256:", 7) == 0);
    CHECK(image.digest != NULL && strncmp(image.digest, "sha256:", 7) == 0);
    CHECK(image.env.n > 0);
    CHECK(image.workdir == NULL || image.workdir[0] == '/');
}

static void an_image_that_is_nowhere_is_explained(void)
{
    struct image image;
    CHECK_STATUS(get("localhost/none:1", PULL_NEVER, &image), HT_PRECONDITION);
    CHECK_STATUS(get("localhost/none:1", PULL_IF_NOT_PRESENT, &image),
                 HT_PRECONDITION);
    CHECK_STATUS(get("127.0.0.1:1/none:1", PULL_ALWAYS, &image),
                 HT_UNAVAILABLE);
    CHECK(strstr(client.err.text, "connection refused") != NULL);
}

/* ---- a registry with a password ---- */

struct registry {
    pid_t pid;
    char image[64]; /* that it has */
    char home[PATH_MAX];
};

static struct registry registry;

static char *lookup(const char *variable)
{
    return strcmp(variable, "HOME") == 0 ? registry.home : NULL;
}

static void registry_open(void)
{
    char *argv[] = {
        (char[]){"python3"},   (char[]){"tests/tools/fake_registry.py"},
        (char[]){"a/b:1"},     (char[]){"ann"},
        (char[]){"hunter>?2"}, NULL};
    int ends[2];
    posix_spawn_file_actions_t actions;
    CHECK(pipe2(ends, O_CLOEXEC) == 0);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
    CHECK(posix_spawnp(&registry.pid, argv[0], &actions, NULL, argv, environ) ==
          0);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    char port[16] = "";
    CHECK(read(ends[0], port, sizeof port - 1) > 0);
    close(ends[0]);
    port[strcspn(port, "\n")] = '\0';
    (void)snprintf(registry.image, sizeof registry.image, "127.0.0.1:%s/a/b:1",
                   port);
    runner_fixture_folder(registry.home);
}

static void registry_close(void)
{
    (void)call("DELETE", path("/images/%s?force=1", registry.image), NULL,
               NULL);
    kill(registry.pid, SIGTERM);
    CHECK(waitpid(registry.pid, NULL, 0) == registry.pid);
}

/* Base64 of ann and her password. */
static void log_in(void)
{
    const char *folder = path("%s/.docker", registry.home);
    const char *json =
        path("{\"auths\":{\"%.*s\":{\"auth\":\"YW5uOmh1bnRlcj4/Mg==\"}}}",
             (int)strcspn(registry.image, "/"), registry.image);
    CHECK(mkdir(folder, 0700) == 0);
    CHECK(disk_replace(folder, "config.json", json, strlen(json), 0600, NULL) ==
          HT_OK);
}

static void check_private(const struct image_request *request)
{
    struct image image = {.id = NULL};
    CHECK(strstr(client.err.text, "docker login 127.0.0.1:") != NULL);
    log_in();
    CHECK_STATUS(
        image_get(client.docker, client.arena, request, &image, &client.err),
        HT_OK);
    CHECK(image.entrypoint.n == 1 && image.env.n > 0);
    CHECK_TEXT(image.workdir, "/w");
    CHECK(strncmp(image.digest != NULL ? image.digest : "", "sha256:", 7) == 0);
    char *tag = &registry.image[strlen(registry.image) - 1];
    *tag = '2';
    CHECK_STATUS(
        image_get(client.docker, client.arena, request, &image, &client.err),
        HT_PRECONDITION);
    CHECK(strstr(client.err.text, "none of that name and tag") != NULL);
    *tag = '1';
}

static void a_private_image_comes_with_the_credentials_of_docker(void)
{
    struct image image;
    registry_open();
    const struct image_request request = {
        .name = registry.image, .lookup = lookup, .pause_ms = 1};
    CHECK_STATUS(
        image_get(client.docker, client.arena, &request, &image, &client.err),
        HT_PRECONDITION);
    if (strstr(client.err.text, "does not trust registry") != NULL)
        printf("# this engine wants TLS even on this machine\n");
    else
        check_private(&request);
    registry_close();
}

/* ---- cancelling ---- */

static void *cancel_when_waiting(void *host)
{
    struct docker_address *address;
    CHECK(docker_address_find(host, getenv, &address, NULL) == HT_OK);
    struct docker *other = docker_new(address);
    const struct node *answer;
    struct arena *arena = arena_new();
    const char *where = arena_printf(arena, "/containers/%s/json", name);
    /* A round trip, so that the wait has likely begun. */
    CHECK(docker_call(other, arena,
                      &(struct docker_call){.method = "GET", .path = where},
                      &answer, NULL) == HT_OK);
    docker_cancel(client.docker);
    arena_free(arena);
    docker_free(other);
    docker_address_free(address);
    return NULL;
}

static char *current_host;

static void a_cancel_ends_a_wait(void)
{
    pthread_t thread;
    CHECK_STATUS(create_network(), HT_OK);
    CHECK_STATUS(create("[\"sleep\",\"600\"]"), HT_OK);
    CHECK_STATUS(of_container("POST", "/start"), HT_OK);
    CHECK(pthread_create(&thread, NULL, cancel_when_waiting, current_host) ==
          0);
    CHECK_STATUS(of_container("POST", "/wait"), HT_UNAVAILABLE);
    const int64_t begin = clock_monotonic_ms();
    pthread_join(thread, NULL);
    CHECK(clock_monotonic_ms() - begin < SOON_MS);
    docker_free(client.docker);
    client.docker = docker_new(client.address); /* a cancel is for ever */
    clean_up();
}

static void try_engine(const char *host)
{
    printf("# %s\n", host);
    fake_engine_connect(&client, host);
    RUN(facts_name_the_engine);
    RUN(statuses_are_the_same_on_every_engine);
    RUN(a_command_that_is_not_there_is_no_missing_container);
    RUN(labels_find_what_is_ours);
    RUN(an_image_that_is_there_is_described);
    RUN(an_image_that_is_nowhere_is_explained);
    RUN(a_private_image_comes_with_the_credentials_of_docker);
    RUN(a_cancel_ends_a_wait);
    clean_up();
    fake_engine_disconnect(&client);
}

static void calls_of_real_engines(void)
{
    SKIP("HT_DOCKER_HOSTS names no engine");
}

int main(void)
{
    const char *hosts = getenv("HT_DOCKER_HOSTS");
    if (hosts == NULL || hosts[0] == '\0') {
        RUN(calls_of_real_engines);
        return check_done();
    }
    json_init();
    curl_global_init(CURL_GLOBAL_ALL);
    runner_fixture_init();
    (void)snprintf(name, sizeof name, "ht-test-calls-%d", (int)getpid());
    char *list = strdup(hosts), *rest = list;
    while ((current_host = strtok_r(rest, " ", &rest)) != NULL)
        try_engine(current_host);
    free(list);
    runner_fixture_fini();
    curl_global_cleanup();
    return check_done();
}
