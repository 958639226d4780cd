/* tls_ask.c - one question by the TLS of static programs,
 * proto/net/tls_static.c: tls_ask PORT HOST CA PINS to 127.0.0.1, where a
 * certificate must name HOST; CA is a file, "" means none of both. Sends a line
 * and prints what comes. Exit code 1: refused, with the reason on stderr; 3:
 * the end came without a word. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "proto/net/tls.h"

enum { PATIENCE_MS = 60000 };

static int connect_here(const char *port)
{
    const struct sockaddr_in to = {.sin_family = AF_INET,
                                   .sin_port =
                                       htons((uint16_t)strtol(port, NULL, 10)),
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || connect(fd, (const struct sockaddr *)&to, sizeof to) != 0 ||
        fcntl(fd, F_SETFL, O_NONBLOCK) != 0) {
        perror("tls_ask");
        exit(2);
    }
    return fd;
}

static void await(int fd, short events)
{
    struct pollfd polled = {.fd = fd, .events = events};
    if (poll(&polled, 1, PATIENCE_MS) != 1)
        exit(2);
}

static bool shake_hands(struct tls_session *session, int fd)
{
    struct ht_error err;
    enum tls_result result;
    while ((result = tls_handshake(session, &err)) == TLS_WANT_READ ||
           result == TLS_WANT_WRITE)
        await(fd, result == TLS_WANT_READ ? POLLIN : POLLOUT);
    if (result == TLS_FAILED)
        (void)fprintf(stderr, "%d %s\n", err.status == HT_UNAUTHENTICATED,
                      err.text);
    return result == TLS_DONE;
}

static int ask(struct tls_session *session, int fd)
{
    char bytes[4096];
    ssize_t n;
    while (tls_send(session, "question\n", 9) != 9)
        await(fd, POLLOUT);
    while ((n = tls_recv(session, bytes, sizeof bytes)) != 0) {
        if (n > 0)
            (void)fwrite(bytes, 1, (size_t)n, stdout);
        else if (errno == EAGAIN)
            await(fd, POLLIN);
        else
            return 3;
    }
    return tls_end(session) == TLS_DONE ? 0 : 3;
}

int main(int argc, char **argv)
{
    struct tls_client *client;
    struct ht_error err;
    if (argc != 5)
        return 2;
    const struct tls_client_settings settings = {
        .ca = argv[3][0] != '\0' ? argv[3] : NULL,
        .pins = argv[4][0] != '\0' ? argv[4] : NULL};
    if (tls_client_open(&settings, &client, &err) != HT_OK) {
        (void)fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    const int fd = connect_here(argv[1]);
    struct tls_session *session = tls_connect(client, fd, argv[2]);
    tls_client_free(client); /* the session outlives it */
    const int code = shake_hands(session, fd) ? ask(session, fd) : 1;
    tls_session_free(session);
    close(fd);
    return code;
}
