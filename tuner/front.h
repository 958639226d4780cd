/* front.h - the addresses that other machines reach: certificates, and the
 * relay that ends TLS before HTTP, reports and control.
 *
 * One thread ends TLS for all three with one set of deadlines and budgets, and
 * checks the heads of HTTP as raw bytes, those of plain HTTP off loopback, too.
 * Behind it are the listeners that a server of loopback has, at any ports of
 * 127.0.0.1. */
#ifndef HT_TUNER_FRONT_H
#define HT_TUNER_FRONT_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/error.h"

struct core;
struct front;
struct gate;
struct http;
struct nng_socket;
struct options;
struct tls_board;

/* Whether these options ask for HTTP by TLS: not behind a proxy, which ends
 * it. */
bool front_has_https(const struct options *options);
/* Whether the public address of HTTP is the front's: by TLS, or off loopback.
 */
bool front_has_http(const struct options *options);

/* Reads the certificate, if there is one; starts the relay. Where nothing needs
 * it *front stays. HT_IO, HT_INVALID: files */
enum ht_status front_start(const struct options *options, struct front **front,
                           struct ht_error *err);
/* Ends every connection; after http_stop() and nng_socket_stop(), before
 * http_free(). Accepts NULL. */
void front_stop(struct front *front);

/* Clients whose certificate is missing or not accepted have a line in the audit
 * log of this core from now on; NULL: no more. Accepts a front of NULL. */
void front_audit(struct front *front, struct core *core);

/* Serves HTTP of the listening socket, which is taken over. `host` names it. */
enum ht_status front_open_http(struct front *front, struct http *http, int fd,
                               const char *host, struct ht_error *err);
/* Serves the socket at "tcp://HOST:PORT"; port 0, or `any_port` where it is in
 * use: any. */
enum ht_status front_open_report(struct front *front, struct nng_socket *socket,
                                 const char *url, bool any_port,
                                 struct ht_error *err);
enum ht_status front_open_control(struct front *front,
                                  struct nng_socket *socket, const char *url,
                                  bool any_port, struct ht_error *err);
/* The names of the certificate are this server's. */
enum ht_status front_allow_names(const struct front *front, struct gate *gate,
                                 int port, struct ht_error *err);

/* Borrowed until front_stop(); NULL: no TLS. Accepts NULL. */
struct tls_board *front_board(struct front *front);

/* Reads the files again when they have changed, at most once a minute unless
 * `now`. Files that cannot be used change nothing and are logged. Returns
 * whether pins may have changed; *next_ms: when to call again (monotonic). */
bool front_tick(struct front *front, bool now, int64_t now_ms,
                int64_t *next_ms);

#endif
