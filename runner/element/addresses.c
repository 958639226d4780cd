#include "runner/element/addresses.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "proto/base/text.h"
#include "proto/doc/node.h"
#include "runner/base/disk.h"

enum { ADDRESS_BYTES = 512, NAME_BYTES = 64 };

static const char placement_file[] = "placement.json";

enum ht_status addresses_read(struct arena *arena, const char *attempt_folder,
                              struct addresses *addresses, struct ht_error *err)
{
    const struct node *map;
    if (!disk_refresh(attempt_folder))
        return ht_fail(err, HT_NOT_FOUND, "%s does not exist", attempt_folder);
    const enum ht_status status =
        disk_read_json(arena, attempt_folder, placement_file, &map, err);
    if (status != HT_OK)
        return status;
    struct addresses read = {0};
    NODE_EACH (member, map->first) {
        const char *placeholder = member->kind == NODE_MAP
                                      ? node_get_string(member, "address", "")
                                      : "";
        if (*placeholder == '\0')
            continue;
        read.items = arena_grow(arena, read.items, read.n, sizeof *read.items);
        read.items[read.n++] =
            (struct address){.name = member->key, .placeholder = placeholder};
    }
    if (read.n == 0)
        return ht_fail(err, HT_CORRUPT, "%s/%s places no replica",
                       attempt_folder, placement_file);
    *addresses = read;
    return HT_OK;
}

/* ---- the files ---- */

static char *name_of(char name[NAME_BYTES], int turn, size_t i)
{
    (void)snprintf(name, NAME_BYTES, "address.%d.%zu", turn, i);
    return name;
}

/* A descriptor, bound to a port that the kernel chose; -1 with errno. */
static int bind_port(int *number)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_addr.s_addr = htonl(INADDR_ANY)};
    socklen_t len = sizeof address;
    /* sockaddr_in goes where sockaddr is asked, as in every BSD socket call. */
    struct sockaddr *generic = (struct sockaddr *)&address;
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    if (bind(fd, generic, len) == 0 && getsockname(fd, generic, &len) == 0) {
        *number = ntohs(address.sin_port);
        return fd;
    }
    const int code = errno;
    close(fd);
    errno = code;
    return -1;
}

enum ht_status addresses_tell(const char *folder, int turn, size_t i,
                              const char *host, int *port, struct ht_error *err)
{
    char name[NAME_BYTES], text[ADDRESS_BYTES];
    int number;
    const int fd = bind_port(&number);
    if (fd < 0)
        return ht_fail_errno(err, errno, "no free port");
    const int len = snprintf(text, sizeof text, "%s:%d\n", host, number);
    const enum ht_status status = disk_write(folder, name_of(name, turn, i),
                                             text, (size_t)len, 0600, err);
    if (status == HT_OK)
        *port = fd;
    else
        close(fd);
    return status;
}

/* It is put into JSON and URLs. */
static bool is_address(const char *text)
{
    static const char digits[] = "0123456789";
    const size_t host = strspn(text, "abcdefghijklmnopqrstuvwxyz"
                                     "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                     "0123456789.-_");
    return host > 0 && text[host] == ':' && text[host + 1] != '\0' &&
           text[host + 1 + strspn(text + host + 1, digits)] == '\0';
}

static enum ht_status learn(struct arena *arena, const char *folder, int turn,
                            size_t i, struct address *address,
                            struct ht_error *err)
{
    char name[NAME_BYTES];
    struct disk_bytes bytes;
    const enum ht_status status = disk_read(
        arena, folder, name_of(name, turn, i), ADDRESS_BYTES, &bytes, err);
    if (status == HT_NOT_FOUND)
        return ht_fail(err, HT_NOT_FOUND, "no address of %s", address->name);
    if (status != HT_OK)
        return status;
    bytes.data[strcspn(bytes.data, "\n")] = '\0';
    if (!is_address(bytes.data))
        return ht_fail(err, HT_CORRUPT, "%s/%s is no address", folder, name);
    address->real = bytes.data;
    return HT_OK;
}

enum ht_status addresses_learn(struct arena *arena, const char *folder,
                               int turn, struct addresses *addresses,
                               struct ht_error *err)
{
    enum ht_status status = HT_OK;
    (void)disk_refresh(folder);
    for (size_t i = 0; status == HT_OK && i < addresses->n; i++) {
        if (addresses->items[i].real == NULL)
            status = learn(arena, folder, turn, i, &addresses->items[i], err);
    }
    return status;
}

/* ---- the texts ---- */

/* The address whose placeholder is there. */
static const struct address *find_at(const struct addresses *addresses,
                                     const char *at)
{
    for (size_t i = 0; i < addresses->n; i++) {
        const char *placeholder = addresses->items[i].placeholder;
        if (strncmp(at, placeholder, strlen(placeholder)) == 0)
            return &addresses->items[i];
    }
    return NULL;
}

static const char *replace(struct arena *arena,
                           const struct addresses *addresses, const char *text)
{
    struct text out = {0};
    const char *rest = text; /* not copied yet */
    for (const char *at = text; *at != '\0';) {
        const struct address *address = find_at(addresses, at);
        if (address == NULL) {
            at++;
            continue;
        }
        text_append(&out, rest, (size_t)(at - rest));
        text_puts(&out, address->real);
        at += strlen(address->placeholder);
        rest = at;
    }
    if (rest == text)
        return text;
    text_puts(&out, rest);
    return text_take(&out, arena);
}

void addresses_put(struct arena *arena, const struct addresses *addresses,
                   struct launch *launch)
{
    const char **argv = arena_alloc(arena, launch->argv.n + 1, sizeof *argv);
    struct pair *env = arena_alloc(arena, launch->env.n + 1, sizeof *env);
    for (size_t i = 0; i < launch->argv.n; i++)
        argv[i] = replace(arena, addresses, launch->argv.items[i]);
    for (size_t i = 0; i < launch->env.n; i++)
        env[i] = (struct pair){
            .name = launch->env.items[i].name,
            .value = replace(arena, addresses, launch->env.items[i].value)};
    launch->argv = (struct strings){.n = launch->argv.n, .items = argv};
    launch->env = (struct pairs){.n = launch->env.n, .items = env};
}
