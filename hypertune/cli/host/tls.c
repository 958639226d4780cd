/* tls.c - `hypertune tls`: the certificates of this user's own server and of
 * its clients, made here and signed by an authority of its own.
 *
 * A rotation has two steps, so that clients with a pin never lose the server:
 * the first makes the next key, whose pin is announced from then on, the second
 * puts it to use. */

#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "hypertune/cli/frame/commands.h"
#include "hypertune/cli/frame/output.h"
#include "hypertune/cli/frame/server.h"
#include "hypertune/cli/host/seal.h"
#include "proto/base/clock.h"
#include "proto/base/secret_file.h"
#include "proto/doc/diag.h"
#include "proto/doc/json.h"
#include "proto/net/tls_files.h"

enum {
    CA_DAYS = 3650,
    DAYS = 825,
    NAME_BYTES = 256,
    CLIENT_BYTES = 64 /* most of a common name, RFC 5280 */
};

struct files {
    const char *folder, *ca, *ca_key, *cert, *key, *next, *crl, *clients;
};

static const char *inside(struct cli *cli, const char *folder, const char *name)
{
    return arena_printf(cli->arena, "%s/%s", folder, name);
}

static struct files files_of(struct cli *cli, const char *data)
{
    const char *folder = inside(cli, data, "tls");
    return (struct files){folder,
                          inside(cli, folder, "ca.pem"),
                          inside(cli, folder, "ca-key.pem"),
                          inside(cli, folder, "cert.pem"),
                          inside(cli, folder, "key.pem"),
                          inside(cli, folder, "next-key.pem"),
                          inside(cli, folder, "crl.pem"),
                          inside(cli, folder, "clients")};
}

static bool is_there(const char *file)
{
    return access(file, F_OK) == 0;
}

/* ---- hosts ---- */

static void add_host(struct cli *cli, struct words *hosts, const char *host)
{
    for (size_t i = 0; i < hosts->n; i++)
        if (strcasecmp(hosts->items[i], host) == 0)
            return;
    words_add(cli->arena, hosts, host);
}

static void add_hosts(struct cli *cli, struct words *hosts, const char *list)
{
    while (*list != '\0') {
        const size_t len = strcspn(list, ",");
        if (len > 0)
            add_host(cli, hosts, arena_strndup(cli->arena, list, len));
        list += len + (list[len] == ',');
    }
}

/* The hosts of the flags, else of the present certificate, else this machine's
 * name; always with the names of loopback. */
static enum ht_status find_hosts(struct cli *cli, const struct files *files,
                                 struct words *hosts, struct ht_error *err)
{
    struct tls_file_facts facts = {.hosts = ""};
    char name[NAME_BYTES] = "";
    for (size_t i = 0; i < cli->set.hosts.n; i++)
        add_hosts(cli, hosts, cli->set.hosts.items[i]);
    if (hosts->n == 0 && is_there(files->cert)) {
        const enum ht_status status =
            tls_facts_of_file(files->cert, &facts, err);
        if (status != HT_OK)
            return status;
        add_hosts(cli, hosts, facts.hosts);
    }
    if (hosts->n == 0 && gethostname(name, sizeof name - 1) == 0)
        add_hosts(cli, hosts, name);
    add_hosts(cli, hosts, "localhost,127.0.0.1,::1");
    return HT_OK;
}

/* ---- what is printed ---- */

static const char *pin_of(struct cli *cli, const char *file)
{
    char pin[TLS_PIN_BYTES];
    return is_there(file) && tls_pin_of_file(file, pin, NULL) == HT_OK
               ? arena_strdup(cli->arena, pin)
               : NULL;
}

static void write_lines(struct cli *cli, const struct files *files,
                        const struct tls_file_facts *server,
                        const struct tls_file_facts *ca, struct text *out)
{
    const char *next = pin_of(cli, files->next);
    const int64_t left_ms = server->ends - clock_wall_ms();
    text_printf(out, "certificate  %s\n", files->cert);
    text_printf(out, "hosts        %s\n", server->hosts);
    text_printf(out, "fingerprint  %s\n", server->fingerprint);
    text_printf(out, "pin          %s\n", server->pin);
    if (next != NULL)
        text_printf(out, "next pin     %s\n", next);
    if (left_ms > 0)
        text_printf(out, "ends in      %lld days\n",
                    (long long)(left_ms / 86400000));
    else
        text_puts(out, "ends in      it has expired: run hypertune tls init\n");
    text_printf(out, "authority    %s\n", files->ca);
    text_printf(out, "fingerprint  %s\n", ca->fingerprint);
}

static void write_object(struct cli *cli, const struct files *files,
                         const struct tls_file_facts *server,
                         const struct tls_file_facts *ca, struct text *out)
{
    cJSON *object = cJSON_CreateObject();
    json_add_string(object, "certificate", files->cert);
    json_add_string(object, "hosts", server->hosts);
    json_add_string(object, "fingerprint", server->fingerprint);
    json_add_string(object, "pin", server->pin);
    json_add_text(object, "nextPin", pin_of(cli, files->next));
    json_add_int(object, "endsMs", server->ends);
    json_add_string(object, "authority", files->ca);
    json_add_string(object, "authorityFingerprint", ca->fingerprint);
    struct text json = {0};
    struct diag diag;
    json_print(object, &json);
    diag_init(&diag, cli->arena, "tls", json.data, json.len);
    cli_output_resource(cli->format,
                        node_read_json(cli->arena, json.data, json.len, &diag),
                        out);
    text_free(&json);
}

static int show(struct cli *cli, const struct files *files)
{
    struct tls_file_facts server, ca;
    struct ht_error err;
    if (!is_there(files->cert))
        return cli_fail(cli, CLI_ABSENT,
                        "%s has no certificate: make one with hypertune tls "
                        "init",
                        files->folder);
    if (tls_facts_of_file(files->cert, &server, &err) != HT_OK ||
        tls_facts_of_file(files->ca, &ca, &err) != HT_OK)
        return cli_fail_error(cli, &err);
    struct text out = {0};
    if (cli_is_table(cli))
        write_lines(cli, files, &server, &ca, &out);
    else
        write_object(cli, files, &server, &ca, &out);
    return cli_print(&out);
}

/* ---- making ---- */

static enum ht_status make(struct cli *cli, const struct files *files,
                           const char *key, struct ht_error *err)
{
    struct words hosts = {0};
    enum ht_status status = find_hosts(cli, files, &hosts, err);
    const struct tls_certificate wanted = {
        .cert = files->cert,
        .key = key,
        .ca = files->ca,
        .ca_key = files->ca_key,
        .name = hosts.n > 0 ? hosts.items[0] : "",
        .hosts = hosts.items,
        .n_hosts = hosts.n,
        .days = DAYS,
    };
    return status == HT_OK ? tls_make_certificate(&wanted, err) : status;
}

static int init(struct cli *cli, const struct files *files)
{
    struct ht_error err;
    enum ht_status status =
        cli_server_make_folder(cli->arena, files->folder, &err);
    if (status == HT_OK && !is_there(files->ca))
        status = tls_make_ca(files->ca, files->ca_key, "hypertune CA", CA_DAYS,
                             &err);
    if (status == HT_OK)
        status = make(cli, files, files->key, &err);
    return status == HT_OK ? show(cli, files) : cli_fail_error(cli, &err);
}

static int announce(struct cli *cli, const struct files *files)
{
    struct ht_error err;
    if (tls_make_key(files->next, &err) != HT_OK)
        return cli_fail_error(cli, &err);
    cli_say(cli, "the next key is announced; run hypertune tls rotate again "
                 "when each client with a pin has the next one, too");
    return show(cli, files);
}

static int rotate(struct cli *cli, const struct files *files)
{
    struct ht_error err;
    if (!is_there(files->cert))
        return show(cli, files);
    if (!is_there(files->next))
        return announce(cli, files);
    /* While the next key is there, a rotation that failed can be repeated. */
    if (make(cli, files, files->next, &err) != HT_OK)
        return cli_fail_error(cli, &err);
    if (rename(files->next, files->key) != 0)
        return cli_fail(cli, CLI_REFUSED, "cannot replace %s: %s", files->key,
                        strerror(errno));
    return show(cli, files);
}

/* ---- clients ---- */

struct client {
    const char *name, *cert, *key;
};

/* It is part of paths, and of lines of the audit log. */
static bool is_name(const char *name)
{
    const size_t len = strlen(name);
    return len > 0 && len <= CLIENT_BYTES && isalnum((unsigned char)name[0]) &&
           strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                        "0123456789._-") == len;
}

/* False: the name is wrong, which has been said. */
static bool find_client(struct cli *cli, const struct files *files,
                        struct client *client)
{
    const char *name = cli->args.words.items[1];
    if (!is_name(name)) {
        (void)cli_fail(cli, CLI_USAGE,
                       "\"%.100s\" is no name for a certificate: letters, "
                       "digits and . _ - behind a letter or digit, at most %d",
                       name, CLIENT_BYTES);
        return false;
    }
    *client = (struct client){
        name, arena_printf(cli->arena, "%s/%s.pem", files->clients, name),
        arena_printf(cli->arena, "%s/%s.key", files->clients, name)};
    return true;
}

static int show_client(struct cli *cli, const struct client *client)
{
    struct tls_file_facts facts;
    struct ht_error err;
    if (tls_facts_of_file(client->cert, &facts, &err) != HT_OK)
        return cli_fail_error(cli, &err);
    struct text out = {0};
    text_printf(&out, "certificate  %s\n", client->cert);
    text_printf(&out, "key          %s\n", client->key);
    text_printf(&out, "fingerprint  %s\n", facts.fingerprint);
    text_printf(&out, "ends in      %lld days\n",
                (long long)((facts.ends - clock_wall_ms()) / 86400000));
    return cli_print(&out);
}

static int make_client(struct cli *cli, const struct files *files)
{
    struct client client;
    struct ht_error err;
    if (!find_client(cli, files, &client))
        return CLI_USAGE;
    if (is_there(client.cert))
        return cli_fail(
            cli, CLI_CONFLICT,
            "%s is there already: choose another name, or hypertune "
            "tls revoke %s first",
            client.cert, client.name);
    if (!is_there(files->ca))
        return show(cli, files);
    const struct tls_certificate wanted = {.cert = client.cert,
                                           .key = client.key,
                                           .ca = files->ca,
                                           .ca_key = files->ca_key,
                                           .name = client.name,
                                           .days = DAYS,
                                           .is_client = true};
    if (cli_server_make_folder(cli->arena, files->clients, &err) != HT_OK ||
        tls_make_certificate(&wanted, &err) != HT_OK)
        return cli_fail_error(cli, &err);
    return show_client(cli, &client);
}

static int revoke_client(struct cli *cli, const struct files *files)
{
    struct client client;
    struct ht_error err;
    if (!find_client(cli, files, &client))
        return CLI_USAGE;
    if (!is_there(client.cert))
        return cli_fail(cli, CLI_ABSENT, "%s has no certificate %s",
                        files->clients, client.name);
    if (tls_revoke(files->crl, client.cert, files->ca, files->ca_key, &err) !=
        HT_OK)
        return cli_fail_error(cli, &err);
    if (unlink(client.key) != 0 && errno != ENOENT)
        return cli_fail(cli, CLI_REFUSED, "cannot remove %s: %s", client.key,
                        strerror(errno));
    if (unlink(client.cert) != 0)
        return cli_fail(cli, CLI_REFUSED, "cannot remove %s: %s", client.cert,
                        strerror(errno));
    cli_say(cli, "the server refuses %s within a minute, or after SIGHUP",
            client.name);
    return CLI_DONE;
}

/* Keys that are sealed need the server's key, and new ones beside them are
 * sealed like them. */
static enum ht_status check_sealed(struct cli *cli, const struct files *files,
                                   struct ht_error *err)
{
    const bool only_looks = strcmp(cli->args.words.items[0], "show") == 0;
    const char *const keys[] = {files->next, files->key, files->ca_key};
    enum ht_status status = cli_seal_use(cli, err);
    for (size_t i = 0; status == HT_OK && i < (only_looks ? 1 : 3); i++) {
        struct text secret = {0};
        if (is_there(keys[i]))
            status = secret_file_read(keys[i], &secret, err);
        secret_wipe(&secret);
    }
    return status;
}

int cli_tls(struct cli *cli)
{
    static const struct {
        const char *name;
        int (*run)(struct cli *cli, const struct files *files);
        size_t n_words;
    } orders[] = {{"init", init, 1},
                  {"show", show, 1},
                  {"rotate", rotate, 1},
                  {"client", make_client, 2},
                  {"revoke", revoke_client, 2}};
    const char *order = cli->args.words.items[0];
    const char *data = cli_state_folder(cli);
    if (data == NULL)
        return cli_fail(cli, CLI_USAGE, "HOME is not set: say --data DIR");
    const struct files files = files_of(cli, data);
    struct ht_error err;
    if (check_sealed(cli, &files, &err) != HT_OK)
        return cli_fail_error(cli, &err);
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++)
        if (strcmp(order, orders[i].name) == 0)
            return cli->args.words.n == orders[i].n_words
                       ? orders[i].run(cli, &files)
                       : cli_usage(cli);
    return cli_usage(cli);
}
