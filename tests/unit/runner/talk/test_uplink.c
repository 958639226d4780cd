/* runner/talk/uplink.h: which way machines elsewhere get to the server. */
#include "runner/talk/uplink.h"

#include "proto/net/tls_files.h"
#include "tests/check.h"
#include "tests/lib/own_folder.h"

#define PIN "sha256//AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="

/* Nothing connects to these addresses. */
static const struct uplink_server by_tls = {"tls+tcp://127.0.0.1:2",
                                            "tls+tcp://127.0.0.1:1", PIN},
                                  plain = {"tcp://192.0.2.1:2",
                                           "tcp://192.0.2.1:1", ""},
                                  loopback = {"tcp://127.0.0.1:2",
                                              "tcp://127.0.0.1:1", ""};

static void check_way(const struct trust *trust,
                      const struct uplink_server *server, const char *to,
                      const char *pins)
{
    char control[UPLINK_URL_BYTES];
    struct uplink *uplink;
    struct uplink_far far;
    const struct uplink_settings settings = {
        .state = ".", .server = "https://a.example", .trust = *trust};
    CHECK(uplink_open(&settings, &uplink, NULL) == HT_OK);
    uplink_far(uplink, &far);
    CHECK(far.way.to == NULL);
    CHECK(uplink_aim(uplink, server, control, NULL) == HT_OK);
    uplink_far(uplink, &far);
    CHECK_TEXT(far.way.to != NULL ? far.way.to : "none", to);
    CHECK_TEXT(far.way.pins != NULL ? far.way.pins : "none", pins);
    uplink_free(uplink);
}

static void by_tls_they_know_the_servers_keys(void)
{
    const struct trust by_pin = {.pin = PIN}, by_system = {.ca = NULL};
    check_way(&by_pin, &by_tls, by_tls.report, PIN);
    check_way(&by_system, &by_tls, by_tls.report, PIN);
}

static void a_certificate_of_the_runner_is_not_theirs(void)
{
    CHECK(tls_make_ca("own.pem", "own-key.pem", "own", 1, NULL) == HT_OK);
    const struct trust shown = {.cert = "own.pem", .key = "own-key.pem"};
    check_way(&shown, &by_tls, "none", "none");
}

static void a_plain_way_is_declared_and_no_loopback(void)
{
    const struct trust insecure = {.insecure = true}, none = {.ca = NULL};
    check_way(&insecure, &plain, plain.report, "none");
    check_way(&insecure, &loopback, "none", "none");
    check_way(&none, &loopback, "none", "none");
}

int main(void)
{
    own_folder_enter();
    RUN(by_tls_they_know_the_servers_keys);
    RUN(a_certificate_of_the_runner_is_not_theirs);
    RUN(a_plain_way_is_declared_and_no_loopback);
    return check_done();
}
