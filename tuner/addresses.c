#include "tuner/addresses.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/text.h"
#include "tuner/core/core.h"
#include "tuner/front.h"
#include "tuner/options.h"
#include "tuner/wire/nng_socket.h"

static enum ht_status or_stop(enum ht_status status, struct nng_socket **socket)
{
    if (status != HT_OK) {
        nng_socket_stop(*socket);
        *socket = NULL;
    }
    return status;
}

/* "tcp://HOST:PORT" with another port. */
static char *with_port(const char *url, int port)
{
    const char *colon = strrchr(url, ':');
    struct text made = {0};
    text_printf(&made, "%.*s:%d", (int)(colon - url), url, port);
    return made.data;
}

static const char any_url[] = "tcp://127.0.0.1:0"; /* behind the front */

static int port_of(const char *url)
{
    return (int)strtol(strrchr(url, ':') + 1, NULL, 10);
}

enum ht_status addresses_start_report(const struct addresses *from,
                                      struct nng_socket **socket,
                                      struct ht_error *err)
{
    const bool by_tls = front_board(from->front) != NULL;
    const char *public_url = from->options->report_listen;
    const char *url = by_tls ? any_url : public_url;
    enum ht_status status =
        nng_socket_start_report(from->core, url, socket, err);
    if (status != HT_OK && from->options->on_demand) {
        char *any = with_port(url, 0);
        status = nng_socket_start_report(from->core, any, socket, err);
        free(any);
    }
    if (status == HT_OK)
        core_set_report_url(from->core, nng_socket_url(*socket));
    if (status == HT_OK && by_tls)
        status = or_stop(front_open_report(from->front, *socket, public_url,
                                           from->options->on_demand, err),
                         socket);
    return status;
}

static enum ht_status start_control_at(const struct addresses *from,
                                       const char *url, bool any_port,
                                       struct nng_socket **socket,
                                       struct ht_error *err)
{
    const bool by_tls = front_board(from->front) != NULL;
    enum ht_status status = nng_socket_start_control(
        from->core, from->logs, by_tls ? any_url : url, socket, err);
    if (status == HT_OK && by_tls)
        status = or_stop(
            front_open_control(from->front, *socket, url, any_port, err),
            socket);
    return status;
}

/* By default one port above the reports, so that a runner finds a
 * restarted server where it was; any port when that one is taken. */
enum ht_status addresses_start_control(const struct addresses *from,
                                       struct nng_socket **socket,
                                       struct ht_error *err)
{
    const struct options *options = from->options;
    if (options->control_listen != NULL)
        return start_control_at(from, options->control_listen, false, socket,
                                err);
    int report_port = port_of(options->report_listen);
    char *near = with_port(options->report_listen,
                           report_port > 0 ? report_port + 1 : 0);
    enum ht_status status = start_control_at(from, near, true, socket, err);
    free(near);
    if (status == HT_OK || front_board(from->front) != NULL)
        return status;
    char *any = with_port(options->report_listen, 0);
    status = start_control_at(from, any, true, socket, err);
    free(any);
    return status;
}
