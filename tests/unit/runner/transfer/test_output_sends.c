/* The queue of outputs, with a server that is not there. That they arrive is in
 * tests/e2e/test_fetch_elsewhere.py. */
#include "runner/transfer/output_sends.h"

#include <limits.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <curl/curl.h>

#include "proto/base/clock.h"
#include "proto/base/file_tree.h"
#include "runner/base/site.h"
#include "tests/check.h"

struct stage {
    char top[256], trial[PATH_MAX], scratch[PATH_MAX];
    struct site site;
    struct output_sends *sends;
    enum ht_status status; /* of asking for the server */
    atomic_int asked;
    int wake;
};

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
    (void)snprintf(stage->top, sizeof stage->top, "%s/sends-XXXXXX",
                   getenv("TMPDIR"));
    CHECK(mkdtemp(stage->top) != NULL);
    (void)snprintf(stage->trial, sizeof stage->trial, "%s/1", stage->top);
    (void)snprintf(stage->scratch, sizeof stage->scratch, "%s/sends",
                   stage->top);
    CHECK(mkdir(stage->trial, 0700) == 0);
    CHECK(mkdir(stage->scratch, 0700) == 0); /* of an earlier start */
    const struct transfers_settings settings = {.site = &stage->site,
                                                .find = find_none,
                                                .context = stage,
                                                .wake = stage->wake};
    CHECK(output_sends_start(&settings, stage->scratch, &stage->sends, &err) ==
          HT_OK);
}

static void end(struct stage *stage)
{
    const int64_t before_ms = clock_monotonic_ms();
    output_sends_stop(stage->sends);
    CHECK(clock_monotonic_ms() - before_ms < 5000);
    close(stage->wake);
    CHECK(file_tree_remove(stage->top, NULL, NULL) == HT_OK);
}

static void make_model(const struct stage *stage)
{
    char path[PATH_MAX + 20];
    (void)snprintf(path, sizeof path, "%s/model", stage->trial);
    CHECK(mkdir(path, 0700) == 0);
}

static void await_result(const struct stage *stage)
{
    struct pollfd wake = {.fd = stage->wake, .events = POLLIN};
    eventfd_t count;
    CHECK(poll(&wake, 1, 30000) == 1 && eventfd_read(stage->wake, &count) == 0);
}

static void want(const struct stage *stage, int64_t id)
{
    static const char *const names[] = {"model", "logs"};
    output_sends_want(stage->sends,
                      &(struct output_send){.id = id,
                                            .project = "local",
                                            .folder = stage->trial,
                                            .names = {2, names}});
}

static void what_is_gone_is_reported_until_the_server_heard_it(void)
{
    struct stage stage;
    struct output_sent items[4];
    begin(&stage, HT_OK);
    CHECK(output_sends_look(stage.sends) == OUTPUT_SENDS_QUIET);
    CHECK(output_sends_report(stage.sends, items, 4) == 0);
    want(&stage, 5);
    want(&stage, 5);
    await_result(&stage);
    CHECK(output_sends_look(stage.sends) == OUTPUT_SENDS_ENDED);
    for (int i = 0; i < 2; i++) {
        CHECK(output_sends_report(stage.sends, items, 4) == 1);
        CHECK(items[0].id == 5 && items[0].ended);
        CHECK(items[0].err.status == HT_NOT_FOUND);
        CHECK(strstr(items[0].err.text, "nothing is left in /") != NULL);
    }
    output_sends_confirm(stage.sends);
    CHECK(output_sends_report(stage.sends, items, 4) == 0);
    CHECK(output_sends_look(stage.sends) == OUTPUT_SENDS_QUIET);
    CHECK(atomic_load(&stage.asked) == 0);
    end(&stage);
}

static void what_is_not_wanted_any_more_is_given_up(void)
{
    struct stage stage;
    struct output_sent items[4];
    begin(&stage, HT_OK);
    make_model(&stage);
    want(&stage, 6);
    want(&stage, 7);
    while (atomic_load(&stage.asked) < 2)
        usleep(1000);
    CHECK(output_sends_look(stage.sends) == OUTPUT_SENDS_BUSY);
    CHECK(output_sends_report(stage.sends, items, 4) == 2);
    CHECK(!items[0].ended && !items[1].ended);
    output_sends_keep(stage.sends, (const int64_t[]){7}, 1);
    await_result(&stage); /* of 6 */
    CHECK(output_sends_report(stage.sends, items, 4) == 1);
    CHECK(items[0].id == 7);
    output_sends_keep(stage.sends, NULL, 0);
    end(&stage);
}

static void a_refusal_is_reported(void)
{
    struct stage stage;
    struct output_sent items[4];
    begin(&stage, HT_DENIED);
    make_model(&stage);
    want(&stage, 8);
    await_result(&stage);
    CHECK(output_sends_report(stage.sends, items, 4) == 1);
    CHECK(items[0].ended && items[0].err.status == HT_DENIED);
    CHECK_TEXT(items[0].err.text, "no server today");
    end(&stage);
}

int main(void)
{
    curl_global_init(CURL_GLOBAL_DEFAULT);
    RUN(what_is_gone_is_reported_until_the_server_heard_it);
    RUN(what_is_not_wanted_any_more_is_given_up);
    RUN(a_refusal_is_reported);
    curl_global_cleanup();
    return check_done();
}
