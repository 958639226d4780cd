#include "runner/pods/follow.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "proto/base/arena.h"
#include "proto/base/clock.h"
#include "proto/base/text.h"
#include "runner/base/disk.h"
#include "runner/base/folder.h"
#include "runner/base/json.h"
#include "runner/kubernetes/client.h"
#include "runner/kubernetes/log_lines.h"
#include "runner/kubernetes/objects.h"
#include "runner/shim/log.h"

enum {
    SILENCE_MS = 300000, /* then it is asked again; a dead connection on the
                            way is found before */
    SAVE_MS = 500,
    AGAIN_MS = 1000, /* until the next answer */
    LAST_MS = 600000 /* for the rest of the log, after the container's end */
};

static const char place_file[] = "log.json";

struct pod_follow {
    struct pod_follow *next;
    struct arena *arena;
    struct kube *kube;
    struct kube_object pod;
    const char *container, *folder;
    int folder_fd;
    struct shim_log log;
    struct kube_log_place place; /* of the next answer */
    int empty;                   /* answers without a line, in a row */
    int64_t began_ms, saved_at;
    struct kube_log_lines lines; /* of the answer under way */
    int failures;
    pthread_t thread;
    pthread_mutex_t lock; /* of what follows */
    int64_t ended_at;     /* monotonic; 0: the container has not ended */
    enum pod_follow_state state;
    char words[HT_MAX_REASON];
};

/* As of line.c. */
static struct {
    pthread_mutex_t lock;
    struct pod_follow *first;
} follows = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- the place ---- */

static void save(struct pod_follow *follow)
{
    struct text out = {0};
    const struct kube_log_mark *mark = &follow->place.mark;
    if (kube_log_end(&follow->lines, &follow->place.mark))
        follow->place.more = 0;
    json_open(&out, NULL);
    json_put_int(&out, "second", mark->second);
    json_put_string(&out, "first", mark->first);
    json_put_int(&out, "bytes", mark->bytes);
    json_put_int(&out, "last", mark->last);
    json_put_int(&out, "offset", follow->log.offset - follow->place.more);
    json_put_int(&out, "startedMs", follow->began_ms);
    json_close(&out);
    (void)disk_replace(follow->folder, place_file, out.data, out.len,
                       FOLDER_FILE_MODE, NULL);
    follow->saved_at = clock_monotonic_ms();
    text_free(&out);
}

/* What the log has behind the place was taken, too. */
static void find_place(struct pod_follow *follow)
{
    const struct node *map = NULL;
    struct arena *arena = arena_new();
    follow->began_ms = clock_wall_ms();
    if (disk_read_json(arena, follow->folder, place_file, &map, NULL) ==
        HT_OK) {
        struct kube_log_mark *mark = &follow->place.mark;
        mark->second = node_get_int(map, "second", 0);
        mark->bytes = node_get_int(map, "bytes", 0);
        mark->last = node_get_int(map, "last", 0);
        (void)snprintf(mark->first, sizeof mark->first, "%s",
                       node_get_string(map, "first", ""));
        follow->began_ms = node_get_int(map, "startedMs", follow->began_ms);
        follow->place.more =
            follow->log.offset - node_get_int(map, "offset", 0);
    }
    arena_free(arena);
}

bool pod_follow_has_begun(const char *folder)
{
    return disk_has(folder, place_file);
}

/* ---- one answer ---- */

static void take_text(void *context, const char *text, size_t len)
{
    struct pod_follow *follow = context;
    shim_log_append(&follow->log, text, len);
}

static bool take_bytes(void *context, const char *bytes, size_t len)
{
    struct pod_follow *follow = context;
    const bool more = kube_log_feed(&follow->lines, bytes, len);
    if (clock_monotonic_ms() - follow->saved_at >= SAVE_MS)
        save(follow);
    return more;
}

static const char *path_of(const struct pod_follow *follow, bool ended,
                           struct arena *arena)
{
    struct text path = {0};
    char stamp[CLOCK_STAMP_BYTES];
    text_printf(&path, "%s/log?container=%s&timestamps=true",
                kube_path(arena, &follow->pod),
                kube_escape(arena, follow->container));
    if (!ended)
        text_puts(&path, "&follow=true");
    if (follow->place.mark.first[0] != '\0')
        text_printf(
            &path, "&sinceTime=%s",
            kube_escape(arena,
                        clock_stamp(stamp, follow->place.mark.second * 1000)));
    return text_take(&path, arena);
}

static void settle(struct pod_follow *follow, enum pod_follow_state state,
                   const char *words)
{
    pthread_mutex_lock(&follow->lock);
    follow->state = state;
    (void)snprintf(follow->words, sizeof follow->words, "%.500s", words);
    pthread_mutex_unlock(&follow->lock);
}

static bool has_ended(struct pod_follow *follow)
{
    pthread_mutex_lock(&follow->lock);
    const bool ended = follow->ended_at != 0;
    pthread_mutex_unlock(&follow->lock);
    return ended;
}

/* An answer may end well though the node did not send all of it: the API server
 * does not say so. The log is whole when, after the container's end, one more
 * answer has all that came before, and no more; or nothing twice, where the
 * node has begun a new file since. */
static bool is_whole(const struct pod_follow *follow, bool ended)
{
    const struct kube_log_lines *lines = &follow->lines;
    const bool same = lines->skip == 0 && !lines->grew;
    return ended && (same || (lines->unbroken && follow->empty > 1));
}

static void judge(struct pod_follow *follow, bool ended, enum ht_status status,
                  const struct ht_error *err)
{
    const struct kube_log_lines *lines = &follow->lines;
    const bool is_good = status == HT_OK && lines->n_words == 0;
    follow->empty = is_good && !lines->begun ? follow->empty + 1 : 0;
    follow->place.unbroken = is_good;
    if (lines->missing)
        settle(follow, FOLLOW_TORN,
               "its node has removed lines that were not read yet");
    else if (status == HT_NOT_FOUND)
        settle(follow, FOLLOW_TORN, "its pod is gone");
    else if (!is_good)
        settle(follow, FOLLOW_READS,
               status != HT_OK ? err->text : lines->words);
    else
        settle(follow, is_whole(follow, ended) ? FOLLOW_WHOLE : FOLLOW_READS,
               "");
}

/* How long to wait before the next one. */
static int64_t read_once(struct pod_follow *follow)
{
    struct ht_error err = {.status = HT_OK};
    int64_t retry_ms = 0;
    struct arena *arena = arena_new();
    bool ended = has_ended(follow);
    const int64_t began_at = clock_monotonic_ms();
    const struct kube_flow flow = {
        .take = take_bytes, .context = follow, .silence_ms = SILENCE_MS};
    kube_log_begin(&follow->lines, &follow->place, take_text, follow);
    enum ht_status status = kube_stream(
        follow->kube, path_of(follow, ended, arena), &flow, &retry_ms, &err);
    save(follow);
    arena_free(arena);
    if (status == HT_UNAVAILABLE &&
        clock_monotonic_ms() - began_at >= SILENCE_MS) {
        status = HT_OK; /* a trial may say nothing for long */
        ended = false;
    }
    judge(follow, ended, status, &err);
    const bool good = status == HT_OK || follow->lines.begun;
    follow->failures = good ? 0 : follow->failures + 1;
    if (ended && follow->lines.grew)
        return 0;
    const int64_t pause_ms =
        good ? AGAIN_MS : kube_backoff_ms(follow->failures);
    return pause_ms > retry_ms ? pause_ms : retry_ms;
}

static void *work(void *context)
{
    struct pod_follow *follow = context;
    int64_t pause_ms = 0;
    while (kube_pause(follow->kube, pause_ms)) {
        pause_ms = read_once(follow);
        pthread_mutex_lock(&follow->lock);
        const bool over = follow->state != FOLLOW_READS;
        pthread_mutex_unlock(&follow->lock);
        if (over)
            break;
    }
    return NULL;
}

/* ---- the supervising thread ---- */

static void free_follow(struct pod_follow *follow)
{
    shim_log_close(&follow->log);
    if (follow->folder_fd >= 0)
        close(follow->folder_fd);
    pthread_mutex_destroy(&follow->lock);
    kube_free(follow->kube);
    arena_free(follow->arena);
    free(follow);
}

static enum ht_status begin(struct pod_follow *follow, struct ht_error *err)
{
    follow->folder_fd =
        open(follow->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (follow->folder_fd < 0)
        return ht_fail_errno(err, errno, "cannot open %s", follow->folder);
    const enum ht_status status =
        shim_log_resume(&follow->log, follow->folder_fd, "stdout", err);
    if (status != HT_OK)
        return status;
    find_place(follow);
    save(follow);
    const int code = pthread_create(&follow->thread, NULL, work, follow);
    return code == 0 ? HT_OK
                     : ht_fail_errno(err, code, "cannot start a thread");
}

enum ht_status pod_follow_open(const struct pod_follow_settings *settings,
                               struct pod_follow **follow, struct ht_error *err)
{
    struct pod_follow *made = ht_xcalloc(1, sizeof *made);
    struct arena *arena = arena_new();
    *made = (struct pod_follow){
        .arena = arena,
        .kube = kube_new_beside(settings->kube),
        .pod = {.kind = &kube_pods,
                .namespace = settings->namespace,
                .name = arena_strdup(arena, settings->pod)},
        .container = arena_strdup(arena, settings->container),
        .folder = arena_strdup(arena, settings->folder),
        .log = {.fd = -1}};
    pthread_mutex_init(&made->lock, NULL);
    const enum ht_status status = begin(made, err);
    if (status != HT_OK) {
        free_follow(made);
        return status;
    }
    pthread_mutex_lock(&follows.lock);
    made->next = follows.first;
    follows.first = made;
    pthread_mutex_unlock(&follows.lock);
    *follow = made;
    return HT_OK;
}

void pod_follow_end(struct pod_follow *follow)
{
    pthread_mutex_lock(&follow->lock);
    if (follow->ended_at == 0)
        follow->ended_at = clock_monotonic_ms();
    pthread_mutex_unlock(&follow->lock);
}

enum pod_follow_state pod_follow_look(struct pod_follow *follow,
                                      char words[HT_MAX_REASON])
{
    pthread_mutex_lock(&follow->lock);
    enum pod_follow_state state = follow->state;
    (void)snprintf(words, HT_MAX_REASON, "%s", follow->words);
    if (state == FOLLOW_READS && follow->ended_at != 0 &&
        clock_monotonic_ms() - follow->ended_at > LAST_MS)
        state = FOLLOW_TORN;
    pthread_mutex_unlock(&follow->lock);
    return state;
}

int64_t pod_follow_began_ms(const struct pod_follow *follow)
{
    return follow->began_ms;
}

void pod_follow_stop(struct pod_follow *follow)
{
    kube_abort(follow->kube);
}

void pod_follow_close(struct pod_follow *follow)
{
    if (follow == NULL)
        return;
    pthread_mutex_lock(&follows.lock);
    struct pod_follow **link = &follows.first;
    while (*link != follow)
        link = &(*link)->next;
    *link = follow->next;
    pthread_mutex_unlock(&follows.lock);
    pod_follow_stop(follow);
    pthread_join(follow->thread, NULL);
    free_follow(follow);
}

void pod_follow_close_all(void)
{
    for (struct pod_follow *follow = follows.first; follow != NULL;
         follow = follow->next)
        pod_follow_stop(follow);
    while (follows.first != NULL)
        pod_follow_close(follows.first);
}
