#include "runner/talk/uplink.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "proto/base/arena.h"
#include "proto/base/log.h"
#include "proto/base/text.h"
#include "proto/doc/node.h"
#include "proto/net/address.h"
#include "proto/net/relay.h"
#include "runner/base/disk.h"
#include "runner/base/json.h"

enum { CONNECTIONS = 1024, MOST = 2 * CONNECTIONS };
#define HERE "127.0.0.1"
#define FILE_NAME "uplink.json"

struct uplink {
    pthread_mutex_t lock;
    struct arena *arena;
    const char *state;
    const char *of; /* whose keys uplink.json has: server and --pin */
    struct trust trust;
    struct relay *relay; /* NULL: nothing had to be relayed yet */
    struct tls_client *client;
    int control, report;          /* ports here; 0: none */
    bool reported;                /* reports go by the port */
    char pins[UPLINK_PINS_BYTES]; /* that the server announced */
    char far[UPLINK_URL_BYTES];   /* its address for reports; "": not known */
};

/* ---- uplink.json ---- */

static void read_file(struct uplink *uplink)
{
    struct arena *arena = arena_new();
    const struct node *map;
    struct tls_pins known;
    if (disk_read_json(arena, uplink->state, FILE_NAME, &map, NULL) == HT_OK) {
        const int64_t port = node_get_int(map, "report", 0);
        const char *pins = node_get_string(map, "pins", "");
        uplink->report = port > 0 && port <= UINT16_MAX ? (int)port : 0;
        if (strcmp(node_get_string(map, "of", ""), uplink->of) == 0 &&
            strlen(pins) < sizeof uplink->pins &&
            tls_pins_read(pins, &known, NULL) == HT_OK)
            (void)snprintf(uplink->pins, sizeof uplink->pins, "%s", pins);
    }
    arena_free(arena);
}

/* Without the file a restarted runner asks the server again. */
static void write_file(const struct uplink *uplink)
{
    struct text out = {0};
    struct ht_error err;
    json_open(&out, NULL);
    json_put_string(&out, "of", uplink->of);
    json_put_string(&out, "pins", uplink->pins);
    json_put_int(&out, "report", uplink->report);
    json_close(&out);
    if (disk_write(uplink->state, FILE_NAME, out.data, out.len, 0600, &err) !=
        HT_OK)
        log_event(LOG_WARN, "uplink.not_kept", "reason=\"%s\"", err.text);
    text_free(&out);
}

/* ---- opening ---- */

static const char *copy(struct arena *arena, const char *text)
{
    return text != NULL ? arena_strdup(arena, text) : NULL;
}

enum ht_status uplink_open(const struct uplink_settings *settings,
                           struct uplink **uplink, struct ht_error *err)
{
    struct tls_pins known;
    const char *pin = settings->trust.pin;
    if (pin != NULL && tls_pins_read(pin, &known, err) != HT_OK)
        return HT_INVALID;
    struct arena *arena = arena_new();
    struct uplink *made = arena_alloc(arena, 1, sizeof *made);
    made->arena = arena;
    made->state = arena_strdup(arena, settings->state);
    made->of =
        arena_printf(arena, "%s %s", settings->server, pin != NULL ? pin : "");
    made->trust = (struct trust){.ca = copy(arena, settings->trust.ca),
                                 .pin = copy(arena, pin),
                                 .cert = copy(arena, settings->trust.cert),
                                 .key = copy(arena, settings->trust.key),
                                 .insecure = settings->trust.insecure};
    pthread_mutex_init(&made->lock, NULL);
    read_file(made);
    *uplink = made;
    return HT_OK;
}

void uplink_free(struct uplink *uplink)
{
    if (uplink == NULL)
        return;
    relay_stop(uplink->relay);
    tls_client_free(uplink->client);
    pthread_mutex_destroy(&uplink->lock);
    arena_free(uplink->arena);
}

/* ---- the ways to the server ---- */

static bool is_tls(const char *url)
{
    return strncmp(url, "tls+tcp://", 10) == 0;
}

static enum ht_status check(const struct uplink *uplink, const char *url,
                            struct ht_error *err)
{
    char host[NI_MAXHOST];
    struct address address;
    if (is_tls(url) || uplink->trust.insecure)
        return HT_OK;
    if (!address_of_url(url, &address, host))
        return ht_fail(err, HT_INVALID, "%.100s: its host is not known", url);
    if (address_is_here(&address))
        return HT_OK;
    return ht_fail(err, HT_DENIED,
                   "%.100s shows tokens to the network; give the server a "
                   "certificate (docs/operations.md, \"On a network\"), or "
                   "start the runner with --insecure",
                   url);
}

/* The keys that the server announced over HTTPS say who it is; without them
 * the authority does. */
static enum ht_status trust_server(struct uplink *uplink, const char *pins,
                                   struct ht_error *err)
{
    if (uplink->client != NULL)
        return *pins != '\0' ? tls_client_set_pins(uplink->client, pins, err)
                             : HT_OK;
    const struct tls_client_settings settings = {
        .pins = *pins != '\0' ? pins : uplink->trust.pin,
        .ca = *pins != '\0' ? NULL : uplink->trust.ca,
        .cert = uplink->trust.cert,
        .key = uplink->trust.key};
    return tls_client_open(&settings, &uplink->client, err);
}

/* The relay takes port 0 for any that it has, but reports and control need one
 * each. */
static enum ht_status open_any(struct uplink *uplink,
                               struct relay_listener *wanted, int *port,
                               struct ht_error *err)
{
    struct address here;
    (void)address_read(HERE, 0, &here);
    wanted->fd = address_listen(&here);
    if (wanted->fd < 0)
        return ht_fail_errno(err, errno, "cannot listen on " HERE);
    const enum ht_status status = relay_open(uplink->relay, wanted, port, err);
    if (status != HT_OK)
        close(wanted->fd);
    return status;
}

/* Passes `port` of 127.0.0.1 on to the URL. A port that trials still use may
 * be taken when the runner starts again: then they report by file. */
static enum ht_status pass_on(struct uplink *uplink, const char *url, int *port,
                              struct ht_error *err)
{
    struct relay_listener wanted = {.address = HERE,
                                    .port = *port,
                                    .to = url,
                                    .connect_tls =
                                        is_tls(url) ? uplink->client : NULL,
                                    .most = CONNECTIONS,
                                    .unfinished = CONNECTIONS,
                                    .unfinished_each = CONNECTIONS};
    enum ht_status status = HT_OK;
    if (uplink->relay == NULL)
        status = relay_start(MOST, &uplink->relay, err);
    if (status == HT_OK && *port != 0)
        status = relay_open(uplink->relay, &wanted, port, err);
    if (status == HT_OK && *port == 0)
        return open_any(uplink, &wanted, port, err);
    if (status != HT_IO)
        return status;
    log_event(LOG_WARN, "uplink.port_taken", "port=%d", *port);
    return open_any(uplink, &wanted, port, err);
}

static enum ht_status aim_control(struct uplink *uplink, const char *url,
                                  char control[UPLINK_URL_BYTES],
                                  struct ht_error *err)
{
    if (!is_tls(url)) {
        (void)snprintf(control, UPLINK_URL_BYTES, "%s", url);
        return HT_OK;
    }
    const enum ht_status status = pass_on(uplink, url, &uplink->control, err);
    if (status == HT_OK)
        (void)snprintf(control, UPLINK_URL_BYTES, "tcp://" HERE ":%d",
                       uplink->control);
    return status;
}

/* Trials that began with a port here keep it, whatever the server has now. */
static enum ht_status aim_report(struct uplink *uplink, const char *url,
                                 struct ht_error *err)
{
    if (*url == '\0' || (!is_tls(url) && uplink->report == 0))
        return HT_OK;
    const enum ht_status status = pass_on(uplink, url, &uplink->report, err);
    uplink->reported = status == HT_OK;
    return status;
}

static enum ht_status aim(struct uplink *uplink,
                          const struct uplink_server *server,
                          char control[UPLINK_URL_BYTES], struct ht_error *err)
{
    const int port = uplink->report;
    enum ht_status status = check(uplink, server->control, err);
    if (status == HT_OK && *server->report != '\0')
        status = check(uplink, server->report, err);
    if (status == HT_OK && (is_tls(server->control) || is_tls(server->report)))
        status = trust_server(uplink, server->pins, err);
    if (status == HT_OK)
        status = aim_report(uplink, server->report, err);
    if (status == HT_OK)
        status = aim_control(uplink, server->control, control, err);
    if (status != HT_OK)
        return status;
    const bool renewed = strcmp(uplink->pins, server->pins) != 0 &&
                         strlen(server->pins) < sizeof uplink->pins;
    if (renewed)
        (void)snprintf(uplink->pins, sizeof uplink->pins, "%s", server->pins);
    (void)snprintf(uplink->far, sizeof uplink->far, "%s", server->report);
    if (renewed || port != uplink->report)
        write_file(uplink);
    return HT_OK;
}

enum ht_status uplink_aim(struct uplink *uplink,
                          const struct uplink_server *server,
                          char control[UPLINK_URL_BYTES], struct ht_error *err)
{
    pthread_mutex_lock(&uplink->lock);
    const enum ht_status status = aim(uplink, server, control, err);
    pthread_mutex_unlock(&uplink->lock);
    return status;
}

void uplink_report_url(struct uplink *uplink, char url[UPLINK_URL_BYTES])
{
    pthread_mutex_lock(&uplink->lock);
    url[0] = '\0';
    if (uplink->reported)
        (void)snprintf(url, UPLINK_URL_BYTES, "tcp://" HERE ":%d",
                       uplink->report);
    pthread_mutex_unlock(&uplink->lock);
}

void uplink_far(struct uplink *uplink, struct uplink_far *far)
{
    pthread_mutex_lock(&uplink->lock);
    const char *url = uplink->far;
    const bool may = is_tls(url)
                         ? uplink->pins[0] != '\0' && uplink->trust.cert == NULL
                         : uplink->trust.insecure && *url != '\0' &&
                               !address_url_is_loopback(url);
    (void)snprintf(far->to, sizeof far->to, "%s", url);
    (void)snprintf(far->pins, sizeof far->pins, "%s", uplink->pins);
    far->way =
        (struct order_way){.to = may ? far->to : NULL,
                           .pins = may && is_tls(url) ? far->pins : NULL};
    pthread_mutex_unlock(&uplink->lock);
}

void uplink_pins(struct uplink *uplink, char pins[UPLINK_PINS_BYTES])
{
    pthread_mutex_lock(&uplink->lock);
    const char *given = uplink->trust.pin;
    const int len =
        snprintf(pins, UPLINK_PINS_BYTES, "%s%s%s", given != NULL ? given : "",
                 given != NULL && uplink->pins[0] != '\0' ? ";" : "",
                 given != NULL ? uplink->pins : "");
    if (len >= UPLINK_PINS_BYTES)
        (void)snprintf(pins, UPLINK_PINS_BYTES, "%s", given);
    pthread_mutex_unlock(&uplink->lock);
}
