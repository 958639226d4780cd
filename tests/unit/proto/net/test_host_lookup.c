/* Names that only DNS knows, from a name server of the test's own: in a network
 * and mount namespace, at 127.0.0.1:53, with a /etc/resolv.conf that names it.
 */
#include "proto/net/host_lookup.h"

#include <arpa/inet.h>
#include <arpa/nameser.h>
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/check.h"

/* ---- the name server ---- */

struct message {
    unsigned char bytes[1024];
    size_t len;
};

static void put(struct message *message, const void *bytes, size_t len)
{
    memcpy(message->bytes + message->len, bytes, len);
    message->len += len;
}

static void put16(struct message *message, unsigned value)
{
    const uint16_t bytes = htons((uint16_t)value);
    put(message, &bytes, sizeof bytes);
}

/* A record of the name that was asked for, RFC 1035, 4.1.3. `len`: what it says
 * of its data. */
static void put_record(struct message *message, ns_type type, const void *data,
                       size_t bytes, unsigned len)
{
    put16(message, 0xC000 | NS_HFIXEDSZ);
    put16(message, type);
    put16(message, ns_c_in);
    put(message, "\0\0\0\1", 4);
    put16(message, len);
    put(message, data, bytes);
}

static void put_address(struct message *message, ns_type type,
                        unsigned char last)
{
    unsigned char v4[] = {10, 0, 0, last};
    unsigned char v6[NS_IN6ADDRSZ] = {0xFD, [15] = last};
    if (type == ns_t_a)
        put_record(message, type, v4, sizeof v4, sizeof v4);
    else
        put_record(message, type, v6, sizeof v6, sizeof v6);
}

/* Appends the answer section for `name`; returns how many records it claims. */
static unsigned char answer(struct message *message, const char *name,
                            ns_type type)
{
    if (strcmp(name, "plain") == 0) {
        put_address(message, type, 1);
        return 1;
    }
    if (strcmp(name, "alias") == 0) {
        put_record(message, ns_t_cname, "\1x\0", 3, 3);
        put_address(message, type, 2);
        return 2;
    }
    if (strcmp(name, "many") == 0) {
        for (unsigned char i = 0; i < HOST_LOOKUP_MAX + 2; i++)
            put_address(message, type, i);
        return HOST_LOOKUP_MAX + 2;
    }
    if (strcmp(name, "claims") == 0) {
        put_address(message, type, 3);
        return 9;
    }
    if (strcmp(name, "beyond") == 0) {
        put_record(message, type, "", 0, 4000);
        return 1;
    }
    if (strcmp(name, "uneven") == 0) {
        put_record(message, type, "\12\0\0", 3, 3);
        return 1;
    }
    if (strcmp(name, "noname") == 0) {
        put(message, "\xFF\xFF", 1);
        return 1;
    }
    return 0;
}

static void reply(int fd)
{
    struct sockaddr_in from;
    socklen_t size = sizeof from;
    struct message message;
    const ssize_t len = recvfrom(fd, message.bytes, sizeof message.bytes / 2, 0,
                                 (struct sockaddr *)&from, &size);
    if (len < NS_HFIXEDSZ + 2)
        return;
    /* The first label is all that this server looks at. */
    char name[64];
    const unsigned char *at = message.bytes + NS_HFIXEDSZ;
    snprintf(name, sizeof name, "%.*s", *at, (const char *)at + 1);
    while (*at != 0)
        at += *at + 1;
    const ns_type type = at[1] << 8 | at[2];
    message.len = (size_t)(at + 1 + NS_QFIXEDSZ - message.bytes);
    const unsigned char n = answer(&message, name, type);
    const bool absent = strcmp(name, "absent") == 0;
    message.bytes[2] = 0x85; /* an answer, authoritative, as asked */
    message.bytes[3] = absent ? 0x83 : 0x80;
    memcpy(message.bytes + 6, (unsigned char[]){0, n, 0, 0, 0, 0}, 6);
    sendto(fd, message.bytes, message.len, 0, (struct sockaddr *)&from, size);
}

static pid_t start_server(int fd)
{
    const pid_t pid = fork();
    while (pid == 0)
        reply(fd);
    close(fd);
    return pid;
}

/* ---- its namespace ---- */

static bool put_text(const char *path, const char *text)
{
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    const bool put =
        fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
    close(fd);
    return put;
}

/* The socket of the name server, or -1 where no namespace can be made. */
static int enter(void)
{
    const char *folder = getenv("TMPDIR");
    char path[400];
    struct ifreq lo = {.ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING};
    const struct sockaddr_in here = {.sin_family = AF_INET,
                                     .sin_port = htons(NS_DEFAULTPORT),
                                     .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    snprintf(path, sizeof path, "%s/resolv.conf-XXXXXX",
             folder != NULL ? folder : "/tmp");
    const int made = mkstemp(path);
    close(made);
    const int user = geteuid() == 0 ? 0 : CLONE_NEWUSER;
    if (made < 0 || !put_text(path, "nameserver 127.0.0.1\n") ||
        unshare(CLONE_NEWNET | CLONE_NEWNS | user) != 0 ||
        mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount(path, "/etc/resolv.conf", NULL, MS_BIND, NULL) != 0)
        return -1;
    const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || ioctl(fd, SIOCSIFFLAGS, &lo) != 0 ||
        bind(fd, (const struct sockaddr *)&here, sizeof here) != 0)
        return -1;
    return fd;
}

/* ---- the cases ---- */

static struct host_address found[HOST_LOOKUP_MAX];

static size_t look_up(const char *name)
{
    memset(found, 0, sizeof found);
    return host_lookup(name, 80, "/dev/null", found);
}

static bool is_v4(size_t i, uint32_t address)
{
    return found[i].as.any.sa_family == AF_INET &&
           found[i].as.v4.sin_port == htons(80) &&
           found[i].as.v4.sin_addr.s_addr == htonl(address);
}

static void a_name_has_addresses_of_both_families(void)
{
    CHECK(look_up("plain.test") == 2);
    CHECK(is_v4(0, 0x0A000001));
    CHECK(found[1].as.v6.sin6_family == AF_INET6);
    CHECK(found[1].as.v6.sin6_addr.s6_addr[0] == 0xFD);
    CHECK(found[1].as.v6.sin6_addr.s6_addr[15] == 1);
}

static void an_alias_is_followed(void)
{
    CHECK(look_up("alias.test") == 2);
    CHECK(is_v4(0, 0x0A000002));
}

static void no_more_addresses_are_taken_than_there_is_room(void)
{
    CHECK(look_up("many.test") == HOST_LOOKUP_MAX);
    CHECK(is_v4(HOST_LOOKUP_MAX - 1, 0x0A000000 + HOST_LOOKUP_MAX - 1));
}

static void an_answer_that_ends_early_counts_as_far_as_it_is_whole(void)
{
    CHECK(look_up("claims.test") == 2);
    CHECK(is_v4(0, 0x0A000003));
}

static void malformed_records_have_no_address(void)
{
    CHECK(look_up("beyond.test") == 0);
    CHECK(look_up("uneven.test") == 0);
    CHECK(look_up("noname.test") == 0);
}

static void a_name_that_is_unknown_has_no_address(void)
{
    CHECK(look_up("absent.test") == 0);
    CHECK(look_up("empty.test") == 0);
}

int main(void)
{
    const int fd = enter();
    if (fd < 0) {
        printf("1..0 # SKIP no namespace can be made here\n");
        return 0;
    }
    const pid_t server = start_server(fd);
    RUN(a_name_has_addresses_of_both_families);
    RUN(an_alias_is_followed);
    RUN(no_more_addresses_are_taken_than_there_is_room);
    RUN(an_answer_that_ends_early_counts_as_far_as_it_is_whole);
    RUN(malformed_records_have_no_address);
    RUN(a_name_that_is_unknown_has_no_address);
    kill(server, SIGKILL);
    waitpid(server, NULL, 0);
    return check_done();
}
