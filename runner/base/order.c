#include "runner/base/order.h"

#include <ctype.h>
#include <string.h>

#include "proto/base/limits.h"
#include "proto/base/token.h"
#include "proto/doc/json.h"
#include "proto/doc/node.h"
#include "proto/form/form.h"
#include "proto/job/container_words.h"
#include "proto/job/kubernetes_section.h"
#include "runner/base/json.h"

enum { MOST_GPUS = 1024, MOST_CPUS = 65536 }; /* of one replica */

bool order_key_equal(const struct order_key *a, const struct order_key *b)
{
    return a->study == b->study && a->trial == b->trial &&
           a->attempt == b->attempt;
}

bool order_key_read(const struct node *map, struct order_key *key)
{
    const struct order_key read = {
        .study = node_get_int(map, "study", 0),
        .trial = node_get_int(map, "trial", 0),
        .attempt = node_get_int(map, "attempt", 0),
    };
    if (read.study < 1 || read.trial < 1 || read.attempt < 1)
        return false;
    *key = read;
    return true;
}

static bool read_env(struct arena *arena, const struct node *list,
                     struct pairs *env)
{
    struct pairs read = {0};
    if (!json_read_pairs(arena, list, HT_MAX_ENV, &read))
        return false;
    for (size_t i = 0; i < read.n; i++) {
        const char *name = read.items[i].name;
        if (*name == '\0' || strchr(name, '=') != NULL)
            return false;
    }
    *env = read;
    return true;
}

/* Types become folder names, so only plain words pass. */
static bool is_type(const char *type)
{
    const size_t len = strlen(type);
    for (size_t i = 0; i < len; i++) {
        if (!islower((unsigned char)type[i]))
            return false;
    }
    return len > 0 && len <= 32;
}

/* An image has its own command. */
static bool is_command(const struct replica_order *replica)
{
    return replica->argv.n == 0 ? replica->image != NULL
                                : replica->argv.items[0][0] != '\0';
}

/* ---- readers: each returns what is wrong, NULL: nothing ---- */

static const char *read_members(struct order *order, const struct node *map,
                                struct replica_order *replica)
{
    replica->image = node_get_string(map, "image", NULL);
    replica->workdir = node_get_string(map, "workdir", NULL);
    replica->gpus = node_get_int(map, "gpus", 0);
    replica->gpu_part = node_get_double(map, "gpuPart", 0);
    replica->gpu_memory = node_get_int(map, "gpuMemory", 0);
    replica->cpus = node_get_double(map, "cpus", 0);
    replica->memory = node_get_int(map, "memory", 0);
    if (!json_read_strings(order->arena, node_find(map, "argv"), HT_MAX_ARGS,
                           &replica->argv) ||
        !is_command(replica))
        return "argv is no command";
    replica->entry_words =
        node_get_int(map, "entryWords", (int64_t)replica->argv.n);
    if (replica->entry_words < 0 ||
        replica->entry_words > (int64_t)replica->argv.n)
        return "entryWords is out of range";
    if (replica->gpus < 0 || replica->gpus > MOST_GPUS)
        return "gpus is out of range";
    if (!(replica->gpu_part >= 0 && replica->gpu_part < 1) ||
        replica->gpu_memory < 0)
        return "gpuPart or gpuMemory is out of range";
    const struct node *names = node_find(map, "gpuNames");
    if (names != NULL &&
        !json_read_strings(order->arena, names, MOST_GPUS, &replica->gpu_names))
        return "gpuNames are no names";
    if (!(replica->cpus >= 0 && replica->cpus <= MOST_CPUS) ||
        replica->memory < 0)
        return "cpus or memory is out of range";
    return read_env(order->arena, node_find(map, "env"), &replica->env)
               ? NULL
               : "env is not a list of pairs";
}

static const char *read_replica(struct order *order, const struct node *map,
                                struct replica_order *replica)
{
    replica->type = node_get_string(map, "type", "");
    replica->index = node_get_int(map, "index", -1);
    if (!is_type(replica->type) || replica->index < 0)
        return "a replica has no type and index";
    replica->name = arena_printf(order->arena, "%s-%lld", replica->type,
                                 (long long)replica->index);
    const char *fault = read_members(order, map, replica);
    return fault != NULL
               ? arena_printf(order->arena, "%s: %s", replica->name, fault)
               : NULL;
}

static const char *read_replicas(struct order *order, const struct node *list)
{
    if (list == NULL || list->kind != NODE_LIST || list->count == 0)
        return "there are no replicas";
    struct replica_order *replicas =
        arena_alloc(order->arena, list->count, sizeof *replicas);
    size_t n = 0;
    NODE_EACH (item, list->first) {
        const char *fault = read_replica(order, item, &replicas[n]);
        if (fault != NULL)
            return fault;
        /* They would share a folder. */
        for (size_t i = 0; i < n; i++) {
            if (strcmp(replicas[i].name, replicas[n].name) == 0)
                return arena_printf(order->arena, "%s comes twice",
                                    replicas[n].name);
        }
        n++;
    }
    order->n_replicas = n;
    order->replicas = replicas;
    return NULL;
}

static void read_params(struct order *order, const struct node *map)
{
    struct pair *items = NULL;
    size_t n = 0;
    NODE_EACH (item, node_items(map)) {
        if (item->key == NULL || item->text == NULL)
            continue;
        items = arena_grow(order->arena, items, n, sizeof *items);
        items[n++] = (struct pair){.name = item->key, .value = item->text};
    }
    order->params = (struct pairs){.n = n, .items = items};
}

static enum job_dialect read_form(const char *name)
{
    for (int form = JOB_VERTEX; form <= JOB_NATIVE; form++)
        if (strcmp(form_dialect_name((enum job_dialect)form), name) == 0)
            return (enum job_dialect)form;
    return JOB_AIP;
}

static void read_job_member(struct order *order, const struct node *map)
{
    const struct node *job = node_find(map, "job");
    order->form = read_form(node_get_string(map, "form", ""));
    order->job_bytes = node_get_int(map, "jobBytes", 0);
    if (job != NULL && job->kind == NODE_MAP)
        order->job_json = json_text(order->arena, json_of_node(job));
}

/* ---- containers ---- */

/* Absent: everything as usual. */
static const char *read_container(struct order *order, const struct node *map)
{
    static const char *const pulls[] = {
        [PULL_IF_NOT_PRESENT] = "ifNotPresent",
        [PULL_ALWAYS] = "always",
        [PULL_NEVER] = "never",
    };
    struct container_options *options = &order->container;
    if (map == NULL || map->kind != NODE_MAP)
        return NULL;
    options->user = node_get_string(map, "user", NULL);
    options->read_only = node_get_bool(map, "readOnly", false);
    options->network = node_get_string(map, "network", NULL);
    options->shm_bytes = node_get_int(map, "shm", 0);
    options->pids = node_get_int(map, "pids", 0);
    options->privileged = node_get_bool(map, "privileged", false);
    options->host_pid = node_get_bool(map, "hostPid", false);
    const int pull = node_get_string(map, "pull", NULL) == NULL
                         ? PULL_IF_NOT_PRESENT
                         : json_find_word(map, "pull", pulls, PULL_NEVER + 1);
    options->pull = (enum job_pull)pull;
    return pull < 0 || options->shm_bytes < 0 || options->pids < 0
               ? "container: pull, shm or pids is wrong"
               : NULL;
}

/* A secret without a place to be found would silently be none. */
static const char *read_secrets(struct order *order, const struct node *list)
{
    struct secret *secrets = NULL;
    size_t n = 0;
    NODE_EACH (item, node_items(list)) {
        const struct secret read = {
            .name = node_get_string(item, "name", NULL),
            .file = node_get_string(item, "file", NULL),
            .env = node_get_string(item, "env", NULL),
        };
        if (read.name == NULL || (read.file == NULL) == (read.env == NULL))
            return "a secret is not a name with a file or a variable";
        secrets = arena_grow(order->arena, secrets, n, sizeof *secrets);
        secrets[n++] = read;
    }
    order->n_secrets = n;
    order->secrets = secrets;
    return NULL;
}

static const char *read_kubernetes(struct order *order, const struct node *map)
{
    struct diag diag;
    const struct field_reader reader = {
        .diag = &diag, .arena = order->arena, .null_is_absent = true};
    if (map == NULL)
        return NULL;
    diag_init(&diag, order->arena, "order", NULL, 0);
    field_read_map(&reader, (struct place){map, "kubernetes"},
                   job_kubernetes_rows, &order->kubernetes);
    order->kubernetes.said = true;
    return diag.errors > 0 ? arena_printf(order->arena, "%s: %s",
                                          diag.first->path, diag.first->text)
                           : NULL;
}

static const char *read_surroundings(struct order *order,
                                     const struct node *map)
{
    order->reporter =
        strcmp(node_get_string(map, "reporter", ""), "python") == 0
            ? REPORTER_PYTHON
            : REPORTER_AUTO;
    order->rewrite_gcs = node_get_bool(map, "rewriteGs", false);
    order->service_account = node_get_string(map, "serviceAccount", NULL);
    if (order->service_account != NULL &&
        container_account_fault(order->service_account) != NULL)
        return "serviceAccount names no account";
    if (!json_read_strings(order->arena, node_find(map, "volumes"), HT_MAX_ARGS,
                           &order->volumes))
        return "volumes is not a list of texts";
    if (!read_env(order->arena, node_find(map, "captured"), &order->captured))
        return "captured is not a list of pairs";
    const char *fault = read_container(order, node_find(map, "container"));
    if (fault == NULL)
        fault = read_kubernetes(order, node_find(map, "kubernetes"));
    return fault != NULL ? fault
                         : read_secrets(order, node_find(map, "secrets"));
}

static bool is_tree(const char *name)
{
    unsigned char hash[TOKEN_HASH_BYTES];
    return strlen(name) == TOKEN_TEXT_BYTES - 1 && token_unhex(hash, name);
}

static const char *read_resume(struct order *order, const struct node *map)
{
    order->resume = node_get_string(map, "tree", NULL);
    order->resume_attempt = node_get_int(map, "attempt", 0);
    order->resume_step = node_get_int(map, "step", -1);
    return order->resume == NULL || is_tree(order->resume)
               ? NULL
               : "resume names no tree";
}

/* Its tree's name becomes one of a file. */
static const char *read_code(struct order *order, const struct node *map)
{
    struct order_code *code = &order->code;
    if (map == NULL || map->kind != NODE_MAP)
        return NULL;
    code->tree = node_get_string(map, "tree", "");
    code->machine = node_get_string(map, "machine", "");
    code->folder = node_get_string(map, "folder", "");
    return is_tree(code->tree) && code->folder[0] == '/'
               ? NULL
               : "code names no tree or no folder";
}

static const char *read_order(struct order *order, const struct node *map)
{
    if (map == NULL)
        return "not a JSON object";
    if (!order_key_read(map, &order->key))
        return "it names no attempt";
    order->name = node_get_string(map, "name", "");
    order->token = node_get_string(map, "token", NULL);
    order->timeout_ms = node_get_int(map, "timeoutMs", 0);
    order->grace_ms = node_get_int(map, "graceMs", JOB_GRACE_MS);
    order->report_url = node_get_string(map, "reportUrl", NULL);
    order->far =
        (struct order_way){.to = node_get_string(map, "farUrl", NULL),
                           .pins = node_get_string(map, "farPins", NULL)};
    order->project = node_get_string(map, "project", NULL);
    order->location = node_get_string(map, "location", NULL);
    order->job_name = node_get_string(map, "jobName", "");
    order->metrics_file = node_get_string(map, "metricsFile", NULL);
    order->metrics_events = node_get_string(map, "metricsEvents", NULL);
    order->tuning = strcmp(node_get_string(map, "kind", ""), "custom") != 0;
    order->substitute = node_get_bool(map, "substitute", false);
    order->own_workdir = node_get_bool(map, "ownWorkdir", false);
    order->chief = node_get_bool(map, "chief", false);
    order->begun = node_get_bool(map, "begun", true);
    order->output_dir = node_get_string(map, "outputDir", NULL);
    if (order->token == NULL || order->timeout_ms < 0 || order->grace_ms < 0)
        return "token or a time is missing or wrong";
    if (!json_read_strings(order->arena, node_find(map, "metrics"),
                           HT_MAX_METRICS, &order->metrics) ||
        !json_read_strings(order->arena, node_find(map, "stdoutPatterns"),
                           HT_MAX_METRICS, &order->stdout_patterns))
        return "metrics or patterns are not lists";
    read_params(order, node_find(map, "params"));
    read_job_member(order, map);
    const char *fault = read_code(order, node_find(map, "code"));
    if (fault == NULL)
        fault = read_resume(order, node_find(map, "resume"));
    if (fault == NULL)
        fault = read_surroundings(order, map);
    return fault != NULL ? fault
                         : read_replicas(order, node_find(map, "replicas"));
}

/* Takes the arena over, in which map and text are. */
static enum ht_status make_order(struct arena *arena, const struct node *map,
                                 const char *lease, struct order **order,
                                 struct ht_error *err)
{
    struct order *read = arena_alloc(arena, 1, sizeof *read);
    read->arena = arena;
    read->lease = lease;
    const char *fault = read_order(read, map);
    if (fault == NULL) {
        *order = read;
        return HT_OK;
    }
    ht_fail(err, HT_INVALID, "lease: %s", fault);
    arena_free(arena);
    return HT_INVALID;
}

enum ht_status order_parse(const char *json, size_t len, struct order **order,
                           struct ht_error *err)
{
    struct arena *arena = arena_new();
    const char *lease = arena_strndup(arena, json, len);
    return make_order(arena, json_read_map(arena, lease, len), lease, order,
                      err);
}

static struct node *copy_node(struct arena *arena, const struct node *from)
{
    struct node *node = arena_alloc(arena, 1, sizeof *node);
    *node = *from;
    node->text = from->text != NULL ? arena_strdup(arena, from->text) : NULL;
    node->key = from->key != NULL ? arena_strdup(arena, from->key) : NULL;
    struct node **link = &node->first;
    for (const struct node *child = from->first; child; child = child->next) {
        *link = copy_node(arena, child);
        link = &(*link)->next;
    }
    *link = NULL;
    return node;
}

/* What trials report to is kept with the order in lease.json. */
static void replace(struct arena *arena, struct node *map, const char *key,
                    const char *text)
{
    if (text == NULL)
        return;
    struct node **link = &map->first;
    while (*link != NULL &&
           !((*link)->key != NULL && strcmp((*link)->key, key) == 0))
        link = &(*link)->next;
    struct node *next = *link != NULL ? (*link)->next : NULL;
    map->count += *link == NULL;
    struct node *made = arena_alloc(arena, 1, sizeof *made);
    made->kind = NODE_STRING;
    made->key = arena_strdup(arena, key);
    made->text = arena_strdup(arena, text);
    made->next = next;
    *link = made;
}

enum ht_status order_read(const struct node *map, const char *report_url,
                          const struct order_way *far, struct order **order,
                          struct ht_error *err)
{
    struct arena *arena = arena_new();
    struct node *copy = map->kind == NODE_MAP ? copy_node(arena, map) : NULL;
    if (copy != NULL) {
        replace(arena, copy, "reportUrl", report_url);
        replace(arena, copy, "farUrl", far->to);
        replace(arena, copy, "farPins", far->pins);
    }
    const struct node *shown = copy != NULL ? copy : map;
    return make_order(arena, copy, json_text(arena, json_of_node(shown)), order,
                      err);
}

void order_copy_from(struct order *order, const char *folder)
{
    order->own_workdir = true;
    order->code.travelled = true;
    struct replica_order *replicas =
        arena_alloc(order->arena, order->n_replicas, sizeof *replicas);
    for (size_t i = 0; i < order->n_replicas; i++) {
        replicas[i] = order->replicas[i];
        replicas[i].workdir = folder;
    }
    order->replicas = replicas;
}

void order_free(struct order *order)
{
    if (order != NULL)
        arena_free(order->arena);
}

int64_t order_gpus(const struct order *order)
{
    int64_t n = 0;
    for (size_t i = 0; i < order->n_replicas; i++)
        n += order->replicas[i].gpus;
    return n;
}
