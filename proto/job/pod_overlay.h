/* pod_overlay.h - part of a PodSpec laid over another one, as Kubernetes merges
 * a strategic patch: maps member by member, lists of named items item by item,
 * tolerations added, other lists replaced; null takes a member away.
 *
 * Pure, and the same for every version of Kubernetes. */
#ifndef HT_PROTO_JOB_POD_OVERLAY_H
#define HT_PROTO_JOB_POD_OVERLAY_H

#include <cjson/cJSON.h>

struct node;

/* The member by which items of a list of that name are the same, such as
 * "mountPath" of volumeMounts; "": every item is another one; NULL: the list is
 * one value. */
const char *pod_overlay_key(const char *list);

/* Changes `base`, which json_of_node() made, and copies what it takes of the
 * map `over`. An item without its key is added. */
void pod_overlay(cJSON *base, const struct node *over);

#endif
