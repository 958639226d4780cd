#include "runner/base/child.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stddef.h>
#include <unistd.h>

#include "proto/base/arena.h"

/* As posix_spawn() takes it. */
static char **copy_words(struct arena *arena, const char *const words[])
{
    size_t n = 0;
    while (words[n] != NULL)
        n++;
    char **copy = arena_alloc(arena, n + 1, sizeof *copy);
    for (size_t i = 0; i < n; i++)
        copy[i] = arena_strdup(arena, words[i]);
    return copy;
}

static int set_streams(posix_spawn_file_actions_t *actions,
                       const struct child *child)
{
    const int given[] = {child->input, child->output, -1};
    int code = 0;
    for (int fd = 0; fd < 3 && code == 0; fd++)
        code = given[fd] >= 0
                   ? posix_spawn_file_actions_adddup2(actions, given[fd], fd)
                   : posix_spawn_file_actions_addopen(actions, fd, "/dev/null",
                                                      O_RDWR, 0);
    if (code == 0)
        code = posix_spawn_file_actions_addclosefrom_np(actions, 3);
    return code;
}

static void set_attributes(posix_spawnattr_t *attributes, short group)
{
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(attributes, &none);
    posix_spawnattr_setsigdefault(attributes, &all);
    posix_spawnattr_setflags(
        attributes,
        (short)(group | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF));
}

int child_start(const struct child *child, pid_t *pid)
{
    struct arena *arena = arena_new();
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    set_attributes(&attributes, child->group);
    int code = set_streams(&actions, child);
    if (code == 0)
        code = posix_spawnp(pid, child->argv[0], &actions, &attributes,
                            copy_words(arena, child->argv),
                            child->env != NULL ? copy_words(arena, child->env)
                                               : environ);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    arena_free(arena);
    return code;
}
