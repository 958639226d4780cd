/* uplink.h - addresses of 127.0.0.1 for a server that speaks TLS: what the
 * runner's trials and its own requests send there goes to the server by TLS.
 *
 * The address of reports keeps its port in uplink.json of the state folder, so
 * that trials continue over a restart of the runner and a change of the
 * server's address. The file also keeps the keys that the server announced, so
 * that a runner with --pin finds a server that has changed its key since.
 * Thread-safe. */
#ifndef HT_RUNNER_TALK_UPLINK_H
#define HT_RUNNER_TALK_UPLINK_H

#include "proto/base/error.h"
#include "proto/net/trust.h"
#include "runner/base/order.h"

struct uplink;

enum { UPLINK_URL_BYTES = 512, UPLINK_PINS_BYTES = 1024 };

struct uplink_settings { /* strings are copied */
    const char *state;   /* folder */
    const char *server;  /* HTTP URL */
    struct trust trust;
};

/* HT_INVALID  a pin is malformed */
enum ht_status uplink_open(const struct uplink_settings *settings,
                           struct uplink **uplink, struct ht_error *err);
void uplink_free(struct uplink *uplink); /* accepts NULL */

/* As the server named them; strings are borrowed. */
struct uplink_server {
    const char *control, *report; /* tcp:// or tls+tcp://; report may be "" */
    const char *pins;             /* of its keys, now and next; "": unknown */
};

/* Later connections go there; `control` gets the URL for the runner's requests.
 * HT_DENIED       tokens would go over the network in clear
 * HT_INVALID      an address or a pin is malformed, or its host is unknown
 * HT_IO           it cannot be listened on 127.0.0.1 */
enum ht_status uplink_aim(struct uplink *uplink,
                          const struct uplink_server *server,
                          char control[UPLINK_URL_BYTES], struct ht_error *err);

/* What trials report to in place of the server's own address; "" before the
 * first uplink_aim(), and where they reach the server themselves. */
void uplink_report_url(struct uplink *uplink, char url[UPLINK_URL_BYTES]);

/* How other machines report to the server, which they know by the keys that it
 * has announced. `way` has nothing where they must not: before the first
 * uplink_aim(), where the runner shows the server a certificate, whose key does
 * not leave this machine, and by a plain address without --insecure or of
 * loopback, where another machine has another program. Its texts are in the
 * struct. */
struct uplink_far {
    struct order_way way;
    char to[UPLINK_URL_BYTES], pins[UPLINK_PINS_BYTES];
};
void uplink_far(struct uplink *uplink, struct uplink_far *far);

/* The keys by which HTTPS may know the server: those of --pin and, with them,
 * those that the server has announced since; "": its certificate decides. */
void uplink_pins(struct uplink *uplink, char pins[UPLINK_PINS_BYTES]);

#endif
