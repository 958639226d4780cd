#include "runner/pods/look.h"

#include <stdlib.h>

#include "proto/base/arena.h"
#include "proto/base/error.h"
#include "runner/base/json.h"
#include "runner/kubernetes/access.h"
#include "runner/kubernetes/client.h"
#include "runner/kubernetes/fields.h"
#include "runner/pods/config.h"

static void put_config(const struct kube_config *config, struct text *out)
{
    json_put_string(out, "from", config->source);
    if (config->context != NULL)
        json_put_string(out, "context", config->context);
    json_put_string(out, "server", config->server);
    json_put_string(out, "namespace", config->namespace);
}

static enum ht_status put_cluster(const struct kube_config *config,
                                  struct arena *arena, struct text *out,
                                  struct ht_error *err)
{
    struct kube_fields fields;
    struct kube_rights missing;
    bool logs_only = false;
    struct kube *kube = kube_new(config);
    enum ht_status status = kube_fields_ask(kube, &fields, err);
    if (status == HT_OK) {
        json_put_string(
            out, "version",
            arena_printf(arena, "%d.%d", fields.major, fields.minor));
        const struct kube_place place = {.namespace = config->namespace,
                                         .job_sets = fields.job_sets,
                                         .workloads = fields.workloads};
        status = kube_access_ask(kube, &place, arena, &missing, err);
    }
    if (status == HT_OK && missing.n > 0)
        json_put_string(out, "role",
                        kube_access_role(arena, config->namespace, &missing));
    if (status == HT_OK)
        status =
            kube_access_logs_only(kube, config->namespace, &logs_only, err);
    if (status == HT_OK && logs_only)
        json_put_bool(out, "logsOnly", true);
    kube_free(kube);
    return status;
}

void pods_look(const struct site *site, struct text *out)
{
    struct ht_error err;
    struct kube_config config;
    struct arena *arena = arena_new();
    json_open(out, NULL);
    enum ht_status status = pods_config(site, arena, &config, &err);
    if (status == HT_OK) {
        put_config(&config, out);
        status = put_cluster(&config, arena, out, &err);
    }
    if (status != HT_OK)
        json_put_string(out, "error", err.text);
    json_close(out);
    text_puts(out, "\n");
    arena_free(arena);
}
