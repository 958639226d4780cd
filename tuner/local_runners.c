#include "tuner/local_runners.h"

#include <stdlib.h>
#include <string.h>

#include "proto/base/arena.h"
#include "tuner/supervisor.h"

struct local_runners {
    const struct options *options;
    const struct datadir *dir;
    const char *http_url;
    char *token_file;
    struct arena *arena; /* of what supervisors borrow */
    size_t n;
    struct supervisor *supervisors[OPTIONS_ENGINES];
};

/* Options that are passed on to local runners. GPUs go to the first one only,
 * so that no two assign the same one. */
static struct pairs flags_of(const struct local_runners *runners, bool first)
{
    const struct options *options = runners->options;
    struct arena *arena = runners->arena;
    const struct {
        bool given;
        struct pair flag;
    } flags[] = {
        {options->slots > 0,
         {"slots", arena_printf(arena, "%lld", (long long)options->slots)}},
        {!first || options->gpus != NULL,
         {"gpus", first ? options->gpus : "none"}},
        {options->share, {"share", NULL}},
        {options->volume_root != NULL, {"volume-root", options->volume_root}},
        {options->gcs_root != NULL, {"gcs-root", options->gcs_root}},
        {options->secrets != NULL, {"secrets", options->secrets}},
        {options->credentials != NULL, {"credentials", options->credentials}},
        {options->allow != NULL, {"allow", options->allow}},
        {options->docker_host != NULL, {"docker-host", options->docker_host}},
    };
    enum { FLAGS = sizeof flags / sizeof *flags };
    struct pair *items = arena_alloc(arena, FLAGS, sizeof *items);
    size_t n = 0;
    for (size_t i = 0; i < FLAGS; i++)
        if (flags[i].given)
            items[n++] = flags[i].flag;
    return (struct pairs){.n = n, .items = items};
}

/* Each engine has its own state folder, since it treats all that is in it as
 * its own. */
static void add(struct local_runners *runners, const char *engine)
{
    struct arena *arena = runners->arena;
    const bool processes = strcmp(engine, "process") == 0;
    char *state = datadir_path(
        runners->dir,
        processes ? "runs" : arena_printf(arena, "runs/%s", engine));
    const struct supervisor_options supervised = {
        .engine = arena_strdup(arena, engine),
        .server_url = runners->http_url,
        .token_file = runners->token_file,
        .state_dir = arena_strdup(arena, state),
        .flags = flags_of(runners, runners->n == 0),
    };
    free(state);
    runners->supervisors[runners->n++] = supervisor_new(&supervised);
}

struct local_runners *local_runners_start(const struct options *options,
                                          const struct datadir *dir,
                                          const char *http_url)
{
    const char *engines = options->runner;
    char engine[OPTIONS_ENGINE_BYTES];
    struct local_runners *runners = ht_xcalloc(1, sizeof *runners);
    *runners =
        (struct local_runners){.options = options,
                               .dir = dir,
                               .http_url = http_url,
                               .token_file = datadir_path(dir, "runner-token"),
                               .arena = arena_new()};
    if (strcmp(engines, "none") == 0)
        return runners;
    while (options_next_engine(&engines, engine))
        add(runners, engine);
    return runners;
}

int64_t local_runners_tick(struct local_runners *runners, int64_t now_ms)
{
    int64_t next_ms = INT64_MAX;
    for (size_t i = 0; i < runners->n; i++) {
        const int64_t wanted_ms =
            supervisor_tick(runners->supervisors[i], now_ms);
        next_ms = wanted_ms < next_ms ? wanted_ms : next_ms;
    }
    return next_ms;
}

void local_runners_stop(struct local_runners *runners, int64_t wait_ms)
{
    for (size_t i = 0; i < runners->n; i++)
        supervisor_stop(runners->supervisors[i], wait_ms);
    free(runners->token_file);
    arena_free(runners->arena);
    free(runners);
}
