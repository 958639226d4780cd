#include "runner/talk/facts.h"

#include <string.h>

#include "proto/doc/json.h"
#include "runner/attempt/outputs.h"

/* The folder whose commit counts: a process runs what lies there, an image what
 * is in it. NULL: none. */
static const char *work_folder(const struct attempt *run)
{
    const struct replica_order *master = &run->order->replicas[0];
    return master->image == NULL ? master->workdir : NULL;
}

bool talk_facts_are_known(const struct attempt *run,
                          struct git_commit *provenance, int64_t now_ms)
{
    const char *folder = work_folder(run);
    return folder == NULL || git_commit_ask(provenance, folder, now_ms).known;
}

static void add_images(cJSON *facts, const struct attempt *run)
{
    const struct engine_facts known = run->engine->facts(&run->place);
    if (!known.known || known.images == NULL)
        return;
    cJSON *images = NULL;
    for (size_t i = 0; i < run->order->n_replicas; i++) {
        if (known.images[i] == NULL)
            continue;
        if (images == NULL)
            images = json_add_object(facts, "images");
        json_add_string(images, run->order->replicas[i].name, known.images[i]);
    }
}

static void add_gpus(cJSON *facts, const struct attempt *run)
{
    cJSON *gpus = NULL;
    for (size_t i = 0; i < run->placement.n; i++) {
        const struct strings *own = &run->placement.seats[i].gpus;
        for (size_t k = 0; k < own->n; k++) {
            if (gpus == NULL)
                gpus = json_add_array(facts, "gpus");
            json_push_string(gpus, own->items[k]);
        }
    }
}

static void add_git(cJSON *facts, const struct attempt *run,
                    struct git_commit *provenance, int64_t now_ms)
{
    const char *folder = work_folder(run);
    if (folder == NULL)
        return;
    const struct git_commit_answer answer =
        git_commit_ask(provenance, folder, now_ms);
    if (!answer.known || answer.commit == NULL)
        return;
    cJSON *git = json_add_object(facts, "git");
    json_add_string(git, "commit", answer.commit);
    json_add_bool(git, "dirty", answer.dirty);
}

void talk_facts_text(const struct attempt *run, struct git_commit *provenance,
                     const char *host, int64_t now_ms, struct text *out)
{
    struct arena *arena = arena_new();
    cJSON *facts = cJSON_CreateObject();
    add_images(facts, run);
    add_gpus(facts, run);
    add_git(facts, run, provenance, now_ms);
    const char *output = outputs_here(arena, run->place.site, run->order);
    if (output != NULL)
        json_add_string(facts, "output", output);
    json_add_string(facts, "host", host);
    json_print(facts, out);
    arena_free(arena);
}
