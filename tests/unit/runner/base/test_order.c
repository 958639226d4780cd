/* The members of an order about containers; the rest is in the runner's tests.
 */
#include "runner/base/order.h"

#include "proto/base/text.h"
#include "runner/base/json.h"
#include "tests/check.h"

/* An ATTEMPT with these members, and these of its replica. */
static struct order *parse(const char *members, const char *replica,
                           struct ht_error *err)
{
    struct text lease = {0};
    struct order *order = NULL;
    text_printf(&lease,
                "{\"study\":7,\"trial\":3,\"attempt\":1,\"token\":\"t\",%s"
                "\"replicas\":[{\"type\":\"master\",\"index\":0,\"image\":"
                "\"a:1\",\"argv\":[\"x\",\"y\"]%s}]}",
                members, replica);
    if (order_parse(lease.data, lease.len, &order, err) != HT_OK)
        order = NULL;
    text_free(&lease);
    return order;
}

static void what_is_not_said_is_as_usual(void)
{
    struct order *order = parse("", "", NULL);
    CHECK(order != NULL);
    if (order == NULL)
        return;
    const struct container_options *container = &order->container;
    CHECK(container->pull == PULL_IF_NOT_PRESENT);
    CHECK(container->user == NULL && container->network == NULL);
    CHECK(!container->read_only && !container->privileged);
    CHECK(!container->host_pid && container->pids == 0);
    CHECK(order->volumes.n == 0 && order->n_secrets == 0);
    CHECK(order->captured.n == 0);
    CHECK(order->reporter == REPORTER_AUTO && !order->rewrite_gcs);
    CHECK(order->service_account == NULL && order->project == NULL);
    CHECK(order->replicas[0].cpus == 0 && order->replicas[0].memory == 0);
    CHECK(order->replicas[0].entry_words == 2); /* the whole command */
    order_free(order);
}

static void everything_about_containers_is_read(void)
{
    struct order *order = parse(
        "\"container\":{\"pull\":\"always\",\"user\":\"1000:100\","
        "\"readOnly\":true,\"network\":\"none\",\"shm\":64,\"pids\":9,"
        "\"privileged\":true,\"hostPid\":true},\"volumes\":[\"/a:/b:ro\"],"
        "\"secrets\":[{\"name\":\"K\",\"file\":\"k\"},"
        "{\"name\":\"L\",\"env\":\"M\"}],\"reporter\":\"python\","
        "\"rewriteGs\":true,\"captured\":[[\"PATH\",\"/bin\"]],",
        ",\"entryWords\":1,\"cpus\":1.5,\"memory\":1048576", NULL);
    CHECK(order != NULL);
    if (order == NULL)
        return;
    const struct container_options *container = &order->container;
    CHECK(container->pull == PULL_ALWAYS);
    CHECK_TEXT(container->user, "1000:100");
    CHECK_TEXT(container->network, "none");
    CHECK(container->read_only && container->privileged);
    CHECK(container->host_pid);
    CHECK(container->shm_bytes == 64 && container->pids == 9);
    CHECK(order->volumes.n == 1);
    CHECK_TEXT(order->volumes.items[0], "/a:/b:ro");
    CHECK(order->n_secrets == 2);
    CHECK_TEXT(order->secrets[0].file, "k");
    CHECK_TEXT(order->secrets[1].env, "M");
    CHECK_TEXT(order->captured.items[0].value, "/bin");
    CHECK(order->reporter == REPORTER_PYTHON && order->rewrite_gcs);
    CHECK(order->replicas[0].entry_words == 1);
    CHECK(order->replicas[0].cpus == 1.5);
    CHECK(order->replicas[0].memory == 1048576);
    order_free(order);
}

static void its_place_at_google_is_read(void)
{
    struct order *order = parse("\"project\":\"p\",\"location\":\"l\","
                                "\"serviceAccount\":\"a@b.c\",",
                                "", NULL);
    CHECK_TEXT(order ? order->project : NULL, "p");
    CHECK_TEXT(order ? order->location : NULL, "l");
    CHECK_TEXT(order ? order->service_account : NULL, "a@b.c");
    order_free(order);
}

static void what_makes_no_sense_is_refused(void)
{
    static const struct {
        const char *members, *replica;
    } broken[] = {
        {"\"container\":{\"pull\":\"sometimes\"},", ""},
        {"\"container\":{\"shm\":-1},", ""},
        {"\"container\":{\"pids\":-1},", ""},
        {"\"volumes\":[7],", ""},
        {"\"captured\":[[\"A\"]],", ""},
        {"\"secrets\":[{\"name\":\"K\"}],", ""},
        {"\"secrets\":[{\"file\":\"k\"}],", ""},
        {"\"secrets\":[{\"name\":\"K\",\"file\":\"k\",\"env\":\"M\"}],", ""},
        {"\"serviceAccount\":\"../a\",", ""},
        {"\"serviceAccount\":\"\",", ""},
        {"", ",\"entryWords\":3"},
        {"", ",\"entryWords\":-1"},
        {"", ",\"cpus\":-1"},
        {"", ",\"memory\":-1"},
    };
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        struct ht_error err = {.status = HT_OK};
        struct order *order = parse(broken[i].members, broken[i].replica, &err);
        if (order != NULL)
            printf("# taken: %s%s\n", broken[i].members, broken[i].replica);
        CHECK(order == NULL && err.status == HT_INVALID);
        order_free(order);
    }
}

static void an_answer_is_copied_and_kept_as_it_came(void)
{
    static const char json[] =
        "{\"study\":7,\"trial\":3,\"attempt\":1,\"token\":\"t\",\"params\":"
        "{\"lr\":0.10},\"replicas\":[{\"type\":\"master\",\"index\":0,"
        "\"argv\":[\"x\",\"\u00e9\"]}]}";
    struct arena *arena = arena_new();
    struct order *order = NULL;
    const struct order_way none = {.to = NULL};
    CHECK(order_read(json_read(arena, json, sizeof json - 1), NULL, &none,
                     &order, NULL) == HT_OK);
    CHECK(order_read(json_read(arena, "[1]", 3), NULL, &none, &order, NULL) ==
          HT_INVALID);
    arena_free(arena);
    if (order == NULL)
        return;
    CHECK_TEXT(order->lease, json);
    CHECK_TEXT(order->params.items[0].value, "0.10");
    CHECK_TEXT(order->replicas[0].argv.items[1], "\u00e9");
    order_free(order);
}

int main(void)
{
    RUN(an_answer_is_copied_and_kept_as_it_came);
    RUN(what_is_not_said_is_as_usual);
    RUN(everything_about_containers_is_read);
    RUN(its_place_at_google_is_read);
    RUN(what_makes_no_sense_is_refused);
    return check_done();
}
