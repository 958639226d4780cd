#include "runner/shim/image_child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST = 256 * 1024, NOT_FOUND = 127 };

const char *image_find_tool(struct arena *arena, const char *name)
{
    const char *path = getenv("PATH");
    if (path == NULL)
        path = "/usr/local/bin:/usr/bin:/bin";
    for (;;) {
        const size_t len = strcspn(path, ":");
        const char *file = arena_printf(arena, "%.*s/%s", (int)len, path, name);
        if (len > 0 && access(file, X_OK) == 0)
            return file;
        if (path[len] == '\0')
            return NULL;
        path += len + 1;
    }
}

struct catch
{
    int ends[2]; /* of a pipe; -1: none */
    char *text;
    size_t len;
};

static bool open_catch(struct arena *arena, struct catch *caught, bool wanted)
{
    *caught = (struct catch){.ends = {-1, -1}};
    if (!wanted)
        return true;
    caught->text = arena_alloc(arena, MOST + 1, 1);
    return pipe2(caught->ends, O_CLOEXEC) == 0;
}

static void close_end(int *end)
{
    if (*end >= 0)
        close(*end);
    *end = -1;
}

/* What is too much is read and forgotten: the tool must not wait. */
static void read_some(struct catch *caught)
{
    char spare[4096];
    const size_t room = MOST - caught->len;
    const ssize_t n =
        room > 0 ? read(caught->ends[0], caught->text + caught->len, room)
                 : read(caught->ends[0], spare, sizeof spare);
    if (n > 0 && room > 0)
        caught->len += (size_t)n;
    else if (n == 0 || (n < 0 && errno != EINTR))
        close_end(&caught->ends[0]);
}

static void read_all(struct catch caught[2])
{
    while (caught[0].ends[0] >= 0 || caught[1].ends[0] >= 0) {
        struct pollfd fds[2] = {
            {.fd = caught[0].ends[0], .events = POLLIN},
            {.fd = caught[1].ends[0], .events = POLLIN},
        };
        if (poll(fds, 2, -1) < 0 && errno != EINTR)
            return;
        for (int i = 0; i < 2; i++)
            if (fds[i].revents != 0)
                read_some(&caught[i]);
    }
}

_Noreturn static void become(const char *const argv[], struct catch caught[2])
{
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    (void)dup2(null, 0);
    (void)dup2(caught[0].ends[1] >= 0 ? caught[0].ends[1] : null, 1);
    if (caught[1].ends[1] >= 0)
        (void)dup2(caught[1].ends[1], 2);
    char *copy[64] = {NULL};
    for (size_t i = 0; argv[i] != NULL && i < 63; i++)
        copy[i] = strdup(argv[i]);
    if (copy[0] != NULL)
        execv(copy[0], copy);
    _exit(NOT_FOUND);
}

static int wait_for(pid_t pid)
{
    int status = 0;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return NOT_FOUND;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int image_child_run(struct arena *arena, const char *const argv[],
                    char **output, char **errors)
{
    struct catch caught[2];
    int code = NOT_FOUND;
    if (open_catch(arena, &caught[0], output != NULL) &&
        open_catch(arena, &caught[1], errors != NULL)) {
        const pid_t pid = fork();
        if (pid == 0)
            become(argv, caught);
        close_end(&caught[0].ends[1]);
        close_end(&caught[1].ends[1]);
        if (pid > 0) {
            read_all(caught);
            code = wait_for(pid);
        }
    }
    for (int i = 0; i < 2; i++) {
        close_end(&caught[i].ends[0]);
        close_end(&caught[i].ends[1]);
        if (caught[i].text != NULL)
            caught[i].text[caught[i].len] = '\0';
    }
    if (output != NULL)
        *output = caught[0].text != NULL ? caught[0].text : "";
    if (errors != NULL)
        *errors = caught[1].text != NULL ? caught[1].text : "";
    return code;
}
