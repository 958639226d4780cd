#include "runner/slurm/call.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proto/base/clock.h"
#include "proto/base/text.h"
#include "proto/base/whole.h"
#include "runner/base/child.h"

enum {
    MOST_BYTES = 64 << 20,
    NO_PROGRAM = 127, /* by which a shell says so */
    KILLED = 128,     /* and a signal is added */
    SSH_FAILED = 255
};

/* What a login shell prints before it is not of the command. */
#define MARK "hypertune-begin"

/* ---- the environment ---- */

/* Variables that begin so are options of Slurm's commands: what a person has
 * set for other jobs would change what is sent, and how lists look. */
static const char *const starts[] = {"SBATCH_", "SCANCEL_", "SCONTROL_",
                                     "SLURM_",  "SQUEUE_",  "SRUN_"};
/* But these find the cluster, and let the user in. */
static const char *const kept[] = {"SLURM_CONF", "SLURM_JWT"};

static bool is_option(const char *entry)
{
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
        const size_t len = strlen(kept[i]);
        if (strncmp(entry, kept[i], len) == 0 && entry[len] == '=')
            return false;
    }
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
        if (strncmp(entry, starts[i], strlen(starts[i])) == 0)
            return true;
    }
    return false;
}

static const char *const *clean_environment(struct arena *arena)
{
    size_t n = 0, all = 0;
    while (environ[all] != NULL)
        all++;
    const char **clean = arena_alloc(arena, all + 1, sizeof *clean);
    for (size_t i = 0; i < all; i++) {
        if (!is_option(environ[i]))
            clean[n++] = environ[i];
    }
    return clean;
}

/* A script that does the same at the login node, and then runs its words. */
static const char *clean_script(struct arena *arena)
{
    struct text out = {0};
    text_puts(&out, "for n in $(env | sed -n \"s/^\\([A-Za-z0-9_]*\\)=.*/"
                    "\\1/p\"); do case $n in ");
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        text_printf(&out, "%s%s", i > 0 ? "|" : "", kept[i]);
    text_puts(&out, ") ;; ");
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        text_printf(&out, "%s%s*", i > 0 ? "|" : "", starts[i]);
    text_puts(&out, ") unset $n ;; esac; done; echo " MARK "; echo " MARK
                    " >&2; exec \"$@\"");
    return text_take(&out, arena);
}

static const char *const *clean_words(struct arena *arena,
                                      const struct call_place *place,
                                      const char *const argv[])
{
    if (place->ssh == NULL)
        return argv;
    const char *const first[] = {"exec", "/bin/sh", "-c", clean_script(arena),
                                 "sh"};
    const size_t n = sizeof first / sizeof *first;
    size_t all = 0;
    while (argv[all] != NULL)
        all++;
    const char **words = arena_alloc(arena, n + all + 1, sizeof *words);
    memcpy(words, first, sizeof first);
    memcpy(words + n, argv, all * sizeof *argv);
    return words;
}

/* ---- the command ---- */

/* A file, since a pipe would need care for programs that do not read it. */
static int make_input(const char *input)
{
    const int fd = memfd_create("input", MFD_CLOEXEC);
    if (fd >= 0 && whole_write(fd, input, strlen(input)) &&
        lseek(fd, 0, SEEK_SET) == 0)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

const char *const *call_words(struct arena *arena,
                              const struct call_place *place,
                              const char *const argv[])
{
    if (place->ssh == NULL)
        return argv;
    struct text remote = {0};
    for (size_t i = 0; argv[i] != NULL; i++) {
        text_puts(&remote, i > 0 ? " " : "");
        text_shell_word(&remote, argv[i]);
    }
    /* Without its master ssh would connect itself: the proxy prevents that. */
    const char *const words[] = {
        "ssh", "-T", "-o", "BatchMode=yes", "-o", "ControlMaster=no", "-o",
        "ProxyCommand=false",
        /* Of a person's ssh_config, which are for their own sessions. */
        "-o", "RemoteCommand=none", "-o", "ClearAllForwardings=yes", "-o",
        arena_printf(arena, "ControlPath=%s", place->control), "--", place->ssh,
        text_take(&remote, arena), NULL};
    const char **copy =
        arena_alloc(arena, sizeof words / sizeof *words, sizeof *copy);
    memcpy(copy, words, sizeof words);
    return copy;
}

/* False: the time is over, or the last of them, by which a call is aborted, can
 * be read. */
static bool wait_for(struct pollfd *wanted, nfds_t n, int64_t until_ms)
{
    for (;;) {
        const int64_t left = until_ms - clock_monotonic_ms();
        if (left <= 0)
            return false;
        if (poll(wanted, n, (int)left) > 0)
            return wanted[n - 1].revents == 0;
    }
}

/* Appends what is there; false: no more comes. */
static bool read_some(int fd, struct text *said)
{
    char bytes[16 * 1024];
    const ssize_t n = read(fd, bytes, sizeof bytes);
    if (n > 0)
        text_append(said, bytes, (size_t)n);
    return n > 0 || (n < 0 && errno == EINTR);
}

static struct pollfd abort_of(const struct call_place *place)
{
    return (struct pollfd){.fd = place->abort > 0 ? place->abort : -1,
                           .events = POLLIN};
}

/* Everything from both; false: too much, or too slow. */
static bool read_both(const struct call_place *place, const int fds[2],
                      struct text said[2], int64_t until_ms)
{
    struct pollfd wanted[3] = {{.fd = fds[0], .events = POLLIN},
                               {.fd = fds[1], .events = POLLIN},
                               abort_of(place)};
    while (wanted[0].fd >= 0 || wanted[1].fd >= 0) {
        if (said[0].len + said[1].len > MOST_BYTES ||
            !wait_for(wanted, 3, until_ms))
            return false;
        for (int i = 0; i < 2; i++) {
            if (wanted[i].revents != 0 && !read_some(fds[i], &said[i]))
                wanted[i].fd = -1;
        }
    }
    return true;
}

/* Waits for its end, or kills it; its status of waitpid(). */
static int reap(const struct call_place *place, pid_t pid, bool wanted,
                int64_t until_ms)
{
    struct pollfd ends[2] = {
        {.fd = wanted ? pidfd_open(pid, 0) : -1, .events = POLLIN},
        abort_of(place)};
    if (ends[0].fd < 0 || !wait_for(ends, 2, until_ms))
        kill(-pid, SIGKILL);
    if (ends[0].fd >= 0)
        close(ends[0].fd);
    return child_reap(pid);
}

static int start(const char *const argv[], const char *const env[],
                 const char *input, int fds[2], pid_t *pid)
{
    int output[2], errors[2], code;
    if (pipe2(output, O_CLOEXEC) != 0)
        return errno;
    if (pipe2(errors, O_CLOEXEC) != 0) {
        code = errno;
        close(output[0]);
        close(output[1]);
        return code;
    }
    const int script = input != NULL ? make_input(input) : -1;
    /* Its own group, so that a slow one is ended with all it started. */
    const struct child child = {.argv = argv,
                                .env = env,
                                .input = script,
                                .output = output[1],
                                .errors = errors[1],
                                .group = POSIX_SPAWN_SETPGROUP};
    code = input != NULL && script < 0 ? EMFILE : child_start_kept(&child, pid);
    if (script >= 0)
        close(script);
    close(output[1]);
    close(errors[1]);
    fds[0] = output[0];
    fds[1] = errors[0];
    if (code != 0) {
        close(fds[0]);
        close(fds[1]);
    }
    return code;
}

/* Behind the mark; NULL: it is not there. */
static const char *behind_mark(const char *said)
{
    const char *mark = strstr(said, MARK "\n");
    return mark != NULL ? mark + strlen(MARK "\n") : NULL;
}

/* At a login node: leaves what its shell has printed out. */
static enum ht_status judge_remote(const char *host, const char *program,
                                   struct call_answer *answer,
                                   struct ht_error *err)
{
    const char *output = behind_mark(answer->output);
    const char *errors = behind_mark(answer->errors);
    const bool begun = output != NULL && errors != NULL;
    if (!begun && answer->exit == SSH_FAILED)
        return ht_fail(err, HT_UNAVAILABLE,
                       "no connection to %s is open; a person opens one by "
                       "`hypertune runners connect %s`",
                       host, host);
    if (!begun)
        return ht_fail(err, HT_UNAVAILABLE,
                       "the login shell at %s runs no commands (code %d)", host,
                       answer->exit);
    if (answer->exit == SSH_FAILED)
        return ht_fail(err, HT_UNAVAILABLE,
                       "the connection to %s ended before %s did, or it was "
                       "killed",
                       host, program);
    answer->output = output;
    answer->errors = errors;
    return HT_OK;
}

/* What a status of waitpid() and the words mean; `program`: Slurm's. */
static enum ht_status judge(const struct call_place *place, const char *program,
                            int status, struct call_answer *answer,
                            struct ht_error *err)
{
    enum ht_status found = HT_OK;
    if (!WIFEXITED(status))
        return ht_fail(err, HT_UNAVAILABLE, "%s was killed, or was too slow",
                       place->ssh != NULL ? "ssh" : program);
    if (place->ssh != NULL)
        found = judge_remote(place->ssh, program, answer, err);
    if (found == HT_OK && answer->exit > KILLED)
        return ht_fail(err, HT_UNAVAILABLE, "%s was killed", program);
    if (found == HT_OK && answer->exit == NO_PROGRAM)
        return ht_fail(err, HT_NOT_FOUND, "there is no %s%s%s", program,
                       place->ssh != NULL ? " at " : "",
                       place->ssh != NULL ? place->ssh : "");
    return found;
}

/* The program behind env and its variables. */
static const char *program_of(const char *const argv[])
{
    size_t i = 0;
    if (strcmp(argv[0], "env") == 0)
        for (i = 1; strchr(argv[i], '=') != NULL;)
            i++;
    return argv[i];
}

enum ht_status call_run(struct arena *arena, const struct call_place *place,
                        const struct call *call, struct call_answer *answer,
                        struct ht_error *err)
{
    const char *program = program_of(call->argv);
    struct text said[2] = {{0}};
    int fds[2] = {-1, -1};
    pid_t pid = -1;
    const int code =
        start(call_words(arena, place, clean_words(arena, place, call->argv)),
              clean_environment(arena), call->input, fds, &pid);
    if (code == ENOENT)
        return ht_fail(err, HT_NOT_FOUND, "there is no %s in PATH",
                       place->ssh != NULL ? "ssh" : program);
    if (code != 0)
        return ht_fail(err, HT_UNAVAILABLE, "cannot run %s (error %d)", program,
                       code);
    const bool complete = read_both(place, fds, said, call->until_ms);
    close(fds[0]);
    close(fds[1]);
    const int status = reap(place, pid, complete, call->until_ms);
    *answer = (struct call_answer){.exit = WEXITSTATUS(status),
                                   .output = text_take(&said[0], arena),
                                   .errors = text_take(&said[1], arena)};
    return judge(place, program, status, answer, err);
}
