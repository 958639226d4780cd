#include "runner/base/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/base/text.h"
#include "proto/doc/node.h"
#include "proto/job/job.h"
#include "runner/base/disk.h"
#include "runner/base/json.h"

static const char *const outcome_names[] = {
    [OUTCOME_SUCCEEDED] = "succeeded", [OUTCOME_FAILED] = "failed",
    [OUTCOME_STOPPED] = "stopped",     [OUTCOME_TIMEOUT] = "timeout",
    [OUTCOME_LOST] = "lost",
};
enum { N_OUTCOMES = sizeof outcome_names / sizeof *outcome_names };

const char *folder_outcome_name(enum outcome outcome)
{
    return outcome_names[outcome];
}

void folder_end(struct ending *ending, enum outcome outcome, const char *format,
                ...)
{
    va_list args;
    va_start(args, format);
    ending->outcome = outcome;
    (void)vsnprintf(ending->reason, sizeof ending->reason, format, args);
    va_end(args);
}

void folder_describe_workdir(int code, const char *workdir,
                             char reason[HT_MAX_REASON])
{
    (void)snprintf(reason, HT_MAX_REASON, "the working folder %.400s %s",
                   workdir,
                   code == ENOENT    ? "does not exist"
                   : code == ENOTDIR ? "is not a folder"
                                     : "cannot be entered");
}

char *folder_log_name(char name[FOLDER_LOG_NAME_BYTES], const char *stream,
                      int64_t offset)
{
    (void)snprintf(name, FOLDER_LOG_NAME_BYTES, "%s.%012lld.log", stream,
                   (long long)offset);
    return name;
}

void folder_log_line(const char *folder, const char *format, ...)
{
    char name[FOLDER_LOG_NAME_BYTES];
    char path[PATH_MAX];
    char line[1024];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(line, sizeof line - 1, format, args);
    va_end(args);
    size_t len = strlen(line);
    line[len++] = '\n';
    (void)snprintf(path, sizeof path, "%s/%s", folder,
                   folder_log_name(name, FOLDER_RUNNER_STREAM, 0));
    /* A pipe without a reader refuses instead of blocking. */
    const int fd = open(path,
                        O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW |
                            O_NONBLOCK | O_NOCTTY,
                        FOLDER_FILE_MODE);
    if (fd < 0)
        return;
    struct stat status;
    if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
        status.st_size + (off_t)len <= HT_LOG_SEGMENT)
        (void)!write(fd, line, len);
    close(fd);
}

char *folder_workdir(struct arena *arena, const char *folder)
{
    return arena_printf(arena, "%s/work", folder);
}

typedef enum ht_status writer(const char *folder, const char *name,
                              const void *bytes, size_t len, mode_t mode,
                              struct ht_error *err);

static enum ht_status write_text(writer *write_file, const char *folder,
                                 const char *name, struct text *text,
                                 struct ht_error *err)
{
    const enum ht_status status =
        write_file(folder, name, text->data, text->len, FOLDER_FILE_MODE, err);
    text_free(text);
    return status;
}

static enum ht_status write_object(writer *write_file, const char *folder,
                                   const char *name, struct text *object,
                                   struct ht_error *err)
{
    json_close(object);
    text_puts(object, "\n");
    return write_text(write_file, folder, name, object, err);
}

/* ---- launch.json ---- */

enum ht_status folder_write_launch(const char *folder,
                                   const struct launch *launch,
                                   struct ht_error *err)
{
    struct text out = {0};
    json_open(&out, NULL);
    json_put_strings(&out, "argv", &launch->argv);
    json_open_list(&out, "env");
    for (size_t i = 0; i < launch->env.n; i++) {
        json_open_list(&out, NULL);
        json_put_string(&out, NULL, launch->env.items[i].name);
        json_put_string(&out, NULL, launch->env.items[i].value);
        json_close_list(&out);
    }
    json_close_list(&out);
    json_put_strings(&out, "inherit", &launch->inherited);
    json_put_string(&out, "workdir", launch->workdir);
    if (launch->copied != NULL)
        json_put_string(&out, "copied", launch->copied);
    if (launch->left_out != NULL)
        json_put_string(&out, "leftOut", launch->left_out);
    if (launch->state != NULL)
        json_put_string(&out, "state", launch->state);
    if (launch->events != NULL) {
        json_put_string(&out, "events", launch->events);
        json_put_strings(&out, "metrics", &launch->metrics);
    }
    json_put_int(&out, "timeoutMs", launch->timeout_ms);
    json_put_int(&out, "graceMs", launch->grace_ms);
    if (launch->boot != NULL)
        json_put_string(&out, "boot", launch->boot);
    guest_write(&out, &launch->guest);
    return write_object(disk_write, folder, "launch.json", &out, err);
}

enum ht_status folder_read_launch(struct arena *arena, const char *folder,
                                  struct launch *launch, struct ht_error *err)
{
    const struct node *map;
    const enum ht_status status =
        disk_read_json(arena, folder, "launch.json", &map, err);
    if (status != HT_OK)
        return status;
    struct launch read = {
        .workdir = node_get_string(map, "workdir", NULL),
        .copied = node_get_string(map, "copied", NULL),
        .left_out = node_get_string(map, "leftOut", NULL),
        .state = node_get_string(map, "state", NULL),
        .events = node_get_string(map, "events", NULL),
        .timeout_ms = node_get_int(map, "timeoutMs", 0),
        .grace_ms = node_get_int(map, "graceMs", JOB_GRACE_MS),
        .boot = node_get_string(map, "boot", NULL),
    };
    if (!json_read_strings(arena, node_find(map, "argv"), SIZE_MAX,
                           &read.argv) ||
        read.argv.n == 0)
        return ht_fail(err, HT_CORRUPT, "launch.json: argv is no command");
    if (!json_read_strings(arena, node_find(map, "inherit"), SIZE_MAX,
                           &read.inherited))
        return ht_fail(err, HT_CORRUPT, "launch.json: inherit is not texts");
    if (read.events != NULL &&
        !json_read_strings(arena, node_find(map, "metrics"), HT_MAX_METRICS,
                           &read.metrics))
        return ht_fail(err, HT_CORRUPT, "launch.json: metrics is not texts");
    const struct node *env = node_find(map, "env");
    if (env == NULL || !json_read_pairs(arena, env, SIZE_MAX, &read.env))
        return ht_fail(err, HT_CORRUPT, "launch.json: env is not pairs");
    if (!guest_read(arena, node_find(map, "guest"), &read.guest))
        return ht_fail(err, HT_CORRUPT, "launch.json: guest is none");
    *launch = read;
    return HT_OK;
}

/* A trial with a user of its own makes files in its folder, too; it cannot
 * exchange ours, as the folder is sticky. */
static bool is_ours(const char *folder, const char *name)
{
    char path[PATH_MAX];
    struct stat around, status;
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    return stat(folder, &around) != 0 || (around.st_mode & S_ISVTX) == 0 ||
           lstat(path, &status) != 0 || status.st_uid == around.st_uid;
}

static enum ht_status read_ours(struct arena *arena, const char *folder,
                                const char *name, const struct node **map,
                                struct ht_error *err)
{
    if (!is_ours(folder, name)) {
        ht_fail(err, HT_NOT_FOUND, "%s was made by the trial", name);
        return HT_NOT_FOUND;
    }
    return disk_read_json(arena, folder, name, map, err);
}

/* ---- shim.json ---- */

enum ht_status folder_write_shim(const char *folder,
                                 const struct process *process,
                                 struct ht_error *err)
{
    struct text out = {0};
    json_open(&out, NULL);
    json_put_int(&out, "pid", process->pid);
    json_put_int(&out, "start", (int64_t)process->start);
    json_put_string(&out, "boot", process->boot);
    return write_object(disk_replace, folder, "shim.json", &out, err);
}

enum ht_status folder_read_shim(const char *folder, struct process *process,
                                struct ht_error *err)
{
    struct arena *arena = arena_new();
    const struct node *map;
    enum ht_status status = read_ours(arena, folder, "shim.json", &map, err);
    if (status == HT_OK) {
        const int64_t pid = node_get_int(map, "pid", 0);
        const int64_t start = node_get_int(map, "start", -1);
        if (pid <= 1 || pid > INT32_MAX || start < 0) {
            status = ht_fail(err, HT_CORRUPT, "shim.json names no process");
        } else {
            process->pid = (pid_t)pid;
            process->start = (uint64_t)start;
            (void)snprintf(process->boot, sizeof process->boot, "%s",
                           node_get_string(map, "boot", ""));
        }
    }
    arena_free(arena);
    return status;
}

/* ---- exit.json ---- */

/* Else a power cut could keep the end and lose the result that decides. A file
 * that a trial did not write, or a link, is none of ours. */
static enum ht_status sync_results(const char *folder, struct ht_error *err)
{
    static const char *const names[] = {"reports.jsonl", "output.metrics",
                                        FOLDER_EVENTS};
    enum { N_NAMES = sizeof names / sizeof *names };
    enum ht_status status = HT_OK;
    char path[PATH_MAX];
    for (size_t i = 0; status == HT_OK && i < N_NAMES; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        const int fd =
            open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        if (fd < 0)
            continue;
        if (fsync(fd) != 0 && errno != EINVAL && errno != EROFS)
            status = ht_fail_errno(err, errno, "cannot sync %s", path);
        close(fd);
    }
    return status;
}

enum ht_status folder_write_exit(const char *folder,
                                 const struct ending *ending,
                                 struct ht_error *err)
{
    const enum ht_status synced = sync_results(folder, err);
    if (synced != HT_OK)
        return synced;
    struct text out = {0};
    json_open(&out, NULL);
    if (ending->has_exit)
        json_put_int(&out, "exit", ending->exit);
    if (ending->has_signal)
        json_put_int(&out, "signal", ending->signal);
    json_put_string(&out, "outcome", folder_outcome_name(ending->outcome));
    json_put_string(&out, "reason", ending->reason);
    json_put_int(&out, "startedMs", ending->started_ms);
    json_put_int(&out, "endedMs", ending->ended_ms);
    return write_object(disk_write, folder, "exit.json", &out, err);
}

enum ht_status folder_read_exit(const char *folder, struct ending *ending,
                                struct ht_error *err)
{
    struct arena *arena = arena_new();
    const struct node *map;
    struct ending read = {0};
    enum ht_status status = read_ours(arena, folder, "exit.json", &map, err);
    int outcome = 0;
    if (status == HT_OK)
        outcome = json_find_word(map, "outcome", outcome_names, N_OUTCOMES);
    if (outcome < 0)
        status = ht_fail(err, HT_CORRUPT, "exit.json has no known outcome");
    if (status == HT_OK) {
        read.outcome = (enum outcome)outcome;
        read.has_exit = node_find(map, "exit") != NULL;
        read.has_signal = node_find(map, "signal") != NULL;
        read.exit = (int)node_get_int(map, "exit", 0);
        read.signal = (int)node_get_int(map, "signal", 0);
        read.started_ms = node_get_int(map, "startedMs", 0);
        read.ended_ms = node_get_int(map, "endedMs", 0);
        (void)snprintf(read.reason, sizeof read.reason, "%s",
                       node_get_string(map, "reason", ""));
        *ending = read;
    }
    arena_free(arena);
    return status;
}

/* ---- stop ---- */

enum ht_status folder_write_stop(const char *folder,
                                 const struct stop_order *order,
                                 struct ht_error *err)
{
    struct stop_order old;
    if (folder_read_stop(folder, &old, NULL) == HT_OK &&
        (old.kill || !order->kill))
        return HT_OK;
    struct text out = {0};
    text_puts(&out, order->kill ? "kill " : "stop ");
    const size_t start = out.len;
    text_puts(&out, order->reason);
    for (size_t i = start; i < out.len; i++) { /* the order is one line */
        if (out.data[i] == '\n' || out.data[i] == '\r')
            out.data[i] = ' ';
    }
    text_puts(&out, "\n");
    return write_text(disk_replace, folder, "stop", &out, err);
}

enum ht_status folder_read_stop(const char *folder, struct stop_order *order,
                                struct ht_error *err)
{
    if (!is_ours(folder, "stop")) {
        ht_fail(err, HT_NOT_FOUND, "stop was made by the trial");
        return HT_NOT_FOUND;
    }
    struct arena *arena = arena_new();
    struct disk_bytes bytes;
    const enum ht_status status =
        disk_read(arena, folder, "stop", HT_MAX_REPORT_LINE, &bytes, err);
    if (status == HT_OK) {
        char *line = bytes.data;
        line[strcspn(line, "\n")] = '\0';
        order->kill = strncmp(line, "kill", 4) == 0;
        const char *blank = strchr(line, ' ');
        (void)snprintf(order->reason, sizeof order->reason, "%s",
                       blank != NULL ? blank + 1 : "");
    }
    arena_free(arena);
    return status;
}

/* ---- whether it is still the replica's ---- */

const char folder_removed[] = "the trial removed its own folder, "
                              "HYPERTUNE_TRIAL_DIR, which the runner removes "
                              "later";
static const char locked[] = "the trial locked its own folder, "
                             "HYPERTUNE_TRIAL_DIR, which the runner removes "
                             "later";

void folder_identify(struct folder_id *id, const char *folder)
{
    struct stat status;
    *id = (struct folder_id){0};
    if (lstat(folder, &status) == 0)
        *id = (struct folder_id){.device = (uint64_t)status.st_dev,
                                 .inode = (uint64_t)status.st_ino};
}

const char *folder_fault(const struct folder_id *id, const char *folder)
{
    struct stat status;
    if (id->inode == 0)
        return NULL;
    if (lstat(folder, &status) != 0) {
        if (errno == ENOENT || errno == ENOTDIR)
            return folder_removed;
        return errno == EACCES ? locked : NULL;
    }
    if (!S_ISDIR(status.st_mode) || (uint64_t)status.st_dev != id->device ||
        (uint64_t)status.st_ino != id->inode)
        return folder_removed;
    return access(folder, R_OK | W_OK | X_OK) != 0 && errno == EACCES ? locked
                                                                      : NULL;
}

static void reclaim(const char *path)
{
    struct stat status;
    if (lstat(path, &status) != 0)
        return;
    if (!S_ISDIR(status.st_mode))
        (void)unlink(path);
    else if ((status.st_mode & S_IRWXU) != S_IRWXU)
        (void)chmod(path, status.st_mode | S_IRWXU);
}

void folder_reclaim(const char *state, const char *folder)
{
    char part[PATH_MAX];
    const size_t len = strlen(folder);
    size_t i = strlen(state) + 1;
    if (len >= sizeof part || i > len)
        return;
    for (; i <= len; i++) {
        if (folder[i] != '/' && folder[i] != '\0')
            continue;
        memcpy(part, folder, i);
        part[i] = '\0';
        reclaim(part);
    }
}
