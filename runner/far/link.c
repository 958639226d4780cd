/* link.c - the thread that keeps a connection to the place, and puts trees. */
#include <stdio.h>
#include <stdlib.h>

#include "proto/base/clock.h"
#include "proto/base/log.h"
#include "runner/far/parts.h"

enum {
    FIRST_BACKOFF_MS = 1000,
    LAST_BACKOFF_MS = 8000,
    RETRY_MS = 30000 /* of a tree that could not be put */
};

/* ---- trees ---- */

/* Whether the path is there: its FRAME_ASK is the last one so far. */
static bool ask(struct link *link, const char *path, bool *is_there)
{
    struct far *far = link->far;
    bool answered = false;
    pthread_mutex_lock(&far->lock);
    const uint64_t number = far->tree_asked = ++far->asked;
    far_queue(far, &(struct frame){
                       .kind = FRAME_ASK, .number = number, .path = path});
    pthread_mutex_unlock(&far->lock);
    while (!answered) {
        if (!link_step(link))
            return false;
        pthread_mutex_lock(&far->lock);
        answered = far->answered >= number;
        *is_there = far->tree_is_there;
        pthread_mutex_unlock(&far->lock);
    }
    return true;
}

static void note_tree(struct far *far, const struct far_tree *tree,
                      const struct ht_error *err)
{
    log_event(LOG_WARN, "far.tree", "path=%s reason=\"%s\"", tree->path,
              err->text);
    pthread_mutex_lock(&far->lock);
    far->fault_at = clock_monotonic_ms();
    (void)snprintf(far->fault, sizeof far->fault, "%.220s cannot be put: %s",
                   tree->path, err->text);
    pthread_mutex_unlock(&far->lock);
}

static bool put_tree(struct link *link, struct far_tree *tree)
{
    struct ht_error err = {.status = HT_OK};
    bool is_there = false;
    if (!ask(link, tree->path, &is_there))
        return false;
    if (!is_there) {
        log_event(LOG_INFO, "far.tree", "folder=%s path=%s", tree->folder,
                  tree->path);
        if (!far_upload(link, tree, &err) ||
            !ask(link, tree->path, &is_there)) {
            if (err.status == HT_OK)
                return false;
            note_tree(link->far, tree, &err);
        }
    }
    pthread_mutex_lock(&link->far->lock);
    tree->state = is_there ? FAR_READY : FAR_PENDING;
    pthread_mutex_unlock(&link->far->lock);
    if (!is_there)
        link->trees_at = clock_monotonic_ms() + RETRY_MS;
    return true;
}

/* None is freed while this thread runs. */
static struct far_tree *find_tree(struct link *link)
{
    struct far *far = link->far;
    struct far_tree *tree = NULL;
    if (!link->greeted || clock_monotonic_ms() < link->trees_at)
        return NULL;
    pthread_mutex_lock(&far->lock);
    if (far->synced == far->connection)
        for (tree = far->trees; tree != NULL && tree->state == FAR_READY;)
            tree = tree->next;
    pthread_mutex_unlock(&far->lock);
    return tree;
}

/* ---- connections ---- */

static void serve(struct link *link)
{
    while (link_step(link)) {
        struct far_tree *tree = find_tree(link);
        if (tree != NULL && !put_tree(link, tree))
            break;
    }
}

static int connect_once(struct link *link)
{
    if (link_start(link))
        serve(link);
    return link_end(link);
}

static void note_end(struct far *far, const struct link *link, int code)
{
    pthread_mutex_lock(&far->lock);
    const bool was = far->connection != 0;
    far->connection = 0;
    text_clear(&far->queue);
    far->way->explain(far->context, code, link->words, far->fault);
    pthread_cond_broadcast(&far->changed);
    if (was && !far->stopping)
        log_event(LOG_WARN, "far.away", "reason=\"%s\"", far->fault);
    pthread_mutex_unlock(&far->lock);
}

static void rest(struct far *far, int64_t ms)
{
    const struct timespec until = clock_in_ms(ms);
    pthread_mutex_lock(&far->lock);
    while (!far->stopping &&
           pthread_cond_timedwait(&far->changed, &far->lock, &until) == 0)
        continue;
    pthread_mutex_unlock(&far->lock);
}

void *far_link(void *context)
{
    struct far *far = context;
    struct link *link = ht_xcalloc(1, sizeof *link);
    int64_t backoff_ms = FIRST_BACKOFF_MS;
    link->far = far;
    while (!far_is_stopping(far)) {
        int code = connect_once(link);
        if (!link->greeted && !far_is_stopping(far) && far->way->mend != NULL &&
            far->way->mend(far->context, far, code))
            code = connect_once(link);
        note_end(far, link, code);
        backoff_ms = link->greeted ? FIRST_BACKOFF_MS : 2 * backoff_ms;
        if (backoff_ms > LAST_BACKOFF_MS)
            backoff_ms = LAST_BACKOFF_MS;
        rest(far, backoff_ms);
    }
    text_free(&link->incoming);
    text_free(&link->outgoing);
    free(link);
    return NULL;
}
