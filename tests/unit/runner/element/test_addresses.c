/* runner/element/addresses.h: replicas learn where the others are, and their
 * texts have no placeholder then. */
#include "runner/element/addresses.h"

#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "runner/base/disk.h"
#include "tests/check.h"
#include "tests/lib/runner_fixture.h"

static const char placement[] =
    "{\"master-0\":{\"address\":\"master-0.invalid:1\",\"gpus\":[]},"
    "\"worker-0\":{\"address\":\"worker-0.invalid:1\",\"gpus\":[]},"
    "\"relay\":5}";

static void put(const char *folder, const char *name, const char *text)
{
    CHECK(disk_write(folder, name, text, strlen(text), 0600, NULL) == HT_OK);
}

static struct addresses read_placement(struct arena *arena, const char *folder)
{
    struct addresses addresses = {0};
    put(folder, "placement.json", placement);
    CHECK(addresses_read(arena, folder, &addresses, NULL) == HT_OK);
    return addresses;
}

static void replicas_are_in_the_order_of_their_tasks(void)
{
    char folder[PATH_MAX];
    struct arena *arena = arena_new();
    runner_fixture_folder(folder);
    const struct addresses addresses = read_placement(arena, folder);
    CHECK(addresses.n == 2);
    CHECK_TEXT(addresses.items[0].name, "master-0");
    CHECK_TEXT(addresses.items[1].placeholder, "worker-0.invalid:1");
    CHECK(addresses.items[0].real == NULL);
    arena_free(arena);
}

static void a_placement_without_replicas_is_damaged(void)
{
    char folder[PATH_MAX];
    struct arena *arena = arena_new();
    struct addresses addresses;
    runner_fixture_folder(folder);
    CHECK(addresses_read(arena, folder, &addresses, NULL) == HT_NOT_FOUND);
    put(folder, "placement.json", "{\"relay\":5,\"a\":{}}");
    CHECK(addresses_read(arena, folder, &addresses, NULL) == HT_CORRUPT);
    arena_free(arena);
}

static bool can_bind(const char *address)
{
    const long port = strtol(strchr(address, ':') + 1, NULL, 10);
    const struct sockaddr_in place = {.sin_family = AF_INET,
                                      .sin_port = htons((uint16_t)port)};
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    const bool bound =
        bind(fd, (const struct sockaddr *)&place, sizeof place) == 0;
    close(fd);
    return bound;
}

static void all_learn_what_each_tells(void)
{
    char folder[PATH_MAX];
    struct ht_error err;
    struct arena *arena = arena_new();
    int first, second;
    runner_fixture_folder(folder);
    struct addresses addresses = read_placement(arena, folder);
    CHECK(addresses_tell(folder, 3, 0, "n1", &first, NULL) == HT_OK);
    CHECK(addresses_learn(arena, folder, 3, &addresses, &err) == HT_NOT_FOUND);
    CHECK_TEXT(err.text, "no address of worker-0");
    CHECK(addresses_tell(folder, 3, 1, "n2", &second, NULL) == HT_OK);
    CHECK(addresses_learn(arena, folder, 3, &addresses, &err) == HT_OK);
    CHECK(strncmp(addresses.items[0].real, "n1:", 3) == 0 &&
          strncmp(addresses.items[1].real, "n2:", 3) == 0);
    close(first);
    close(second);
    arena_free(arena);
}

static void a_port_is_kept_until_the_trainer_can_have_it(void)
{
    char folder[PATH_MAX];
    int port;
    runner_fixture_folder(folder);
    CHECK(addresses_tell(folder, 1, 0, "n1", &port, NULL) == HT_OK);
    char *address = runner_fixture_text(folder, "address.1.0");
    CHECK(!can_bind(address));
    close(port);
    CHECK(can_bind(address));
    free(address);
}

static void what_could_break_a_text_is_no_address(void)
{
    char folder[PATH_MAX];
    struct ht_error err;
    struct arena *arena = arena_new();
    static const char *const texts[] = {"",       "n1",      "n1:",   ":80",
                                        "n1:80x", "n\"1:80", "n 1:80"};
    runner_fixture_folder(folder);
    struct addresses addresses = read_placement(arena, folder);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        put(folder, "address.1.0", texts[i]);
        CHECK(addresses_learn(arena, folder, 1, &addresses, &err) ==
              HT_CORRUPT);
    }
    arena_free(arena);
}

static void placeholders_are_replaced_wherever_they_are(void)
{
    struct arena *arena = arena_new();
    struct address items[] = {{"master-0", "master-0.invalid:1", "n1:4000"},
                              {"worker-0", "worker-0.invalid:1", "n22:50"}};
    const struct addresses addresses = {2, items};
    const char *const argv[] = {"train", "--at=worker-0.invalid:1", "plain"};
    const struct pair env[] = {
        {"SPEC", "[\"master-0.invalid:1\",\"worker-0.invalid:1\"]"},
        {"BOTH", "master-0.invalid:1master-0.invalid:1"},
        {"NONE", "master-0.invalid:"}};
    struct launch launch = {.argv = {3, argv}, .env = {3, env}};
    addresses_put(arena, &addresses, &launch);
    CHECK(launch.argv.n == 3 && launch.env.n == 3);
    CHECK_TEXT(launch.argv.items[1], "--at=n22:50");
    CHECK_TEXT(launch.argv.items[2], "plain");
    CHECK_TEXT(launch.env.items[0].value, "[\"n1:4000\",\"n22:50\"]");
    CHECK_TEXT(launch.env.items[1].value, "n1:4000n1:4000");
    CHECK_TEXT(launch.env.items[2].value, "master-0.invalid:");
    arena_free(arena);
}

int main(void)
{
    runner_fixture_init();
    RUN(replicas_are_in_the_order_of_their_tasks);
    RUN(a_placement_without_replicas_is_damaged);
    RUN(all_learn_what_each_tells);
    RUN(a_port_is_kept_until_the_trainer_can_have_it);
    RUN(what_could_break_a_text_is_no_address);
    RUN(placeholders_are_replaced_wherever_they_are);
    runner_fixture_fini();
    return check_done();
}
