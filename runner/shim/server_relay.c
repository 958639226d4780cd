#include "runner/shim/server_relay.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proto/net/address.h"
#include "proto/net/relay.h"

enum { MOST = 256 };

static const char here[] = "127.0.0.1";

static enum ht_status open_relay(const struct order_way *way, int fd,
                                 struct ht_error *err)
{
    const struct tls_client_settings trusted = {.pins = way->pins};
    struct relay *relay;
    struct relay_listener listener = {
        .address = here, .fd = fd, .to = way->to, .most = MOST};
    int port;
    enum ht_status status = HT_OK;
    if (strncmp(way->to, "tls+tcp://", 10) == 0)
        status = tls_client_open(&trusted, &listener.connect_tls, err);
    if (status == HT_OK)
        status = relay_start(MOST, &relay, err);
    if (status == HT_OK)
        status = relay_open(relay, &listener, &port, err);
    return status;
}

/* The work of the process. Signals that end the job are blocked, so that the
 * trainer's last reports pass; it is killed after the trainer's end. */
static _Noreturn void serve(pid_t parent, const struct order_way *way, int fd)
{
    struct ht_error err;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(1);
    if (open_relay(way, fd, &err) != HT_OK) {
        (void)fprintf(stderr, "hypertune: no way to the server: %s\n",
                      err.text);
        _exit(1);
    }
    for (;;)
        pause();
}

static int listen_here(void)
{
    struct address address;
    return address_read(here, 0, &address) ? address_listen(&address) : -1;
}

const char *server_relay_start(struct arena *arena, const struct order_way *way,
                               pid_t *relay)
{
    *relay = 0;
    if (way->to == NULL)
        return NULL;
    const pid_t self = getpid();
    const int fd = listen_here();
    const int port = fd >= 0 ? address_port(fd) : 0;
    const pid_t made = fd >= 0 ? fork() : -1;
    if (made == 0)
        serve(self, way, fd);
    if (made < 0)
        (void)fprintf(stderr, "hypertune: no way to the server: %s\n",
                      strerror(errno));
    if (fd >= 0)
        close(fd);
    if (made < 0)
        return NULL;
    *relay = made;
    return arena_printf(arena, "tcp://%s:%d", here, port);
}

void server_relay_stop(pid_t relay)
{
    if (relay == 0)
        return;
    kill(relay, SIGKILL);
    waitpid(relay, NULL, 0);
}
