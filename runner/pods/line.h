/* line.h - the way of runner/far to a pod: hypertune-shim as the mirror's other
 * half, started in the running container by the API server. */
#ifndef HT_RUNNER_PODS_LINE_H
#define HT_RUNNER_PODS_LINE_H

#include "proto/base/error.h"

struct far;
struct kube;
struct pod_line; /* to one pod */
struct site;

/* What a pod does not need of the kit, more than half of it: it has the shim
 * from a ConfigMap. */
extern const char pod_kit_without[];

struct pod_line_settings {
    const struct site *site;
    const struct kube *kube; /* of the cluster: its login is shared */
    const char *namespace;   /* must outlive the line */
    const char *pod;
    const char *container; /* of the pod; must outlive the line */
    const char *kit;       /* of far_name_kit() and pod_kit_without, or NULL */
};

/* HT_IO  no thread */
enum ht_status pod_line_open(const struct pod_line_settings *settings,
                             struct pod_line **line, struct ht_error *err);
/* For the functions of far.h, all but far_stop() and far_close(). */
struct far *pod_line_far(const struct pod_line *line);
/* Returns at once; pod_line_close() is short afterwards. */
void pod_line_stop(struct pod_line *line);
void pod_line_close(struct pod_line *line); /* accepts NULL */
/* All that are open; when the engine ends. */
void pod_line_close_all(void);

#endif
