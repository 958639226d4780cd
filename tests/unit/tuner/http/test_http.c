#include "tuner/http/http.h"

#include <stdio.h>
#include <unistd.h>

#include "tests/check.h"

static void any_port_is_told_and_a_taken_one_is_named(void)
{
    struct ht_error err;
    int port = 0, fd, other_fd;
    CHECK(http_listen("127.0.0.1", &port, &fd, &err) == HT_OK);
    CHECK(port > 0);
    int same = port;
    char want[128];
    snprintf(want, sizeof want,
             "127.0.0.1:%d is in use; --listen 127.0.0.1:0 takes any port",
             port);
    CHECK(http_listen("127.0.0.1", &same, &other_fd, &err) == HT_EXISTS);
    CHECK_TEXT(err.text, want);
    close(fd);
    CHECK(http_listen("192.0.2.1", &port, &fd, &err) == HT_IO);
}

int main(void)
{
    RUN(any_port_is_told_and_a_taken_one_is_named);
    return check_done();
}
