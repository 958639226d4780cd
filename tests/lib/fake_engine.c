#include "tests/lib/fake_engine.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runner/base/disk.h"
#include "tests/check.h"
#include "tests/lib/runner_fixture.h"

void fake_engine_start(struct fake_engine *fake, const char *const more[])
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

void fake_engine_place(struct fake_engine *fake)
{
    runner_fixture_folder(fake->folder);
    (void)snprintf(fake->host, sizeof fake->host, "unix://%.*s/socket",
                   PATH_MAX - 32, fake->folder);
}

void fake_engine_open(struct fake_engine *fake, const char *const more[])
{
    fake_engine_place(fake);
    fake_engine_start(fake, more);
}

void fake_engine_stop(struct fake_engine *fake)
{
    kill(fake->pid, SIGTERM);
    CHECK(waitpid(fake->pid, NULL, 0) == fake->pid);
}

void fake_engine_script(const struct fake_engine *fake, const char *json)
{
    CHECK(disk_replace(fake->folder, "script", json, strlen(json), 0600,
                       NULL) == HT_OK);
}

void fake_engine_renew(const struct fake_engine *fake)
{
    char journal[PATH_MAX + 16];
    (void)snprintf(journal, sizeof journal, "%s/journal", fake->folder);
    CHECK(truncate(journal, 0) == 0);
    fake_engine_script(fake, "{}");
}

bool fake_engine_heard(const struct fake_engine *fake, const char *words)
{
    struct arena *arena = arena_new();
    struct disk_bytes journal = {.data = ""};
    (void)disk_read(arena, fake->folder, "journal", 64 << 20, &journal, NULL);
    const bool heard = strstr(journal.data, words) != NULL;
    arena_free(arena);
    return heard;
}

void fake_engine_connect(struct fake_engine_client *client, const char *host)
{
    *client = (struct fake_engine_client){.arena = arena_new()};
    CHECK(docker_address_find(host, getenv, &client->address, &client->err) ==
          HT_OK);
    client->docker = docker_new(client->address);
}

void fake_engine_disconnect(struct fake_engine_client *client)
{
    docker_free(client->docker);
    docker_address_free(client->address);
    arena_free(client->arena);
}
