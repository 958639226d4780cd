/* docker.h: where an engine is and how to get in. */
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "runner/base/disk.h"
#include "runner/docker/docker.h"
#include "tests/check.h"
#include "tests/lib/runner_fixture.h"

static struct variable {
    const char *name;
    char value[PATH_MAX];
} variables[8];

static char *lookup(const char *name)
{
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        if (variables[i].name != NULL && strcmp(variables[i].name, name) == 0)
            return variables[i].value;
    }
    return NULL;
}

static void set(size_t i, const char *name, const char *value)
{
    variables[i].name = name;
    (void)snprintf(variables[i].value, sizeof variables[i].value, "%s", value);
}

static void forget(void)
{
    memset(variables, 0, sizeof variables);
}

static struct docker_address *find(const char *host)
{
    struct docker_address *address = NULL;
    struct ht_error err = {.text = ""};
    CHECK(docker_address_find(host, lookup, &address, &err) == HT_OK);
    if (address == NULL)
        printf("# %s\n", err.text);
    return address;
}

static void the_flag_counts_before_the_environment(void)
{
    set(0, "DOCKER_HOST", "unix:///of/the/environment");
    struct docker_address *address = find("unix:///of/the/flag");
    CHECK_TEXT(address->socket, "/of/the/flag");
    CHECK_TEXT(address->text, "unix:///of/the/flag");
    docker_address_free(address);
    address = find(NULL);
    CHECK_TEXT(address->socket, "/of/the/environment");
    docker_address_free(address);
    address = find("");
    CHECK_TEXT(address->socket, "/of/the/environment");
    docker_address_free(address);
    forget();
}

static void bind_socket(const char *path)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    (void)snprintf(name.sun_path, sizeof name.sun_path, "%s", path);
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(bind(fd, (struct sockaddr *)&name, sizeof name) == 0);
    close(fd); /* the file stays */
}

/* Sockets of the machine come before those of a person. */
static void check_usual(const char *own)
{
    static const char *const machine[] = {"/var/run/docker.sock",
                                          "/run/podman/podman.sock"};
    struct docker_address *address = find(NULL);
    const char *want = own;
    for (size_t i = 2; i-- > 0;) {
        if (access(machine[i], R_OK | W_OK) == 0)
            want = machine[i];
    }
    CHECK_TEXT(address->socket, want);
    docker_address_free(address);
}

static void the_usual_sockets_are_looked_for(void)
{
    char folder[PATH_MAX], path[PATH_MAX + 32];
    runner_fixture_folder(folder);
    (void)snprintf(path, sizeof path, "%s/podman", folder);
    CHECK(mkdir(path, 0700) == 0);
    (void)snprintf(path, sizeof path, "%s/podman/podman.sock", folder);
    bind_socket(path);
    set(0, "XDG_RUNTIME_DIR", folder);
    check_usual(path);
    (void)snprintf(path, sizeof path, "%s/docker.sock", folder);
    bind_socket(path);
    check_usual(path);
    forget();
}

static void without_any_the_failure_names_the_places(void)
{
    struct docker_address *address = NULL;
    struct ht_error err;
    if (access("/var/run/docker.sock", F_OK) == 0 ||
        access("/run/podman/podman.sock", F_OK) == 0)
        return; /* this machine has one */
    CHECK(docker_address_find(NULL, lookup, &address, &err) == HT_NOT_FOUND);
    CHECK(strstr(err.text, "DOCKER_HOST") != NULL);
    CHECK(address == NULL);
}

static void a_tcp_address_has_the_conventional_port(void)
{
    static const char *const cases[][2] = {
        {"tcp://example.com", "http://example.com:2375"},
        {"tcp://example.com:99/", "http://example.com:99"},
        {"tcp://[::1]", "http://[::1]:2375"},
        {"tcp://[::1]:99", "http://[::1]:99"},
        {"https://example.com", "https://example.com:2376"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct docker_address *address = find(cases[i][0]);
        CHECK_TEXT(address->base, cases[i][1]);
        CHECK(address->socket == NULL);
        docker_address_free(address);
    }
}

static void tls_is_asked_for_as_with_the_docker_command(void)
{
    char folder[PATH_MAX], want[PATH_MAX + 32];
    runner_fixture_folder(folder);
    CHECK(disk_mark(folder, "ca.pem", NULL) == HT_OK);
    CHECK(disk_mark(folder, "key.pem", NULL) == HT_OK);
    set(0, "DOCKER_CERT_PATH", folder);
    struct docker_address *address = find("tcp://example.com");
    CHECK_TEXT(address->base, "http://example.com:2375");
    CHECK(address->ca == NULL);
    docker_address_free(address);
    set(1, "DOCKER_TLS_VERIFY", "1");
    address = find("tcp://example.com");
    CHECK_TEXT(address->base, "https://example.com:2376");
    (void)snprintf(want, sizeof want, "%s/ca.pem", folder);
    CHECK_TEXT(address->ca, want);
    CHECK(address->cert == NULL);
    (void)snprintf(want, sizeof want, "%s/key.pem", folder);
    CHECK_TEXT(address->key, want);
    docker_address_free(address);
    forget();
}

static void what_is_no_address_is_refused(void)
{
    static const char *const wrong[] = {
        "ssh://root@example.com", "unix://relative", "unix:/run/docker.sock",
        "/run/docker.sock",       "tcp://",          "tcp://host/path",
        "tcp://user@host:1",      "tcp://ho st:1",   "https://h?q",
        "npipe:////./pipe/docker"};
    char path[200] = "unix:///";
    memset(path + 8, 'a', 150);
    struct docker_address *address = NULL;
    struct ht_error err;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        CHECK(docker_address_find(wrong[i], lookup, &address, &err) ==
              HT_INVALID);
        CHECK(strstr(err.text, wrong[i]) != NULL);
    }
    CHECK(docker_address_find(path, lookup, &address, &err) == HT_INVALID);
    CHECK(strstr(err.text, "at most 107 bytes") != NULL);
    CHECK(address == NULL);
}

int main(void)
{
    runner_fixture_init();
    RUN(the_flag_counts_before_the_environment);
    RUN(the_usual_sockets_are_looked_for);
    RUN(without_any_the_failure_names_the_places);
    RUN(a_tcp_address_has_the_conventional_port);
    RUN(tls_is_asked_for_as_with_the_docker_command);
    RUN(what_is_no_address_is_refused);
    runner_fixture_fini();
    return check_done();
}
