#include "runner/base/child.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/wait.h>
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
    const int given[] = {child->input, child->output,
                         child->errors > 0 ? child->errors : -1};
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

/* ---- children whose end someone waits for ---- */

enum { KEPT_MOST = 64 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pid_t kept[KEPT_MOST]; /* 0: free */

static pid_t *find_kept(pid_t pid)
{
    for (size_t i = 0; i < KEPT_MOST; i++) {
        if (kept[i] == pid)
            return &kept[i];
    }
    return NULL;
}

int child_start_kept(const struct child *child, pid_t *pid)
{
    /* Until it is noted no one may reap it. */
    pthread_mutex_lock(&lock);
    pid_t *place = find_kept(0);
    const int code = place != NULL ? child_start(child, pid) : EAGAIN;
    if (code == 0)
        *place = *pid;
    pthread_mutex_unlock(&lock);
    return code;
}

int child_reap(pid_t pid)
{
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    pthread_mutex_lock(&lock);
    pid_t *place = find_kept(pid);
    if (place != NULL)
        *place = 0;
    pthread_mutex_unlock(&lock);
    return status;
}

void child_reap_others(void)
{
    for (;;) {
        siginfo_t ended = {.si_pid = 0};
        pthread_mutex_lock(&lock);
        const bool other =
            waitid(P_ALL, 0, &ended, WEXITED | WNOHANG | WNOWAIT) == 0 &&
            ended.si_pid > 0 && find_kept(ended.si_pid) == NULL;
        if (other)
            (void)waitpid(ended.si_pid, NULL, WNOHANG);
        pthread_mutex_unlock(&lock);
        if (!other)
            return;
    }
}
