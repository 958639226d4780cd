#include "runner/kubernetes/fields.h"

#include <stdlib.h>
#include <string.h>

#include "runner/kubernetes/objects.h"

/* The first minor version of Kubernetes 1 in which the field works without a
 * feature gate (kubernetes/kubernetes, pkg/features/kube_features.go). */
static const struct {
    const char *schema; /* io.k8s.api. is before it */
    const char *name;
    int minor;
} rows[KUBE_FIELDS] = {
    [KUBE_POD_FAILURE_POLICY] = {"batch.v1.JobSpec", "podFailurePolicy", 26},
    [KUBE_POD_REPLACEMENT_POLICY] = {"batch.v1.JobSpec", "podReplacementPolicy",
                                     29},
    [KUBE_BACKOFF_LIMIT_PER_INDEX] = {"batch.v1.JobSpec",
                                      "backoffLimitPerIndex", 29},
    [KUBE_SUCCESS_POLICY] = {"batch.v1.JobSpec", "successPolicy", 31},
    [KUBE_MANAGED_BY] = {"batch.v1.JobSpec", "managedBy", 32},
    [KUBE_SCHEDULING_GATES] = {"core.v1.PodSpec", "schedulingGates", 27},
    [KUBE_RESOURCE_CLAIMS] = {"core.v1.PodSpec", "resourceClaims", 32},
    [KUBE_SIDECARS] = {"core.v1.Container", "restartPolicy", 29},
    [KUBE_IMAGE_VOLUMES] = {"core.v1.Volume", "image", 35},
};

const char *kube_field_name(enum kube_field field)
{
    return rows[field].name;
}

/* "26", and "26+" of clouds. */
static int read_number(const struct node *version, const char *key)
{
    const long n = strtol(node_get_string(version, key, "0"), NULL, 10);
    return n > 0 && n < 1000 ? (int)n : 0;
}

/* Of a document that has no JobSpec nothing can be known. */
static const struct node *find_schema(const struct node *document,
                                      const char *name)
{
    static const char start[] = "io.k8s.api.";
    const struct node *components = node_find(document, "components");
    NODE_EACH (schema, node_first(components, "schemas")) {
        if (strncmp(schema->key, start, strlen(start)) == 0 &&
            strcmp(schema->key + strlen(start), name) == 0)
            return schema;
    }
    return NULL;
}

void kube_fields_read(const struct node *version, const struct node *schema,
                      struct kube_fields *fields)
{
    *fields = (struct kube_fields){
        .major = read_number(version, "major"),
        .minor = read_number(version, "minor"),
        .by_schema = find_schema(schema, "batch.v1.JobSpec") != NULL};
    for (int i = 0; i < KUBE_FIELDS; i++) {
        const struct node *of = find_schema(schema, rows[i].schema);
        fields->has[i] =
            fields->by_schema
                ? node_find(node_find(of, "properties"), rows[i].name) != NULL
                : fields->major > 1 || fields->minor >= rows[i].minor;
    }
}

static enum ht_status ask_api(struct kube *kube, const struct kube_kind *of,
                              struct arena *arena, bool *there,
                              struct ht_error *err)
{
    const struct node *answer;
    const struct kube_request ask = {.method = "GET", .path = of->api};
    const enum ht_status status = kube_call(kube, &ask, arena, &answer, err);
    *there = status == HT_OK;
    return status == HT_NOT_FOUND || status == HT_DENIED ? HT_OK : status;
}

enum ht_status kube_fields_ask(struct kube *kube, struct kube_fields *fields,
                               struct ht_error *err)
{
    static const struct kube_request ask_version = {.method = "GET",
                                                    .path = "/version"};
    static const struct kube_request ask_schema = {
        .method = "GET", .path = "/openapi/v3/apis/batch/v1"};
    struct arena *arena = arena_new();
    const struct node *version, *schema = NULL;
    enum ht_status status = kube_call(kube, &ask_version, arena, &version, err);
    if (status == HT_OK)
        status = kube_call(kube, &ask_schema, arena, &schema, err);
    /* Older servers have no such schema, and some give it to admins only. */
    if (status == HT_NOT_FOUND || status == HT_DENIED)
        status = HT_OK;
    if (status == HT_OK) {
        kube_fields_read(version, schema, fields);
        status = ask_api(kube, &kube_job_sets, arena, &fields->job_sets, err);
    }
    if (status == HT_OK)
        status = ask_api(kube, &kube_workloads, arena, &fields->workloads, err);
    arena_free(arena);
    return status;
}
