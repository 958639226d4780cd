#include "runner/attempt/replica_view.h"

#include <string.h>

#include "proto/base/text.h"
#include "proto/job/metrics_file.h"
#include "runner/attempt/outputs.h"
#include "runner/base/folder.h"
#include "runner/base/seen.h"

/* The usual path of a shell, and that of Docker. */
static const struct pair usual_path = {"PATH", "/usr/local/bin:/usr/bin:/bin"};
static const struct pair container_path = {
    "PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"};

/* A PATH in `more` comes first, so it counts. */
static struct pairs with_path(struct arena *arena, const struct pairs *more,
                              const struct pair *path)
{
    struct pair *items = arena_alloc(arena, more->n + 1, sizeof *items);
    if (more->n > 0)
        memcpy(items, more->items, more->n * sizeof *items);
    items[more->n] = *path;
    return (struct pairs){.n = more->n + 1, .items = items};
}

const char *replica_view_put_trial_dir(struct arena *arena,
                                       const struct order *order,
                                       const char *text, const char *folder)
{
    const char *at = text, *next;
    if (!order->substitute || strstr(text, TRIAL_DIR_REFERENCE) == NULL)
        return text;
    struct text out = {0};
    while ((next = strstr(at, TRIAL_DIR_REFERENCE)) != NULL) {
        text_append(&out, at, (size_t)(next - at));
        text_puts(&out, folder);
        at = next + sizeof TRIAL_DIR_REFERENCE - 1;
    }
    text_puts(&out, at);
    return text_take(&out, arena);
}

/* Whether a path in a list of paths or behind "--flag=" begins at `at`. */
static bool is_folder_at(const char *text, const char *at, const char *folder)
{
    const char after = at[strlen(folder)];
    return (at == text || at[-1] == ':' || at[-1] == '=') &&
           (after == '\0' || after == ':' || after == '/');
}

/* Paths in the folder that was submitted are those of the copy here. */
static const char *move_paths(struct arena *arena, const struct order *order,
                              const char *text, const char *folder)
{
    const char *from = order->code.folder;
    const char *at = text, *next = text;
    if (!order->code.travelled || strstr(text, from) == NULL)
        return text;
    struct text out = {0};
    while ((next = strstr(next, from)) != NULL) {
        if (!is_folder_at(text, next, from)) {
            next++;
            continue;
        }
        text_append(&out, at, (size_t)(next - at));
        text_puts(&out, folder_workdir(arena, folder));
        at = next += strlen(from);
    }
    text_puts(&out, at);
    return text_take(&out, arena);
}

static struct pairs move_values(struct arena *arena, const struct order *order,
                                const struct pairs *pairs, const char *folder)
{
    struct pair *items = arena_alloc(arena, pairs->n + 1, sizeof *items);
    for (size_t i = 0; i < pairs->n; i++)
        items[i] = (struct pair){
            pairs->items[i].name,
            move_paths(arena, order, pairs->items[i].value, folder)};
    return (struct pairs){.n = pairs->n, .items = items};
}

/* The words of a command with the replica's paths; `gcs` may be NULL. */
static struct strings see_words(struct arena *arena, const struct order *order,
                                const struct strings *words, const char *gcs,
                                const char *folder)
{
    const char **items = arena_alloc(arena, words->n + 1, sizeof *items);
    for (size_t i = 0; i < words->n; i++) {
        const char *word = words->items[i];
        if (gcs != NULL)
            word = outputs_rewrite(arena, word, gcs);
        word = move_paths(arena, order, word, folder);
        items[i] = replica_view_put_trial_dir(arena, order, word, folder);
    }
    return (struct strings){.n = words->n, .items = items};
}

static struct strings join(struct arena *arena, const struct strings *a,
                           const struct strings *b)
{
    const char **items = arena_alloc(arena, a->n + b->n + 1, sizeof *items);
    size_t n = 0;
    for (size_t i = 0; i < a->n; i++)
        items[n++] = a->items[i];
    for (size_t i = 0; i < b->n; i++)
        items[n++] = b->items[i];
    return (struct strings){.n = n, .items = items};
}

struct replica_view replica_view_of_process(struct arena *arena,
                                            const struct site *site,
                                            const struct order *order,
                                            size_t replica, const char *folder)
{
    const struct replica_order *own = &order->replicas[replica];
    const char *here = outputs_here(arena, site, order);
    const char *outputs = here != NULL ? here : order->output_dir;
    folder = seen_path(arena, site, folder);
    const char *gcs = outputs_is_rewritten(site, order) ? site->gcs_root : NULL;
    const bool copies = order->own_workdir && own->workdir != NULL;
    return (struct replica_view){
        .folder = folder,
        .outputs = seen_path(arena, site, outputs),
        .makes = site->seen_state == NULL ? here : NULL,
        .workdir = copies ? folder_workdir(arena, folder) : own->workdir,
        .copied = copies ? seen_path(arena, site, own->workdir) : NULL,
        .argv = see_words(arena, order, &own->argv, gcs, folder),
        .base = move_values(arena, order, &order->captured, folder),
        .defaults = with_path(arena, &site->inherited, &usual_path),
        .kit = site->kit,
        .programs = site->programs,
        .gcs = gcs,
        .report_url = order->report_url,
    };
}

/* A command of the job replaces the image's entry point together with its
 * arguments; arguments alone replace the image's. */
static struct strings container_argv(struct arena *arena,
                                     const struct order *order,
                                     const struct replica_order *own,
                                     const struct image *image, const char *gcs)
{
    const struct strings argv =
        see_words(arena, order, &own->argv, gcs, CONTAINER_TRIAL);
    if (own->entry_words > 0)
        return argv;
    return join(arena, &image->entrypoint,
                argv.n > 0 ? &argv : &image->command);
}

static const char *container_workdir(struct arena *arena,
                                     const struct replica_order *own,
                                     const struct image *image)
{
    const char *base = image->workdir != NULL ? image->workdir : "/";
    if (own->workdir == NULL || own->workdir[0] == '/')
        return own->workdir != NULL ? own->workdir : base;
    return arena_printf(arena, "%s/%s", base, own->workdir);
}

/* Folders of this machine are mounted; other places are passed on as they are.
 */
static const char *container_outputs(struct arena *arena,
                                     const struct site *site,
                                     const struct order *order)
{
    const char *folder = order->output_dir;
    if (folder == NULL || folder[0] == '/')
        return CONTAINER_OUTPUT;
    return outputs_is_rewritten(site, order)
               ? outputs_rewrite(arena, folder, CONTAINER_GCS)
               : folder;
}

struct replica_view
replica_view_of_container(struct arena *arena, const struct site *site,
                          const struct order *order, size_t replica,
                          const struct image *image, const char *report_url)
{
    /* The engine finds the home of the container's user. */
    static const char *const found_there[] = {"HOME", "HOSTNAME"};
    const struct replica_order *own = &order->replicas[replica];
    const struct pairs nothing = {0};
    const char *gcs = outputs_is_rewritten(site, order) ? CONTAINER_GCS : NULL;
    return (struct replica_view){
        .folder = CONTAINER_TRIAL,
        .outputs = container_outputs(arena, site, order),
        .workdir = container_workdir(arena, own, image),
        .argv = container_argv(arena, order, own, image, gcs),
        .base = image->env,
        .defaults = with_path(arena, &nothing, &container_path),
        .inherited = {sizeof found_there / sizeof *found_there, found_there},
        .kit = CONTAINER_KIT,
        .programs = CONTAINER_KIT "/bin",
        .programs_first = true,
        .gcs = gcs,
        .report_url = report_url,
        .credentials = CONTAINER_CREDENTIALS,
    };
}
