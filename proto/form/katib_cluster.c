/* katib_cluster.c - the pod of a Katib trial that only a cluster can run: all
 * of it but the trainer's words becomes kubernetes.pod of the native form. */

#include "proto/form/katib.h"

#include <string.h>

#include "proto/job/kubernetes.h"

/* ---- whether ---- */

static bool is_named(const struct place at)
{
    const char *text = at.node->text;
    return text != NULL ? text[0] != '\0' && strcmp(text, "default") != 0
                        : at.node->count > 0;
}

static bool has_source(const struct node *volume)
{
    NODE_EACH (source, node_items(volume))
        if (source->key != NULL && strcmp(source->key, "name") != 0 &&
            strcmp(source->key, "emptyDir") != 0 &&
            strcmp(source->key, "hostPath") != 0)
            return true;
    return false;
}

static bool has_device(const struct node *container)
{
    const struct node *limits =
        node_find(node_find(container, "resources"), "limits");
    NODE_EACH (one, node_items(limits))
        if (one->key != NULL && strchr(one->key, '/') != NULL &&
            strcmp(one->key, "nvidia.com/gpu") != 0)
            return true;
    return false;
}

bool katib_needs_pod(const struct katib *katib, struct place pod,
                     const struct node *container)
{
    /* Runs before or beside the container, or decides what it may do. */
    static const char *const members[] = {
        "initContainers", "serviceAccountName", "serviceAccount",
        "resourceClaims", "runtimeClassName"};
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        const struct place at = field_member(&katib->reader, pod, members[i]);
        if (at.node != NULL && is_named(at))
            return true;
    }
    NODE_EACH (volume, node_first(pod.node, "volumes"))
        if (has_source(volume))
            return true;
    NODE_EACH (one, node_first(container, "env"))
        if (node_find(one, "valueFrom") != NULL)
            return true;
    const struct node *containers = node_find(pod.node, "containers");
    return containers->count > 1 || node_find(container, "envFrom") != NULL ||
           has_device(container);
}

/* ---- what it becomes ---- */

static bool is_among(const char *const names[], const char *name)
{
    while (*names != NULL && strcmp(*names, name) != 0)
        names++;
    return *names != NULL;
}

/* Only the trainer's words and variables have the values of a trial. */
static void check_constant(const struct katib *katib, struct place at)
{
    const struct field_reader *reader = &katib->reader;
    if (at.node->text != NULL && strstr(at.node->text, KATIB_REFERENCE) != NULL)
        field_error(reader, at,
                    "a parameter can be in the words and variables of the "
                    "primary container alone");
    if (at.node->kind != NODE_MAP && at.node->kind != NODE_LIST)
        return;
    const struct place *one = at.node->kind == NODE_MAP
                                  ? field_members(reader, at)
                                  : field_items(reader, at);
    for (; one->node != NULL; one++)
        check_constant(katib, *one);
}

static void put(const struct katib *katib, struct grown *to, const char *key,
                struct place at)
{
    check_constant(katib, at);
    foreign_put(katib->arena, to, key, at.node);
}

/* The variables that the cluster gives. */
static void put_sources(const struct katib *katib, struct grown *to,
                        struct place env)
{
    struct grown list = foreign_begin(katib->arena, NODE_LIST, env.node);
    for (const struct place *one = field_items(&katib->reader, env); one->node;
         one++)
        if (node_find(one->node, "valueFrom") != NULL)
            put(katib, &list, NULL, *one);
    if (list.node->count > 0)
        foreign_put(katib->arena, to, "env", list.node);
}

static void put_primary(const struct katib *katib, struct grown *containers,
                        struct place at)
{
    static const char *const native[] = {
        "name",       "image",           "command", "args",
        "workingDir", "imagePullPolicy", NULL};
    struct grown map = foreign_begin(katib->arena, NODE_MAP, at.node);
    foreign_put_text(katib->arena, &map, "name", KUBERNETES_CONTAINER, at.node);
    for (const struct place *one = field_members(&katib->reader, at); one->node;
         one++) {
        if (strcmp(one->node->key, "env") == 0)
            put_sources(katib, &map, *one);
        else if (!is_among(native, one->node->key))
            put(katib, &map, one->node->key, *one);
    }
    foreign_put(katib->arena, containers, NULL, map.node);
}

static void put_containers(const struct katib *katib, struct grown *pod,
                           struct place list, const struct node *primary)
{
    struct grown containers = foreign_begin(katib->arena, NODE_LIST, list.node);
    for (const struct place *one = field_items(&katib->reader, list); one->node;
         one++) {
        if (one->node == primary)
            put_primary(katib, &containers, *one);
        else
            put(katib, &containers, NULL, *one);
    }
    foreign_put(katib->arena, pod, "containers", containers.node);
}

void katib_put_pod(struct katib *katib, struct place template,
                   struct place spec, const struct node *primary)
{
    const struct field_reader *reader = &katib->reader;
    const struct place meta = field_member(reader, template, "metadata");
    struct grown section = foreign_begin(katib->arena, NODE_MAP, spec.node);
    struct grown pod = foreign_begin(katib->arena, NODE_MAP, spec.node);
    for (const struct place *one = field_members(reader, spec); one->node;
         one++) {
        const char *key = one->node->key;
        if (strcmp(key, "containers") == 0)
            put_containers(katib, &pod, *one, primary);
        else if (strcmp(key, "terminationGracePeriodSeconds") == 0)
            katib_put_number(katib, &katib->native, "grace", *one);
        else if (strcmp(key, "serviceAccount") == 0)
            put(katib, &pod, "serviceAccountName", *one);
        else if (strcmp(key, "restartPolicy") != 0)
            put(katib, &pod, key, *one);
    }
    foreign_move(katib->arena, &section, "labels",
                 field_member(reader, meta, "labels"));
    foreign_move(katib->arena, &section, "annotations",
                 field_member(reader, meta, "annotations"));
    foreign_put(katib->arena, &section, "pod", pod.node);
    foreign_put(katib->arena, &katib->native, "kubernetes", section.node);
    katib->in_pod = true;
}
