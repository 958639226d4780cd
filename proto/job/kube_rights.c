#include "proto/job/kube_rights.h"

static const struct kube_right wanted[] = {
    {"batch", "jobs", "create get list delete"},
    {"", "pods", "list watch delete"},
    {"", "pods/log", "get"},
    /* A WebSocket is a GET; Kubernetes 1.35 asks for what a POST needs, too. */
    {"", "pods/exec", "create get"},
    {"", "services", "create get list delete"},
    {"", "configmaps", "create get"},
    {"", "events", "list"},
    {"jobset.x-k8s.io", "jobsets", "create get list delete"},
    {"kueue.x-k8s.io", "workloads", "get"},
};

const struct kube_rights kube_rights = {sizeof wanted / sizeof *wanted, wanted};

/* "get list" as ["get", "list"]. */
static void put_verbs(struct text *out, const char *verbs)
{
    text_puts(out, "[\"");
    for (; *verbs != '\0'; verbs++)
        text_append(out, *verbs == ' ' ? "\", \"" : verbs,
                    *verbs == ' ' ? 4 : 1);
    text_puts(out, "\"]\n");
}

void kube_rights_put(struct text *out, const struct kube_rights *rights)
{
    text_puts(out, "rules:\n");
    for (size_t i = 0; i < rights->n; i++) {
        text_printf(out,
                    "- apiGroups: [\"%s\"]\n  resources: [\"%s\"]\n  verbs: ",
                    rights->items[i].group, rights->items[i].resource);
        put_verbs(out, rights->items[i].verbs);
    }
}
