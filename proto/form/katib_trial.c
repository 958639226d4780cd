/* katib_trial.c - the trial template of a Katib Experiment: what it runs. */

#include "proto/form/katib.h"

#include <stdlib.h>
#include <string.h>

#include "proto/base/limits.h"
#include "proto/base/text.h"

#define REFERENCE "${trialParameters."
#define META "${trialSpec."

/* ---- ${trialParameters.NAME} ---- */

/* "Labels[KEY]" and its like: what the resource says of itself. */
static const char *metadata(const struct katib *katib, const char *what)
{
    const struct node *resource = katib->trial_spec.node;
    const struct node *meta = node_find(resource, "metadata");
    static const struct {
        const char *begin, *member;
    } maps[] = {{"Labels[", "labels"}, {"Annotations[", "annotations"}};
    if (strcmp(what, "Kind") == 0)
        return node_get_string(resource, "kind", NULL);
    if (strcmp(what, "APIVersion") == 0)
        return node_get_string(resource, "apiVersion", NULL);
    if (strcmp(what, "Namespace") == 0)
        return katib->namespace.node ? katib->namespace.node->text : "default";
    for (size_t i = 0; i < sizeof maps / sizeof *maps; i++) {
        const size_t len = strlen(maps[i].begin);
        if (strncmp(what, maps[i].begin, len) == 0)
            return node_get_string(node_find(meta, maps[i].member),
                                   arena_strndup(katib->arena, what + len,
                                                 strcspn(what + len, "]")),
                                   NULL);
    }
    return NULL;
}

/* What stands for a trial parameter; NULL after an error. */
static const char *meaning(const struct katib *katib, struct place at,
                           const char *name)
{
    const struct place list = katib->trial_parameters;
    const char *found = NULL;
    NODE_EACH (one, node_items(list.node))
        if (strcmp(node_get_string(one, "name", ""), name) == 0)
            found = node_get_string(one, "reference", "");
    if (found == NULL) {
        field_error(&katib->reader, at, "trialParameters has no %s", name);
        return NULL;
    }
    if (strncmp(found, META, sizeof META - 1) == 0) {
        const char *what = found + sizeof META - 1;
        const char *text = metadata(
            katib, arena_strndup(katib->arena, what, strcspn(what, "}")));
        if (text == NULL)
            field_error(&katib->reader, at,
                        "%s: a trial here is no object of Kubernetes", found);
        return text;
    }
    if (node_find(katib->space.node, found) != NULL)
        return arena_printf(katib->arena, "${%s}", found);
    field_error(&katib->reader, at, "%s refers to %s, which is no parameter",
                name, found);
    return NULL;
}

/* "--lr=${trialParameters.learningRate}" is "--lr=${lr}" here. */
static const char *substitute(const struct katib *katib, struct place at)
{
    struct text out = {0};
    const char *c = at.node->text != NULL ? at.node->text : "", *begin;
    text_puts(&out, "");
    while ((begin = strstr(c, REFERENCE)) != NULL) {
        const char *name = begin + sizeof REFERENCE - 1;
        const size_t len = strcspn(name, "}");
        const char *found =
            meaning(katib, at, arena_strndup(katib->arena, name, len));
        text_append(&out, c, (size_t)(begin - c));
        text_puts(&out, found != NULL ? found : "");
        c = name + len + (name[len] == '}');
    }
    text_puts(&out, c);
    return text_take(&out, katib->arena);
}

/* ---- a container ---- */

struct container {
    struct katib *katib;
    struct place at;
};

static struct place member(const struct container *container, const char *key)
{
    return field_member(&container->katib->reader, container->at, key);
}

/* A variable of the container, as the kubelet puts it in the place of $(NAME);
 * NULL: it has none of that name. */
static const struct node *variable(const struct container *container,
                                   const char *name)
{
    NODE_EACH (one, node_first(container->at.node, "env"))
        if (strcmp(node_get_string(one, "name", ""), name) == 0)
            return node_find(one, "value");
    return NULL;
}

static const char *expand(const struct container *container, struct place at)
{
    const struct katib *katib = container->katib;
    struct text out = {0};
    const char *text = substitute(katib, at), *c;
    text_puts(&out, "");
    while ((c = strstr(text, "$(")) != NULL) {
        const size_t len = strcspn(c + 2, ")");
        const bool escaped = c > text && c[-1] == '$';
        const struct node *value =
            c[2 + len] != ')' || escaped
                ? NULL
                : variable(container, arena_strndup(katib->arena, c + 2, len));
        text_append(&out, text, (size_t)(c - text) - escaped);
        if (value != NULL)
            text_puts(&out, substitute(katib, (struct place){value, at.path}));
        else
            text_append(&out, c, 2);
        text = value != NULL ? c + len + 3 : c + 2;
    }
    text_puts(&out, text);
    return text_take(&out, katib->arena);
}

static struct strings words(const struct container *container, struct place at)
{
    struct katib *katib = container->katib;
    struct strings list = {0};
    if (at.node == NULL)
        return list;
    if (at.node->kind != NODE_LIST || at.node->count > HT_MAX_ARGS) {
        field_wrong_kind(&katib->reader, at, "a list of words");
        return list;
    }
    const char **items =
        arena_alloc(katib->arena, at.node->count + 1, sizeof *items);
    for (const struct place *one = field_items(&katib->reader, at); one->node;
         one++)
        if (foreign_is_literal(&katib->reader, *one, katib->space.node))
            items[list.n++] = expand(container, *one);
    list.items = items;
    return list;
}

static void put_words(const struct container *container, struct grown *out,
                      const char *key, const struct strings *list,
                      const struct node *at)
{
    struct arena *arena = container->katib->arena;
    struct grown items = foreign_begin(arena, NODE_LIST, at);
    for (size_t i = 0; i < list->n; i++)
        foreign_put_text(arena, &items, NULL, list->items[i], at);
    foreign_put(arena, out, key, items.node);
}

static void put_env(const struct container *container, struct grown *out)
{
    struct katib *katib = container->katib;
    const struct place at = member(container, "env");
    struct grown env = {0};
    if (at.node == NULL)
        return;
    env = foreign_begin(katib->arena, NODE_MAP, at.node);
    for (const struct place *one = field_items(&katib->reader, at); one->node;
         one++) {
        const char *name = node_get_string(one->node, "name", NULL);
        const struct place value = field_member(&katib->reader, *one, "value");
        if (name == NULL) {
            field_missing(&katib->reader, *one, "name", NULL);
        } else if (value.node == NULL) {
            field_warning(&katib->reader, *one,
                          "%s has its value from the cluster, and is not set",
                          name);
            diag_hint(katib->reader.diag, "see \"secrets\" of a spec");
        } else if (foreign_is_literal(&katib->reader, value,
                                      katib->space.node)) {
            foreign_put_text(katib->arena, &env, name, substitute(katib, value),
                             value.node);
        }
    }
    if (env.node->count > 0)
        foreign_put(katib->arena, out, "env", env.node);
}

/* "500m" is half a core. */
static void put_cores(struct katib *katib, struct grown *out, struct place at)
{
    char *end;
    const char *text = at.node->text != NULL ? at.node->text : "";
    const double n = strtod(text, &end);
    if (end == text || (*end != '\0' && strcmp(end, "m") != 0))
        field_error(&katib->reader, at, "must be cores such as 2 or 500m");
    else
        foreign_put_number(katib->arena, out, "cpus",
                           *end == 'm' ? n / 1000 : n, at.node);
}

static void put_resources(const struct container *container, struct grown *out)
{
    struct katib *katib = container->katib;
    const struct place all = member(container, "resources");
    if (all.node == NULL)
        return;
    const struct place limits = field_member(&katib->reader, all, "limits");
    const struct place at =
        limits.node ? limits : field_member(&katib->reader, all, "requests");
    if (at.node == NULL || at.node->kind != NODE_MAP)
        return;
    struct grown map = foreign_begin(katib->arena, NODE_MAP, at.node);
    for (const struct place *one = field_members(&katib->reader, at); one->node;
         one++) {
        double n;
        if (strcmp(one->node->key, "cpu") == 0)
            put_cores(katib, &map, *one);
        else if (strcmp(one->node->key, "memory") == 0)
            foreign_put(katib->arena, &map, "memory", one->node);
        else if (strcmp(one->node->key, "nvidia.com/gpu") != 0)
            field_warning(&katib->reader, *one, "has no effect here");
        else if (foreign_number(&katib->reader, *one, &n))
            foreign_put_number(katib->arena, &map, "gpus", n, one->node);
    }
    if (map.node->count > 0)
        foreign_put(katib->arena, out, "resources", map.node);
}

static void put_pull(const struct container *container)
{
    static const struct field_choice policies[] = {{"IfNotPresent", -1, 0},
                                                   {"Always", -1, 1},
                                                   {"Never", -1, 2},
                                                   {NULL, 0, 0}};
    static const char *const pulls[] = {"ifNotPresent", "always", "never"};
    const struct field row = {.name = "imagePullPolicy", .choices = policies};
    struct katib *katib = container->katib;
    const struct place at = member(container, "imagePullPolicy");
    const struct field_choice *policy =
        at.node ? field_choice(&katib->reader, at, &row) : NULL;
    if (policy == NULL)
        return;
    struct grown map = foreign_begin(katib->arena, NODE_MAP, at.node);
    foreign_put_text(katib->arena, &map, "pull", pulls[policy->value], at.node);
    foreign_put(katib->arena, &katib->native, "container", map.node);
}

/* Warns of all members but those named. */
static void warn_of_others(const struct katib *katib, struct place at,
                           const char *const known[])
{
    if (at.node == NULL || at.node->kind != NODE_MAP)
        return;
    for (const struct place *one = field_members(&katib->reader, at); one->node;
         one++) {
        size_t i = 0;
        while (known[i] != NULL && strcmp(known[i], one->node->key) != 0)
            i++;
        if (known[i] == NULL)
            field_warning(&katib->reader, *one, "has no effect here");
    }
}

/* What every type of replicas has; a worker's words are its own. */
static void put_container(const struct container *container, struct grown *out,
                          bool master)
{
    static const char *const known[] = {
        "name",      "image",      "command",         "args", "env",
        "resources", "workingDir", "imagePullPolicy", NULL};
    struct katib *katib = container->katib;
    const struct place image = member(container, "image");
    const struct place command = member(container, "command");
    const struct place args = member(container, "args");
    struct strings first = words(container, command);
    const struct strings rest = words(container, args);
    warn_of_others(katib, container->at, known);
    if (image.node == NULL)
        field_missing(&katib->reader, container->at, "image", NULL);
    foreign_move(katib->arena, out, "image", image);
    if (first.n > 0)
        put_words(container, out, "command", &first, command.node);
    if (master)
        katib->args = rest;
    else if (rest.n > 0)
        put_words(container, out, "args", &rest, args.node);
    put_env(container, out);
    put_resources(container, out);
    if (!master)
        return;
    put_pull(container);
    foreign_move(katib->arena, out, "workdir", member(container, "workingDir"));
}

/* ---- pods ---- */

/* The primary container of a pod template, `at` having the template. */
static struct place find_container(const struct katib *katib, struct place at)
{
    static const char *const known[] = {"containers", "restartPolicy", NULL};
    static const char *const of_template[] = {"spec", NULL};
    const struct field_reader *reader = &katib->reader;
    const struct place template = field_member(reader, at, "template");
    const struct place pod = field_member(reader, template, "spec");
    const struct place list = field_member(reader, pod, "containers");
    const char *primary = katib->primary.node && katib->primary.node->text
                              ? katib->primary.node->text
                              : "";
    struct place found = {0};
    if (list.node == NULL || list.node->kind != NODE_LIST ||
        list.node->count == 0) {
        field_missing(reader, at, "template.spec.containers",
                      "only a container can run here");
        return found;
    }
    warn_of_others(katib, template, of_template);
    warn_of_others(katib, pod, known);
    const struct place *items = field_items(reader, list);
    for (const struct place *one = items; one->node; one++)
        if (found.node == NULL &&
            strcmp(node_get_string(one->node, "name", ""), primary) == 0)
            found = *one;
    if (found.node == NULL && primary[0] != '\0' && list.node->count > 1)
        field_error(reader, katib->primary, "no container has this name");
    if (found.node == NULL)
        found = items[0];
    for (const struct place *one = items; one->node; one++)
        if (one->node != found.node)
            field_warning(reader, *one,
                          "container %s does not run here, a replica has one",
                          node_get_string(one->node, "name", ""));
    return found;
}

/* ---- replicas of a training operator ---- */

static const struct operator_kind {
    const char *kind, *member;
    bool torch; /* MASTER_ADDR and its like tell a replica its part */
} operators[] = {{"TFJob", "tfReplicaSpecs", false},
                 {"PyTorchJob", "pytorchReplicaSpecs", true},
                 {"XGBoostJob", "xgbReplicaSpecs", true},
                 {"PaddleJob", "paddleReplicaSpecs", true}};

static const struct {
    const char *theirs, *ours; /* NULL: the master */
} roles[] = {{"Chief", NULL},
             {"Master", NULL},
             {"Worker", "worker"},
             {"PS", "ps"},
             {"Evaluator", "evaluator"}};

static const char *role_of(const char *theirs)
{
    for (size_t i = 0; i < sizeof roles / sizeof *roles; i++)
        if (strcmp(roles[i].theirs, theirs) == 0)
            return roles[i].ours != NULL ? roles[i].ours : "master";
    return NULL;
}

static int64_t count_of(const struct katib *katib, struct place at)
{
    const struct place count = field_member(&katib->reader, at, "replicas");
    int64_t n = 1;
    if (count.node != NULL && !node_int64(count.node, &n))
        field_wrong_kind(&katib->reader, count, "a number of replicas");
    return n;
}

static void put_replicas(struct katib *katib, struct grown *replicas,
                         struct place at, const char *role, int64_t count)
{
    static const char *const known[] = {"replicas", "restartPolicy", "template",
                                        NULL};
    const struct container container = {katib, find_container(katib, at)};
    struct grown out = foreign_begin(katib->arena, NODE_MAP, at.node);
    if (container.at.node == NULL)
        return;
    warn_of_others(katib, at, known);
    if (strcmp(role, "master") == 0) {
        put_container(&container, &katib->native, true);
        if (--count == 0)
            return;
        role = "worker"; /* of several workers the first is the master */
    }
    foreign_put_number(katib->arena, &out, "count", (double)count, at.node);
    put_container(&container, &out, false);
    foreign_put(katib->arena, replicas, role, out.node);
}

static void put_operator(struct katib *katib, struct place at,
                         const struct operator_kind *kind)
{
    const struct field_reader *reader = &katib->reader;
    const struct place *list = field_members(reader, at);
    struct grown replicas = foreign_begin(katib->arena, NODE_MAP, at.node);
    bool has_master = false;
    for (const struct place *one = list; one->node; one++) {
        const char *role = role_of(one->node->key);
        if (role == NULL)
            field_key_error(reader, *one,
                            "must be Chief, Master, Worker, PS or Evaluator");
        else
            has_master |= strcmp(role, "master") == 0;
    }
    for (const struct place *one = list; one->node; one++) {
        const char *role = role_of(one->node->key);
        const int64_t n = count_of(katib, *one);
        if (role == NULL || n < 1)
            continue;
        if (!has_master && strcmp(role, "worker") == 0)
            role = "master";
        else if (strcmp(role, "master") == 0 && n > 1)
            field_error(reader, *one, "there is one master, not %lld",
                        (long long)n);
        put_replicas(katib, &replicas, *one, role, n);
    }
    if (replicas.node->count == 0)
        return;
    foreign_put(katib->arena, &katib->native, "replicas", replicas.node);
    if (kind->torch)
        field_warning(reader, at,
                      "MASTER_ADDR, RANK and WORLD_SIZE are not set here");
    if (kind->torch)
        diag_hint(reader->diag, "CLUSTER_SPEC has the replicas' addresses");
}

/* ---- the template ---- */

static void refuse_kind(const struct katib *katib, const char *kind)
{
    field_error(&katib->reader, katib->trial_spec,
                "trials of kind %s cannot run here", kind);
    diag_hint(katib->reader.diag,
              "a Job, PyTorchJob, TFJob, XGBoostJob or PaddleJob can");
}

void katib_put_trial(struct katib *katib)
{
    const struct place at = katib->trial_spec;
    const char *kind = node_get_string(at.node, "kind", "");
    if (at.node == NULL) {
        field_missing(&katib->reader, katib->spec, "trialTemplate.trialSpec",
                      "what the trials run");
        return;
    }
    const struct place spec = field_member(&katib->reader, at, "spec");
    if (strcmp(kind, "Job") == 0) {
        static const char *const known[] = {"template", NULL};
        const struct container container = {katib, find_container(katib, spec)};
        warn_of_others(katib, spec, known);
        if (container.at.node != NULL)
            put_container(&container, &katib->native, true);
        return;
    }
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++) {
        if (strcmp(operators[i].kind, kind) != 0)
            continue;
        const char *const known[] = {operators[i].member, NULL};
        const struct place replicas =
            field_member(&katib->reader, spec, operators[i].member);
        warn_of_others(katib, spec, known);
        if (replicas.node == NULL)
            field_missing(&katib->reader, spec, operators[i].member, NULL);
        else
            put_operator(katib, replicas, &operators[i]);
        return;
    }
    refuse_kind(katib, kind);
}
