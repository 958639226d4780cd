/* Which connection of nng ends for a new one, and whose they are. */
#include "tests/check.h"

#include "tuner/base/budget.h"
#include "tuner/wire/pipe_peers.h"

enum { EACH = 4, ALL = 7 };

static struct pipe_peers *open_peers(void)
{
    CHECK(budget_set("pipes=4", NULL) == HT_OK);
    return pipe_peers_new(ALL);
}

static void begin(struct pipe_peers *peers, uint32_t first, uint32_t n,
                  const char *address)
{
    for (uint32_t i = first; i < first + n; i++)
        CHECK(pipe_peers_begin(peers, i, address, "") == 0);
}

static void the_oldest_of_an_address_ends_for_its_newest(void)
{
    struct pipe_peers *peers = open_peers();
    begin(peers, 1, 1, "10.0.0.1");
    begin(peers, 2, EACH, "10.0.0.2");
    CHECK(pipe_peers_begin(peers, 8, "10.0.0.2", "") == 2);
    CHECK(pipe_peers_begin(peers, 9, "10.0.0.2", "") == 3);
    pipe_peers_end(peers, 2);
    pipe_peers_end(peers, 3);
    pipe_peers_end(peers, 4);
    CHECK(pipe_peers_begin(peers, 10, "10.0.0.2", "") == 0);
    pipe_peers_free(peers);
}

static void one_with_an_accepted_message_stays(void)
{
    struct pipe_peers *peers = open_peers();
    begin(peers, 1, EACH, "10.0.0.2");
    pipe_peers_prove(peers, 1);
    CHECK(pipe_peers_begin(peers, 5, "10.0.0.2", "") == 2);
    pipe_peers_end(peers, 2);
    for (uint32_t i = 3; i <= 5; i++)
        pipe_peers_prove(peers, i);
    CHECK(pipe_peers_begin(peers, 6, "10.0.0.2", "") == 6);
    pipe_peers_free(peers);
}

static void all_together_have_a_bound(void)
{
    struct pipe_peers *peers = open_peers();
    begin(peers, 1, EACH, "10.0.0.1");
    begin(peers, 5, 3, "10.0.0.2");
    pipe_peers_prove(peers, 1);
    CHECK(pipe_peers_begin(peers, 8, "10.0.0.3", "") == 2);
    pipe_peers_free(peers);
}

static void a_network_of_ipv6_counts_as_one_address(void)
{
    struct pipe_peers *peers = open_peers();
    begin(peers, 1, 1, "2001:db8::1");
    begin(peers, 2, 1, "2001:db8::2");
    begin(peers, 3, 1, "2001:db8::ffff:1");
    begin(peers, 4, 1, "2001:db8::4");
    CHECK(pipe_peers_begin(peers, 5, "2001:db8::5", "") == 1);
    CHECK(pipe_peers_begin(peers, 6, "2001:db8:0:1::5", "") == 0);
    pipe_peers_free(peers);
}

static void an_address_is_known_after_the_end(void)
{
    enum { KEPT = 1024 };
    struct principal from = {.name = ""};
    struct pipe_peers *peers = open_peers();
    CHECK(pipe_peers_begin(peers, 1, "10.0.0.7", "box") == 0);
    pipe_peers_end(peers, 1);
    CHECK(pipe_peers_find(peers, 1, &from));
    CHECK_TEXT(from.peer, "10.0.0.7");
    CHECK_TEXT(from.certificate, "box");
    for (uint32_t i = 2; i < KEPT + 2; i++) {
        begin(peers, i, 1, "10.0.0.8");
        pipe_peers_end(peers, i);
    }
    CHECK(!pipe_peers_find(peers, 1, &from));
    CHECK(pipe_peers_find(peers, 2, &from));
    pipe_peers_free(peers);
}

int main(void)
{
    RUN(the_oldest_of_an_address_ends_for_its_newest);
    RUN(one_with_an_accepted_message_stays);
    RUN(all_together_have_a_bound);
    RUN(a_network_of_ipv6_counts_as_one_address);
    RUN(an_address_is_known_after_the_end);
    return check_done();
}
