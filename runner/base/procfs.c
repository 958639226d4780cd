#include "runner/base/procfs.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/base/arena.h"
#include "proto/base/clock.h"
#include "proto/base/whole.h"

struct stat_fields { /* of /proc/PID/stat */
    char state;
    pid_t parent, session;
    uint64_t start;
};

static ssize_t read_proc_file(const char *path, char *buffer, size_t size)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    const ssize_t n = whole_read_at(fd, buffer, size - 1, 0);
    close(fd);
    if (n >= 0)
        buffer[n] = '\0';
    return n;
}

static bool read_stat(pid_t pid, struct stat_fields *fields)
{
    char path[64];
    char line[1024];
    (void)snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    if (read_proc_file(path, line, sizeof line) <= 0)
        return false;
    /* The name in field 2 may hold blanks and parentheses: start behind it. */
    char *at = strrchr(line, ')');
    if (at == NULL || at[1] != ' ')
        return false;
    fields->state = at[2];
    at += 3;
    for (int field = 4; field <= 22; field++) {
        const long long value = strtoll(at, &at, 10);
        if (field == 4)
            fields->parent = (pid_t)value;
        else if (field == 6)
            fields->session = (pid_t)value;
        else if (field == 22)
            fields->start = (uint64_t)value;
    }
    return true;
}

bool procfs_boot(char boot[PROCFS_BOOT_BYTES])
{
    if (read_proc_file("/proc/sys/kernel/random/boot_id", boot,
                       PROCFS_BOOT_BYTES) < 36)
        return false;
    boot[36] = '\0';
    return true;
}

enum ht_status procfs_identify(pid_t pid, struct process *process,
                               struct ht_error *err)
{
    struct process found = {.pid = pid};
    struct stat_fields fields;
    if (!read_stat(pid, &fields))
        return ht_fail(err, HT_NOT_FOUND, "no process %d", (int)pid);
    if (!procfs_boot(found.boot))
        return ht_fail(err, HT_IO, "cannot read the kernel's boot id");
    found.start = fields.start;
    *process = found;
    return HT_OK;
}

bool procfs_is_alive(const struct process *process)
{
    char boot[PROCFS_BOOT_BYTES];
    struct stat_fields fields;
    return procfs_boot(boot) && strcmp(boot, process->boot) == 0 &&
           read_stat(process->pid, &fields) && fields.start == process->start &&
           fields.state != 'Z' && fields.state != 'X';
}

bool procfs_has_argument(pid_t pid, const char *word)
{
    char path[64];
    char words[2 * PATH_MAX];
    (void)snprintf(path, sizeof path, "/proc/%d/cmdline", (int)pid);
    const ssize_t n = read_proc_file(path, words, sizeof words);
    const size_t first = n > 0 ? strlen(words) + 1 : 0;
    return n > 0 && (size_t)n == first + strlen(word) + 1 &&
           strcmp(words + first, word) == 0;
}

bool procfs_kill(const struct process *process)
{
    const int fd = pidfd_open(process->pid, 0);
    if (fd < 0)
        return false;
    /* Checked after opening: the descriptor now names this process for good. */
    const bool killed = procfs_is_alive(process) &&
                        pidfd_send_signal(fd, SIGKILL, NULL, 0) == 0;
    close(fd);
    return killed;
}

/* While a process starts a program its environment is empty for a moment. */
static bool is_starting(pid_t pid)
{
    char path[64], program[8];
    (void)snprintf(path, sizeof path, "/proc/%d/exe", (int)pid);
    return readlink(path, program, sizeof program) > 0; /* no kernel thread */
}

/* *unsure: the process may have it, but its environment cannot be read yet. */
static bool environment_names(pid_t pid, const char *folder, bool *unsure)
{
    enum { LIMIT = 4 * 1024 * 1024 };
    char path[64];
    (void)snprintf(path, sizeof path, "/proc/%d/environ", (int)pid);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    char wanted[4200];
    const int len =
        snprintf(wanted, sizeof wanted, "HYPERTUNE_TRIAL_DIR=%s", folder);
    char *block = ht_xcalloc(LIMIT, 1);
    const ssize_t have = whole_read_at(fd, block, LIMIT - 1, 0);
    close(fd);
    bool found = false;
    if (have <= 0 && is_starting(pid))
        *unsure = true;
    for (const char *at = block; at < block + have && !found;
         at += strlen(at) + 1)
        found = strncmp(at, wanted, (size_t)len + 1) == 0;
    free(block);
    return found;
}

/* Trials of root's runner may have any user. */
static bool is_mine(pid_t pid)
{
    char path[64];
    struct stat status;
    (void)snprintf(path, sizeof path, "/proc/%d", (int)pid);
    return stat(path, &status) == 0 &&
           (status.st_uid == geteuid() || geteuid() == 0);
}

/* A session's number is reserved while it has processes. Afterwards another
 * process can get it: then a leader with another start time exists. */
static bool in_session(const struct stat_fields *fields,
                       const struct process *leader)
{
    struct stat_fields current;
    if (leader == NULL || fields->session != leader->pid)
        return false;
    return !read_stat(leader->pid, &current) || current.start == leader->start;
}

struct mark { /* by which a leftover is recognised */
    const char *folder;
    const struct process *leader; /* may be NULL */
    bool *unsure;                 /* set when a process may be one */
};

static bool is_leftover(pid_t pid, const struct mark *mark)
{
    struct stat_fields fields;
    if (pid == getpid() || !is_mine(pid) || !read_stat(pid, &fields) ||
        fields.state == 'Z' || fields.state == 'X')
        return false;
    return in_session(&fields, mark->leader) ||
           environment_names(pid, mark->folder, mark->unsure);
}

/* Checks again once the pidfd holds the process, so that a reused pid is not
 * killed. */
static bool kill_if_leftover(pid_t pid, const void *context)
{
    const struct mark *mark = context;
    if (!is_leftover(pid, mark))
        return false;
    const int fd = pidfd_open(pid, 0);
    if (fd < 0)
        return false;
    const bool leftover = is_leftover(pid, mark);
    if (leftover)
        pidfd_send_signal(fd, SIGKILL, NULL, 0);
    close(fd);
    return leftover;
}

static pid_t pid_of(const char *name)
{
    return isdigit((unsigned char)name[0]) ? (pid_t)strtol(name, NULL, 10) : 0;
}

typedef bool killer(pid_t pid, const void *context);

/* Calls it for every process of the machine; returns how many were killed. */
static size_t kill_among_all(killer *kill_if, const void *context)
{
    DIR *dir = opendir("/proc");
    if (dir == NULL)
        return 0;
    size_t n = 0;
    struct dirent *entry;
    while ((entry = readdir(dir)) != NULL) {
        const pid_t pid = pid_of(entry->d_name);
        if (pid > 1)
            n += kill_if(pid, context);
    }
    closedir(dir);
    return n;
}

size_t procfs_kill_leftovers(const char *folder, const struct process *leader,
                             int bound_ms)
{
    /* Programs with an empty environment stay unsure for ever. */
    enum { LOOKS = 5 };
    bool unsure;
    const struct mark mark = {folder, leader, &unsure};
    const int64_t deadline = clock_monotonic_ms() + bound_ms;
    for (int looks = 0;; looks++) {
        unsure = false;
        const size_t n = kill_among_all(kill_if_leftover, &mark);
        if ((n == 0 && (!unsure || looks >= LOOKS)) ||
            clock_monotonic_ms() >= deadline)
            return n;
        poll(NULL, 0, 2); /* let the kernel finish what was killed */
    }
}

/* A child's pid cannot be reused before this process reaps it. */
static bool kill_if_child(pid_t pid, const void *context)
{
    struct stat_fields fields;
    (void)context;
    return read_stat(pid, &fields) && fields.parent == getpid() &&
           fields.state != 'Z' && kill(pid, SIGKILL) == 0;
}

size_t procfs_kill_children(void)
{
    /* Works without /proc: all of a container is below its first process. */
    if (getpid() == 1)
        return kill(-1, SIGKILL) == 0 ? 1 : 0;
    return kill_among_all(kill_if_child, NULL);
}
