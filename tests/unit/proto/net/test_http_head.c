/* Which bytes of a client are requests with the same bounds for every server.
 */
#include "proto/net/http_head.h"

#include <stdio.h>
#include <string.h>

#include "tests/check.h"

#define GET "GET / HTTP/1.1\r\nHost: a\r\n\r\n"
#define POST(fields, body)                                                     \
    "POST / HTTP/1.1\r\nHost: a\r\n" fields "\r\n\r\n" body

static struct http_head follow(const char *text)
{
    struct http_head head = {0};
    http_head_follow(&head, text, strlen(text));
    return head;
}

static void requests_in_a_row_pass(void)
{
    static const struct {
        const char *text;
        int64_t requests;
    } rows[] = {
        {GET GET, 2},
        {"\r\n" GET "\r\n" GET, 2},
        {POST("Content-Length: 3", "abc") GET, 2},
        {POST("Content-Length:\t3 \t", "abc") GET, 2},
        {POST("Content-Length: 0", "") GET, 2},
        {POST("Transfer-Encoding: Chunked", "3;x=\"y\"\r\nabc\r\n0\r\n\r\n")
             GET,
         2},
        {POST("Transfer-Encoding: chunked", "0\r\nX: y\r\n\r\n") GET, 2},
        {"GET /a%20b?c HTTP/1.0\r\nConnection: x, Keep-Alive\r\n\r\n" GET, 2},
        {"OPTIONS * HTTP/1.1\r\nHost:\r\nX: \x80\t\xff\r\n\r\n", 1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct http_head head = follow(rows[i].text);
        CHECK(head.refused == 0 && head.requests == rows[i].requests);
        CHECK(http_head_is_between(&head) && !head.ended);
    }
}

/* Each is a request that some server reads in another way than its author. */
static void what_servers_read_differently_is_refused(void)
{
    static const struct {
        const char *text;
        int status;
    } rows[] = {
        {POST("Content-Length : 3", "abc"), 400},
        {POST("Content-Length: +3", "abc"), 400},
        {POST("Content-Length: 3, 3", "abc"), 400},
        {POST("Content-Length: 3 3", "abc"), 400},
        {POST("Content-Length:", "abc"), 400},
        {POST("Content-Length: 1000000000000000", ""), 400},
        {POST("Content-Length: 3\r\ncontent-length: 3", "abc"), 400},
        {POST("Content-Length: 3\r\nTransfer-Encoding: chunked", ""), 400},
        {POST("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked", ""),
         400},
        {POST("Transfer-Encoding: gzip,chunked", ""), 501},
        {POST("Transfer-Encoding: gzip, chunked", ""), 400},
        {POST("Transfer-Encoding: xchunked", ""), 501},
        {POST("Transfer-Encoding: chunkedchunkedchunkedchunked", ""), 501},
        {"POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", 400},
        {POST("Transfer-Encoding: chunked", "3\nabc\r\n"), 400},
        {POST("Transfer-Encoding: chunked", "3 \r\nabc\r\n"), 400},
        {POST("Transfer-Encoding: chunked", "0x3\r\nabc\r\n"), 400},
        {POST("Transfer-Encoding: chunked", "\r\nabc\r\n"), 400},
        {POST("Transfer-Encoding: chunked", "1000000000000\r\n"), 400},
        {POST("Transfer-Encoding: chunked", "3\r\nabcd\r\n"), 400},
        {POST("Transfer-Encoding: chunked", "3\r\nabc\r\r\n"), 400},
        {POST("Transfer-Encoding: chunked", "3;a\nb\r\nabc"), 400},
        {POST("Transfer-Encoding: chunked", "0\r\nContent-Length: 1\r\n\r\n"),
         400},
        {"GET / HTTP/1.1\r\n\r\n", 400},
        {"GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n", 400},
        {"GET / HTTP/1.1\nHost: a\n\n", 400},
        {"GET / HTTP/1.1\r\nHost: a\nX: y\r\n\r\n", 400},
        {"GET / HTTP/1.1\r\nHost: a\r\n folded\r\n\r\n", 400},
        {"GET / HTTP/1.1\r\n Host: a\r\n\r\n", 400},
        {"GET / HTTP/1.1\r\nHost: a\r\n: x\r\n\r\n", 400},
        {"GET / HTTP/1.1\r\nHost: a\r\nX\r\n\r\n", 400},
        {"GET / HTTP/1.1\r\nHost: a\r\nX: a\rb\r\n\r\n", 400},
        {"GET / HTTP/1.1\r\nHost: a\r\nX: a\x01\r\n\r\n", 400},
        {"GET / HTTP/1.1\r\nHost: a\r\n\rX", 400},
        {"GET  / HTTP/1.1\r\nHost: a\r\n\r\n", 400},
        {"GET / HTTP/1.1 \r\nHost: a\r\n\r\n", 400},
        {"GET /\x80 HTTP/1.1\r\nHost: a\r\n\r\n", 400},
        {"GET / http/1.1\r\nHost: a\r\n\r\n", 400},
        {"GET /\r\n\r\n", 400},
        {"GET / HTTP/2.0\r\nHost: a\r\n\r\n", 505},
        {"GET / HTTP/1.2\r\nHost: a\r\n\r\n", 505},
        {"CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n", 501},
        {"\r\n\r\n" GET, 400},
        {"\rGET", 400},
        {"\n" GET, 400},
        {"(\r\n", 400},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct http_head head = follow(rows[i].text);
        CHECK(head.refused == rows[i].status);
        CHECK(head.refused == 0 || head.reason != NULL);
    }
}

static void a_zero_byte_is_refused_anywhere_in_a_head(void)
{
    for (size_t at = 0; at < strlen(GET); at++) {
        char bytes[] = GET;
        struct http_head head = {0};
        bytes[at] = '\0';
        CHECK(http_head_follow(&head, bytes, strlen(GET)) == at);
        CHECK(head.refused == 400 || head.refused == 505);
    }
}

/* So that the server behind it never gets a head that is complete. */
static void nothing_passes_behind_the_first_wrong_byte(void)
{
    static const char good[] = GET, bad[] = POST("Content-Length : 3", "abc");
    struct http_head head = {0};
    CHECK(http_head_follow(&head, good, strlen(good)) == strlen(good));
    CHECK(http_head_follow(&head, bad, strlen(bad)) ==
          (size_t)(strstr(bad, " : 3") - bad));
    CHECK(head.requests == 1);
}

static void a_head_may_have_8192_bytes(void)
{
    static char text[8300];
    for (int more = 0; more < 2; more++) {
        struct http_head head = {0};
        int n = snprintf(text, sizeof text, "GET / HTTP/1.1\r\nHost: a\r\nX: ");
        const int end = 8192 - 4 + more;
        memset(text + n, 'x', (size_t)(end - n));
        memcpy(text + end, "\r\n\r\n", 5);
        http_head_follow(&head, text, strlen(text));
        CHECK(head.refused == (more ? 431 : 0) && head.requests == !more);
    }
}

static void a_request_that_closes_is_the_last(void)
{
    struct http_head head = follow("GET / HTTP/1.0\r\n\r\n" GET);
    CHECK(head.ended && head.requests == 1 && head.refused == 0);
    head = follow(POST("Connection: a,close\r\nContent-Length: 1", "x") GET);
    CHECK(head.ended && head.requests == 1);
    head =
        follow("GET / HTTP/1.1\r\nHost: a\r\nConnection: closed\r\n\r\n" GET);
    CHECK(!head.ended && head.requests == 2);
}

static void a_request_is_open_until_its_last_byte(void)
{
    static const char text[] =
        POST("Transfer-Encoding: chunked", "3\r\nabc\r\n0\r\n\r\n");
    struct http_head head = {0};
    CHECK(http_head_is_between(&head));
    for (size_t at = 0; at < sizeof text - 1; at++) {
        CHECK(http_head_follow(&head, text + at, 1) == 1);
        CHECK(http_head_is_between(&head) == (at == sizeof text - 2));
    }
}

int main(void)
{
    RUN(requests_in_a_row_pass);
    RUN(what_servers_read_differently_is_refused);
    RUN(a_zero_byte_is_refused_anywhere_in_a_head);
    RUN(nothing_passes_behind_the_first_wrong_byte);
    RUN(a_head_may_have_8192_bytes);
    RUN(a_request_that_closes_is_the_last);
    RUN(a_request_is_open_until_its_last_byte);
    return check_done();
}
