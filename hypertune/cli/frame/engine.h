/* engine.h - the container engines of this machine, dockerd and Podman's
 * service, and their abilities. Containers are the runner's business. */
#ifndef HT_HYPERTUNE_CLI_FRAME_ENGINE_H
#define HT_HYPERTUNE_CLI_FRAME_ENGINE_H

#include <stdbool.h>

#include "hypertune/cli/frame/cli.h"

enum cli_engine_state {
    CLI_ENGINE_READY,
    CLI_ENGINE_ABSENT, /* nothing is there */
    CLI_ENGINE_DENIED, /* this user may not ask */
    CLI_ENGINE_SILENT  /* something is there that does not answer as one */
};

struct cli_engine {
    const char *url; /* "unix:///run/docker.sock", "tcp://HOST:PORT" */
    enum cli_engine_state state;
    const char *trouble; /* why it is not ready, in words; else NULL */
    /* Of one that is ready: */
    const char *name; /* "Docker 20.10.24", "Podman 4.3.1" */
    const char *api;  /* "1.41" */
    bool podman;
    bool rootless;
    bool linux_containers; /* the only ones that trials can run in */
    bool limits;           /* of memory and processors are enforced */
    bool gpus;             /* it has the runtime of NVIDIA's GPUs */
    long long cpus, images;
};

/* Where engines may be: HYPERTUNE_RUNNER_DOCKER_HOST or DOCKER_HOST alone when
 * one is set, else the usual sockets of dockerd and Podman, in the order in
 * which a runner tries them. */
struct words cli_engine_places(struct cli *cli);

/* Asks the engine at `url`; some seconds at most. */
struct cli_engine cli_engine_ask(struct cli *cli, const char *url);

/* The image as the engine has it ("Config" is what it runs), in cli->arena;
 * NULL when it is not there. */
const struct node *cli_engine_image(struct cli *cli,
                                    const struct cli_engine *engine,
                                    const char *image);

/* The first place with an engine that is ready; false when there is none. */
bool cli_engine_find(struct cli *cli, struct cli_engine *engine);

#endif
