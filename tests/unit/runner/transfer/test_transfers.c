/* The queue of checkpoints, with a server that is not there. That they arrive
 * is in tests/e2e/test_checkpoints_travel.py. */
#include "runner/transfer/transfers.h"

#include <limits.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <curl/curl.h>

#include "proto/base/clock.h"
#include "proto/base/file_tree.h"
#include "runner/base/site.h"
#include "tests/check.h"

static const char name[] =
    "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

struct stage {
    char top[256], checkpoints[PATH_MAX], scratch[PATH_MAX];
    struct site site;
    struct transfers *transfers;
    struct transfers_place place;
    enum ht_status status; /* of asking for the server */
    atomic_int asked;
    int wake;
};

/* Nothing listens at port 1. */
static enum ht_status find_none(void *context, struct transfers_server *server,
                                struct ht_error *err)
{
    struct stage *stage = context;
    atomic_fetch_add(&stage->asked, 1);
    *server =
        (struct transfers_server){.url = "http://127.0.0.1:1", .token = "t"};
    return stage->status == HT_OK
               ? HT_OK
               : ht_fail(err, stage->status, "no server today");
}

static void begin(struct stage *stage, enum ht_status status)
{
    struct ht_error err;
    *stage = (struct stage){.status = status, .wake = eventfd(0, EFD_CLOEXEC)};
    (void)snprintf(stage->top, sizeof stage->top, "%s/move-XXXXXX",
                   getenv("TMPDIR"));
    CHECK(mkdtemp(stage->top) != NULL);
    (void)snprintf(stage->checkpoints, sizeof stage->checkpoints,
                   "%s/checkpoints", stage->top);
    (void)snprintf(stage->scratch, sizeof stage->scratch, "%s/scratch",
                   stage->top);
    CHECK(mkdir(stage->checkpoints, 0700) == 0);
    stage->place = (struct transfers_place){.key = {1, 2, 3},
                                            .project = "local",
                                            .checkpoints = stage->checkpoints,
                                            .scratch = stage->scratch};
    const struct transfers_settings settings = {.site = &stage->site,
                                                .find = find_none,
                                                .context = stage,
                                                .wake = stage->wake};
    CHECK(transfers_start(&settings, &stage->transfers, &err) == HT_OK);
}

static void end(struct stage *stage)
{
    const int64_t before_ms = clock_monotonic_ms();
    transfers_stop(stage->transfers);
    CHECK(clock_monotonic_ms() - before_ms < 5000);
    close(stage->wake);
    CHECK(file_tree_remove(stage->top, NULL, NULL) == HT_OK);
}

static void write_weights(const struct stage *stage)
{
    char path[PATH_MAX + 20];
    (void)snprintf(path, sizeof path, "%s/weights", stage->checkpoints);
    FILE *file = fopen(path, "we");
    CHECK(file != NULL && fputs("1 2 3", file) >= 0 && fclose(file) == 0);
}

/* Waits for the threads' next result. */
static void await_result(const struct stage *stage)
{
    struct pollfd wake = {.fd = stage->wake, .events = POLLIN};
    eventfd_t count;
    CHECK(poll(&wake, 1, 30000) == 1 && eventfd_read(stage->wake, &count) == 0);
}

static enum transfers_work look(const struct stage *stage)
{
    return transfers_look(stage->transfers, &stage->place.key);
}

static void an_empty_folder_is_not_sent(void)
{
    struct stage stage;
    struct transfers_sent sent;
    begin(&stage, HT_OK);
    CHECK(look(&stage) == TRANSFERS_IDLE);
    transfers_send(stage.transfers, &stage.place, "", -1, true);
    await_result(&stage);
    CHECK(look(&stage) == TRANSFERS_IDLE && atomic_load(&stage.asked) == 0);
    transfers_send(stage.transfers, &stage.place, "none", 4, false);
    await_result(&stage);
    CHECK(look(&stage) == TRANSFERS_IDLE && atomic_load(&stage.asked) == 0);
    CHECK(!transfers_has_sent(stage.transfers, &stage.place.key, &sent));
    end(&stage);
}

static void a_server_that_is_away_is_asked_until_it_is_given_up(void)
{
    struct stage stage;
    begin(&stage, HT_OK);
    write_weights(&stage);
    transfers_send(stage.transfers, &stage.place, "weights", 4, false);
    while (atomic_load(&stage.asked) < 2)
        usleep(1000);
    CHECK(look(&stage) == TRANSFERS_BUSY);
    transfers_forget(stage.transfers, &stage.place.key);
    CHECK(look(&stage) == TRANSFERS_IDLE);
    await_result(&stage); /* of the one that was given up */
    CHECK(access(stage.scratch, F_OK) != 0);
    transfers_send(stage.transfers, &stage.place, "weights", 5, false);
    CHECK(look(&stage) == TRANSFERS_BUSY);
    end(&stage);
}

static void a_fetch_that_cannot_be_says_why(void)
{
    struct stage stage;
    struct ht_error err;
    begin(&stage, HT_DENIED);
    write_weights(&stage);
    CHECK(transfers_fetch(stage.transfers, &stage.place, name, &err) ==
          TRANSFERS_WORKING);
    await_result(&stage);
    CHECK(transfers_fetch(stage.transfers, &stage.place, name, &err) ==
          TRANSFERS_FAILED);
    /* What was there is there. */
    CHECK(access(stage.checkpoints, F_OK) == 0 &&
          access(stage.scratch, F_OK) != 0);
    end(&stage);
}

static void a_fetch_waits_for_the_server(void)
{
    struct stage stage;
    struct ht_error err;
    begin(&stage, HT_OK);
    CHECK(transfers_fetch(stage.transfers, &stage.place, name, &err) ==
          TRANSFERS_WORKING);
    while (atomic_load(&stage.asked) < 2)
        usleep(1000);
    CHECK(transfers_fetch(stage.transfers, &stage.place, name, &err) ==
          TRANSFERS_WORKING);
    end(&stage);
}

int main(void)
{
    curl_global_init(CURL_GLOBAL_DEFAULT);
    RUN(an_empty_folder_is_not_sent);
    RUN(a_server_that_is_away_is_asked_until_it_is_given_up);
    RUN(a_fetch_that_cannot_be_says_why);
    RUN(a_fetch_waits_for_the_server);
    curl_global_cleanup();
    return check_done();
}
