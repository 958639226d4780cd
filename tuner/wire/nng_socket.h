/* nng_socket.h - a raw REP socket whose answers may come much later.
 *
 * One thread receives, reads the JSON and posts each message with the handler
 * of its address (report.c or control.c); the core answers after its commit.
 * The routing header of a message is kept until its answer, so held polls cost
 * no thread. */
#ifndef HT_TUNER_WIRE_NNG_SOCKET_H
#define HT_TUNER_WIRE_NNG_SOCKET_H

#include "proto/base/error.h"

struct core;
struct logs;
struct nng_socket;
struct relay;

/* Starts the report address at `url` ("tcp://HOST:PORT", port 0: any). */
enum ht_status nng_socket_start_report(struct core *core, const char *url,
                                       struct nng_socket **socket,
                                       struct ht_error *err);
/* Starts the control address. Log chunks go straight to `logs`. */
enum ht_status nng_socket_start_control(struct core *core, struct logs *logs,
                                        const char *url,
                                        struct nng_socket **socket,
                                        struct ht_error *err);
const char *
nng_socket_url(const struct nng_socket *socket); /* with real port */
/* Listens at a second address, any port of loopback, for the relay alone:
 * messages have the peer that relay_peer_of_port() names, and a connection that
 * is not the relay's is closed. `relay` is borrowed until nng_socket_stop().
 * *url is the socket's. Once. HT_IO */
enum ht_status nng_socket_listen_behind(struct nng_socket *socket,
                                        struct relay *relay, const char **url,
                                        struct ht_error *err);
/* Stops reading messages and waits until each one taken has its answer; to be
 * called before core_stop() and logs_stop(). The port stays bound until the
 * program ends. Accepts NULL. */
void nng_socket_stop(struct nng_socket *socket);

#endif
