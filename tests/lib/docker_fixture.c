#include "tests/lib/docker_fixture.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "proto/base/quote.h"
#include "proto/base/text.h"
#include "proto/doc/node.h"
#include "runner/attempt/engine.h"
#include "runner/base/disk.h"
#include "runner/base/order.h"
#include "runner/container/network.h"
#include "tests/check.h"
#include "tests/lib/attempt_fixture.h"
#include "tests/lib/runner_fixture.h"

/* ---- the fake engine ---- */

void docker_fixture_start_engine(struct docker_fixture *fixture)
{
    const char *const more[] = {
        "--dialect", fixture->dialect, "--run",  "--image",
        "tiny:1",    "--state",        "memory", NULL};
    fake_engine_start(&fixture->fake, more);
}

void docker_fixture_kill_engine(struct docker_fixture *fixture)
{
    kill(fixture->fake.pid, SIGKILL);
    waitpid(fixture->fake.pid, NULL, 0);
}

void docker_fixture_begin(struct docker_fixture *fixture)
{
    struct ht_error err = {.text = ""};
    if (engine_docker.open(&fixture->site, &err) != HT_OK)
        printf("# %s\n", err.text);
    attempts_init(&fixture->attempts, &fixture->site, &engine_docker);
}

void docker_fixture_end(struct docker_fixture *fixture)
{
    attempts_fini(&fixture->attempts);
    engine_docker.close();
}

void docker_fixture_open(struct docker_fixture *fixture, const char *dialect,
                         const char *script)
{
    *fixture = (struct docker_fixture){.dialect = dialect};
    fake_engine_place(&fixture->fake);
    (void)snprintf(fixture->state, sizeof fixture->state, "%s/runs",
                   fixture->fake.folder);
    CHECK(mkdir(fixture->state, 0700) == 0);
    (void)snprintf(fixture->kit, sizeof fixture->kit, "%s",
                   runner_fixture_shim);
    memcpy(strstr(fixture->kit, "/bin/hypertune-shim"), "/kit", sizeof "/kit");
    fake_engine_script(&fixture->fake, script);
    docker_fixture_start_engine(fixture);
    fixture->site = (struct site){.state = fixture->state,
                                  .shim = runner_fixture_shim,
                                  .slots = 2,
                                  .cores = 2,
                                  .runner = "r1",
                                  .kit = fixture->kit,
                                  .start_limit_ms = 120000,
                                  .docker_host = fixture->fake.host};
    docker_fixture_begin(fixture);
}

void docker_fixture_close(struct docker_fixture *fixture)
{
    docker_fixture_end(fixture);
    docker_fixture_kill_engine(fixture);
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

struct attempt *docker_fixture_start(struct docker_fixture *fixture,
                                     const struct docker_fixture_attempt *what)
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
    attempts_start(&fixture->attempts, order);
    text_free(&lease);
    return fixture->attempts.first;
}

bool docker_fixture_is_running(struct attempt *attempt)
{
    attempt_tick(attempt, 1);
    return attempt_is_started(attempt);
}

bool docker_fixture_has_logged(const struct attempt *attempt, const char *words)
{
    return runner_fixture_file_has(attempt->replicas[0].folder,
                                   "runner.000000000000.log", words);
}

size_t docker_fixture_count_left(const struct docker_fixture *fixture)
{
    static const char *const paths[] = {"/containers/json?all=1&",
                                        "/networks?"};
    struct fake_engine_client client;
    size_t n = 0;
    fake_engine_connect(&client, fixture->fake.host);
    for (size_t i = 0; i < 2; i++) {
        const char *path =
            arena_printf(client.arena, "%s%s", paths[i],
                         network_filter(client.arena, &fixture->site));
        const struct node *list = NULL;
        if (docker_get(client.docker, client.arena, path, &list, &client.err) !=
            HT_OK)
            printf("# %s\n", client.err.text);
        n += list != NULL ? list->count : 1;
    }
    fake_engine_disconnect(&client);
    return n;
}

size_t docker_fixture_count_calls(const struct docker_fixture *fixture,
                                  const char *words)
{
    char *journal = runner_fixture_text(fixture->fake.folder, "journal");
    size_t n = 0;
    for (const char *at = journal; (at = strstr(at, words)) != NULL; at++)
        n++;
    free(journal);
    return n;
}

void docker_fixture_call(const struct docker_fixture *fixture,
                         const char *method, const char *path, const char *json)
{
    struct fake_engine_client client;
    fake_engine_connect(&client, fixture->fake.host);
    const struct docker_call request = {
        .method = method, .path = path, .body = json};
    const struct node *answer;
    if (docker_call(client.docker, client.arena, &request, &answer,
                    &client.err) != HT_OK)
        printf("# %s\n", client.err.text);
    fake_engine_disconnect(&client);
}

struct attempt *docker_fixture_restart(struct docker_fixture *fixture)
{
    docker_fixture_end(fixture);
    docker_fixture_begin(fixture);
    attempts_scan(&fixture->attempts);
    CHECK(attempts_count(&fixture->attempts) == 1);
    if (fixture->attempts.first != NULL)
        attempts_adopt(&fixture->attempts, fixture->attempts.first);
    return fixture->attempts.first;
}

bool docker_fixture_has_file(struct attempt *attempt, const char *name)
{
    attempt_tick(attempt, 1);
    return disk_has(attempt->replicas[0].folder, name);
}

void docker_fixture_expect(const char *dialect, const char *script,
                           const struct docker_fixture_attempt *what,
                           enum outcome outcome, const char *reason)
{
    struct docker_fixture fixture;
    docker_fixture_open(&fixture, dialect, script);
    struct attempt *attempt = docker_fixture_start(&fixture, what);
    UNTIL(attempt_fixture_has_ended(attempt));
    CHECK(attempt->ending.outcome == outcome);
    if (strstr(attempt->ending.reason, reason) == NULL)
        CHECK_TEXT(attempt->ending.reason, reason);
    attempts_drop(&fixture.attempts, attempt);
    UNTIL(docker_fixture_count_left(&fixture) == 0);
    docker_fixture_close(&fixture);
}
