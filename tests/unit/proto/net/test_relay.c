/* Connections that are passed on as they came, and how many there may be. */
#include "tests/check.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "proto/base/arena.h"
#include "proto/net/relay.h"

enum { MOST = 128 }; /* of a listener, by default */

static const char gateway[] = "127.0.0.2";

static struct sockaddr_in address_of(const char *host, int port)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)port)};
    inet_pton(AF_INET, host, &address.sin_addr);
    return address;
}

/* A server on 127.0.0.1; *port 0: any. */
static int serve(int *port)
{
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const int yes = 1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    struct sockaddr_in address = address_of("127.0.0.1", *port);
    socklen_t len = sizeof address;
    CHECK(bind(fd, (struct sockaddr *)&address, len) == 0);
    CHECK(listen(fd, 4 * MOST) == 0);
    getsockname(fd, (struct sockaddr *)&address, &len);
    *port = ntohs(address.sin_port);
    return fd;
}

/* Everything that follows must come within the deadline, else the test fails
 * instead of hanging. */
static void bound_waiting(int fd)
{
    const struct timeval most = {.tv_sec = PATIENCE_MS / 1000};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &most, sizeof most);
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &most, sizeof most);
}

static int call(const char *host, int port)
{
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const struct sockaddr_in address = address_of(host, port);
    bound_waiting(fd);
    if (connect(fd, (const struct sockaddr *)&address, sizeof address) == 0)
        return fd;
    close(fd);
    return -1;
}

static int answer(int server)
{
    bound_waiting(server);
    const int fd = accept(server, NULL, NULL);
    CHECK(fd >= 0);
    bound_waiting(fd);
    return fd;
}

static bool receives(int fd, const char *words)
{
    char got[64] = "";
    const size_t len = strlen(words);
    return recv(fd, got, len, MSG_WAITALL) == (ssize_t)len &&
           memcmp(got, words, len) == 0;
}

static bool is_closed(int fd)
{
    char byte;
    const ssize_t n = recv(fd, &byte, 1, 0);
    return n == 0 || (n < 0 && errno == ECONNRESET);
}

struct scene {
    struct relay *relay;
    int server, server_port, port;
    char url[64];
};

static enum ht_status open_at(const struct scene *scene, const char *address,
                              const char *url, int *port)
{
    const struct relay_listener wanted = {
        .address = address, .port = *port, .to = url};
    return relay_open(scene->relay, &wanted, port, NULL);
}

static struct scene open_scene(void)
{
    struct scene scene = {.relay = NULL};
    scene.server = serve(&scene.server_port);
    (void)snprintf(scene.url, sizeof scene.url, "tcp://127.0.0.1:%d",
                   scene.server_port);
    CHECK(relay_start(2 * MOST, &scene.relay, NULL) == HT_OK);
    CHECK(open_at(&scene, gateway, scene.url, &scene.port) == HT_OK);
    CHECK(scene.port > 0);
    return scene;
}

static void close_scene(struct scene *scene)
{
    relay_stop(scene->relay);
    if (scene->server >= 0)
        close(scene->server);
}

static void bytes_pass_both_ways_and_so_does_the_end_of_one(void)
{
    struct scene scene = open_scene();
    const int client = call(gateway, scene.port);
    const int peer = answer(scene.server);
    CHECK(send(client, "question", 8, 0) == 8);
    CHECK(receives(peer, "question"));
    shutdown(client, SHUT_WR);
    CHECK(is_closed(peer));
    CHECK(send(peer, "answer", 6, 0) == 6); /* the other half stays open */
    CHECK(receives(client, "answer"));
    close(peer);
    CHECK(is_closed(client));
    close(client);
    close_scene(&scene);
}

/* As the children of a runner have, until they start their program. */
static void a_fork_with_its_descriptors_disturbs_nothing(void)
{
    struct scene scene = open_scene();
    const int first = call(gateway, scene.port);
    const int first_peer = answer(scene.server);
    int until[2];
    CHECK(pipe(until) == 0);
    const pid_t holder = fork();
    if (holder == 0) {
        char byte;
        close(until[1]);
        close(first);
        close(first_peer);
        _exit(read(until[0], &byte, 1) == 0 ? 0 : 1);
    }
    close(until[0]);
    close(first);
    CHECK(is_closed(first_peer));
    close(first_peer);
    /* A new one, perhaps in the memory of the first. */
    const int second = call(gateway, scene.port);
    const int second_peer = answer(scene.server);
    for (int i = 0; i < 100; i++) {
        CHECK(send(second, "question", 8, 0) == 8);
        CHECK(receives(second_peer, "question"));
    }
    relay_close(scene.relay, gateway, scene.port);
    CHECK(is_closed(second_peer));
    close(second);
    close(second_peer);
    close(until[1]);
    int status = -1;
    CHECK(waitpid(holder, &status, 0) == holder && status == 0);
    close_scene(&scene);
}

static void more_than_its_buffers_hold_arrives_whole(void)
{
    enum { CHUNK = 64 * 1024, CHUNKS = 64 };
    struct scene scene = open_scene();
    const int client = call(gateway, scene.port);
    const int peer = answer(scene.server);
    unsigned char *chunk = ht_xcalloc(CHUNK, 1);
    const pid_t writer = fork();
    if (writer == 0) {
        for (int i = 0; i < CHUNKS; i++) {
            memset(chunk, i, CHUNK);
            size_t sent = 0;
            while (sent < CHUNK) {
                const ssize_t n = send(client, chunk + sent, CHUNK - sent, 0);
                if (n <= 0)
                    _exit(1);
                sent += (size_t)n;
            }
        }
        _exit(0);
    }
    for (int i = 0; i < CHUNKS; i++) {
        CHECK(recv(peer, chunk, CHUNK, MSG_WAITALL) == CHUNK);
        CHECK(chunk[0] == i && chunk[CHUNK - 1] == i);
    }
    int status = -1;
    CHECK(waitpid(writer, &status, 0) == writer && status == 0);
    free(chunk);
    close(client);
    close(peer);
    close_scene(&scene);
}

static void a_server_that_is_away_closes_and_may_come_back(void)
{
    struct scene scene = open_scene();
    int client = call(gateway, scene.port);
    int peer = answer(scene.server);
    close(peer); /* it dies */
    close(scene.server);
    CHECK(is_closed(client));
    close(client);
    client = call(gateway, scene.port);
    CHECK(client >= 0 && is_closed(client));
    close(client);
    scene.server = serve(&scene.server_port);
    client = call(gateway, scene.port);
    peer = answer(scene.server);
    CHECK(send(client, "again", 5, 0) == 5);
    CHECK(receives(peer, "again"));
    close(client);
    close(peer);
    close_scene(&scene);
}

static void a_new_relay_takes_the_same_port(void)
{
    struct scene scene = open_scene();
    const int port = scene.port;
    const int client = call(gateway, port);
    const int peer = answer(scene.server);
    relay_stop(scene.relay); /* with a connection under way */
    CHECK(is_closed(client) && is_closed(peer));
    CHECK(relay_start(2 * MOST, &scene.relay, NULL) == HT_OK);
    CHECK(open_at(&scene, gateway, scene.url, &scene.port) == HT_OK);
    CHECK(scene.port == port);
    close(client);
    close(peer);
    close_scene(&scene);
}

static void opening_twice_changes_nothing(void)
{
    struct scene scene = open_scene();
    int again = 0;
    CHECK(open_at(&scene, gateway, scene.url, &again) == HT_OK);
    CHECK(again == scene.port);
    const int client = call(gateway, scene.port);
    const int peer = answer(scene.server);
    CHECK(open_at(&scene, gateway, scene.url, &again) == HT_OK);
    CHECK(send(client, "still", 5, 0) == 5);
    CHECK(receives(peer, "still"));
    close(client);
    close(peer);
    close_scene(&scene);
}

static void a_closed_gateway_ends_what_came_through_it_alone(void)
{
    struct scene scene = open_scene();
    int other_port = 0;
    CHECK(open_at(&scene, "127.0.0.3", scene.url, &other_port) == HT_OK);
    const int client = call(gateway, scene.port);
    const int peer = answer(scene.server);
    const int other = call("127.0.0.3", other_port);
    const int other_peer = answer(scene.server);
    relay_close(scene.relay, gateway, scene.port);
    CHECK(is_closed(client) && is_closed(peer));
    CHECK(call(gateway, scene.port) < 0);
    CHECK(send(other, "other", 5, 0) == 5);
    CHECK(receives(other_peer, "other"));
    relay_close(scene.relay, gateway, scene.port); /* it is gone already */
    close(client);
    close(peer);
    close(other);
    close(other_peer);
    close_scene(&scene);
}

/* A gateway exists when the engine has made the network, maybe later. */
static void a_gateway_may_come_later(void)
{
    struct scene scene = open_scene();
    int port = 0;
    CHECK(open_at(&scene, "192.0.2.77", scene.url, &port) == HT_OK);
    close_scene(&scene);
}

static void a_connection_beyond_the_limit_ends_the_one_idle_for_longest(void)
{
    struct scene scene = open_scene();
    int clients[MOST], peers[MOST];
    for (int i = 0; i < MOST; i++) {
        clients[i] = call(gateway, scene.port);
        peers[i] = answer(scene.server);
    }
    CHECK(send(clients[0], "busy", 4, 0) == 4);
    CHECK(receives(peers[0], "busy"));
    const int late = call(gateway, scene.port);
    const int late_peer = answer(scene.server);
    CHECK(send(late, "late", 4, 0) == 4);
    CHECK(receives(late_peer, "late"));
    CHECK(is_closed(clients[1]) && is_closed(peers[1]));
    CHECK(send(peers[0], "still", 5, 0) == 5);
    CHECK(receives(clients[0], "still"));
    struct relay_counts counts;
    relay_count(scene.relay, &counts);
    CHECK(counts.connections == MOST && counts.ended_idle == 1);
    close(late);
    close(late_peer);
    for (int i = 0; i < MOST; i++) {
        close(clients[i]);
        close(peers[i]);
    }
    close_scene(&scene);
}

static void wrong_addresses_are_refused(void)
{
    struct scene scene = open_scene();
    int port = 0;
    CHECK(open_at(&scene, "nowhere.example", scene.url, &port) == HT_INVALID);
    CHECK(open_at(&scene, "127.0.0.3", "ipc:///x", &port) == HT_INVALID);
    CHECK(open_at(&scene, "127.0.0.3", "tcp://127.0.0.1", &port) == HT_INVALID);
    port = scene.server_port; /* taken at 127.0.0.1 */
    CHECK(open_at(&scene, "127.0.0.1", scene.url, &port) == HT_IO);
    close_scene(&scene);
}

int main(void)
{
    RUN(bytes_pass_both_ways_and_so_does_the_end_of_one);
    RUN(a_fork_with_its_descriptors_disturbs_nothing);
    RUN(more_than_its_buffers_hold_arrives_whole);
    RUN(a_server_that_is_away_closes_and_may_come_back);
    RUN(a_new_relay_takes_the_same_port);
    RUN(opening_twice_changes_nothing);
    RUN(a_closed_gateway_ends_what_came_through_it_alone);
    RUN(a_gateway_may_come_later);
    RUN(a_connection_beyond_the_limit_ends_the_one_idle_for_longest);
    RUN(wrong_addresses_are_refused);
    return check_done();
}
