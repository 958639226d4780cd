#include "runner/base/rules.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MOST_WORDS = 64, MOST_USER = 64, MOST_NETWORK = 128 };

/* The words between commas, blanks around them and empty ones dropped. */
static enum ht_status split(struct arena *arena, const char *flag,
                            const char *text, struct strings *words,
                            struct ht_error *err)
{
    const char **items = arena_alloc(arena, MOST_WORDS, sizeof *items);
    size_t n = 0;
    while (*text != '\0') {
        const char *start = text + strspn(text, " \t");
        size_t len = strcspn(start, ",");
        text = start + len + (start[len] == ',');
        while (len > 0 && isspace((unsigned char)start[len - 1]))
            len--;
        if (len == 0)
            continue;
        if (n == MOST_WORDS)
            return ht_fail(err, HT_INVALID, "--%s: more than %d names", flag,
                           MOST_WORDS);
        items[n++] = arena_strndup(arena, start, len);
    }
    *words = (struct strings){.n = n, .items = items};
    return HT_OK;
}

static bool is_rule(const char *name)
{
    const size_t len = strlen(name);
    const char *at = RULES_NAMES;
    for (;;) {
        const size_t here = strcspn(at, ",");
        if (here == len && memcmp(at, name, len) == 0)
            return true;
        if (at[here] == '\0')
            return false;
        at += here + 2;
    }
}

enum ht_status rules_read(struct arena *arena, const char *text,
                          struct strings *allowed, struct ht_error *err)
{
    struct strings words;
    const enum ht_status status = split(arena, "allow", text, &words, err);
    if (status != HT_OK)
        return status;
    for (size_t i = 0; i < words.n; i++) {
        if (!is_rule(words.items[i]))
            return ht_fail(err, HT_INVALID,
                           "--allow: there is no \"%.64s\"; it takes %s",
                           words.items[i], RULES_NAMES);
    }
    *allowed = words;
    return HT_OK;
}

bool rules_allow(const struct site *site, const char *name)
{
    for (size_t i = 0; i < site->allowed.n; i++) {
        if (strcmp(site->allowed.items[i], name) == 0)
            return true;
    }
    return false;
}

enum ht_status rules_folders(struct arena *arena, const char *flag,
                             const char *text, struct strings *folders,
                             struct ht_error *err)
{
    struct strings words;
    const enum ht_status status = split(arena, flag, text, &words, err);
    if (status != HT_OK)
        return status;
    const char **items = arena_alloc(arena, words.n + 1, sizeof *items);
    for (size_t i = 0; i < words.n; i++) {
        char real[PATH_MAX];
        struct stat info;
        if (realpath(words.items[i], real) == NULL || stat(real, &info) != 0)
            return ht_fail(err, HT_INVALID, "--%s: %.120s: %s", flag,
                           words.items[i], strerror(errno));
        if (!S_ISDIR(info.st_mode))
            return ht_fail(err, HT_INVALID, "--%s: %.120s is no folder", flag,
                           words.items[i]);
        items[i] = arena_strdup(arena, real);
    }
    *folders = (struct strings){.n = words.n, .items = items};
    return HT_OK;
}

/* ---- what an order asks for ---- */

static bool is_name(const char *text, const char *more, size_t most)
{
    const size_t len = strlen(text);
    for (size_t i = 0; i < len; i++) {
        if (!isalnum((unsigned char)text[i]) && strchr(more, text[i]) == NULL)
            return false;
    }
    return len > 0 && len <= most && isalnum((unsigned char)text[0]);
}

/* "UID[:GID]", or names as useradd takes them. */
static bool is_user(const char *user)
{
    return is_name(user, "_.-:", MOST_USER) &&
           strchr(user, ':') == strrchr(user, ':') &&
           user[strlen(user) - 1] != ':';
}

static bool has_control_byte(const char *text)
{
    for (; *text != '\0'; text++) {
        if (iscntrl((unsigned char)*text))
            return true;
    }
    return false;
}

static enum ht_status refuse(struct ht_error *err, const char *field,
                             const char *rule)
{
    return ht_fail(err, HT_PRECONDITION,
                   "%s is not allowed by this runner (--allow %s)", field,
                   rule);
}

static enum ht_status check_network(const struct site *site,
                                    const char *network, struct ht_error *err)
{
    if (network == NULL || strcmp(network, "none") == 0)
        return HT_OK;
    if (strcmp(network, "host") == 0)
        return rules_allow(site, "host-network")
                   ? HT_OK
                   : refuse(err, "container.network: host", "host-network");
    /* "container:ID" and "ns:PATH" would join what belongs to others. */
    if (!is_name(network, "_.-", MOST_NETWORK))
        return ht_fail(err, HT_PRECONDITION,
                       "container.network: this is no name of a network");
    return rules_allow(site, "networks")
               ? HT_OK
               : refuse(err, "container.network: an existing one", "networks");
}

static enum ht_status check_replica(const struct replica_order *replica,
                                    struct ht_error *err)
{
    for (size_t i = 0; i < replica->env.n; i++) {
        const char *name = replica->env.items[i].name;
        if (*name == '\0' || strchr(name, '=') != NULL ||
            has_control_byte(name))
            return ht_fail(err, HT_PRECONDITION,
                           "%s: env: a name is empty or has a control byte",
                           replica->name);
    }
    if (replica->image != NULL &&
        (replica->image[0] == '-' || has_control_byte(replica->image) ||
         strchr(replica->image, ' ') != NULL))
        return ht_fail(err, HT_PRECONDITION,
                       "%s: image: this is no name of an image", replica->name);
    return HT_OK;
}

enum ht_status rules_check(const struct site *site, const struct order *order,
                           struct ht_error *err)
{
    const struct container_options *container = &order->container;
    enum ht_status status = check_network(site, container->network, err);
    if (status != HT_OK)
        return status;
    if (container->privileged && !rules_allow(site, "privileged"))
        return refuse(err, "container.privileged", "privileged");
    if (container->host_pid && !rules_allow(site, "host-pid"))
        return refuse(err, "container.hostPid", "host-pid");
    if (container->user != NULL && !is_user(container->user))
        return ht_fail(err, HT_PRECONDITION,
                       "container.user: this is no user or UID:GID");
    for (size_t i = 0; status == HT_OK && i < order->n_replicas; i++)
        status = check_replica(&order->replicas[i], err);
    return status;
}
