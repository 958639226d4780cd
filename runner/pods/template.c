#include "runner/pods/template.h"

#include <stdio.h>

#include "proto/base/text.h"
#include "proto/doc/diag.h"
#include "proto/doc/json.h"
#include "proto/job/kube_condition.h"
#include "proto/job/kubernetes.h"
#include "proto/job/pod_overlay.h"
#include "runner/pods/shape.h"

enum ht_status pod_template_read(struct arena *arena,
                                 const struct job_kubernetes *section,
                                 struct pod_template *template,
                                 struct ht_error *err)
{
    struct diag diag;
    struct place wrong;
    const struct field_reader reader = {
        .diag = &diag, .arena = arena, .null_is_absent = true};
    const struct place at = {.node = node_read_stored(arena, section->template),
                             .path = "kubernetes.template"};
    diag_init(&diag, arena, "order", NULL, 0);
    *template = (struct pod_template){
        .object = at.node,
        .kind = {node_get_string(at.node, "apiVersion", ""),
                 node_get_string(at.node, "kind", "")}};
    if (at.node == NULL)
        return ht_fail(err, HT_PRECONDITION, "%s is no object", at.path);
    template->pods = kube_templates(&reader, at, &template->n);
    template->ends = kube_template_ends(section, at.node);
    wrong = at;
    const char *fault =
        template->n == 0
            ? kube_template_seek(section, at.node, &template->sought)
            : kube_template_find(&reader, section, at, &template->primary,
                                 &wrong);
    return fault == NULL
               ? HT_OK
               : ht_fail(err, HT_PRECONDITION, "%s: %s", wrong.path, fault);
}

/* ---- the object ---- */

struct lay {
    const struct pod_shape *shape;
    struct arena *arena;
};

static void lay_over(struct arena *arena, cJSON *base, struct text *part)
{
    pod_overlay(base, node_read_stored(arena, text_string(part)));
    text_free(part);
}

/* The pod template that the node is; NULL: it is none. */
static const struct kube_pod_template *
find_pod(const struct pod_template *template, const struct node *node)
{
    for (size_t i = 0; i < template->n; i++)
        if (template->pods[i].at.node == node)
            return &template->pods[i];
    return NULL;
}

/* `json` is what the node has become so far. True: it is the trial's pod, and
 * the map around it has a restartPolicy for it. */
static bool lay_pods(const struct lay *lay, const struct node *node,
                     cJSON *json)
{
    const struct pod_template *template = lay->shape->template;
    const struct kube_pod_template *pod = find_pod(template, node);
    if (pod != NULL) {
        struct text part = {0};
        const bool ours = node == template->primary.template.at.node;
        pod_put_pod_part(&part, lay->shape,
                         ours ? template->primary.name : NULL);
        lay_over(lay->arena, json, &part);
        return ours && pod->restarts;
    }
    bool restarts = false;
    cJSON *below = json->child;
    NODE_EACH (one, node->first) {
        restarts |= lay_pods(lay, one, below);
        below = below->next;
    }
    if (restarts) { /* an operator puts it over that of the pod */
        cJSON_DeleteItemFromObjectCaseSensitive(json, "restartPolicy");
        json_add_string(json, "restartPolicy", "Never");
    }
    return false;
}

void pod_put_template(struct text *out, const struct pod_shape *shape)
{
    struct text part = {0};
    struct arena *arena = arena_new();
    const struct lay lay = {.shape = shape, .arena = arena};
    const struct node *object = shape->template->object;
    cJSON *json = json_of_node(object);
    (void)lay_pods(&lay, object, json);
    pod_put_object_part(&part, shape);
    lay_over(arena, json, &part);
    text_puts(out, json_text(arena, json));
    arena_free(arena);
}

/* ---- its conditions ---- */

static const struct node *find(struct arena *arena, const struct node *object,
                               const char *condition)
{
    return condition != NULL ? kube_condition_find(arena, object, condition)
                             : NULL;
}

struct pod_verdict pod_template_judge(const struct pod_template *template,
                                      const struct node *object)
{
    struct pod_verdict verdict = {.kind = VERDICT_FAILED};
    struct arena *arena = arena_new();
    const char *ended = "failed";
    const struct node *why = find(arena, object, template->ends.failure);
    if (why == NULL) {
        why = find(arena, object, template->ends.success);
        verdict.kind = why != NULL ? VERDICT_SUCCEEDED : VERDICT_NONE;
        ended = "succeeded";
    }
    const char *reason = node_get_string(why, "reason", "");
    const char *message = node_get_string(why, "message", "");
    (void)snprintf(verdict.words, sizeof verdict.words,
                   "its %.60s %s%s%.100s%s%s", template->kind.kind, ended,
                   reason[0] != '\0' ? ": " : "", reason,
                   message[0] != '\0' ? ": " : "", message);
    arena_free(arena);
    return verdict;
}
