#include "runner/kubernetes/watch.h"

#include <string.h>

#include "proto/base/clock.h"
#include "proto/base/text.h"
#include "proto/base/token.h"
#include "runner/kubernetes/lines.h"
#include "runner/kubernetes/objects.h"
#include "runner/kubernetes/refusal.h"

/* Proxies cut what is silent; the server sends a bookmark once a minute. */
enum {
    TIMEOUT_S = 120,
    SPREAD_S = 60,
    GRACE_MS = 15000,
    SOON_MS = 1000 /* a watch that ends sooner, without a word, has failed */
};

struct state {
    struct kube *kube;
    const struct kube_watch *watch;
    struct text version; /* of the last change; empty: list first */
    struct kube_lines lines;
    bool left;           /* the taker wants no more */
    bool broken;         /* a line was no JSON */
    bool heard;          /* this watch has said something */
    struct ht_error err; /* of an event ERROR; status HT_OK: none */
};

static bool hand_on(struct state *state, enum kube_event event,
                    const struct node *object)
{
    const struct kube_change change = {.event = event, .object = object};
    state->left = !state->watch->take(state->watch->context, &change);
    return !state->left;
}

/* ---- the list ---- */

static bool take_item(void *context, const struct node *item)
{
    return hand_on(context, KUBE_ITEM, item);
}

static enum ht_status list(struct state *state, struct ht_error *err)
{
    const struct kube_watch *watch = state->watch;
    const struct kube_list all = {.kind = watch->kind,
                                  .namespace = watch->namespace,
                                  .selector = watch->selector,
                                  .page = watch->page,
                                  .each = take_item,
                                  .context = state};
    const char *version = "";
    if (!hand_on(state, KUBE_LISTING, NULL))
        return HT_OK;
    struct arena *arena = arena_new();
    const enum ht_status status =
        kube_list(state->kube, &all, arena, &version, err);
    if (status == HT_OK && !state->left) {
        text_clear(&state->version);
        text_puts(&state->version, version);
        (void)hand_on(state, KUBE_LISTED, NULL);
    }
    arena_free(arena);
    return status;
}

/* ---- the watch ---- */

static void note_error(struct state *state, const struct node *status)
{
    struct arena *arena = arena_new();
    (void)kube_refuse(arena, (int)node_get_int(status, "code", 500), status,
                      &state->err);
    arena_free(arena);
}

/* The version counts once the change was taken. */
static bool take_line(void *context, const struct node *line)
{
    static const struct {
        const char *type;
        enum kube_event event;
    } events[] = {{"ADDED", KUBE_ADDED},
                  {"MODIFIED", KUBE_MODIFIED},
                  {"DELETED", KUBE_DELETED}};
    struct state *state = context;
    const char *type = node_get_string(line, "type", "");
    const struct node *object = node_find(line, "object");
    const char *version =
        node_get_string(node_find(object, "metadata"), "resourceVersion", NULL);
    state->heard = true;
    if (strcmp(type, "ERROR") == 0) {
        note_error(state, object);
        return false;
    }
    bool more = true;
    for (size_t i = 0; i < sizeof events / sizeof *events; i++) {
        if (strcmp(type, events[i].type) == 0)
            more = hand_on(state, events[i].event, object);
    }
    if (version != NULL) {
        text_clear(&state->version);
        text_puts(&state->version, version);
    }
    return more;
}

static bool take_bytes(void *context, const char *bytes, size_t len)
{
    struct state *state = context;
    const enum kube_lines_end end =
        kube_lines_feed(&state->lines, bytes, len, take_line, state);
    state->broken |= end == KUBE_LINES_BROKEN;
    return end == KUBE_LINES_MORE;
}

static const char *make_path(const struct state *state, struct arena *arena,
                             int timeout_s)
{
    const struct kube_watch *watch = state->watch;
    const struct kube_object all = {.kind = watch->kind,
                                    .namespace = watch->namespace};
    struct text path = {0};
    text_printf(&path,
                "%s?watch=1&allowWatchBookmarks=true&timeoutSeconds=%d"
                "&resourceVersion=%s",
                kube_path(arena, &all), timeout_s,
                kube_escape(arena, text_string(&state->version)));
    if (watch->selector != NULL)
        text_printf(&path, "&labelSelector=%s",
                    kube_escape(arena, watch->selector));
    return text_take(&path, arena);
}

/* One watch until its end; HT_OK: an end like any other. */
static enum ht_status follow(struct state *state, int64_t *retry_ms,
                             struct ht_error *err)
{
    const int timeout_s = state->watch->timeout_s > 0
                              ? state->watch->timeout_s
                              : TIMEOUT_S + (int)(token_random64() % SPREAD_S);
    const struct kube_flow flow = {.take = take_bytes,
                                   .context = state,
                                   .silence_ms =
                                       timeout_s * (int64_t)1000 + GRACE_MS};
    struct arena *arena = arena_new();
    state->heard = false;
    state->broken = false;
    state->err.status = HT_OK;
    enum ht_status status = kube_stream(
        state->kube, make_path(state, arena, timeout_s), &flow, retry_ms, err);
    arena_free(arena);
    kube_lines_fini(&state->lines);
    if (status == HT_OK && state->err.status != HT_OK) {
        status = state->err.status;
        if (err != NULL)
            *err = state->err;
    }
    if (status == HT_OK && state->broken)
        return ht_fail(err, HT_INTERNAL, "a line of the watch is no JSON");
    return status;
}

/* ---- both ---- */

/* Where the version is forgotten, or something is wrong that only a new list
 * can find, the next step lists. A cut is none of these. */
static bool is_cut(enum ht_status status)
{
    return status == HT_OK || status == HT_UNAVAILABLE || status == HT_LIMIT ||
           status == HT_TIMEOUT || status == HT_UNAUTHENTICATED;
}

/* True: it went well, and the next step may follow at once. */
static bool step(struct state *state, int64_t *retry_ms)
{
    struct ht_error err;
    const bool lists = state->version.len == 0;
    const int64_t began_ms = clock_monotonic_ms();
    *retry_ms = 0;
    const enum ht_status status =
        lists ? list(state, &err) : follow(state, retry_ms, &err);
    if (!lists && !is_cut(status))
        text_clear(&state->version);
    if (status == HT_OK)
        return lists || state->heard ||
               clock_monotonic_ms() - began_ms > SOON_MS;
    if (!lists &&
        (status == HT_RANGE || (status == HT_UNAVAILABLE && state->heard)))
        return true;
    const struct kube_change change = {.event = KUBE_TROUBLE, .trouble = &err};
    if (!state->left && !kube_is_aborted(state->kube))
        state->left = !state->watch->take(state->watch->context, &change);
    return false;
}

void kube_watch_run(struct kube *kube, const struct kube_watch *watch)
{
    struct state state = {.kube = kube, .watch = watch};
    int failures = 0;
    while (!state.left && !kube_is_aborted(kube)) {
        int64_t retry_ms;
        failures = step(&state, &retry_ms) ? 0 : failures + 1;
        const int64_t pause_ms = failures > 0 ? kube_backoff_ms(failures) : 0;
        if (!state.left && failures > 0)
            (void)kube_pause(kube, pause_ms > retry_ms ? pause_ms : retry_ms);
    }
    text_free(&state.version);
}
