#include "tests/lib/dock.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proto/doc/json.h"
#include "runner/container/container.h"

/* ---- the fake engine ---- */

void dock_start_fake(struct dock *dock)
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

void dock_kill_fake(struct dock *dock)
{
    kill(dock->fake, SIGKILL);
    waitpid(dock->fake, NULL, 0);
}

void dock_play(const struct dock *dock, const char *script)
{
    CHECK(disk_replace(dock->root, "script.json", script, strlen(script), 0600,
                       NULL) == HT_OK);
}

static void join(char *out, size_t size, const char *a, const char *b)
{
    (void)snprintf(out, size, "%s%s", a, b);
}

void dock_open_engine(struct dock *dock)
{
    struct ht_error err = {.text = ""};
    if (engine_docker.open(&dock->site, &err) != HT_OK)
        printf("# %s\n", err.text);
    attempts_init(&dock->attempts, &dock->site, &engine_docker);
}

void dock_close_engine(struct dock *dock)
{
    attempts_fini(&dock->attempts);
    engine_docker.close();
}

void dock_open(struct dock *dock, const char *dialect, const char *script)
{
    *dock = (struct dock){.dialect = dialect};
    scratch_folder(dock->root);
    join(dock->socket, sizeof dock->socket, dock->root, "/s");
    join(dock->host, sizeof dock->host, "unix://", dock->socket);
    join(dock->script, sizeof dock->script, dock->root, "/script.json");
    join(dock->journal, sizeof dock->journal, dock->root, "/journal");
    join(dock->memory, sizeof dock->memory, dock->root, "/memory");
    join(dock->state, sizeof dock->state, dock->root, "/runs");
    CHECK(mkdir(dock->state, 0700) == 0);
    char self[PATH_MAX];
    (void)snprintf(self, sizeof self, "%s", scratch_shim);
    *strstr(self, "/bin/hypertune-shim") = '\0';
    join(dock->kit, sizeof dock->kit, self, "/kit");
    dock_play(dock, script);
    dock_start_fake(dock);
    dock->site = (struct site){.state = dock->state,
                               .shim = scratch_shim,
                               .slots = 2,
                               .cores = 2,
                               .runner = "r1",
                               .kit = dock->kit,
                               .start_limit_ms = 120000,
                               .docker_host = dock->host};
    dock_open_engine(dock);
}

void dock_close(struct dock *dock)
{
    dock_close_engine(dock);
    dock_kill_fake(dock);
}

/* ---- attempts ---- */

static void add_replica(struct text *lease, const char *type,
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

struct attempt *dock_start(struct dock *dock, const struct attempt_text *what)
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

bool dock_has_ended(struct attempt *run)
{
    attempt_tick(attempt, 1);
    return attempt->ended;
}

bool dock_is_running(struct attempt *run)
{
    attempt_tick(attempt, 1);
    return attempt_is_started(attempt);
}

bool dock_has_told(const struct attempt *run, const char *words)
{
    return scratch_file_has(run->replicas[0].folder, "runner.000000000000.log",
                            words);
}

static struct docker *dock_connect_fake(const struct dock *dock,
                                        struct docker_address **address)
{
    CHECK(docker_address_find(dock->host, getenv, address, NULL) == HT_OK);
    return docker_new(*address);
}

size_t dock_count_left(const struct dock *dock)
{
    struct docker_address *address = NULL;
    struct arena *arena = arena_new();
    size_t n = 0;
    struct docker *docker = dock_connect_fake(dock, &address);
    static const char *const paths[] = {"/containers/json?all=1&",
                                        "/networks?"};
    for (size_t i = 0; i < 2; i++) {
        const struct docker_call dock_call = {
            .method = "GET",
            .path = arena_printf(arena, "%s%s", paths[i],
                                 network_filter(arena, &dock->site)),
        };
        const struct node *list = NULL;
        struct ht_error err = {.text = ""};
        if (docker_call(docker, arena, &dock_call, &list, &err) != HT_OK)
            printf("# %s\n", err.text);
        n += list != NULL ? list->count : 1;
    }
    docker_free(docker);
    docker_address_free(address);
    arena_free(arena);
    return n;
}

size_t dock_count_calls(const struct dock *dock, const char *words)
{
    char *journal = scratch_text(dock->root, "journal");
    size_t n = 0;
    for (const char *at = journal; (at = strstr(at, words)) != NULL; at++)
        n++;
    free(journal);
    return n;
}

void dock_call(const struct dock *dock, const char *method, const char *path,
               const char *json)
{
    struct docker_address *address = NULL;
    struct arena *arena = arena_new();
    struct docker *docker = dock_connect_fake(dock, &address);
    cJSON *body = json != NULL ? cJSON_Parse(json) : NULL;
    const struct docker_call dock_call = {
        .method = method, .path = path, .body = body};
    const struct node *answer;
    struct ht_error err = {.text = ""};
    if (docker_call(docker, arena, &dock_call, &answer, &err) != HT_OK)
        printf("# %s\n", err.text);
    docker_free(docker);
    docker_address_free(address);
    arena_free(arena);
}

struct attempt *dock_live_again(struct dock *dock)
{
    dock_close_engine(dock);
    dock_open_engine(dock);
    attempts_scan(&dock->fleet);
    CHECK(attempts_count(&dock->fleet) == 1);
    if (dock->fleet.first != NULL)
        attempts_adopt(&dock->fleet, dock->fleet.first);
    return dock->fleet.first;
}

bool dock_has_file(struct attempt *run, const char *name)
{
    attempt_tick(attempt, 1);
    return disk_has(attempt->replicas[0].folder, name);
}

void dock_expect(const char *dialect, const char *script,
                 const struct attempt_text *what, enum outcome outcome,
                 const char *reason)
{
    struct dock dock;
    dock_open(&dock, dialect, script);
    struct attempt *run = dock_start(&dock, what);
    UNTIL(dock_has_ended(run));
    CHECK(run->ending.outcome == outcome);
    if (strstr(run->ending.reason, reason) == NULL)
        CHECK_TEXT(run->ending.reason, reason);
    attempts_drop(&dock.fleet, run);
    UNTIL(dock_count_left(&dock) == 0);
    dock_close(&dock);
}
