/* katib_template.c - a Katib trial that is an object of a cluster: it becomes
 * kubernetes.template of the native form. */

#include "proto/form/katib.h"

#include <string.h>

#include "proto/base/limits.h"
#include "proto/job/kube_template.h"

/* ---- the object ---- */

static const struct node *convert(struct katib *katib, struct place at,
                                  bool metadata);

/* A trial's object has a name and a namespace of its own here. */
static bool is_dropped(const char *key)
{
    return strcmp(key, "name") == 0 || strcmp(key, "generateName") == 0 ||
           strcmp(key, "namespace") == 0;
}

static const struct node *convert_map(struct katib *katib, struct place at,
                                      bool metadata)
{
    struct grown map = foreign_begin(katib->arena, NODE_MAP, at.node);
    const bool whole = at.node == katib->trial_spec.node;
    for (const struct place *one = field_members(&katib->reader, at); one->node;
         one++) {
        const char *key = one->node->key;
        if (!metadata || !is_dropped(key))
            foreign_put(
                katib->arena, &map, key,
                convert(katib, *one, whole && strcmp(key, "metadata") == 0));
    }
    return map.node;
}

/* The value with its trial parameters as they are here; `metadata`: that of the
 * object itself. */
static const struct node *convert(struct katib *katib, struct place at,
                                  bool metadata)
{
    if (at.node->kind == NODE_MAP)
        return convert_map(katib, at, metadata);
    if (at.node->kind == NODE_STRING)
        return katib_convert_text(katib, at);
    if (at.node->kind != NODE_LIST)
        return at.node;
    struct grown list = foreign_begin(katib->arena, NODE_LIST, at.node);
    for (const struct place *one = field_items(&katib->reader, at); one->node;
         one++)
        foreign_put(katib->arena, &list, NULL, convert(katib, *one, false));
    return list.node;
}

/* ---- the section ---- */

static void put_section(struct katib *katib)
{
    struct arena *arena = katib->arena;
    struct grown section =
        foreign_begin(arena, NODE_MAP, katib->trial_spec.node);
    foreign_put(arena, &section, "template",
                convert(katib, katib->trial_spec, false));
    foreign_move(arena, &section, "success", katib->success);
    foreign_move(arena, &section, "failure", katib->failure);
    foreign_move(arena, &section, "primaryContainer", katib->primary);
    foreign_move(arena, &section, "primaryPodLabels", katib->primary_labels);
    foreign_put(arena, &katib->native, "kubernetes", section.node);
}

/* Whether a pod of it has what only a cluster can give. */
static bool has_cluster_pod(const struct katib *katib,
                            const struct kube_pod_template *pods, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct place spec =
            field_member(&katib->reader, pods[i].at, "spec");
        const struct node *containers = node_find(spec.node, "containers");
        NODE_EACH (one, containers->first)
            if (katib_needs_pod(katib, spec, one))
                return true;
    }
    return false;
}

static struct job_kubernetes section_of(const struct katib *katib)
{
    const struct node *primary = katib->primary.node;
    struct job_kubernetes section = {
        .primary_container = primary != NULL ? primary->text : NULL};
    if (katib->primary_labels.node != NULL)
        field_pairs(
            &katib->reader, katib->primary_labels,
            &(struct field){.name = "primaryPodLabels", .max = HT_MAX_ENV},
            &section.primary_labels);
    return section;
}

/* Whether its operator's pods are found. */
static bool is_sought(const struct katib *katib)
{
    struct kube_sought sought;
    const struct job_kubernetes none = {.said = false};
    (void)kube_template_seek(&none, katib->trial_spec.node, &sought);
    return sought.name_label != NULL;
}

/* An object that describes no pods: of the trial's there is only its log. */
static void put_sought(struct katib *katib)
{
    struct kube_sought sought;
    const struct job_kubernetes section = section_of(katib);
    const char *fault =
        kube_template_seek(&section, katib->trial_spec.node, &sought);
    if (fault != NULL)
        field_error(&katib->reader, katib->trial_spec, "%s", fault);
    else if (!katib->reads_output)
        katib_refuse(&katib->reader, katib->collector,
                     "a metrics file in the pods of an operator");
    else
        put_section(katib);
}

bool katib_wants_template(const struct katib *katib, bool runs_here)
{
    size_t n;
    const struct kube_pod_template *pods =
        kube_templates(&katib->reader, katib->trial_spec, &n);
    if (n == 0)
        return is_sought(katib);
    return !runs_here || katib->has_own_ends ||
           (!katib->is_one_pod && has_cluster_pod(katib, pods, n));
}

void katib_put_template(struct katib *katib)
{
    struct kube_primary primary;
    struct place wrong;
    const struct field_reader *reader = &katib->reader;
    const struct job_kubernetes section = section_of(katib);
    if (!kube_template_is_whole(reader, katib->trial_spec)) {
        put_sought(katib);
        return;
    }
    const char *fault = kube_template_find(reader, &section, katib->trial_spec,
                                           &primary, &wrong);
    if (fault != NULL) {
        field_error(reader, wrong, "%s", fault);
        return;
    }
    const size_t before = reader->diag->errors;
    put_section(katib);
    if (reader->diag->errors == before)
        katib_put_words(katib, primary.container);
}
