/* The two addresses over real nng REQ sockets, with many clients at once. */
#include <nng/nng.h>
#include <nng/protocol/reqrep0/req.h>
#include <pthread.h>

#include "tests/lib/core_fixture.h"
#include "tests/lib/db_place.h"
#include "tuner/logs/logs.h"
#include "tuner/wire/nng_socket.h"

enum { CLIENTS = 32 };

struct served {
    struct fixture f;
    struct logs *logs;
    struct nng_socket *report, *control;
};

static void serve(struct served *served)
{
    char path[96];
    struct ht_error err = {0};
    fixture_open(&served->f);
    snprintf(path, sizeof path, "%s/logs.db", served->f.dir);
    CHECK(logs_start(path, &served->logs, &err) == HT_OK);
    CHECK(nng_socket_start_report(served->f.core, "tcp://127.0.0.1:0",
                                  &served->report, &err) == HT_OK);
    CHECK(nng_socket_start_control(served->f.core, served->logs,
                                   "tcp://127.0.0.1:0", &served->control,
                                   &err) == HT_OK);
    core_set_report_url(served->f.core, nng_socket_url(served->report));
}

static void stop_serving(struct served *served)
{
    nng_socket_stop(served->control);
    nng_socket_stop(served->report);
    core_stop(served->f.core);
    served->f.core = NULL;
    logs_stop(served->logs);
    db_place_remove(served->f.dir, "logs");
    fixture_close(&served->f);
}

static nng_socket dial(const char *url)
{
    nng_socket socket;
    CHECK(nng_req0_open(&socket) == 0);
    CHECK(nng_socket_set_ms(socket, NNG_OPT_RECVTIMEO, PATIENCE_MS) == 0);
    CHECK(nng_dial(socket, url, NULL, 0) == 0);
    return socket;
}

/* Sends a message and returns the answer as a tree in `arena`. */
static const struct node *ask(nng_socket socket, struct arena *arena,
                              const char *message)
{
    char *data = NULL;
    size_t len = 0;
    char *sent = arena_strdup(arena, message);
    CHECK(nng_send(socket, sent, strlen(sent), 0) == 0);
    const int code = nng_recv(socket, &data, &len, NNG_FLAG_ALLOC);
    CHECK(code == 0);
    if (code != 0)
        return NULL;
    struct diag diag;
    diag_init(&diag, arena, "answer", data, len);
    const struct node *answer = node_read_json(arena, data, len, &diag);
    CHECK(answer != NULL);
    nng_free(data, len);
    return answer;
}

static const char *control(struct arena *arena, int runner, int64_t id,
                           const char *type, const char *members)
{
    return arena_printf(arena,
                        "{\"v\":1,\"type\":\"%s\",\"token\":\"" RUNNER_TOKEN
                        "\",\"runner\":\"r%d\",\"boot\":\"b\",\"id\":%lld%s%s}",
                        type, runner, (long long)id, *members ? "," : "",
                        members);
}

static const char *status_of(const struct node *answer)
{
    return answer == NULL ? "none" : node_get_string(answer, "status", "");
}

static void broken_messages_are_answered(void)
{
    struct served served = {0};
    serve(&served);
    struct arena *arena = arena_new();
    nng_socket socket = dial(nng_socket_url(served.report));
    const struct node *answer = ask(socket, arena, "{\"v\":1,\n oops}");
    CHECK_TEXT(status_of(answer), "invalid");
    CHECK(strstr(node_get_string(answer, "error", ""), "line 2") != NULL);
    CHECK_TEXT(status_of(ask(socket, arena, "[1]")), "invalid");
    CHECK_TEXT(
        status_of(ask(socket, arena, "{\"v\":1,\"type\":\"x\",\"id\":3}")),
        "invalid");
    answer = ask(socket, arena,
                 "{\"v\":1,\"type\":\"report\",\"id\":4,\"token\":"
                 "\"00000000000000000000000000000000\"}");
    CHECK_TEXT(status_of(answer), "gone");
    CHECK(node_get_int(answer, "id", 0) == 4);
    nng_close(socket);
    socket = dial(nng_socket_url(served.control));
    CHECK_TEXT(status_of(ask(socket, arena,
                             "{\"v\":1,\"type\":\"hello\",\"token\":\"no\","
                             "\"runner\":\"r\",\"boot\":\"b\",\"id\":1}")),
               "denied");
    nng_close(socket);
    arena_free(arena);
    stop_serving(&served);
}

/* --- 32 clients on a space of 32 points --- */

struct client {
    pthread_t thread;
    const char *control_url;
    int number;
    int64_t trial;
    char lr[64];
    bool went_well;
};

static bool run_trial(struct client *client, nng_socket socket,
                      struct arena *arena)
{
    const struct node *answer =
        ask(socket, arena,
            control(arena, client->number, 2, "lease", "\"free\":1"));
    const struct node *attempt =
        answer == NULL ? NULL : node_find(answer, "attempts")->first;
    if (attempt == NULL)
        return false;
    client->trial = node_get_int(attempt, "trial", 0);
    snprintf(client->lr, sizeof client->lr, "%s",
             node_find(attempt, "paramArgs")->first->text);
    const char *name =
        arena_printf(arena, "\"study\":1,\"trial\":%lld,\"attempt\":1",
                     (long long)client->trial);
    ask(socket, arena, control(arena, client->number, 3, "started", name));
    nng_socket report = dial(node_get_string(attempt, "reportUrl", ""));
    answer = ask(report, arena,
                 arena_printf(arena,
                              "{\"v\":1,\"type\":\"report\",\"id\":1,"
                              "\"token\":\"%s\",\"replica\":\"master-0\","
                              "\"records\":[{\"w\":\"0000000000000001\","
                              "\"n\":1,\"t\":1,\"s\":1,\"m\":{\"accuracy\":"
                              "%lld}}]}",
                              node_get_string(attempt, "token", ""),
                              (long long)client->trial));
    const bool stored = strcmp(status_of(answer), "ok") == 0;
    nng_close(report);
    ask(socket, arena,
        control(arena, client->number, 4, "ended",
                arena_printf(arena, "%s,\"outcome\":\"succeeded\"", name)));
    answer =
        ask(socket, arena, control(arena, client->number, 5, "drained", name));
    return stored && strcmp(status_of(answer), "ok") == 0;
}

static void *run_client(void *argument)
{
    struct client *client = argument;
    struct arena *arena = arena_new();
    nng_socket socket = dial(client->control_url);
    const struct node *hello = ask(socket, arena,
                                   control(arena, client->number, 1, "hello",
                                           "\"engine\":\"process\",\"slots\":1,"
                                           "\"attempts\":[]"));
    client->went_well =
        strcmp(status_of(hello), "ok") == 0 && run_trial(client, socket, arena);
    nng_close(socket);
    arena_free(arena);
    return NULL;
}

static void thirty_two_clients_try_thirty_two_points(void)
{
    struct served served = {0};
    serve(&served);
    struct client clients[CLIENTS] = {0};
    for (int i = 0; i < CLIENTS; i++) {
        clients[i].control_url = nng_socket_url(served.control);
        clients[i].number = i;
        CHECK(pthread_create(&clients[i].thread, NULL, run_client,
                             &clients[i]) == 0);
    }
    fixture_submit(&served.f,
                   "spec: 1\nname: s\ngoal: maximize accuracy\n"
                   "parameters:\n  lr: {type: integer, min: 1, max: 32}\n"
                   "algorithm: random\ntrials: 100\nparallel: 32\n"
                   "command: [./train]\n");
    for (int i = 0; i < CLIENTS; i++)
        pthread_join(clients[i].thread, NULL);
    for (int i = 0; i < CLIENTS; i++) {
        CHECK(clients[i].went_well);
        for (int j = 0; j < i; j++) {
            CHECK(clients[i].trial != clients[j].trial);
            CHECK(strcmp(clients[i].lr, clients[j].lr) != 0);
        }
    }
    CHECK(fixture_await_study(&served.f, 1, STUDY_SUCCEEDED));
    CHECK_TEXT(fixture_study(&served.f, 1).reason,
               "all 32 points of the space were tried");
    stop_serving(&served);
}

static void logs_go_past_the_core(void)
{
    struct served served = {0};
    serve(&served);
    struct arena *arena = arena_new();
    nng_socket socket = dial(nng_socket_url(served.control));
    fixture_submit(&served.f, "spec: 1\nname: s\ngoal: maximize accuracy\n"
                              "parameters:\n  lr: {type: double, min: 0, max: "
                              "1}\nalgorithm: random\ntrials: 1\nparallel: "
                              "1\ncommand: [./train]\n");
    ask(socket, arena, control(arena, 1, 1, "hello", "\"slots\":1"));
    while (node_find(ask(socket, arena,
                         control(arena, 1, served.f.next_id++, "lease",
                                 "\"free\":1")),
                     "attempts")
               ->count == 0)
        fixture_nap();
    const struct node *answer =
        ask(socket, arena,
            control(arena, 1, 1, "log",
                    "\"study\":1,\"trial\":1,\"attempt\":1,"
                    "\"replica\":\"master-0\",\"stream\":\"stdout\","
                    "\"offset\":0,\"data\":\"hello\",\"bytes\":5"));
    CHECK_TEXT(status_of(answer), "ok");
    CHECK(node_get_int(answer, "offset", 0) == 5);
    const struct log_key key = {1, 1, 1, "master-0", "stdout"};
    struct log_slice slice = {0};
    CHECK(logs_read(served.logs, arena, &key, 0, 100, &slice, NULL) == HT_OK);
    CHECK(slice.len == 5 && memcmp(slice.data, "hello", 5) == 0);
    CHECK_TEXT(status_of(ask(socket, arena,
                             control(arena, 1, 2, "log",
                                     "\"study\":1,\"trial\":1,\"attempt\":1,"
                                     "\"stream\":\"stdin\""))),
               "invalid");
    nng_close(socket);
    arena_free(arena);
    stop_serving(&served);
}

static void stopping_does_not_wait_for_held_polls(void)
{
    struct served served = {0};
    serve(&served);
    struct arena *arena = arena_new();
    nng_socket socket = dial(nng_socket_url(served.control));
    ask(socket, arena, control(arena, 1, 1, "hello", "\"slots\":1"));
    char *poll =
        arena_strdup(arena, control(arena, 1, 2, "lease", "\"free\":1"));
    CHECK(nng_send(socket, poll, strlen(poll), 0) == 0);
    nng_socket other = dial(nng_socket_url(served.control));
    ask(other, arena, control(arena, 1, 3, "heartbeat", "\"attempts\":[]"));
    nng_close(other);
    const int64_t before_ms = clock_monotonic_ms();
    stop_serving(&served);
    CHECK(clock_monotonic_ms() - before_ms < 10000);
    nng_close(socket);
    arena_free(arena);
}

static void bad_addresses_are_refused(void)
{
    struct served served = {0};
    serve(&served);
    struct nng_socket *endpoint = NULL;
    CHECK(nng_socket_start_report(served.f.core, "ipc:///tmp/x", &endpoint,
                                  NULL) == HT_INVALID);
    CHECK(nng_socket_start_report(served.f.core, nng_socket_url(served.report),
                                  &endpoint, NULL) == HT_IO);
    stop_serving(&served);
}

int main(void)
{
    RUN(broken_messages_are_answered);
    RUN(thirty_two_clients_try_thirty_two_points);
    RUN(logs_go_past_the_core);
    RUN(stopping_does_not_wait_for_held_polls);
    RUN(bad_addresses_are_refused);
    return check_done();
}
