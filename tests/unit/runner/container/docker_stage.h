/* docker_stage.h - attempts at an engine that does what it is told:
 * tests/tools/fake_engine.py, whose containers are processes of this machine.
 */
#ifndef HT_TESTS_UNIT_RUNNER_CONTAINER_DOCKER_STAGE_H
#define HT_TESTS_UNIT_RUNNER_CONTAINER_DOCKER_STAGE_H

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

#include "proto/doc/json.h"
#include "runner/attempt/attempts.h"
#include "runner/attempt/engine.h"
#include "runner/container/container.h"
#include "runner/container/network.h"
#include "tests/check.h"
#include "tests/unit/runner/runner_fixture.h"

struct dock { /* a fake engine and a runner's state, in a folder of their own */
    char root[PATH_MAX];
    char socket[PATH_MAX + 16], host[PATH_MAX + 32], script[PATH_MAX + 16];
    char journal[PATH_MAX + 16], memory[PATH_MAX + 16], state[PATH_MAX + 16];
    char kit[PATH_MAX];
    const char *dialect;
    pid_t fake;
    struct site site;
    struct attempts attempts;
};

struct attempt_text {    /* what of a lease the tests vary */
    const char *script;  /* of the master */
    const char *worker;  /* NULL: there is none */
    const char *members; /* of the lease, each with a comma behind */
    const char *replica; /* members of each replica, likewise */
};

/* ---- the fake engine ---- */

static inline void start_fake(struct dock *dock)
{
    int ready[2];
    CHECK(pipe(ready) == 0);
    dock->fake = fork();
    if (dock->fake == 0) {
        dup2(ready[1], STDOUT_FILENO);
        close(ready[0]);
        execlp("python3", "python3", "tests/tools/fake_engine.py", dock->socket,
               "--dialect", dock->dialect, "--run", "--image", "tiny:1",
               "--script", dock->script, "--journal", dock->journal, "--state",
               dock->memory, (char *)NULL);
        _exit(127);
    }
    close(ready[1]);
    char line[16];
    CHECK(read(ready[0], line, sizeof line) > 0);
    close(ready[0]);
}

static inline void kill_fake(struct dock *dock)
{
    kill(dock->fake, SIGKILL);
    waitpid(dock->fake, NULL, 0);
}

static inline void play(const struct dock *dock, const char *script)
{
    CHECK(disk_replace(dock->root, "script.json", script, strlen(script), 0600,
                       NULL) == HT_OK);
}

static inline void join(char *out, size_t size, const char *a, const char *b)
{
    (void)snprintf(out, size, "%s%s", a, b);
}

static inline void open_engine(struct dock *dock)
{
    struct ht_error err = {.text = ""};
    if (engine_docker.open(&dock->site, &err) != HT_OK)
        printf("# %s\n", err.text);
    attempts_init(&dock->attempts, &dock->site, &engine_docker);
}

static inline void close_engine(struct dock *dock)
{
    attempts_fini(&dock->attempts);
    engine_docker.close();
}

static inline void dock_open(struct dock *dock, const char *dialect,
                             const char *script)
{
    *dock = (struct dock){.dialect = dialect};
    fixture_folder(dock->root);
    join(dock->socket, sizeof dock->socket, dock->root, "/s");
    join(dock->host, sizeof dock->host, "unix://", dock->socket);
    join(dock->script, sizeof dock->script, dock->root, "/script.json");
    join(dock->journal, sizeof dock->journal, dock->root, "/journal");
    join(dock->memory, sizeof dock->memory, dock->root, "/memory");
    join(dock->state, sizeof dock->state, dock->root, "/runs");
    CHECK(mkdir(dock->state, 0700) == 0);
    char self[PATH_MAX];
    (void)snprintf(self, sizeof self, "%s", fixture_shim);
    *strstr(self, "/bin/hypertune-shim") = '\0';
    join(dock->kit, sizeof dock->kit, self, "/kit");
    play(dock, script);
    start_fake(dock);
    dock->site = (struct site){.state = dock->state,
                               .shim = fixture_shim,
                               .slots = 2,
                               .cores = 2,
                               .runner = "r1",
                               .kit = dock->kit,
                               .start_limit_ms = 120000,
                               .docker_host = dock->host};
    open_engine(dock);
}

static inline void dock_close(struct dock *dock)
{
    close_engine(dock);
    kill_fake(dock);
}

/* ---- attempts ---- */

static inline void add_replica(struct text *lease, const char *type,
                               const char *script, const char *members)
{
    text_printf(lease,
                "%s{\"type\":\"%s\",\"index\":0,%s%s"
                "\"entryWords\":3,\"argv\":[\"/bin/sh\",\"-c\",",
                lease->data[lease->len - 1] == '[' ? "" : ",", type,
                members != NULL && strstr(members, "image") != NULL
                    ? ""
                    : "\"image\":\"tiny:1\",",
                members != NULL ? members : "");
    quote_json(lease, script);
    text_puts(lease, "]}");
}

static inline struct attempt *start(struct dock *dock,
                                    const struct attempt_text *what)
{
    struct text lease = {0};
    struct order *order = NULL;
    struct ht_error err = {.text = ""};
    text_printf(&lease,
                "{\"study\":2,\"trial\":5,\"attempt\":1,"
                "\"name\":\"ht-s-2-5-1\",\"token\":\"secret\","
                "\"graceMs\":300,\"metrics\":[\"acc\"],\"jobName\":\"j\",%s"
                "\"params\":{\"lr\":0.1},\"replicas\":[",
                what->members != NULL ? what->members : "");
    add_replica(&lease, "master", what->script, what->replica);
    if (what->worker != NULL)
        add_replica(&lease, "worker", what->worker, what->replica);
    text_puts(&lease, "]}");
    if (order_parse(lease.data, lease.len, &order, &err) != HT_OK)
        printf("# %s\n", err.text);
    attempts_start(&dock->attempts, order);
    text_free(&lease);
    return dock->attempts.first;
}

static inline bool has_ended(struct attempt *attempt)
{
    attempt_tick(attempt, 1);
    return attempt->ended;
}

static inline bool is_running(struct attempt *attempt)
{
    attempt_tick(attempt, 1);
    return attempt_is_started(attempt);
}

static inline bool has_told(const struct attempt *attempt, const char *words)
{
    return fixture_file_has(attempt->replicas[0].folder,
                            "runner.000000000000.log", words);
}

static inline struct docker *connect_fake(const struct dock *dock,
                                          struct docker_address **address)
{
    CHECK(docker_address_find(dock->host, getenv, address, NULL) == HT_OK);
    return docker_new(*address);
}

/* Containers and networks that the engine has. */
static inline size_t count_left(const struct dock *dock)
{
    struct docker_address *address = NULL;
    struct arena *arena = arena_new();
    size_t n = 0;
    struct docker *docker = connect_fake(dock, &address);
    static const char *const paths[] = {"/containers/json?all=1&",
                                        "/networks?"};
    for (size_t i = 0; i < 2; i++) {
        const struct docker_call call = {
            .method = "GET",
            .path = arena_printf(arena, "%s%s", paths[i],
                                 network_filter(arena, &dock->site)),
        };
        const struct node *list = NULL;
        struct ht_error err = {.text = ""};
        if (docker_call(docker, arena, &call, &list, &err) != HT_OK)
            printf("# %s\n", err.text);
        n += list != NULL ? list->count : 1;
    }
    docker_free(docker);
    docker_address_free(address);
    arena_free(arena);
    return n;
}

static inline size_t count_calls(const struct dock *dock, const char *words)
{
    char *journal = fixture_text(dock->root, "journal");
    size_t n = 0;
    for (const char *at = journal; (at = strstr(at, words)) != NULL; at++)
        n++;
    free(journal);
    return n;
}

/* As somebody else would; the status is not of interest. */
static inline void call(const struct dock *dock, const char *method,
                        const char *path, const char *json)
{
    struct docker_address *address = NULL;
    struct arena *arena = arena_new();
    struct docker *docker = connect_fake(dock, &address);
    const struct docker_call call = {
        .method = method, .path = path, .body = json};
    const struct node *answer;
    struct ht_error err = {.text = ""};
    if (docker_call(docker, arena, &call, &answer, &err) != HT_OK)
        printf("# %s\n", err.text);
    docker_free(docker);
    docker_address_free(address);
    arena_free(arena);
}

/* The runner of now dies, and the next one takes up what lies there. */
static inline struct attempt *live_again(struct dock *dock)
{
    close_engine(dock);
    open_engine(dock);
    attempts_scan(&dock->attempts);
    CHECK(attempts_count(&dock->attempts) == 1);
    if (dock->attempts.first != NULL)
        attempts_adopt(&dock->attempts, dock->attempts.first);
    return dock->attempts.first;
}

static inline bool has_file(struct attempt *attempt, const char *name)
{
    attempt_tick(attempt, 1);
    return disk_has(attempt->replicas[0].folder, name);
}

/* Runs one to its end; the reason is checked, and that nothing is left. */
static inline void expect(const char *dialect, const char *script,
                          const struct attempt_text *what, enum outcome outcome,
                          const char *reason)
{
    struct dock dock;
    dock_open(&dock, dialect, script);
    struct attempt *attempt = start(&dock, what);
    UNTIL(has_ended(attempt));
    CHECK(attempt->ending.outcome == outcome);
    if (strstr(attempt->ending.reason, reason) == NULL)
        CHECK_TEXT(attempt->ending.reason, reason);
    attempts_drop(&dock.attempts, attempt);
    UNTIL(count_left(&dock) == 0);
    dock_close(&dock);
}

#endif
