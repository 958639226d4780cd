/* katib_container.c - a container of a Katib trial: its image, words, variables
 * and resources, with the trial's parameters in them. */

#include "proto/form/katib.h"

#include <stdlib.h>
#include <string.h>

#include "proto/base/limits.h"
#include "proto/base/text.h"

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
static const char *meaning(struct katib *katib, struct place at,
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
            katib_refuse(&katib->reader, at, found);
        return text;
    }
    const struct node *parameter = node_find(katib->space.node, found);
    if (parameter != NULL) {
        foreign_put(katib->arena, &katib->used, found, parameter);
        return arena_printf(katib->arena, "${%s}", found);
    }
    field_error(&katib->reader, at, "%s refers to %s, which is no parameter",
                name, found);
    return NULL;
}

/* A path of its own, or behind "--flag=", is that of the file here. */
static const char *move_file(struct katib *katib, const char *word)
{
    struct katib_file *file = &katib->metrics_file;
    const char *path = katib_names_file(file, word);
    if (path == NULL)
        return word;
    file->is_named = true;
    return arena_printf(katib->arena, "%.*s%s%s", (int)(path - word), word,
                        file->ours, path + strlen(file->theirs));
}

/* "--lr=${trialParameters.learningRate}" is "--lr=${lr}" here. */
static const char *substitute(struct katib *katib, struct place at)
{
    struct text out = {0};
    const char *c = at.node->text != NULL ? at.node->text : "", *begin;
    text_puts(&out, "");
    while ((begin = strstr(c, KATIB_REFERENCE)) != NULL) {
        const char *name = begin + sizeof KATIB_REFERENCE - 1;
        const size_t len = strcspn(name, "}");
        const char *found =
            meaning(katib, at, arena_strndup(katib->arena, name, len));
        text_append(&out, c, (size_t)(begin - c));
        text_puts(&out, found != NULL ? found : "");
        c = name + len + (name[len] == '}');
    }
    text_puts(&out, c);
    return move_file(katib, text_take(&out, katib->arena));
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

/* The cluster gives its value in the pod alone, after the words are made. */
static bool is_of_cluster(const struct container *container, const char *name)
{
    bool is_other = node_find(container->at.node, "envFrom") != NULL;
    NODE_EACH (one, node_first(container->at.node, "env"))
        if (strcmp(node_get_string(one, "name", ""), name) == 0)
            return node_find(one, "valueFrom") != NULL;
    return is_other;
}

static const char *expand(const struct container *container, struct place at)
{
    struct katib *katib = container->katib;
    struct text out = {0};
    const char *text = substitute(katib, at), *c;
    text_puts(&out, "");
    while ((c = strstr(text, "$(")) != NULL) {
        const size_t len = strcspn(c + 2, ")");
        const bool escaped = c > text && c[-1] == '$';
        const bool is_name = c[2 + len] == ')' && !escaped;
        const char *name = arena_strndup(katib->arena, c + 2, len);
        const struct node *value = is_name ? variable(container, name) : NULL;
        if (is_name && is_of_cluster(container, name))
            field_error(&katib->reader, at,
                        "$(%.64s) has its value in the cluster alone: read the "
                        "variable in the trainer",
                        name);
        text_append(&out, text, (size_t)(c - text) - escaped);
        if (value != NULL && value->text != NULL)
            text_puts(&out, substitute(katib, (struct place){value, at.path}));
        else
            text_append(&out, c, 2);
        text = value != NULL ? c + len + 3 : c + 2;
    }
    text_puts(&out, text);
    return move_file(katib, text_take(&out, katib->arena));
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

static void put_variable(struct katib *katib, struct grown *env,
                         struct place at)
{
    const char *name = node_get_string(at.node, "name", NULL);
    const struct place value = field_member(&katib->reader, at, "value");
    const struct place from = field_member(&katib->reader, at, "valueFrom");
    if (name == NULL) {
        field_missing(&katib->reader, at, "name", NULL);
    } else if (from.node != NULL && katib->in_pod) {
        return; /* katib_put_pod() has it */
    } else if (from.node != NULL) {
        katib_refuse(&katib->reader, from,
                     "the value of a variable from the cluster");
        diag_hint(katib->reader.diag, "or set it by \"secrets\" of a spec");
    } else if (value.node == NULL) {
        foreign_put_text(katib->arena, env, name, "", at.node);
    } else if (foreign_is_literal(&katib->reader, value, katib->space.node)) {
        foreign_put_text(katib->arena, env, name, substitute(katib, value),
                         value.node);
    }
}

static void put_env(const struct container *container, struct grown *out)
{
    struct katib *katib = container->katib;
    const struct place at = member(container, "env");
    if (at.node == NULL)
        return;
    struct grown env = foreign_begin(katib->arena, NODE_MAP, at.node);
    for (const struct place *one = field_items(&katib->reader, at); one->node;
         one++)
        put_variable(katib, &env, *one);
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
        else if (strcmp(one->node->key, "nvidia.com/gpu") != 0 && katib->in_pod)
            continue; /* katib_put_pod() has it */
        else if (strcmp(one->node->key, "nvidia.com/gpu") != 0 &&
                 strchr(one->node->key, '/') != NULL)
            katib_refuse(&katib->reader, *one, "this device");
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
    foreign_put_text(katib->arena, &katib->container, "pull",
                     pulls[policy->value], at.node);
}

/* Warns of all members but those named. */
void katib_warn_of_others(const struct katib *katib, struct place at,
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

/* Katib's collector reads both streams, and loggers write to standard error;
 * patterns read standard output. Katib starts trainers by a shell, too. */
static void join_streams(const struct container *container,
                         struct strings *command)
{
    static const char *const shell[] = {"sh", "-c", "exec \"$0\" \"$@\" 2>&1"};
    enum { N_SHELL = sizeof shell / sizeof *shell };
    struct katib *katib = container->katib;
    if (command->n == 0) {
        field_warning(&katib->reader, container->at,
                      "without a command only what the image prints to "
                      "standard output is read");
        return;
    }
    const char **items =
        arena_alloc(katib->arena, N_SHELL + command->n, sizeof *items);
    memcpy(items, shell, sizeof shell);
    memcpy(items + N_SHELL, command->items, command->n * sizeof *items);
    *command = (struct strings){.n = N_SHELL + command->n, .items = items};
}

/* What every type of replicas has; a worker's words are its own. */
static void put_container(const struct container *container, struct grown *out,
                          bool master)
{
    static const char *const known[] = {
        "name",    "image",        "command",    "args",
        "env",     "resources",    "workingDir", "imagePullPolicy",
        "envFrom", "volumeMounts", NULL};
    struct katib *katib = container->katib;
    const struct place from = member(container, "envFrom");
    const struct place image = member(container, "image");
    const struct place command = member(container, "command");
    const struct place args = member(container, "args");
    struct strings first = words(container, command);
    const struct strings rest = words(container, args);
    if (!katib->in_pod)
        katib_warn_of_others(katib, container->at, known);
    if (from.node != NULL && !katib->in_pod)
        katib_refuse(&katib->reader, from, "envFrom");
    if (katib->in_pod && first.n == 0)
        field_missing(&katib->reader, container->at, "command",
                      "on Kubernetes the image's own is not known");
    if (image.node == NULL)
        field_missing(&katib->reader, container->at, "image", NULL);
    foreign_move(katib->arena, out, "image", image);
    if (master && katib->reads_output)
        join_streams(container, &first);
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

const struct node *katib_convert_text(struct katib *katib, struct place at)
{
    struct grown one = foreign_begin(katib->arena, NODE_LIST, at.node);
    if (!foreign_is_literal(&katib->reader, at, katib->space.node))
        return at.node;
    foreign_put_text(katib->arena, &one, NULL, substitute(katib, at), at.node);
    return one.node->first;
}

void katib_put_words(struct katib *katib, struct place at)
{
    const struct container container = {katib, at};
    const struct place command = member(&container, "command");
    const struct strings first = words(&container, command);
    const struct strings rest = words(&container, member(&container, "args"));
    const char **items =
        arena_alloc(katib->arena, first.n + rest.n + 1, sizeof *items);
    struct strings all = {.n = first.n > 0 ? first.n + rest.n : 0,
                          .items = items};
    for (size_t i = 0; i < all.n; i++)
        items[i] = i < first.n ? first.items[i] : rest.items[i - first.n];
    if (katib->reads_output)
        join_streams(&container, &all);
    if (all.n > 0)
        put_words(&container, &katib->native, "command", &all, command.node);
}

void katib_put_container(struct katib *katib, struct place at,
                         struct grown *out, bool master)
{
    const struct container container = {katib, at};
    put_container(&container, out, master);
}
