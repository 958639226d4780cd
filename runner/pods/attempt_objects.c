#include "runner/pods/attempt_objects.h"

#include "proto/base/text.h"
#include "runner/kubernetes/objects.h"
#include "runner/pods/maker.h"
#include "runner/pods/shape.h"
#include "runner/pods/template.h"

struct list {
    struct arena *arena;
    struct maker_object *items;
    size_t n;
};

static void add(struct list *list, const struct kube_kind *kind,
                const char *name, struct text *json)
{
    list->items[list->n++] = (struct maker_object){
        .kind = kind, .name = name, .json = text_take(json, list->arena)};
}

/* The Service first: pods look for its names when they start. */
static void add_own(struct list *list, const struct pod_shape *shape,
                    const struct pod_group *groups, size_t n)
{
    const struct order *order = shape->order;
    struct text out = {0};
    if (order->n_replicas > 1 && shape->job_sets) {
        pod_put_job_set(&out, shape);
        add(list, &kube_job_sets, order->name, &out);
        return;
    }
    if (order->n_replicas > 1) {
        pod_put_service(&out, shape);
        add(list, &kube_services, order->name, &out);
    }
    for (size_t i = 0; i < n; i++) {
        pod_put_job(&out, shape, &groups[i]);
        add(list, &kube_jobs, pod_job_name(list->arena, order, &groups[i]),
            &out);
    }
}

struct maker_object *pod_objects(struct arena *arena,
                                 const struct pod_shape *shape, size_t *n)
{
    size_t n_groups;
    const struct pod_group *groups = pod_groups(arena, shape->order, &n_groups);
    struct list list = {.arena = arena};
    list.items = arena_alloc(arena, n_groups + 1, sizeof *list.items);
    if (shape->template != NULL) {
        struct text out = {0};
        pod_put_template(&out, shape);
        add(&list, NULL, shape->order->name, &out);
        list.items[0].foreign = shape->template->kind;
    } else {
        add_own(&list, shape, groups, n_groups);
    }
    *n = list.n;
    return list.items;
}

size_t pod_objects_count(const struct order *order, bool job_sets)
{
    size_t n_groups;
    const bool several = order->n_replicas > 1;
    if (order->kubernetes.template != NULL || (several && job_sets))
        return 1;
    struct arena *arena = arena_new();
    (void)pod_groups(arena, order, &n_groups);
    arena_free(arena);
    return n_groups + several;
}
