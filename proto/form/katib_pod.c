/* katib_pod.c - the pod of a Katib trial: which container runs, what it mounts,
 * and what only a cluster has. */

#include "proto/form/katib.h"

#include <string.h>

/* ---- mounts ---- */

/* What it is a volume of, such as hostPath; without a node: nothing. */
static struct place source_of(const struct katib *katib, struct place volume)
{
    if (volume.node->kind != NODE_MAP)
        return (struct place){0};
    for (const struct place *one = field_members(&katib->reader, volume);
         one->node; one++)
        if (strcmp(one->node->key, "name") != 0)
            return *one;
    return (struct place){0};
}

static bool is_source(struct place source, const char *kind)
{
    return source.node != NULL && strcmp(source.node->key, kind) == 0;
}

/* The volumes of a pod are its own or the machine's, else a cluster's. */
static void check_volumes(const struct katib *katib, struct place volumes)
{
    if (volumes.node == NULL)
        return;
    for (const struct place *one = field_items(&katib->reader, volumes);
         one->node; one++) {
        const struct place source = source_of(katib, *one);
        if (source.node == NULL)
            field_error(&katib->reader, *one, "must be a volume");
        else if (!is_source(source, "emptyDir") &&
                 !is_source(source, "hostPath"))
            katib_refuse(&katib->reader, source, "a volume of this kind");
    }
}

/* The source of the volume that the mount names; without a node after an
 * error. */
static struct place mounted(const struct katib *katib, struct place volumes,
                            struct place mount)
{
    const char *name = node_get_string(mount.node, "name", "");
    if (volumes.node != NULL)
        for (const struct place *one = field_items(&katib->reader, volumes);
             one->node; one++)
            if (strcmp(node_get_string(one->node, "name", ""), name) == 0)
                return source_of(katib, *one);
    field_error(&katib->reader, mount, "volumes has no %s", name);
    return (struct place){0};
}

/* Data loaders share /dev/shm; any other folder is the image's own here. */
static void put_empty(struct katib *katib, struct place source,
                      struct place mount, bool master)
{
    const char *path = node_get_string(mount.node, "mountPath", "");
    const struct place size = field_member(&katib->reader, source, "sizeLimit");
    if (strcmp(path, "/dev/shm") != 0)
        field_warning(&katib->reader, mount, "no folder is mounted at %s",
                      path);
    else if (size.node == NULL)
        field_warning(&katib->reader, source,
                      "without a sizeLimit /dev/shm has the engine's own size");
    else if (master)
        foreign_put(katib->arena, &katib->container, "shm", size.node);
}

/* All replicas have the volumes of the job, which are those of the master. */
static void put_folder(struct katib *katib, struct place source,
                       struct place mount, bool master)
{
    const char *sub = node_get_string(mount.node, "subPath", "");
    const char *text = arena_printf(
        katib->arena, "%s%s%s:%s%s", node_get_string(source.node, "path", ""),
        sub[0] != '\0' ? "/" : "", sub,
        node_get_string(mount.node, "mountPath", ""),
        node_get_bool(mount.node, "readOnly", false) ? ":ro" : "");
    NODE_EACH (one, node_items(katib->volumes.node))
        if (strcmp(one->text, text) == 0)
            return;
    if (master)
        foreign_put_text(katib->arena, &katib->volumes, NULL, text, mount.node);
    else
        field_error(&katib->reader, mount, "the master does not mount %s",
                    text);
}

static void put_mounts(struct katib *katib, struct place volumes,
                       struct place container, bool master)
{
    const struct place mounts =
        field_member(&katib->reader, container, "volumeMounts");
    if (mounts.node == NULL)
        return;
    for (const struct place *one = field_items(&katib->reader, mounts);
         one->node; one++) {
        const struct place source = mounted(katib, volumes, *one);
        if (is_source(source, "emptyDir"))
            put_empty(katib, source, *one, master);
        else if (is_source(source, "hostPath"))
            put_folder(katib, source, *one, master);
    }
}

/* ---- the pod ---- */

/* Runs before or beside the container, or decides what it may do. */
static void refuse_members(const struct katib *katib, struct place pod)
{
    static const char *const members[] = {
        "initContainers", "serviceAccountName", "serviceAccount",
        "resourceClaims", "runtimeClassName"};
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        const struct place at = field_member(&katib->reader, pod, members[i]);
        const char *text = at.node != NULL ? at.node->text : NULL;
        if (at.node != NULL &&
            (text != NULL ? text[0] != '\0' && strcmp(text, "default") != 0
                          : at.node->count > 0))
            katib_refuse(&katib->reader, at, members[i]);
    }
}

static struct place primary_of(const struct katib *katib, struct place list)
{
    const struct place *items = field_items(&katib->reader, list);
    const char *primary = katib->primary.node && katib->primary.node->text
                              ? katib->primary.node->text
                              : "";
    struct place found = {0};
    for (const struct place *one = items; one->node; one++)
        if (found.node == NULL &&
            strcmp(node_get_string(one->node, "name", ""), primary) == 0)
            found = *one;
    if (found.node == NULL && primary[0] != '\0' && list.node->count > 1)
        field_error(&katib->reader, katib->primary,
                    "no container has this name");
    if (found.node == NULL)
        found = items[0];
    return found;
}

static void refuse_others(const struct katib *katib, struct place list,
                          const struct node *primary)
{
    for (const struct place *one = field_items(&katib->reader, list); one->node;
         one++)
        if (one->node != primary)
            katib_refuse(&katib->reader, *one, "a second container");
}

struct place katib_find_container(struct katib *katib, struct place at,
                                  const char *path, bool master)
{
    static const char *const known[] = {
        "containers",         "restartPolicy",    "volumes",
        "initContainers",     "serviceAccount",   "resourceClaims",
        "serviceAccountName", "runtimeClassName", NULL};
    static const char *const of_template[] = {"apiVersion", "kind", "spec",
                                              NULL};
    const struct field_reader *reader = &katib->reader;
    const struct place template =
        path[0] != '\0' ? field_member(reader, at, path) : at;
    const struct place pod = field_member(reader, template, "spec");
    const struct place list = field_member(reader, pod, "containers");
    const struct place volumes = field_member(reader, pod, "volumes");
    if (list.node == NULL || list.node->kind != NODE_LIST ||
        list.node->count == 0) {
        field_missing(reader, at,
                      path[0] != '\0' ? "template.spec.containers"
                                      : "spec.containers",
                      "only a container can run here");
        return (struct place){0};
    }
    const struct place found = primary_of(katib, list);
    if (katib->is_one_pod && katib_needs_pod(katib, pod, found.node)) {
        katib_put_pod(katib, template, pod, found.node);
        return found;
    }
    katib_warn_of_others(katib, template, of_template);
    katib_warn_of_others(katib, pod, known);
    refuse_members(katib, pod);
    check_volumes(katib, volumes);
    refuse_others(katib, list, found.node);
    put_mounts(katib, volumes, found, master);
    return found;
}
