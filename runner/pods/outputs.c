#include "runner/pods/outputs.h"

#include "proto/base/clock.h"
#include "proto/base/log.h"
#include "runner/attempt/outputs.h"
#include "runner/base/disk.h"
#include "runner/base/folder.h"
#include "runner/far/far.h"

enum { LONGEST_MS = 60 * 60 * 1000, SILENT_MS = 60000 };

static const char mark[] = "outputs";

struct pod_outputs pod_outputs_of(const struct engine_place *place,
                                  const char *replica)
{
    const struct order *order = place->order;
    return (struct pod_outputs){
        .site = place->site,
        .order = order,
        .attempt = place->folder,
        .replica = replica,
        .aside = arena_printf(order->arena, "%s/incoming", place->folder),
        .settled = order->output_dir != NULL || disk_has(place->folder, mark)};
}

static enum far_pulled pull(const struct pod_outputs *outputs, struct far *far,
                            const char *name, const char *below,
                            struct ht_error *err)
{
    struct arena *arena = arena_new();
    const char *trial =
        outputs_trial_folder(arena, outputs->site, &outputs->order->key);
    const struct far_pull_wish wish = {
        .folder = arena_printf(arena, "%s/%s", trial, name),
        .below = below,
        .aside = outputs->aside};
    const enum far_pulled state = far_pull(far, &wish, err);
    arena_free(arena);
    return state;
}

enum engine_bringing pod_outputs_bring(const struct pod_outputs *outputs,
                                       struct far *far, const char *below,
                                       struct ht_error *err)
{
    if (far == NULL) {
        ht_fail(err, HT_UNAVAILABLE, "its pod cannot be reached");
        return ENGINE_NOT_BROUGHT;
    }
    switch (pull(outputs, far, "checkpoints", below, err)) {
    case FAR_PULLED:
        return ENGINE_BROUGHT;
    case FAR_NOT_PULLED:
        return ENGINE_NOT_BROUGHT;
    case FAR_PULLING:
        break;
    }
    return ENGINE_BRINGING;
}

static void say(const struct pod_outputs *outputs, const char *why)
{
    const char *name = output_folders[outputs->next].value;
    log_event(LOG_WARN, "outputs.left", "name=%s folder=%s reason=\"%s\"",
              outputs->order->name, name, why);
    folder_log_line(outputs->replica, "its folder %s could not be brought: %s",
                    name, why);
}

static bool end(struct pod_outputs *outputs, const char *why)
{
    for (; why != NULL && outputs->next < OUTPUT_FOLDERS; outputs->next++)
        say(outputs, why);
    (void)disk_mark(outputs->attempt, mark, NULL);
    return outputs->settled = true;
}

bool pod_outputs_settle(struct pod_outputs *outputs, struct far *far,
                        const char *why)
{
    struct ht_error err;
    const int64_t now = clock_monotonic_ms();
    if (outputs->settled)
        return true;
    if (outputs->until == 0)
        outputs->until = now + LONGEST_MS;
    if (why != NULL)
        return end(outputs, why);
    if (now >= outputs->until ||
        (far == NULL && now >= outputs->until - LONGEST_MS + SILENT_MS))
        return end(outputs, far != NULL ? "it takes more than an hour"
                                        : "its pod cannot be reached");
    if (far == NULL)
        return false;
    while (outputs->next < OUTPUT_FOLDERS) {
        const char *name = output_folders[outputs->next].value;
        const enum far_pulled state = pull(outputs, far, name, "", &err);
        if (state == FAR_PULLING)
            return false;
        if (state == FAR_NOT_PULLED)
            say(outputs, err.text);
        outputs->next++;
    }
    return end(outputs, NULL);
}
