#include "proto/job/pod_overlay.h"

#include <stdbool.h>
#include <string.h>

#include "proto/doc/json.h"
#include "proto/doc/node.h"

/* patchMergeKey of Kubernetes' types in core/v1. */
static const struct {
    const char *list, *key;
} keys[] = {{"containers", "name"},
            {"initContainers", "name"},
            {"volumes", "name"},
            {"env", "name"},
            {"volumeMounts", "mountPath"},
            {"volumeDevices", "devicePath"},
            {"ports", "containerPort"},
            {"imagePullSecrets", "name"},
            {"resourceClaims", "name"},
            {"hostAliases", "ip"},
            {"topologySpreadConstraints", "topologyKey"},
            {"tolerations", ""}};

const char *pod_overlay_key(const char *list)
{
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (strcmp(keys[i].list, list) == 0)
            return keys[i].key;
    return NULL;
}

/* Numbers of json_of_node() are raw text. */
static bool is_item(const cJSON *item, const char *key, const struct node *over)
{
    const cJSON *have = cJSON_GetObjectItemCaseSensitive(item, key);
    const struct node *wanted = node_find(over, key);
    return have != NULL && have->valuestring != NULL && wanted != NULL &&
           wanted->text != NULL && strcmp(have->valuestring, wanted->text) == 0;
}

static void merge_list(cJSON *list, const struct node *over, const char *key)
{
    NODE_EACH (item, over->first) {
        cJSON *have = list->child;
        while (have != NULL && !is_item(have, key, item))
            have = have->next;
        if (have != NULL)
            pod_overlay(have, item);
        else
            cJSON_AddItemToArray(list, json_of_node(item));
    }
}

static void merge_member(cJSON *base, const struct node *over)
{
    cJSON *have = cJSON_GetObjectItemCaseSensitive(base, over->key);
    const char *key = pod_overlay_key(over->key);
    if (cJSON_IsObject(have) && over->kind == NODE_MAP) {
        pod_overlay(have, over);
    } else if (cJSON_IsArray(have) && over->kind == NODE_LIST && key != NULL) {
        merge_list(have, over, key);
    } else if (over->kind == NODE_NULL) {
        cJSON_DeleteItemFromObjectCaseSensitive(base, over->key);
    } else if (have != NULL) {
        cJSON_ReplaceItemInObjectCaseSensitive(base, over->key,
                                               json_of_node(over));
    } else {
        cJSON_AddItemToObject(base, over->key, json_of_node(over));
    }
}

void pod_overlay(cJSON *base, const struct node *over)
{
    NODE_EACH (member, over->first)
        merge_member(base, member);
}
