#include "runner/docker/pull_progress.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { INTERVAL_MS = 2000 };

static struct pull_layer *find_layer(struct pull_progress *progress,
                                     const char *id)
{
    for (size_t i = 0; i < progress->n; i++) {
        if (strcmp(progress->layers[i].id, id) == 0)
            return &progress->layers[i];
    }
    if (progress->n == PULL_LAYERS)
        return NULL;
    struct pull_layer *layer = &progress->layers[progress->n++];
    *layer = (struct pull_layer){.current = 0};
    (void)snprintf(layer->id, sizeof layer->id, "%s", id);
    return layer;
}

/* Every message of a layer has one of these states; others are about the image
 * as a whole ("Pulling from library/debian"). */
static const struct layer_state {
    const char *name;
    bool is_here; /* all bytes of the layer */
    bool is_done; /* "Download complete" is the last that Podman sends */
} states[] = {
    {"Pulling fs layer", false, false},  {"Waiting", false, false},
    {"Downloading", false, false},       {"Download complete", true, true},
    {"Verifying Checksum", true, false}, {"Extracting", true, false},
    {"Pull complete", true, true},       {"Already exists", true, true},
    {"Retrying", false, false}, /* also "Retrying in 5 seconds" */
};

static const struct layer_state *find_state(const char *name)
{
    const size_t n = sizeof states / sizeof *states;
    for (size_t i = 0; i < n; i++) {
        if (strcasecmp(name, states[i].name) == 0)
            return &states[i];
    }
    return strncmp(name, "Retrying", 8) == 0 ? &states[n - 1] : NULL;
}

static void update(struct pull_layer *layer, const struct node *item,
                   const char *state)
{
    const struct node *detail = node_find(item, "progressDetail");
    (void)snprintf(layer->state, sizeof layer->state, "%s", state);
    if (strcasecmp(state, "Downloading") == 0) {
        layer->current = node_get_int(detail, "current", layer->current);
        layer->total = node_get_int(detail, "total", layer->total);
    } else if (find_state(state)->is_here) {
        layer->current = layer->total; /* extracting counts from 0 again */
    }
}

static void print(const struct pull_progress *progress,
                  const struct pull_layer *layer, struct text *line)
{
    size_t done = 0;
    int64_t current = 0, total = 0;
    for (size_t i = 0; i < progress->n; i++) {
        const struct pull_layer *each = &progress->layers[i];
        done += find_state(each->state)->is_done;
        if (each->total <= 0 || each->current < 0 ||
            each->current > each->total ||
            total > INT64_MAX / 200 - each->total)
            continue;
        current += each->current;
        total += each->total;
    }
    text_puts(line, "layer ");
    text_escape(line, layer->id);
    text_puts(line, " ");
    text_escape(line, layer->state);
    text_printf(line, "; %zu of %zu layers", done, progress->n);
    if (total > 0)
        text_printf(line, ", %d%% of %.1f MB", (int)(100 * current / total),
                    (double)total / 1e6);
}

bool pull_progress_take(struct pull_progress *progress, const struct node *item,
                        int64_t now_ms, struct text *line)
{
    const char *id = node_get_string(item, "id", NULL);
    const char *state = node_get_string(item, "status", NULL);
    if (id == NULL || state == NULL || find_state(state) == NULL)
        return false;
    struct pull_layer *layer = find_layer(progress, id);
    if (layer == NULL)
        return false;
    update(layer, item, state);
    if (progress->line_ms != 0 && now_ms - progress->line_ms < INTERVAL_MS)
        return false;
    progress->line_ms = now_ms;
    print(progress, layer, line);
    return true;
}
