/* Connections, and how long each phase of a request may take. */
#include "tuner/http/peers.h"

#include <sys/socket.h>
#include <unistd.h>

#include "proto/base/clock.h"
#include "tests/check.h"

struct pair {
    int ours, theirs;
};

static struct pair connect_pair(void)
{
    int fds[2] = {-1, -1};
    CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds) == 0);
    return (struct pair){fds[0], fds[1]};
}

static void close_pair(struct pair pair)
{
    close(pair.ours);
    close(pair.theirs);
}

/* Whether the other end sees the connection closed. */
static bool is_shut(struct pair pair)
{
    char byte;
    return recv(pair.theirs, &byte, 1, MSG_DONTWAIT) == 0;
}

static void a_phase_ends_at_its_deadline(void)
{
    static const struct {
        enum peer_phase phase;
        int64_t limit_ms;
    } phases[] = {{PEER_HEADERS, 10000},
                  {PEER_BODY, 30000},
                  {PEER_ANSWER, 60000},
                  {PEER_IDLE, 60000}};
    for (size_t i = 0; i < sizeof phases / sizeof *phases; i++) {
        struct peers *peers = peers_new(100);
        const struct pair pair = connect_pair();
        struct peer *peer = peers_open(peers, pair.ours, NULL);
        const int64_t before_ms = clock_monotonic_ms();
        peers_enter(peers, peer, phases[i].phase);
        const int64_t after_ms = clock_monotonic_ms();
        CHECK(peers_tick(peers, before_ms + phases[i].limit_ms - 1));
        CHECK(!is_shut(pair));
        CHECK(peers_tick(peers, after_ms + phases[i].limit_ms));
        CHECK(is_shut(pair));
        peers_close(peers, peer);
        peers_free(peers);
        close_pair(pair);
    }
}

/* Whether a connection in the phase, a new one without, is shut at that time.
 */
static bool ends_by(const enum peer_phase *phase, int64_t now_ms)
{
    struct peers *peers = peers_new(100);
    const struct pair pair = connect_pair();
    struct peer *peer = peers_open(peers, pair.ours, NULL);
    if (phase != NULL)
        peers_enter(peers, peer, *phase);
    CHECK(peers_tick(peers, now_ms));
    const bool shut = is_shut(pair);
    peers_close(peers, peer);
    peers_free(peers);
    close_pair(pair);
    return shut;
}

static void a_new_connection_owes_its_headers(void)
{
    CHECK(!ends_by(NULL, clock_monotonic_ms() + 9000));
    CHECK(ends_by(NULL, clock_monotonic_ms() + 10001));
}

static void our_own_work_has_no_deadline(void)
{
    static const enum peer_phase work = PEER_WORK;
    CHECK(!ends_by(&work, INT64_MAX));
}

static void only_the_late_one_is_shut_down(void)
{
    struct peers *peers = peers_new(100);
    struct pair pairs[3];
    struct peer *open[3];
    for (int i = 0; i < 3; i++) {
        pairs[i] = connect_pair();
        open[i] = peers_open(peers, pairs[i].ours, NULL);
        peers_enter(peers, open[i], i == 1 ? PEER_BODY : PEER_IDLE);
    }
    peers_tick(peers, clock_monotonic_ms() + 31000);
    for (int i = 0; i < 3; i++)
        CHECK(is_shut(pairs[i]) == (i == 1));
    peers_close(peers, open[1]);
    CHECK(peers_tick(peers, 0));
    peers_close(peers, open[0]);
    CHECK(peers_tick(peers, 0));
    peers_close(peers, open[2]);
    CHECK(!peers_tick(peers, 0)); /* none is open */
    peers_free(peers);
    peers_free(NULL);
    for (int i = 0; i < 3; i++)
        close_pair(pairs[i]);
}

int main(void)
{
    RUN(a_phase_ends_at_its_deadline);
    RUN(a_new_connection_owes_its_headers);
    RUN(our_own_work_has_no_deadline);
    RUN(only_the_late_one_is_shut_down);
    return check_done();
}
