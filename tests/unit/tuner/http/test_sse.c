/* Streams of revisions. */
#include "tuner/http/sse.h"

#include <unistd.h>

#include "proto/base/clock.h"
#include "tests/lib/http_fixture.h"
#include "tuner/db/rows.h"

#define EVENTS "GET /hypertune/v1/events"
#define ACCEPT "Accept: text/event-stream\r\n"

static void a_stream_has_each_newest_revision_once(struct http_fixture *f)
{
    sse_publish(f->sse, 7, 3, NULL);
    sse_publish(f->sse, 9, 1, NULL);
    sse_publish(f->sse, 7, 5, NULL);
    sse_publish(f->sse, 7, 4, NULL); /* older: nothing */
    const int fd = http_fixture_send(f, EVENTS, ACCEPT, "");
    const char *got =
        http_fixture_await(f, fd, "{\"study\":7,\"revision\":5}\n\n");
    CHECK(got != NULL && strstr(got, "text/event-stream") != NULL);
    CHECK(got != NULL && strstr(got, "{\"study\":9,\"revision\":1}") != NULL);
    CHECK(got != NULL && strstr(got, "\"revision\":3}") == NULL);
    sse_publish(f->sse, 9, 2, NULL);
    got = http_fixture_await(f, fd, "{\"study\":9,\"revision\":2}\n\n");
    CHECK(got != NULL && strstr(got, "\"study\":7") == NULL);
    close(fd);
}

static void a_deleted_study_is_sent_once_and_forgotten(struct http_fixture *f)
{
    const int fd = http_fixture_send(f, EVENTS, ACCEPT, "");
    sse_publish(f->sse, 3, 1, NULL);
    sse_publish(f->sse, 4, 1, NULL);
    CHECK(http_fixture_await(f, fd, "{\"study\":4,\"revision\":1}") != NULL);
    sse_publish(f->sse, 3, REVISION_DELETED, NULL);
    CHECK(http_fixture_await(f, fd, "{\"study\":3,\"deleted\":true}") != NULL);
    sse_tick(f->sse, clock_monotonic_ms());
    const int later = http_fixture_send(f, EVENTS, ACCEPT, "");
    const char *got = http_fixture_await(f, later, "\"study\":4");
    CHECK(got != NULL && strstr(got, "\"study\":3") == NULL);
    close(later);
    close(fd);
}

static void a_silent_stream_gets_a_comment(struct http_fixture *f)
{
    CHECK(sse_is_empty(f->sse));
    const int fd = http_fixture_send(f, EVENTS, ACCEPT, "");
    CHECK(http_fixture_await(f, fd, ": still here\n\n") != NULL);
    CHECK(!sse_is_empty(f->sse));
    sse_tick(f->sse, clock_monotonic_ms() + SSE_COMMENT_MS);
    CHECK(http_fixture_await(f, fd, ": still here\n\n") != NULL);
    close(fd);
}

static void the_end_of_the_server_ends_all_streams(struct http_fixture *f)
{
    const int fd = http_fixture_send(f, EVENTS, ACCEPT, "");
    CHECK(http_fixture_await(f, fd, ": still here\n\n") != NULL);
    sse_close(f->sse);
    CHECK(http_fixture_await(f, fd, "never sent") == NULL);
    CHECK(http_fixture_status(http_fixture_ask(f, EVENTS, ACCEPT, "")) == 503);
    close(fd);
}

static void a_stream_is_only_for_those_who_ask_for_one(struct http_fixture *f)
{
    CHECK(http_fixture_status(http_fixture_ask(f, EVENTS, "", "")) == 400);
    const char *head =
        http_fixture_ask(f, "HEAD /hypertune/v1/events", ACCEPT, "");
    CHECK(http_fixture_status(head) == 200);
    CHECK(strstr(head, "still here") == NULL);
}

int main(void)
{
    RUN_ON_HTTP(a_stream_has_each_newest_revision_once);
    RUN_ON_HTTP(a_deleted_study_is_sent_once_and_forgotten);
    RUN_ON_HTTP(a_silent_stream_gets_a_comment);
    RUN_ON_HTTP(the_end_of_the_server_ends_all_streams);
    RUN_ON_HTTP(a_stream_is_only_for_those_who_ask_for_one);
    return check_done();
}
