/* The server's TLS without the server, for bench_store.py: prints the port of a
 * relay that ends TLS and passes the bytes on to a port of this machine, until
 * its stdin ends.
 *
 *     bench_relay CERTIFICATE KEY PORT */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "proto/net/relay.h"
#include "proto/net/tls.h"

static enum ht_status open_relay(char *argv[], struct relay **relay, int *port,
                                 struct ht_error *err)
{
    char to[64];
    struct tls_server *tls = NULL;
    const struct tls_server_settings settings = {.cert = argv[1],
                                                 .key = argv[2]};
    snprintf(to, sizeof to, "tcp://127.0.0.1:%s", argv[3]);
    enum ht_status status = tls_server_open(&settings, &tls, err);
    const struct relay_listener wanted = {
        .address = "127.0.0.1", .to = to, .accept_tls = tls};
    if (status == HT_OK)
        status = relay_start(256, relay, err);
    return status == HT_OK ? relay_open(*relay, &wanted, port, err) : status;
}

int main(int argc, char *argv[])
{
    struct relay *relay = NULL;
    struct ht_error err;
    char byte;
    int port = 0;
    if (argc != 4)
        return 2;
    if (open_relay(argv, &relay, &port, &err) != HT_OK) {
        fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    printf("%d\n", port);
    fflush(stdout);
    while (read(STDIN_FILENO, &byte, 1) > 0)
        continue;
    relay_stop(relay);
    return 0;
}
