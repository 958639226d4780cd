/* docker.h over TCP with TLS and certificates of both sides. */
#include <curl/curl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "proto/doc/json.h"
#include "runner/base/disk.h"
#include "tests/check.h"
#include "tests/lib/fake_engine.h"
#include "tests/lib/runner_fixture.h"

static struct fake_engine fake;
static char folder[PATH_MAX]; /* of the certificates */
static char host[64];
static struct {
    const char *name, *value;
} variables[4];

static char *lookup(const char *name)
{
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        if (variables[i].name != NULL && strcmp(variables[i].name, name) == 0)
            return (char *)(uintptr_t)variables[i].value;
    }
    return NULL;
}

/* An authority, the engine's certificate for 127.0.0.1, and ours. */
static bool make_certificates(const char *into)
{
    struct text line = {0};
    text_printf(
        &line,
        "cd %s && exec >log 2>&1 && new='openssl req -newkey ec -pkeyopt "
        "ec_paramgen_curve:P-256 -nodes -batch' && "
        "$new -x509 -days 2 -subj /CN=ca -keyout ca-key.pem -out ca.pem && "
        "echo subjectAltName=IP:127.0.0.1 >names && "
        "for who in server client; do "
        "$new -subj /CN=$who -keyout $who-key.pem -out $who.csr && "
        "openssl x509 -req -days 2 -in $who.csr -CA ca.pem -CAkey ca-key.pem "
        "-CAcreateserial -extfile names -out $who.pem || exit 1; done && "
        "mv client.pem cert.pem && mv client-key.pem key.pem",
        into);
    const bool made = system(line.data) == 0;
    text_free(&line);
    return made;
}

static enum ht_status ask(const char *certificates, struct ht_error *err)
{
    struct docker_address *address;
    struct docker_facts facts;
    variables[0].name = "DOCKER_CERT_PATH";
    variables[0].value = certificates;
    variables[1].name = "DOCKER_TLS_VERIFY";
    variables[1].value = "1";
    CHECK(docker_address_find(host, lookup, &address, err) == HT_OK);
    struct docker *docker = docker_new(address);
    struct arena *arena = arena_new();
    const enum ht_status status = docker_ask_facts(docker, arena, &facts, err);
    arena_free(arena);
    docker_free(docker);
    docker_address_free(address);
    return status;
}

static void both_sides_show_certificates(void)
{
    struct ht_error err = {.text = ""};
    CHECK(ask(folder, &err) == HT_OK);
    CHECK_TEXT(err.text, "");
}

static void without_ours_the_engine_refuses(void)
{
    char other[PATH_MAX], from[PATH_MAX + 16], to[PATH_MAX + 16];
    struct ht_error err;
    runner_fixture_folder(other);
    (void)snprintf(from, sizeof from, "%s/ca.pem", folder);
    (void)snprintf(to, sizeof to, "%s/ca.pem", other);
    CHECK(link(from, to) == 0);
    CHECK(ask(other, &err) == HT_UNAVAILABLE);
}

static void an_engine_of_another_authority_is_not_trusted(void)
{
    char other[PATH_MAX];
    struct ht_error err;
    runner_fixture_folder(other);
    CHECK(make_certificates(other));
    CHECK(ask(other, &err) == HT_UNAVAILABLE);
    CHECK(strstr(err.text, "certificate") != NULL);
    runner_fixture_folder(other); /* nor with those that the system trusts */
    CHECK(ask(other, &err) == HT_UNAVAILABLE);
    CHECK(strstr(err.text, "certificate") != NULL);
}

static void plain_words_to_a_tls_port_fail(void)
{
    struct fake_engine_client client;
    fake_engine_connect(&client, host);
    struct docker_facts facts;
    CHECK(docker_ask_facts(client.docker, client.arena, &facts, &client.err) ==
          HT_UNAVAILABLE);
    fake_engine_disconnect(&client);
}

static void start(void)
{
    struct arena *arena = arena_new();
    struct disk_bytes port = {.data = ""};
    runner_fixture_folder(folder);
    CHECK(make_certificates(folder));
    fake_engine_open(&fake, (const char *[]){"--tls", folder, NULL});
    CHECK(disk_read(arena, folder, "port", 16, &port, NULL) == HT_OK);
    (void)snprintf(host, sizeof host, "tcp://127.0.0.1:%s", port.data);
    arena_free(arena);
}

static void engines_with_certificates(void)
{
    SKIP("openssl is not installed");
}

int main(void)
{
    if (system("command -v openssl >/dev/null") != 0) {
        RUN(engines_with_certificates);
        return check_done();
    }
    json_init();
    curl_global_init(CURL_GLOBAL_ALL);
    (void)signal(SIGPIPE, SIG_IGN); /* as the runner does */
    runner_fixture_init();
    start();
    RUN(both_sides_show_certificates);
    RUN(without_ours_the_engine_refuses);
    RUN(an_engine_of_another_authority_is_not_trusted);
    RUN(plain_words_to_a_tls_port_fail);
    fake_engine_stop(&fake);
    runner_fixture_fini();
    curl_global_cleanup();
    return check_done();
}
