#include "runner/identity.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <arpa/inet.h>
#include <netinet/in.h>

#include "proto/cluster.h"
#include "proto/text.h"

void variables_set(struct variables *variables, const char *name,
                   const char *value)
{
    for (size_t i = 0; i < variables->n; i++) {
        if (strcmp(variables->items[i].name, name) == 0) {
            variables->items[i].value = value;
            return;
        }
    }
    if (variables->n == variables->room) {
        const size_t room = variables->room > 0 ? 2 * variables->room : 64;
        struct pair *items = arena_alloc(variables->arena, room, sizeof *items);
        if (variables->n > 0)
            memcpy(items, variables->items, variables->n * sizeof *items);
        variables->items = items;
        variables->room = room;
    }
    variables->items[variables->n++] =
        (struct pair){.name = name, .value = value};
}

void variables_default(struct variables *variables, const char *name,
                       const char *value)
{
    for (size_t i = 0; i < variables->n; i++) {
        if (strcmp(variables->items[i].name, name) == 0)
            return;
    }
    variables_set(variables, name, value);
}

/* ---- addresses ---- */

static int bind_any_port(struct sockaddr_in *address)
{
    *address = (struct sockaddr_in){.sin_family = AF_INET,
                                    .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof *address;
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    /* sockaddr_in goes where sockaddr is asked, as in every BSD socket call. */
    struct sockaddr *generic = (struct sockaddr *)address;
    if (fd >= 0 && bind(fd, generic, len) == 0 &&
        getsockname(fd, generic, &len) == 0)
        return fd;
    const int code = errno;
    if (fd >= 0)
        close(fd);
    errno = code;
    return -1;
}

enum ht_status addresses_choose(struct arena *arena, size_t n,
                                struct addresses *addresses,
                                struct ht_error *err)
{
    const char **items = arena_alloc(arena, n, sizeof *items);
    int *fds = arena_alloc(arena, n, sizeof *fds);
    size_t made = 0;
    enum ht_status status = HT_OK;
    while (made < n && status == HT_OK) {
        struct sockaddr_in address;
        fds[made] = bind_any_port(&address);
        if (fds[made] < 0) {
            status = ht_fail_errno(err, errno, "no free port on 127.0.0.1");
        } else {
            items[made] =
                arena_printf(arena, "127.0.0.1:%d", ntohs(address.sin_port));
            made++;
        }
    }
    /* Held open together, so that all ports differ. */
    while (made > 0)
        close(fds[--made]);
    if (status == HT_OK)
        addresses->items = items;
    return status;
}

/* ---- cluster ---- */

static size_t find_pool(const struct cluster_pool *pools, size_t n,
                        const char *type)
{
    size_t i = 0;
    while (i < n && strcmp(pools[i].type, type) != 0)
        i++;
    return i;
}

/* Replicas of one type keep their order, types that of their first replica. */
static struct cluster make_cluster(struct arena *arena,
                                   const struct order *order,
                                   const struct addresses *addresses)
{
    const size_t n = order->n_replicas;
    struct cluster_pool *pools = arena_alloc(arena, n, sizeof *pools);
    size_t n_pools = 0;
    for (size_t i = 0; i < n; i++) {
        const char *type = order->replicas[i].type;
        if (find_pool(pools, n_pools, type) < n_pools)
            continue;
        const char **members = arena_alloc(arena, n, sizeof *members);
        size_t count = 0;
        for (size_t k = i; k < n; k++) {
            if (strcmp(order->replicas[k].type, type) == 0)
                members[count++] = addresses->items[k];
        }
        pools[n_pools++] = (struct cluster_pool){
            .type = type, .n = count, .addresses = members};
    }
    return (struct cluster){
        .n_pools = n_pools,
        .pools = pools,
        .trial = order->metrics.n > 0
                     ? arena_printf(arena, "%lld", (long long)order->key.trial)
                     : NULL,
        .job_json = order->job_json,
    };
}

static void set_cluster(struct variables *variables, const struct order *order,
                        const struct replica_order *replica,
                        const struct addresses *addresses)
{
    struct arena *arena = variables->arena;
    const struct cluster cluster = make_cluster(arena, order, addresses);
    struct text out = {0};
    cluster_spec_text(&cluster, replica->type, (size_t)replica->index, &out);
    variables_set(variables, "CLUSTER_SPEC",
                  arena_strndup(arena, out.data, out.len));
    text_clear(&out);
    cluster_tf_config_text(&cluster, replica->type, (size_t)replica->index,
                           &out);
    variables_set(variables, "TF_CONFIG",
                  arena_strndup(arena, out.data, out.len));
    text_free(&out);
    if (cluster.trial != NULL) {
        variables_set(variables, "CLOUD_ML_TRIAL_ID", cluster.trial);
        variables_set(variables, "CLOUD_ML_HP_METRIC_TAG",
                      order->metrics.items[0]);
    }
}

static void set_defaults(struct variables *variables, const struct site *site)
{
    const int share = site->cores / site->slots;
    const char *threads =
        arena_printf(variables->arena, "%d", share > 0 ? share : 1);
    variables_default(variables, "PATH", "/usr/local/bin:/usr/bin:/bin");
    variables_default(variables, "PYTHONUNBUFFERED", "1");
    variables_default(variables, "OMP_NUM_THREADS", threads);
    variables_default(variables, "MKL_NUM_THREADS", threads);
    variables_default(variables, "OPENBLAS_NUM_THREADS", threads);
    for (size_t i = 0; i < site->inherited.n; i++)
        variables_default(variables, site->inherited.items[i].name,
                          site->inherited.items[i].value);
}

void identity_set(struct variables *variables, const struct site *site,
                  const struct order *order,
                  const struct replica_order *replica,
                  const struct addresses *addresses, const char *folder)
{
    struct arena *arena = variables->arena;
    for (size_t i = 0; i < replica->env.n; i++)
        variables_set(variables, replica->env.items[i].name,
                      replica->env.items[i].value);
    set_defaults(variables, site);
    set_cluster(variables, order, replica, addresses);
    variables_set(variables, "CLOUD_ML_JOB_ID", order->job_name);
    variables_set(variables, "CLOUD_ML_HP_METRIC_FILE",
                  arena_printf(arena, "%s/output.metrics", folder));
    variables_set(variables, "HYPERTUNE_REPORT_FILE",
                  arena_printf(arena, "%s/reports.jsonl", folder));
    if (order->report_url != NULL)
        variables_set(variables, "HYPERTUNE_REPORT_URL", order->report_url);
    variables_set(variables, "HYPERTUNE_TRIAL_TOKEN_FILE",
                  arena_printf(arena, "%s/token", folder));
    variables_set(variables, "HYPERTUNE_TRIAL_DIR", folder);
    variables_set(variables, "HYPERTUNE_REPLICA", replica->name);
}
