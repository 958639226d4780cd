#include "runner/pods/kinds.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "proto/base/log.h"
#include "proto/base/text.h"
#include "proto/doc/json.h"
#include "proto/doc/node.h"
#include "runner/base/disk.h"
#include "runner/base/folder.h"
#include "runner/base/json.h"
#include "runner/kubernetes/client.h"
#include "runner/kubernetes/watch.h"
#include "runner/pods/shape.h"

static const char kinds_file[] = "kinds.json";

struct object {
    struct object *next;
    struct arena *arena; /* of its texts, and of itself */
    const char *attempt, *json;
    int64_t revision;
    bool listed; /* by the listing under way */
};

struct kind {
    struct kind *next;
    struct kinds *kinds;
    struct kube_kind_name name;
    bool kept;  /* the file has it */
    bool found; /* the cluster has it, and it is watched */
    struct kube_kind kind;
    struct kube *kube; /* of the thread */
    pthread_t thread;
    /* Guarded by the lock. */
    struct object *objects;
    char fault[HT_MAX_REASON];
};

struct kinds {
    struct arena *arena;
    struct kinds_settings settings;
    const char *selector;
    pthread_mutex_t lock; /* of what follows */
    struct kind *first;   /* in the order in which they came */
    int64_t revision;
};

/* ---- the names ---- */

static struct kind *add_kind(struct kinds *kinds,
                             const struct kube_kind_name *name, bool kept)
{
    struct kind *made = arena_alloc(kinds->arena, 1, sizeof *made);
    *made =
        (struct kind){.kinds = kinds,
                      .kept = kept,
                      .name = {arena_strdup(kinds->arena, name->api_version),
                               arena_strdup(kinds->arena, name->kind)}};
    pthread_mutex_lock(&kinds->lock);
    struct kind **link = &kinds->first;
    while (*link != NULL)
        link = &(*link)->next;
    *link = made;
    pthread_mutex_unlock(&kinds->lock);
    return made;
}

static struct kind *find_kind(struct kinds *kinds,
                              const struct kube_kind_name *name)
{
    pthread_mutex_lock(&kinds->lock);
    struct kind *kind = kinds->first;
    while (kind != NULL &&
           (strcmp(kind->name.api_version, name->api_version) != 0 ||
            strcmp(kind->name.kind, name->kind) != 0))
        kind = kind->next;
    pthread_mutex_unlock(&kinds->lock);
    return kind;
}

static enum ht_status write_names(struct kinds *kinds, struct ht_error *err)
{
    struct text out = {0};
    json_open(&out, NULL);
    json_open_list(&out, "kinds");
    for (const struct kind *kind = kinds->first; kind != NULL;
         kind = kind->next) {
        json_open(&out, NULL);
        json_put_string(&out, "apiVersion", kind->name.api_version);
        json_put_string(&out, "kind", kind->name.kind);
        json_close(&out);
    }
    json_close_list(&out);
    json_close(&out);
    const enum ht_status status =
        disk_write(kinds->settings.state, kinds_file, out.data, out.len,
                   FOLDER_FILE_MODE, err);
    text_free(&out);
    return status;
}

bool kinds_name(struct kinds *kinds, size_t i, struct kube_kind_name *name)
{
    pthread_mutex_lock(&kinds->lock);
    const struct kind *kind = kinds->first;
    while (kind != NULL && i-- > 0)
        kind = kind->next;
    if (kind != NULL)
        *name = kind->name;
    pthread_mutex_unlock(&kinds->lock);
    return kind != NULL;
}

/* ---- objects ---- */

static void drop(struct object **link)
{
    struct object *object = *link;
    *link = object->next;
    arena_free(object->arena);
}

static void keep(struct kind *kind, const struct node *node, bool gone)
{
    const struct node *meta = node_find(node, "metadata");
    const char *attempt =
        node_get_string(node_find(meta, "labels"), POD_LABEL_ATTEMPT, "");
    struct object **link = &kind->objects;
    while (*link != NULL && strcmp((*link)->attempt, attempt) != 0)
        link = &(*link)->next;
    if (*link != NULL)
        drop(link);
    if (gone)
        return;
    struct arena *arena = arena_new();
    struct object *made = arena_alloc(arena, 1, sizeof *made);
    *made = (struct object){.next = kind->objects,
                            .arena = arena,
                            .attempt = arena_strdup(arena, attempt),
                            .json = json_text(arena, json_of_node(node)),
                            .revision = ++kind->kinds->revision,
                            .listed = true};
    kind->objects = made;
}

static void begin_listing(struct kind *kind)
{
    for (struct object *one = kind->objects; one != NULL; one = one->next)
        one->listed = false;
}

static void end_listing(struct kind *kind)
{
    for (struct object **link = &kind->objects; *link != NULL;) {
        if ((*link)->listed)
            link = &(*link)->next;
        else
            drop(link);
    }
    kind->fault[0] = '\0';
}

static void note_trouble(struct kind *kind, const struct ht_error *trouble)
{
    if (kind->fault[0] == '\0')
        log_event(LOG_WARN, "kinds.away", "kind=%s reason=\"%s\"",
                  kind->kind.plural, trouble->text);
    (void)snprintf(kind->fault, sizeof kind->fault, "%s", trouble->text);
}

static bool take(void *context, const struct kube_change *change)
{
    struct kind *kind = context;
    pthread_mutex_lock(&kind->kinds->lock);
    switch (change->event) {
    case KUBE_LISTING:
        begin_listing(kind);
        break;
    case KUBE_LISTED:
        end_listing(kind);
        break;
    case KUBE_ITEM:
    case KUBE_ADDED:
    case KUBE_MODIFIED:
    case KUBE_DELETED:
        keep(kind, change->object, change->event == KUBE_DELETED);
        break;
    case KUBE_TROUBLE:
        note_trouble(kind, change->trouble);
        break;
    }
    pthread_mutex_unlock(&kind->kinds->lock);
    return true;
}

static void *watch(void *context)
{
    struct kind *kind = context;
    const struct kinds *kinds = kind->kinds;
    const struct kube_watch all = {.kind = &kind->kind,
                                   .namespace = kinds->settings.namespace,
                                   .selector = kinds->selector,
                                   .take = take,
                                   .context = kind};
    kube_watch_run(kind->kube, &all);
    return NULL;
}

static enum ht_status begin_watch(struct kind *kind, struct kube *kube,
                                  struct ht_error *err)
{
    kind->kube = kube_new_beside(kube);
    const int code = pthread_create(&kind->thread, NULL, watch, kind);
    kind->found = code == 0;
    if (kind->found)
        return HT_OK;
    kube_free(kind->kube);
    return ht_fail_errno(err, code, "cannot start a thread");
}

enum ht_status kinds_find(struct kinds *kinds, struct kube *kube,
                          const struct kube_kind_name *name,
                          const struct kube_kind **found, struct ht_error *err)
{
    struct kind *kind = find_kind(kinds, name);
    if (kind == NULL || !kind->found) {
        struct kube_kind there;
        enum ht_status status =
            kube_discover(kube, name, kinds->arena, &there, err);
        if (status != HT_OK)
            return status;
        if (kind == NULL)
            kind = add_kind(kinds, name, false);
        kind->kind = there;
        if (!kind->kept)
            status = write_names(kinds, err);
        kind->kept |= status == HT_OK;
        if (status == HT_OK)
            status = begin_watch(kind, kube, err);
        if (status != HT_OK)
            return status;
    }
    *found = &kind->kind;
    return HT_OK;
}

bool kinds_look(struct kinds *kinds, const struct kinds_wish *wish,
                struct arena *arena, const struct node **object,
                int64_t *revision, char fault[HT_MAX_REASON])
{
    struct kind *kind = find_kind(kinds, &wish->kind);
    const char *json = NULL;
    fault[0] = '\0';
    if (kind == NULL)
        return false;
    pthread_mutex_lock(&kinds->lock);
    memcpy(fault, kind->fault, HT_MAX_REASON);
    for (const struct object *one = kind->objects; one != NULL; one = one->next)
        if (strcmp(one->attempt, wish->attempt) == 0 &&
            one->revision > wish->revision) {
            json = arena_strdup(arena, one->json);
            *revision = one->revision;
        }
    pthread_mutex_unlock(&kinds->lock);
    *object = node_read_stored(arena, json);
    return *object != NULL;
}

/* ---- begin and end ---- */

enum ht_status kinds_open(const struct kinds_settings *settings,
                          struct kinds **kinds, struct ht_error *err)
{
    struct arena *arena = arena_new();
    const struct node *map = NULL;
    const enum ht_status status =
        disk_read_json(arena, settings->state, kinds_file, &map, err);
    if (status != HT_OK && status != HT_NOT_FOUND) {
        arena_free(arena);
        return status;
    }
    struct kinds *made = arena_alloc(arena, 1, sizeof *made);
    *made = (struct kinds){.arena = arena, .settings = *settings};
    made->selector =
        arena_printf(arena, POD_LABEL_RUNNER "=%s", settings->runner);
    pthread_mutex_init(&made->lock, NULL);
    NODE_EACH (one, node_first(map, "kinds"))
        (void)add_kind(
            made,
            &(struct kube_kind_name){node_get_string(one, "apiVersion", ""),
                                     node_get_string(one, "kind", "")},
            true);
    *kinds = made;
    return HT_OK;
}

void kinds_close(struct kinds *kinds)
{
    if (kinds == NULL)
        return;
    for (struct kind *kind = kinds->first; kind != NULL; kind = kind->next)
        if (kind->found)
            kube_abort(kind->kube);
    for (struct kind *kind = kinds->first; kind != NULL; kind = kind->next) {
        if (kind->found) {
            pthread_join(kind->thread, NULL);
            kube_free(kind->kube);
        }
        while (kind->objects != NULL)
            drop(&kind->objects);
    }
    pthread_mutex_destroy(&kinds->lock);
    arena_free(kinds->arena);
}
