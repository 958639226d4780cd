/* fake_engine.h - tests/tools/fake_engine.py as a child of a test, in a folder
 * of scratch.h. */
#ifndef HT_TESTS_LIB_FAKE_ENGINE_H
#define HT_TESTS_LIB_FAKE_ENGINE_H

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

#include "runner/docker/docker.h"
#include "tests/lib/scratch.h"

struct fake_engine {
    char folder[PATH_MAX]; /* with socket, script, journal */
    char host[PATH_MAX];   /* "unix://..." */
    pid_t pid;
};

/* Starts it at its folder's socket with more arguments, NULL behind the last;
 * returns once it listens. */
void fake_engine_start(struct fake_engine *fake, const char *const more[]);

/* Makes its folder, and starts it. */
void fake_engine_open(struct fake_engine *fake, const char *const more[]);

/* Ends it; its folder stays. */
void fake_engine_stop(struct fake_engine *fake);

/* The next request is served by this script. */
void fake_engine_script(const struct fake_engine *fake, const char *json);

/* As good as new for another case, apart from what was made there. */
void fake_engine_renew(const struct fake_engine *fake);

/* Whether some request's line in the journal has these words. */
bool fake_engine_heard(const struct fake_engine *fake, const char *words);

/* A handle to whatever engine that is; freed with both. */
struct fake_client {
    struct docker_address *address;
    struct docker *docker;
    struct arena *arena;
    struct ht_error err;
};

/* Connects to the engine of that DOCKER_HOST. */
void fake_client_open(struct fake_client *client, const char *host);

/* Frees all of it. */
void fake_client_close(struct fake_client *client);

#endif
