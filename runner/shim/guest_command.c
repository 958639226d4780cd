#include "runner/shim/guest_command.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proto/base/arena.h"
#include "proto/doc/node.h"
#include "runner/base/cgroup.h"
#include "runner/base/procfs.h"
#include "runner/shim/confine.h"
#include "runner/shim/shim.h"

static bool read_guest(struct arena *arena, const char *json,
                       struct guest *guest)
{
    struct diag diag;
    const size_t len = strlen(json);
    diag_init(&diag, arena, "guest", json, len);
    const struct node *root = node_read_json(arena, json, len, &diag);
    const struct node *map = root != NULL ? node_find(root, "guest") : NULL;
    return map != NULL && guest_read(arena, map, guest);
}

_Noreturn static void run_child(const struct guest *guest, uid_t uid,
                                const struct confined *self, int report,
                                char *const argv[])
{
    sigset_t none;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    sigemptyset(&none);
    if (confine_join(guest) && confine_hide(guest, self) &&
        confine_begin(guest, -1, report) && confine_drop(guest, uid)) {
        if (guest->sandbox != SANDBOX_NAMESPACES)
            prctl(PR_SET_PDEATHSIG, SIGKILL); /* a change of user undoes it */
        sigprocmask(SIG_SETMASK, &none, NULL);
        if (chdir("/") == 0)
            execvp(argv[0], argv);
    }
    _exit(SHIM_FAILED);
}

static int wait_for(pid_t pid, int report)
{
    int status = 0, inner;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    if (read(report, &inner, sizeof inner) == sizeof inner)
        status = inner;
    return WIFEXITED(status) ? WEXITSTATUS(status) : SHIM_FAILED;
}

/* Closes the end for writing. */
static int run(const struct guest *guest, uid_t uid, const int report[2],
               char *const argv[])
{
    struct confined self;
    const pid_t pid = confine_fork(guest, &self);
    if (pid == 0)
        run_child(guest, uid, &self, report[1], argv);
    close(report[1]);
    const int code = pid > 0 ? wait_for(pid, report[0]) : SHIM_FAILED;
    while (procfs_kill_children() > 0)
        continue;
    return code;
}

int guest_command_run(const char *json, char *const argv[])
{
    struct arena *arena = arena_new();
    struct guest guest;
    uid_t uid;
    int report[2];
    int code = SHIM_FAILED;
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    if (read_guest(arena, json, &guest) &&
        confine_claim(&guest, NULL, &uid, NULL) == HT_OK &&
        pipe2(report, O_CLOEXEC | O_NONBLOCK) == 0) {
        if (cgroup_make(&guest, NULL) == HT_OK)
            code = run(&guest, uid, report, argv);
        cgroup_remove(&guest);
    }
    arena_free(arena);
    return code;
}
