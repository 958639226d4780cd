/* fake_engine.h - tests/tools/fake_engine.py as a child of a test, in a folder
 * of the runner's fixture. */
#ifndef HT_TESTS_LIB_FAKE_ENGINE_H
#define HT_TESTS_LIB_FAKE_ENGINE_H

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

#include "proto/base/arena.h"
#include "proto/base/error.h"
#include "runner/docker/docker.h"

struct fake_engine {
    char folder[PATH_MAX]; /* with socket, script, journal */
    char host[PATH_MAX];   /* "unix://..." */
    pid_t pid;
};

/* Starts it in a new folder with more arguments, NULL behind the last; returns
 * once it listens. */
void fake_engine_open(struct fake_engine *fake, const char *const more[]);
/* The two halves of that. */
void fake_engine_place(struct fake_engine *fake);
void fake_engine_start(struct fake_engine *fake, const char *const more[]);
void fake_engine_stop(struct fake_engine *fake);

/* The next request is served by this script. */
void fake_engine_script(const struct fake_engine *fake, const char *json);
/* Empties journal and script for another case; what was made there stays. */
void fake_engine_renew(const struct fake_engine *fake);
/* Whether some request's line in the journal has these words. */
bool fake_engine_heard(const struct fake_engine *fake, const char *words);

/* A handle to any engine, fake or not. */
struct fake_engine_client {
    struct docker_address *address;
    struct docker *docker;
    struct arena *arena;
    struct ht_error err;
};

void fake_engine_connect(struct fake_engine_client *client, const char *host);
void fake_engine_disconnect(struct fake_engine_client *client);

#endif
