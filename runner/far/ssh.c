/* ssh.c - the way to a login node: ssh as a child, over the connection that a
 * person has opened, and hypertune-shim, which is put there once. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/base/clock.h"
#include "proto/base/token.h"
#include "proto/net/ssh_control.h"
#include "runner/base/child.h"
#include "runner/base/disk.h"
#include "runner/far/parts.h"
#include "runner/slurm/call.h"

enum {
    UPLOAD_MS = 600000,
    STEP_MS = 1000,
    HASH_DIGITS = 16, /* of the program's name */
    MOST_SHIM = 64 * 1024 * 1024,
    NOT_EXECUTABLE = 126,
    NOT_FOUND = 127,
    SSH_FAILED = 255
};

static const char start_script[] =
    "cd \"${HOME:-.}\" && exec \"$1/bin/shim-$2\" --mirror \"$1\"";
static const char put_script[] =
    "cd \"${HOME:-.}\" && umask 077 && mkdir -p \"$1/bin\" && "
    "cat >\"$1/bin/.shim.$$\" && test \"$(wc -c <\"$1/bin/.shim.$$\")\" -eq "
    "\"$3\" && chmod 700 \"$1/bin/.shim.$$\" && "
    "mv -f \"$1/bin/.shim.$$\" \"$1/bin/shim-$2\"";

struct ssh {
    struct arena *arena;
    struct call_place place;
    const char *shim;            /* here */
    const char *root;            /* as the login node finds it */
    char hash[TOKEN_TEXT_BYTES]; /* of the program, by its content */
    pid_t pid;                   /* of the child; 0: none */
};

/* ---- the child ---- */

static bool open_pipes(int pipes[3][2], bool input)
{
    for (int i = 0; i < 3; i++)
        pipes[i][0] = pipes[i][1] = -1;
    for (int i = input ? 0 : 1; i < 3; i++)
        if (pipe2(pipes[i], O_CLOEXEC) != 0)
            return false;
    return true;
}

static void close_one(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

/* `input`: what it reads; -1: the stream. */
static bool start(struct ssh *ssh, const char *const argv[], int input,
                  struct far_stream *stream)
{
    int pipes[3][2];
    struct arena *arena = arena_new();
    bool started = open_pipes(pipes, input < 0);
    if (started) {
        const struct child child = {.argv =
                                        call_words(arena, &ssh->place, argv),
                                    .input = input < 0 ? pipes[0][0] : input,
                                    .output = pipes[1][1],
                                    .errors = pipes[2][1],
                                    .group = POSIX_SPAWN_SETPGROUP};
        started = child_start_kept(&child, &ssh->pid) == 0;
    }
    close_one(&pipes[0][0]);
    close_one(&pipes[1][1]);
    close_one(&pipes[2][1]);
    *stream = (struct far_stream){.in = pipes[1][0],
                                  .out = pipes[0][1],
                                  .errors = pipes[2][0],
                                  .data = ssh};
    if (stream->out >= 0)
        (void)fcntl(stream->out, F_SETFL, O_NONBLOCK);
    if (stream->in >= 0)
        (void)fcntl(stream->in, F_SETFL, O_NONBLOCK);
    if (!started)
        ssh->pid = 0;
    arena_free(arena);
    return started;
}

static bool ssh_open(void *context, struct far_stream *stream,
                     char words[FAR_WORDS_BYTES])
{
    struct ssh *ssh = context;
    const char *const argv[] = {"sh",      "-c",      start_script, "sh",
                                ssh->root, ssh->hash, NULL};
    stream->data = ssh;
    if (start(ssh, argv, -1, stream))
        return true;
    (void)snprintf(words, FAR_WORDS_BYTES, "ssh cannot be started: %s",
                   strerror(errno));
    return false;
}

static ssize_t ssh_read(struct far_stream *stream, char *bytes, size_t len)
{
    return read(stream->in, bytes, len);
}

static ssize_t ssh_write(struct far_stream *stream, const char *bytes,
                         size_t len)
{
    return write(stream->out, bytes, len);
}

static bool ssh_is_full(const struct far_stream *stream)
{
    (void)stream;
    return false;
}

static int ssh_close(struct far_stream *stream, char words[FAR_WORDS_BYTES])
{
    (void)words; /* they came at its stderr */
    struct ssh *ssh = stream->data;
    int status = -1;
    close_one(&stream->in);
    close_one(&stream->out);
    close_one(&stream->errors);
    if (ssh->pid > 0) {
        kill(-ssh->pid, SIGTERM); /* one that has ended keeps its status */
        status = child_reap(ssh->pid);
    }
    ssh->pid = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* ---- the program there ---- */

/* Until it closes its output. */
static void wait_for(struct far *far, const struct far_stream *stream)
{
    char bytes[256];
    const int64_t until_ms = clock_monotonic_ms() + UPLOAD_MS;
    struct pollfd fds[] = {{.fd = stream->in, .events = POLLIN},
                           {.fd = stream->errors, .events = POLLIN}};
    while (fds[0].fd >= 0 && clock_monotonic_ms() < until_ms &&
           !far_is_stopping(far)) {
        if (poll(fds, 2, STEP_MS) <= 0)
            continue;
        for (int i = 0; i < 2; i++)
            if (fds[i].revents != 0 &&
                read(fds[i].fd, bytes, sizeof bytes) == 0)
                fds[i].fd = -1;
    }
}

static bool ssh_mend(void *context, struct far *far, int code)
{
    struct ssh *ssh = context;
    struct stat is;
    char size[32], words[FAR_WORDS_BYTES];
    if (code != NOT_FOUND && code != NOT_EXECUTABLE)
        return false;
    const int fd = open(ssh->shim, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &is) != 0) {
        if (fd >= 0)
            close(fd);
        return false;
    }
    (void)snprintf(size, sizeof size, "%lld", (long long)is.st_size);
    const char *const argv[] = {"sh",      "-c",      put_script, "sh",
                                ssh->root, ssh->hash, size,       NULL};
    struct far_stream stream;
    if (start(ssh, argv, fd, &stream))
        wait_for(far, &stream);
    close(fd);
    return ssh_close(&stream, words) == 0;
}

static const char *ssh_program(const void *context, struct arena *arena,
                               const char *root)
{
    const struct ssh *ssh = context;
    return arena_printf(arena, "%s/bin/shim-%s", root, ssh->hash);
}

/* ---- for people ---- */

static void ssh_explain(const void *context, int code,
                        const char words[FAR_WORDS_BYTES],
                        char fault[FAR_FAULT_BYTES])
{
    const char *host = ((const struct ssh *)context)->place.ssh;
    if (code == SSH_FAILED)
        (void)snprintf(fault, FAR_FAULT_BYTES,
                       "no connection to %.60s is open; a person opens one by "
                       "`hypertune runners connect %.60s`",
                       host, host);
    else
        (void)snprintf(fault, FAR_FAULT_BYTES,
                       "the files at %.60s cannot be reached: %.150s", host,
                       words[0] != '\0' ? words : "the connection ended");
}

/* ---- begin and end ---- */

static void ssh_end(void *context)
{
    struct ssh *ssh = context;
    arena_free(ssh->arena);
    free(ssh);
}

static enum ht_status name_shim(struct ssh *ssh, struct ht_error *err)
{
    unsigned char hash[TOKEN_HASH_BYTES];
    struct disk_bytes bytes;
    struct arena *arena = arena_new();
    const char *slash = strrchr(ssh->shim, '/');
    const enum ht_status status = disk_read(
        arena, arena_strndup(arena, ssh->shim, (size_t)(slash - ssh->shim)),
        slash + 1, MOST_SHIM, &bytes, err);
    if (status == HT_OK) {
        token_sha256(hash, bytes.data, bytes.len);
        token_hex(ssh->hash, hash);
        ssh->hash[HASH_DIGITS] = '\0';
    }
    arena_free(arena);
    return status;
}

static const struct far_way way = {.open = ssh_open,
                                   .read = ssh_read,
                                   .write = ssh_write,
                                   .is_full = ssh_is_full,
                                   .close = ssh_close,
                                   .mend = ssh_mend,
                                   .explain = ssh_explain,
                                   .program = ssh_program,
                                   .end = ssh_end};

enum ht_status far_open_ssh(const struct site *site, const char *host,
                            const char *folder, struct far **far,
                            struct ht_error *err)
{
    struct ssh *ssh = ht_xcalloc(1, sizeof *ssh);
    *ssh = (struct ssh){.arena = arena_new(), .shim = site->shim};
    ssh->place.ssh = host;
    ssh->root = folder != NULL ? folder
                               : arena_printf(ssh->arena, ".hypertune/slurm/%s",
                                              site->runner);
    enum ht_status status =
        ssh_control_path(ssh->arena, NULL, host, &ssh->place.control, err);
    if (status == HT_OK)
        status = name_shim(ssh, err);
    struct far_settings settings = {
        .site = site, .name = host, .way = &way, .context = ssh};
    if (status == HT_OK)
        status = far_name_kit(site, NULL, ssh->arena, &settings.kit, err);
    if (status != HT_OK) {
        ssh_end(ssh);
        return status;
    }
    return far_open(&settings, far, err);
}
