/* objects.h - objects of a Kubernetes cluster by kind, namespace and name:
 * create, get, list, patch, delete. */
#ifndef HT_RUNNER_KUBERNETES_OBJECTS_H
#define HT_RUNNER_KUBERNETES_OBJECTS_H

#include "runner/kubernetes/client.h"

struct kube_kind {
    const char *group;  /* "batch"; "" is the first API */
    const char *api;    /* "/apis/batch/v1" */
    const char *plural; /* "jobs" */
};
extern const struct kube_kind kube_jobs, kube_pods, kube_services,
    kube_config_maps, kube_secrets, kube_service_accounts, kube_events,
    kube_job_sets, kube_workloads;

/* What is asked for; `name` is NULL for all of the namespace. */
struct kube_object {
    const struct kube_kind *kind;
    const char *namespace, *name;
};

struct kube_creation {
    const struct kube_kind *kind;
    const char *namespace;
    const char *json; /* of the object, which has a name of its own */
    bool dry;         /* it is checked by everything there is, and not kept */
};
/* A field that the server does not know is refused (HT_INVALID), never
 * dropped. *answer: the object as it is then. Errors of kube_call() here and
 * below; after HT_UNAVAILABLE, HT_TIMEOUT and HT_INTERNAL it may have been
 * made. */
enum ht_status kube_create(struct kube *kube,
                           const struct kube_creation *creation,
                           struct arena *arena, const struct node **answer,
                           struct ht_error *err);
enum ht_status kube_get(struct kube *kube, const struct kube_object *object,
                        struct arena *arena, const struct node **answer,
                        struct ht_error *err);
/* A merge patch (RFC 7396). With metadata.resourceVersion in it the object
 * must not have changed: HT_CONFLICT. */
enum ht_status kube_patch(struct kube *kube, const struct kube_object *object,
                          const char *json, struct arena *arena,
                          const struct node **answer, struct ht_error *err);

struct kube_delete {
    const char *uid; /* only the object that has it, else HT_CONFLICT; or NULL:
                        any of that name */
    bool orphans;    /* what it owns stays; else that is deleted after it */
    bool waits;      /* ... or before it (Foreground) */
    int grace_s;     /* of pods; negative: their own */
};
/* HT_OK: it will be gone; it may have finalizers and pods that end.
 * HT_NOT_FOUND: it is gone. */
enum ht_status kube_remove(struct kube *kube, const struct kube_object *object,
                           const struct kube_delete *how, struct ht_error *err);

/* One item of a list; false ends it. The item is valid during the call. */
typedef bool kube_each(void *context, const struct node *item);

struct kube_list {
    const struct kube_kind *kind;
    const char *namespace;
    const char *selector; /* of labels, or NULL */
    const char *fields;   /* the same of fields, "involvedObject.name=a" */
    int page;             /* items of one answer; 0: the usual 500 */
    kube_each *each;
    void *context;
};
/* Calls `each` with every item as the cluster has them at one moment, page by
 * page. *version: of that moment, in the arena. HT_RANGE: the list took so long
 * that its moment is forgotten; what came is of no use, begin again. */
enum ht_status kube_list(struct kube *kube, const struct kube_list *list,
                         struct arena *arena, const char **version,
                         struct ht_error *err);

/* "/apis/batch/v1/namespaces/NS/jobs/NAME", escaped, in the arena. */
const char *kube_path(struct arena *arena, const struct kube_object *object);
/* A value of a query, escaped also where a path would not be. */
const char *kube_escape(struct arena *arena, const char *text);

#endif
