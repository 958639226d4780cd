/* Sessions between two ends in this process: whom each accepts, by which
 * versions and ciphers, and what changes while they last. */
#include "tests/check.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <gnutls/gnutls.h>

#include "proto/net/tls.h"
#include "proto/net/tls_files.h"
#include "tests/lib/own_folder.h"

static const char *const hosts[] = {"tuner.example", "*.wild.example",
                                    "127.0.0.1", "::1"};

static void make(const char *ca, const char *name, int days, bool is_client)
{
    char files[4][64];
    for (int i = 0; i < 4; i++)
        (void)snprintf(files[i], sizeof *files, "%s%s.pem", i < 2 ? name : ca,
                       i % 2 == 0 ? "" : "-key");
    const struct tls_certificate wanted = {.cert = files[0],
                                           .key = files[1],
                                           .ca = files[2],
                                           .ca_key = files[3],
                                           .name = name,
                                           .hosts = hosts,
                                           .n_hosts = is_client ? 0 : 4,
                                           .days = days,
                                           .is_client = is_client};
    CHECK(tls_make_certificate(&wanted, NULL) == HT_OK);
}

/* In the test's own folder. */
static void make_files(void)
{
    CHECK(tls_make_ca("ca.pem", "ca-key.pem", "CA", 30, NULL) == HT_OK);
    /* Of the same name, so that only its signature tells it apart. */
    CHECK(tls_make_ca("other.pem", "other-key.pem", "CA", 30, NULL) == HT_OK);
    make("ca", "server", 30, false);
    make("ca", "old", -1, false);
    make("ca", "client", 30, true);
    make("ca", "late", -1, true);
    make("ca", "gone", 30, true);
    make("other", "foreign", 30, true);
}

/* ---- two ends ---- */

struct end {
    struct tls_session *session;
    int fd;
    enum tls_result result; /* of its handshake */
    struct ht_error err;
};

struct pair {
    struct end server, client;
};

static bool step(struct end *end)
{
    if (end->result == TLS_WANT_READ || end->result == TLS_WANT_WRITE)
        end->result = tls_handshake(end->session, &end->err);
    return end->result == TLS_DONE || end->result == TLS_FAILED;
}

static struct pair connect_to(struct tls_server *server,
                              struct tls_client *client, const char *host)
{
    enum { STEPS = 1000 }; /* far more than any handshake has */
    int fds[2];
    CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0,
                     fds) == 0);
    struct pair pair = {
        .server = {tls_accept(server, fds[0]), fds[0], TLS_WANT_READ, {0}},
        .client = {
            tls_connect(client, fds[1], host), fds[1], TLS_WANT_WRITE, {0}}};
    bool over = false;
    for (int i = 0; i < STEPS && !over; i++) {
        over = step(&pair.client);
        over = step(&pair.server) && over;
    }
    CHECK(over);
    return pair;
}

static void disconnect(struct pair *pair)
{
    struct end *const ends[] = {&pair->server, &pair->client};
    for (int i = 0; i < 2; i++) {
        tls_session_free(ends[i]->session);
        close(ends[i]->fd);
    }
}

static bool are_connected(const struct pair *pair)
{
    return pair->server.result == TLS_DONE && pair->client.result == TLS_DONE;
}

static bool passes(const struct end *from, const struct end *to)
{
    char got[8] = "";
    return tls_send(from->session, "bytes", 5) == 5 &&
           tls_recv(to->session, got, sizeof got) == 5 &&
           memcmp(got, "bytes", 5) == 0;
}

static struct tls_server *serve(const struct tls_server_settings *settings)
{
    struct tls_server *server = NULL;
    struct ht_error err = {.text = ""};
    CHECK(tls_server_open(settings, &server, &err) == HT_OK);
    CHECK_TEXT(err.text, "");
    return server;
}

static const struct tls_server_settings plain = {.cert = "server.pem",
                                                 .key = "server-key.pem"};

static struct tls_client *trust(const struct tls_client_settings *settings)
{
    struct tls_client *client = NULL;
    CHECK(tls_client_open(settings, &client, NULL) == HT_OK);
    return client;
}

static const struct tls_client_settings by_ca = {.ca = "ca.pem"};

/* Whether such a client is connected to such a server by that name; *err: of
 * the client. */
static bool connects(const struct tls_server_settings *served,
                     const struct tls_client_settings *trusted,
                     const char *host, struct ht_error *err)
{
    struct tls_server *server = serve(served);
    struct tls_client *client = trust(trusted);
    struct pair pair = connect_to(server, client, host);
    const bool connected = are_connected(&pair);
    if (err != NULL)
        *err = pair.client.err;
    disconnect(&pair);
    tls_client_free(client);
    tls_server_free(server);
    return connected;
}

/* ---- bytes ---- */

static void bytes_pass_both_ways_and_an_end_is_no_loss(void)
{
    struct tls_server *server = serve(&plain);
    struct tls_client *client = trust(&by_ca);
    struct pair pair = connect_to(server, client, "tuner.example");
    char byte;
    tls_server_free(server); /* sessions outlive both */
    tls_client_free(client);
    CHECK(passes(&pair.client, &pair.server));
    CHECK(passes(&pair.server, &pair.client));
    CHECK(tls_recv(pair.client.session, &byte, 1) == -1 && errno == EAGAIN);
    CHECK(tls_end(pair.server.session) == TLS_DONE);
    CHECK(tls_recv(pair.client.session, &byte, 1) == 0);
    CHECK(passes(&pair.client, &pair.server)); /* the other direction */
    CHECK(shutdown(pair.client.fd, SHUT_WR) == 0);
    CHECK(tls_recv(pair.server.session, &byte, 1) == -1 && errno == ECONNRESET);
    disconnect(&pair);
}

static void what_is_left_of_a_record_is_known(void)
{
    struct tls_server *server = serve(&plain);
    struct tls_client *client = trust(&by_ca);
    struct pair pair = connect_to(server, client, "tuner.example");
    char byte;
    CHECK(tls_send(pair.client.session, "ab", 2) == 2);
    CHECK(!tls_has_more(pair.server.session));
    CHECK(tls_recv(pair.server.session, &byte, 1) == 1 && byte == 'a');
    CHECK(tls_has_more(pair.server.session));
    CHECK(tls_recv(pair.server.session, &byte, 1) == 1 && byte == 'b');
    CHECK(!tls_has_more(pair.server.session));
    disconnect(&pair);
    tls_client_free(client);
    tls_server_free(server);
}

/* ---- whom a client trusts ---- */

static void the_certificate_must_name_the_host(void)
{
    const char *const named[] = {"tuner.example", "TUNER.example",
                                 "a.wild.example", "127.0.0.1", "::1"};
    const char *const others[] = {
        "example",      "other.example",    "tuner.example.evil.example",
        "wild.example", "a.b.wild.example", "127.0.0.2",
        "::2"};
    struct ht_error err;
    for (size_t i = 0; i < sizeof named / sizeof *named; i++)
        CHECK(connects(&plain, &by_ca, named[i], NULL));
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        CHECK(!connects(&plain, &by_ca, others[i], &err));
        CHECK(strstr(err.text, "names another host") != NULL);
    }
}

static void a_certificate_must_be_valid_now_and_of_the_authority(void)
{
    const struct tls_server_settings old = {"old.pem", "old-key.pem", NULL,
                                            NULL, false};
    const struct tls_server_settings turned = {"client.pem", "client-key.pem",
                                               NULL, NULL, false};
    const struct tls_client_settings foreign = {.ca = "other.pem"};
    const struct tls_client_settings system = {0};
    struct ht_error err;
    CHECK(!connects(&old, &by_ca, "tuner.example", &err));
    CHECK(strstr(err.text, "has expired") != NULL);
    CHECK(!connects(&plain, &foreign, "tuner.example", &err));
    CHECK(strstr(err.text, "not signed by a CA") != NULL);
    CHECK(!connects(&plain, &system, "tuner.example", &err));
    CHECK(!connects(&turned, &by_ca, "tuner.example", &err));
}

static void pin_of(const char *file, char pin[TLS_PIN_BYTES])
{
    CHECK(tls_pin_of_file(file, pin, NULL) == HT_OK);
}

static void a_pin_decides_without_names_and_authorities(void)
{
    char right[TLS_PIN_BYTES], wrong[TLS_PIN_BYTES];
    char both[2 * TLS_PIN_BYTES];
    struct ht_error err;
    pin_of("server.pem", right);
    pin_of("client.pem", wrong);
    (void)snprintf(both, sizeof both, "%s;%s", wrong, right);
    const struct tls_client_settings by_right = {.pins = right},
                                     by_wrong = {.pins = wrong},
                                     by_both = {.pins = both};
    CHECK(connects(&plain, &by_right, "any.example", NULL));
    CHECK(connects(&plain, &by_both, "any.example", NULL));
    CHECK(!connects(&plain, &by_wrong, "tuner.example", &err));
    CHECK(strstr(err.text, "none of the pins") != NULL);
    CHECK(err.status == HT_UNAUTHENTICATED);
}

static void a_pin_and_an_authority_must_both_fit(void)
{
    char right[TLS_PIN_BYTES], wrong[TLS_PIN_BYTES];
    pin_of("server.pem", right);
    pin_of("client.pem", wrong);
    const struct tls_client_settings fit = {.pins = right, .ca = "ca.pem"};
    const struct tls_client_settings wrong_pin = {.pins = wrong,
                                                  .ca = "ca.pem"};
    const struct tls_client_settings wrong_ca = {.pins = right,
                                                 .ca = "other.pem"};
    CHECK(connects(&plain, &fit, "tuner.example", NULL));
    CHECK(!connects(&plain, &fit, "other.example", NULL));
    CHECK(!connects(&plain, &wrong_pin, "tuner.example", NULL));
    CHECK(!connects(&plain, &wrong_ca, "tuner.example", NULL));
}

static void malformed_pins_are_named(void)
{
    char right[TLS_PIN_BYTES], text[TLS_PIN_BYTES * 10] = "";
    struct tls_pins pins = {.n = 7};
    struct ht_error err;
    pin_of("server.pem", right);
    const char *const wrong[] = {
        "",
        "x",
        "sha256//",
        "sha1//AAAA",
        "sha256//AAAA",
        "sha256//AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA==",
        "sha256//!AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=",
        "sha256//AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA= "};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        CHECK(tls_pins_read(wrong[i], &pins, &err) == HT_INVALID);
        CHECK(strstr(err.text, wrong[i]) != NULL);
    }
    CHECK(tls_pins_read(";", &pins, &err) == HT_INVALID);
    CHECK(pins.n == 7); /* as before */
    for (int i = 0; i <= TLS_PINS; i++) {
        if (i == TLS_PINS)
            CHECK(tls_pins_read(text, &pins, NULL) == HT_OK);
        (void)snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s",
                       i > 0 ? ";" : "", right);
    }
    CHECK(pins.n == TLS_PINS);
    CHECK_TEXT(pins.items[TLS_PINS - 1], right);
    CHECK(tls_pins_read(text, &pins, &err) == HT_INVALID);
    CHECK_TEXT(err.text, "more than 8 pins");
}

/* ---- rotation ---- */

static void copy(const char *from, const char *to)
{
    char line[256];
    (void)snprintf(line, sizeof line, "cp %s %s", from, to);
    CHECK(system(line) == 0);
}

static void a_key_changes_and_clients_with_both_pins_see_no_gap(void)
{
    char now[TLS_PIN_BYTES], next[TLS_PIN_BYTES], both[2 * TLS_PIN_BYTES];
    copy("server.pem", "turning.pem");
    copy("server-key.pem", "turning-key.pem");
    make("ca", "next", 30, false);
    pin_of("server.pem", now);
    pin_of("next.pem", next);
    (void)snprintf(both, sizeof both, "%s;%s", now, next);
    const struct tls_server_settings turning = {.cert = "turning.pem",
                                                .key = "turning-key.pem"};
    const struct tls_client_settings by_now = {.pins = now};
    struct tls_server *server = serve(&turning);
    struct tls_client *client = trust(&by_now);
    struct pair before = connect_to(server, client, "x");
    CHECK(are_connected(&before));
    copy("next.pem", "turning.pem");
    CHECK(tls_server_reload(server, NULL) == HT_INVALID); /* half of it */
    struct pair between = connect_to(server, client, "x");
    CHECK(are_connected(&between));
    copy("next-key.pem", "turning-key.pem");
    CHECK(tls_server_reload(server, NULL) == HT_OK);
    struct pair after = connect_to(server, client, "x");
    CHECK(!are_connected(&after));
    CHECK(tls_client_set_pins(client, "x", NULL) == HT_INVALID);
    CHECK(tls_client_set_pins(client, both, NULL) == HT_OK);
    struct pair knowing = connect_to(server, client, "x");
    CHECK(are_connected(&knowing));
    CHECK(passes(&before.client, &before.server)); /* by the key of then */
    disconnect(&before);
    disconnect(&between);
    disconnect(&after);
    disconnect(&knowing);
    tls_client_free(client);
    tls_server_free(server);
}

/* ---- files ---- */

static void write_text(const char *file, const char *text)
{
    FILE *out = fopen(file, "we");
    CHECK(out != NULL);
    if (out == NULL)
        return;
    CHECK(fputs(text, out) >= 0);
    (void)fclose(out);
}

static void check_server_refused(const char *cert, const char *key,
                                 const char *ca, enum ht_status status,
                                 const char *text)
{
    struct tls_server *server = NULL;
    struct ht_error err = {.text = ""};
    const struct tls_server_settings settings = {
        .cert = cert, .key = key, .client_ca = ca};
    CHECK(tls_server_open(&settings, &server, &err) == status);
    CHECK(server == NULL);
    if (strstr(err.text, text) == NULL)
        CHECK_TEXT(err.text, text);
}

static void files_that_cannot_be_used_are_named(void)
{
    copy("server-key.pem", "wide-key.pem");
    CHECK(chmod("wide-key.pem", 0640) == 0);
    write_text("broken.pem", "no certificate\n");
    write_text("broken-key.pem", "no key\n");
    CHECK(chmod("broken-key.pem", 0600) == 0);
    check_server_refused("none.pem", "server-key.pem", NULL, HT_IO,
                         "cannot read none.pem");
    check_server_refused("server.pem", "none.pem", NULL, HT_IO,
                         "cannot read none.pem");
    check_server_refused("broken.pem", "server-key.pem", NULL, HT_INVALID,
                         "broken.pem");
    check_server_refused("server.pem", "broken-key.pem", NULL, HT_INVALID,
                         "broken-key.pem");
    check_server_refused("server.pem", "client-key.pem", NULL, HT_INVALID,
                         "client-key.pem");
    check_server_refused("server.pem", "server-key.pem", "broken.pem",
                         HT_INVALID, "broken.pem holds no certificate");
    check_server_refused("server.pem", "server-key.pem", "none.pem", HT_IO,
                         "cannot read none.pem");
    tls_server_free(serve(&(struct tls_server_settings){
        .cert = "server.pem", .key = "wide-key.pem"})); /* its group may */
    for (mode_t bit = 1; bit <= 4; bit *= 2) {
        CHECK(chmod("wide-key.pem", 0600 | bit) == 0);
        check_server_refused("server.pem", "wide-key.pem", NULL, HT_INVALID,
                             "all users of this machine may use the key "
                             "wide-key.pem");
    }
}

static void a_client_gives_a_certificate_with_its_key(void)
{
    struct tls_client *client = NULL;
    struct ht_error err;
    const struct tls_client_settings half = {.ca = "ca.pem",
                                             .cert = "client.pem"};
    CHECK(tls_client_open(&half, &client, &err) == HT_INVALID);
    CHECK(strstr(err.text, "are given together") != NULL);
    const struct tls_client_settings wrong = {.pins = "x"};
    CHECK(tls_client_open(&wrong, &client, &err) == HT_INVALID);
    const struct tls_client_settings none = {.ca = "none.pem"};
    CHECK(tls_client_open(&none, &client, &err) == HT_IO);
    CHECK(client == NULL);
}

/* An authority of tls_make_ca() signs none below it. */
static void a_chain_is_shown_whole(void)
{
    if (system("command -v openssl >/dev/null") != 0)
        SKIP("openssl is not installed");
    CHECK(system("exec >/dev/null 2>&1; set -e; new='openssl req -newkey ec "
                 "-pkeyopt ec_paramgen_curve:P-256 -nodes -batch'; "
                 "$new -x509 -days 2 -subj /CN=root -keyout root-key.pem -out "
                 "root.pem; "
                 "$new -subj /CN=middle -keyout middle-key.pem -out m.csr; "
                 "echo basicConstraints=critical,CA:TRUE >m.ext; "
                 "openssl x509 -req -days 2 -in m.csr -CA root.pem -CAkey "
                 "root-key.pem -set_serial 5 -extfile m.ext -out "
                 "middle.pem") == 0);
    make("middle", "leaf", 30, false); /* it appends its issuer's */
    CHECK(system("openssl x509 -in leaf.pem -out alone.pem") == 0);
    const struct tls_client_settings by_root = {.ca = "root.pem"};
    struct tls_server_settings served = {.cert = "leaf.pem",
                                         .key = "leaf-key.pem"};
    CHECK(connects(&served, &by_root, "tuner.example", NULL));
    served.cert = "alone.pem";
    CHECK(!connects(&served, &by_root, "tuner.example", NULL));
}

/* ---- certificates of clients ---- */

static const struct tls_server_settings asking = {.cert = "server.pem",
                                                  .key = "server-key.pem",
                                                  .client_ca = "asked.pem",
                                                  .crl = "crl.pem"};

/* What the server says of a client with that certificate; its name when it was
 * accepted. */
static void check_shown(struct tls_server *server, const char *name,
                        const char *accepted, const char *why)
{
    char cert[64], key[64];
    (void)snprintf(cert, sizeof cert, "%s.pem", name);
    (void)snprintf(key, sizeof key, "%s-key.pem", name);
    const bool shows = name[0] != '\0';
    const struct tls_client_settings settings = {
        .ca = "ca.pem", .cert = shows ? cert : NULL, .key = shows ? key : NULL};
    struct tls_client *client = trust(&settings);
    struct pair pair = connect_to(server, client, "tuner.example");
    char byte;
    if (why == NULL) {
        CHECK(are_connected(&pair));
        CHECK_TEXT(tls_client_name(pair.server.session), accepted);
    } else {
        CHECK(pair.server.result == TLS_FAILED);
        CHECK(pair.server.err.status == HT_UNAUTHENTICATED);
        CHECK_TEXT(pair.server.err.text, why);
        /* By TLS 1.3 it learns that behind its own handshake. */
        CHECK(tls_recv(pair.client.session, &byte, 1) == -1);
        CHECK(errno == ECONNRESET);
    }
    disconnect(&pair);
    tls_client_free(client);
}

static void a_server_that_asks_accepts_its_authoritys_clients_only(void)
{
    copy("ca.pem", "asked.pem");
    struct tls_server *server = serve(&asking);
    check_shown(server, "client", "client", NULL);
    check_shown(server, "", NULL, "the client shows no certificate");
    check_shown(server, "foreign", NULL,
                "the client's certificate of foreign is not signed by a CA "
                "that is accepted here");
    check_shown(server, "late", NULL,
                "the client's certificate of late has expired");
    check_shown(server, "server", NULL,
                "the client's certificate of server is not one for clients");
    tls_server_free(server);
    server = serve(&plain); /* that does not ask */
    check_shown(server, "foreign", "", NULL);
    tls_server_free(server);
}

static void a_reload_takes_a_list_of_revoked_ones_and_other_authorities(void)
{
    copy("ca.pem", "asked.pem");
    struct tls_server *server = serve(&asking);
    check_shown(server, "gone", "gone", NULL);
    CHECK(tls_revoke("crl.pem", "gone.pem", "ca.pem", "ca-key.pem", NULL) ==
          HT_OK);
    check_shown(server, "gone", "gone", NULL); /* not yet */
    CHECK(tls_server_reload(server, NULL) == HT_OK);
    check_shown(server, "gone", NULL,
                "the client's certificate of gone is revoked");
    check_shown(server, "client", "client", NULL);
    write_text("crl.pem", "no list\n");
    CHECK(tls_server_reload(server, NULL) == HT_INVALID);
    check_shown(server, "gone", NULL,
                "the client's certificate of gone is revoked");
    CHECK(unlink("crl.pem") == 0);
    copy("other.pem", "asked.pem");
    CHECK(tls_server_reload(server, NULL) == HT_OK);
    check_shown(server, "client", NULL,
                "the client's certificate of client is not signed by a CA that "
                "is accepted here");
    check_shown(server, "foreign", "foreign", NULL);
    tls_server_free(server);
}

static void a_name_cannot_break_a_line(void)
{
    const struct tls_certificate odd = {.cert = "odd.pem",
                                        .key = "odd-key.pem",
                                        .ca = "ca.pem",
                                        .ca_key = "ca-key.pem",
                                        .name = "a\"b\\c\nd\x7f ok",
                                        .days = 30,
                                        .is_client = true};
    copy("ca.pem", "asked.pem");
    CHECK(tls_make_certificate(&odd, NULL) == HT_OK);
    struct tls_server *server = serve(&asking);
    check_shown(server, "odd", "a?bc?d? ok", NULL);
    tls_server_free(server);
}

/* ---- versions and ciphers ---- */

/* Whether a client that offers just that is connected. */
static bool offers(struct tls_server *server, const char *priorities)
{
    int fds[2];
    gnutls_session_t held;
    gnutls_certificate_credentials_t none;
    gnutls_anon_client_credentials_t anonymous;
    CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0,
                     fds) == 0);
    CHECK(gnutls_init(&held, GNUTLS_CLIENT | GNUTLS_NONBLOCK) == 0);
    CHECK(gnutls_certificate_allocate_credentials(&none) == 0);
    CHECK(gnutls_anon_allocate_client_credentials(&anonymous) == 0);
    CHECK(gnutls_priority_set_direct(held, priorities, NULL) == 0);
    gnutls_credentials_set(held, GNUTLS_CRD_CERTIFICATE, none);
    gnutls_credentials_set(held, GNUTLS_CRD_ANON, anonymous);
    gnutls_transport_set_int(held, fds[1]);
    struct end end = {tls_accept(server, fds[0]), fds[0], TLS_WANT_READ, {0}};
    int code = GNUTLS_E_AGAIN;
    while (code == GNUTLS_E_AGAIN || !step(&end)) {
        if (code == GNUTLS_E_AGAIN)
            code = gnutls_handshake(held);
        if (code < 0 && code != GNUTLS_E_AGAIN)
            (void)shutdown(fds[1], SHUT_RDWR);
        if (code == GNUTLS_E_AGAIN)
            (void)step(&end);
    }
    const bool connected = code == 0 && end.result == TLS_DONE;
    tls_session_free(end.session);
    gnutls_deinit(held);
    gnutls_certificate_free_credentials(none);
    gnutls_anon_free_client_credentials(anonymous);
    close(fds[0]);
    close(fds[1]);
    return connected;
}

static void old_versions_and_weak_ciphers_are_refused(void)
{
#define ALL "NORMAL:-VERS-ALL:+VERS-TLS1.2:"
    static const char *const strong[] = {
        "NORMAL:-VERS-ALL:+VERS-TLS1.3",      "NORMAL:-VERS-ALL:+VERS-TLS1.2",
        ALL "-CIPHER-ALL:+AES-128-GCM",       ALL "-CIPHER-ALL:+AES-256-GCM",
        ALL "-CIPHER-ALL:+CHACHA20-POLY1305",
    };
    static const char *const weak[] = {
        "NORMAL:-VERS-ALL:+VERS-TLS1.1",
        "NORMAL:-VERS-ALL:+VERS-TLS1.0",
        ALL "-CIPHER-ALL:+AES-128-CBC:+AES-256-CBC",
        ALL "-CIPHER-ALL:+AES-128-CCM",
        ALL "-CIPHER-ALL:+3DES-CBC",
        ALL "-CIPHER-ALL:+ARCFOUR-128:+MD5",
        ALL "-CIPHER-ALL:+NULL",
        ALL "-KX-ALL:+RSA",
        ALL "-KX-ALL:+ANON-ECDH:+ANON-DH",
        ALL "-KX-ALL:+DHE-RSA",
        ALL "-SIGN-ALL:+SIGN-ECDSA-SHA1:+SIGN-RSA-SHA1",
        ALL "%DISABLE_SAFE_RENEGOTIATION",
    };
    struct tls_server *server = serve(&plain);
    for (size_t i = 0; i < sizeof strong / sizeof *strong; i++)
        CHECK_TEXT(offers(server, strong[i]) ? strong[i] : "", strong[i]);
    for (size_t i = 0; i < sizeof weak / sizeof *weak; i++)
        CHECK_TEXT(offers(server, weak[i]) ? weak[i] : "", "");
    tls_server_free(server);
}

int main(void)
{
    own_folder_enter();
    make_files();
    RUN(bytes_pass_both_ways_and_an_end_is_no_loss);
    RUN(what_is_left_of_a_record_is_known);
    RUN(the_certificate_must_name_the_host);
    RUN(a_certificate_must_be_valid_now_and_of_the_authority);
    RUN(a_pin_decides_without_names_and_authorities);
    RUN(a_pin_and_an_authority_must_both_fit);
    RUN(malformed_pins_are_named);
    RUN(a_key_changes_and_clients_with_both_pins_see_no_gap);
    RUN(files_that_cannot_be_used_are_named);
    RUN(a_client_gives_a_certificate_with_its_key);
    RUN(a_chain_is_shown_whole);
    RUN(a_server_that_asks_accepts_its_authoritys_clients_only);
    RUN(a_reload_takes_a_list_of_revoked_ones_and_other_authorities);
    RUN(a_name_cannot_break_a_line);
    RUN(old_versions_and_weak_ciphers_are_refused);
    return check_done();
}
