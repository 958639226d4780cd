/* fake_engine.h - tests/tools/fake_engine.py as a child of a test, in a folder
 * of the fixture. */
#ifndef HT_TESTS_UNIT_RUNNER_DOCKER_FAKE_ENGINE_H
#define HT_TESTS_UNIT_RUNNER_DOCKER_FAKE_ENGINE_H

#include <signal.h>

#include "proto/base/text.h"
#include "runner/docker/docker.h"
#include "tests/check.h"
#include "tests/unit/runner/runner_fixture.h"

struct fake_engine {
    char folder[PATH_MAX]; /* with socket, script, journal */
    char host[PATH_MAX];   /* "unix://..." */
    pid_t pid;
};

/* Starts it at its folder's socket with more arguments, NULL behind the last;
 * returns once it listens. */
static inline void fake_engine_start(struct fake_engine *fake,
                                     const char *const more[])
{
    char *argv[32] = {"python3", "tests/tools/fake_engine.py",
                      "socket",  "--script",
                      "script",  "--journal",
                      "journal"};
    char tool[PATH_MAX];
    CHECK(realpath(argv[1], tool) != NULL);
    argv[1] = tool;
    for (size_t n = 7; *more != NULL; n++)
        memcpy(&argv[n], more++, sizeof *argv);
    int ends[2];
    CHECK(pipe2(ends, O_CLOEXEC) == 0);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addchdir_np(&actions, fake->folder);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
    CHECK(posix_spawnp(&fake->pid, argv[0], &actions, NULL, argv, environ) ==
          0);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    char word[8] = "";
    CHECK(read(ends[0], word, sizeof word - 1) > 0);
    CHECK_TEXT(word, "ready\n");
    close(ends[0]);
}

static inline void fake_engine_open(struct fake_engine *fake,
                                    const char *const more[])
{
    char folder[PATH_MAX];
    fixture_folder(folder);
    memcpy(fake->folder, folder, sizeof folder);
    (void)snprintf(fake->host, sizeof fake->host, "unix://%.*s/socket",
                   PATH_MAX - 32, folder);
    fake_engine_start(fake, more);
}

static inline void fake_engine_stop(struct fake_engine *fake)
{
    kill(fake->pid, SIGTERM);
    CHECK(waitpid(fake->pid, NULL, 0) == fake->pid);
}

/* The next request is served by this script. */
static inline void fake_engine_script(const struct fake_engine *fake,
                                      const char *json)
{
    CHECK(disk_replace(fake->folder, "script", json, strlen(json), 0600,
                       NULL) == HT_OK);
}

/* As good as new for another case, apart from what was made there. */
static inline void fake_engine_renew(const struct fake_engine *fake)
{
    char journal[PATH_MAX + 16];
    (void)snprintf(journal, sizeof journal, "%s/journal", fake->folder);
    CHECK(truncate(journal, 0) == 0);
    fake_engine_script(fake, "{}");
}

/* Whether some request's line in the journal has these words. */
static inline bool fake_engine_heard(const struct fake_engine *fake,
                                     const char *words)
{
    struct arena *arena = arena_new();
    struct disk_bytes journal = {.data = ""};
    (void)disk_read(arena, fake->folder, "journal", 64 << 20, &journal, NULL);
    const bool heard = strstr(journal.data, words) != NULL;
    arena_free(arena);
    return heard;
}

/* A handle to whatever engine that is; freed with both. */
struct fake_client {
    struct docker_address *address;
    struct docker *docker;
    struct arena *arena;
    struct ht_error err;
};

static inline void fake_client_open(struct fake_client *client,
                                    const char *host)
{
    *client = (struct fake_client){.arena = arena_new()};
    CHECK(docker_address_find(host, getenv, &client->address, &client->err) ==
          HT_OK);
    client->docker = docker_new(client->address);
}

static inline void fake_client_close(struct fake_client *client)
{
    docker_free(client->docker);
    docker_address_free(client->address);
    arena_free(client->arena);
}

#endif
