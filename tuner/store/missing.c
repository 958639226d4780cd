/* missing.c - which chunks a project does not have. */

#include "tuner/store/store.h"

#include <string.h>

#include "proto/doc/json.h"
#include "proto/doc/node.h"
#include "tuner/store/state.h"

enum { MOST_CHUNKS = 10000 };

static enum ht_status read_list(const struct node *body,
                                const struct node **list, struct ht_error *err)
{
    const struct node *chunks = node_find(body, "chunks");
    if (chunks == NULL || chunks->kind != NODE_LIST || body->count != 1 ||
        chunks->count > MOST_CHUNKS)
        return ht_fail(err, HT_INVALID,
                       "the body is {\"chunks\":[...]} with at most %d names",
                       MOST_CHUNKS);
    *list = chunks;
    return HT_OK;
}

enum ht_status store_missing(struct store *store, struct request *req,
                             struct ht_error *err)
{
    const struct node *list = NULL;
    struct project *project = NULL;
    enum ht_status status = read_list(req->body, &list, err);
    if (status == HT_OK)
        status = store_project(store, req->scope.project, false, &project, err);
    if (status != HT_OK && status != HT_NOT_FOUND)
        return status;
    cJSON *object = cJSON_CreateObject();
    cJSON *missing = json_add_array(object, "missing");
    size_t i = 0;
    NODE_EACH (item, node_items(list)) {
        const char *chunk = node_string(item);
        struct tree_hash hash;
        if (tree_name_read(chunk != NULL ? chunk : "", &hash, err) != HT_OK) {
            cJSON_Delete(object);
            return ht_wrap(err, HT_INVALID, "chunks[%zu]", i);
        }
        if (project == NULL || !project_has(project, chunk))
            json_push_string(missing, chunk);
        i++;
    }
    json_print(object, &req->reply);
    return HT_OK;
}
