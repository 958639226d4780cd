/* Connections, and how long each phase of a request may take. */
#include "tuner/http/peers.h"

#include <sys/socket.h>
#include <unistd.h>

#include "proto/base/clock.h"
#include "tests/check.h"
#include "tuner/base/budget.h"

struct ends {
    int ours, theirs;
};

static struct ends connect_pair(void)
{
    int fds[2] = {-1, -1};
    CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds) == 0);
    return (struct ends){fds[0], fds[1]};
}

static void close_pair(struct ends pair)
{
    close(pair.ours);
    close(pair.theirs);
}

/* Whether the other end sees the connection closed. */
static bool is_shut(struct ends pair)
{
    char byte;
    return recv(pair.theirs, &byte, 1, MSG_DONTWAIT) == 0;
}

/* A connection in the phase, a new one without, ends after so many ms. */
static void check_deadline(const enum peer_phase *phase, int64_t limit_ms)
{
    struct peers *peers = peers_new(100);
    const struct ends pair = connect_pair();
    const int64_t before_ms = clock_monotonic_ms();
    struct peer *peer = peers_open(peers, pair.ours, NULL, false);
    if (phase != NULL)
        peers_enter(peers, peer, *phase);
    const int64_t after_ms = clock_monotonic_ms();
    CHECK(peers_tick(peers, before_ms + limit_ms - 1));
    CHECK(!is_shut(pair));
    CHECK(peers_tick(peers, after_ms + limit_ms));
    CHECK(is_shut(pair));
    peers_close(peers, peer);
    peers_free(peers);
    close_pair(pair);
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
    for (size_t i = 0; i < sizeof phases / sizeof *phases; i++)
        check_deadline(&phases[i].phase, phases[i].limit_ms);
}

/* The certificate of a connection that begins on that descriptor. */
static void check_certificate(struct peers *peers, int fd, bool by_tls,
                              const char *certificate)
{
    struct peer *peer = peers_open(peers, fd, NULL, by_tls);
    CHECK_TEXT(peer_certificate(peer), certificate);
    peers_close(peers, peer);
}

static void a_certificate_belongs_to_one_connection_by_tls(void)
{
    struct peers *peers = peers_new(100);
    const struct ends pair = connect_pair(), other = connect_pair();
    peers_expect(peers, pair.ours, "never");
    peers_expect(peers, other.ours, "bob");
    peers_expect(peers, pair.ours, "ann");
    check_certificate(peers, pair.ours, false, "");
    check_certificate(peers, other.ours, true, "bob");
    check_certificate(peers, pair.ours, true, "ann");
    check_certificate(peers, pair.ours, true, "");
    peers_expect(peers, pair.ours, "never");
    peers_expect(peers, pair.ours, "");
    check_certificate(peers, pair.ours, true, "");
    peers_free(peers);
    close_pair(pair);
    close_pair(other);
}

static void a_new_connection_owes_its_headers(void)
{
    check_deadline(NULL, 10000);
}

static void our_own_work_has_no_deadline(void)
{
    struct peers *peers = peers_new(100);
    const struct ends pair = connect_pair();
    struct peer *peer = peers_open(peers, pair.ours, NULL, false);
    peers_enter(peers, peer, PEER_WORK);
    CHECK(peers_tick(peers, INT64_MAX));
    CHECK(!is_shut(pair));
    peers_close(peers, peer);
    peers_free(peers);
    close_pair(pair);
}

static void only_the_late_one_is_shut_down(void)
{
    struct peers *peers = peers_new(100);
    struct ends pairs[3];
    struct peer *open[3];
    for (int i = 0; i < 3; i++) {
        pairs[i] = connect_pair();
        open[i] = peers_open(peers, pairs[i].ours, NULL, false);
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

enum { MANY = 200 };

static struct ends pairs[MANY];
static struct peer *open_ones[MANY];

static void open_many(struct peers *peers, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        pairs[i] = connect_pair();
        open_ones[i] = peers_open(peers, pairs[i].ours, NULL, false);
    }
}

static void close_many(struct peers *peers, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        peers_close(peers, open_ones[i]);
        close_pair(pairs[i]);
    }
    peers_free(peers);
}

static void check_shut(size_t from, size_t to, bool shut)
{
    for (size_t i = from; i < to; i++)
        CHECK(is_shut(pairs[i]) == shut);
}

static void a_new_one_ends_the_oldest_of_its_address(void)
{
    const size_t most = (size_t)budget_of(BUDGET_HALF_OPEN);
    struct peers *peers = peers_new(1000);
    open_many(peers, most + 5);
    check_shut(0, 5, true);
    check_shut(5, most + 5, false);
    close_many(peers, most + 5);
}

/* A body that does not come ends like a head that does not; work does not. */
static void one_whose_body_comes_slowly_ends_in_its_turn(void)
{
    const size_t most = (size_t)budget_of(BUDGET_HALF_OPEN);
    struct peers *peers = peers_new(1000);
    open_many(peers, most);
    peers_enter(peers, open_ones[0], PEER_WORK);
    for (size_t i = 1; i < most; i++)
        peers_enter(peers, open_ones[i], PEER_BODY);
    for (size_t i = most; i < most + 2; i++) {
        pairs[i] = connect_pair();
        open_ones[i] = peers_open(peers, pairs[i].ours, NULL, false);
    }
    check_shut(0, 1, false);
    check_shut(1, 3, true);
    check_shut(3, most + 2, false);
    close_many(peers, most + 2);
}

static void in_all_the_oldest_of_any_ends(void)
{
    struct peers *peers = peers_new(10);
    open_many(peers, 12);
    check_shut(0, 2, true);
    check_shut(2, 12, false);
    CHECK(!peers_claim(peers, open_ones[0], "a")); /* it has ended */
    close_many(peers, 12);
}

static void a_principal_ends_its_idle_ones_only(void)
{
    struct ht_error err;
    CHECK(budget_set("connections=3", &err) == HT_OK);
    struct peers *peers = peers_new(1000);
    open_many(peers, 6);
    for (size_t i = 0; i < 3; i++) {
        CHECK(peers_claim(peers, open_ones[i], "a"));
        peers_enter(peers, open_ones[i], i == 1 ? PEER_IDLE : PEER_WORK);
    }
    CHECK(peers_claim(peers, open_ones[3], "a")); /* the idle one ends */
    check_shut(0, 1, false);
    check_shut(1, 2, true);
    peers_enter(peers, open_ones[3], PEER_WORK);
    CHECK(!peers_claim(peers, open_ones[4], "a"));
    CHECK(peers_claim(peers, open_ones[4], "b"));
    CHECK(peers_claim(peers, open_ones[3], "a")); /* it is a's already */
    check_shut(2, 6, false);
    close_many(peers, 6);
    CHECK(budget_set("connections=512", &err) == HT_OK);
}

static void bytes_of_bodies_count_until_they_are_complete(void)
{
    const size_t most = (size_t)budget_of(BUDGET_BODY_BYTES);
    struct peers *peers = peers_new(1000);
    open_many(peers, 2);
    CHECK(peers_hold(peers, open_ones[0], most));
    CHECK(!peers_hold(peers, open_ones[1], 1));
    peers_enter(peers, open_ones[0], PEER_WORK);
    CHECK(peers_hold(peers, open_ones[1], 1));
    close_many(peers, 2);
}

int main(void)
{
    RUN(a_new_one_ends_the_oldest_of_its_address);
    RUN(one_whose_body_comes_slowly_ends_in_its_turn);
    RUN(in_all_the_oldest_of_any_ends);
    RUN(a_principal_ends_its_idle_ones_only);
    RUN(bytes_of_bodies_count_until_they_are_complete);
    RUN(a_phase_ends_at_its_deadline);
    RUN(a_new_connection_owes_its_headers);
    RUN(our_own_work_has_no_deadline);
    RUN(a_certificate_belongs_to_one_connection_by_tls);
    RUN(only_the_late_one_is_shut_down);
    return check_done();
}
