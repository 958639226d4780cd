/* disk.c - records what programs do to the files below a folder, and lets one
 * of these operations fail; to be preloaded. tests/lib/power_cut.py reads the
 * record.
 *
 *     HT_DISK_ROOT=FOLDER     real path; nothing elsewhere is looked at
 *     HT_DISK_LOG=FILE        gets the record, outside of the folder
 *     HT_DISK_BOOT=FILE       is read for the id of the kernel's boot
 *     HT_DISK_FAULT=KIND:N:WHAT  the N-th operation of that kind (write, sync,
 *                             name, any) fails with EIO or ENOSPC, or the
 *                             process is killed before it (KILL), or a write
 *                             is not made and seems to be (LOST)
 *     HT_DISK_COUNT=FILE      where all processes count them together
 *     HT_DISK_PROGRAM=NAME    only this program has the fault
 *
 * Operations are made and recorded one at a time over all processes, so the
 * order of the record is theirs. A sync is recorded, not made: the replayer
 * decides what a power cut leaves. Programs that these start are recorded too,
 * whatever environment they get. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

/* One record; the two names and the bytes follow it. */
struct record {
    uint32_t bytes; /* of all of it */
    uint8_t op;     /* one of enum op */
    uint8_t failed; /* it changed nothing */
    uint16_t name, other;
    uint16_t mode; /* of the file, afterwards */
    uint64_t inode;
    int64_t at; /* offset, or the new size */
};

enum op {
    WRITE = 'W',
    TRUNCATE = 'T',
    SYNC = 'S',
    SYNC_ALL = 'A',
    CREATE = 'C',
    FOLDER = 'D',
    RENAME = 'R',
    LINK = 'L',
    UNLINK = 'U',
    MODE = 'M', /* of a folder; a file's comes with its writes */
};

static const char *root, *log_path, *boot, *count_path, *program, *fault;
static dev_t device;

/* The next definition of a name, which is the C library's. */
#define REAL(name) ((__typeof__(&name))(uintptr_t)dlsym(RTLD_NEXT, #name))

__attribute__((constructor)) static void read_environment(void)
{
    struct stat status;
    root = getenv("HT_DISK_ROOT");
    log_path = getenv("HT_DISK_LOG");
    boot = getenv("HT_DISK_BOOT");
    count_path = getenv("HT_DISK_COUNT");
    program = getenv("HT_DISK_PROGRAM");
    fault = getenv("HT_DISK_FAULT");
    if (root == NULL || stat(root, &status) != 0)
        root = NULL;
    else
        device = status.st_dev;
}

static bool is_below(const char *path)
{
    const size_t len = strlen(root);
    return strncmp(path, root, len) == 0 &&
           (path[len] == '/' || path[len] == '\0');
}

/* --- which file it is --- */

static bool path_of_fd(int fd, char path[PATH_MAX])
{
    char link[40];
    (void)snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    const ssize_t n = readlink(link, path, PATH_MAX - 1);
    path[n > 0 ? n : 0] = '\0';
    return n > 0;
}

/* A file or folder below the root; the index of a write-ahead log is memory. */
static bool is_ours(int fd, char path[PATH_MAX], struct stat *status)
{
    if (root == NULL || fstat(fd, status) != 0 || status->st_dev != device ||
        !(S_ISREG(status->st_mode) || S_ISDIR(status->st_mode)))
        return false;
    return path_of_fd(fd, path) && is_below(path);
}

static bool absolute(int folder, const char *name, char path[PATH_MAX])
{
    if (root == NULL || name == NULL)
        return false;
    char base[PATH_MAX] = "";
    if (name[0] != '/' &&
        !(folder == AT_FDCWD ? getcwd(base, sizeof base) != NULL
                             : path_of_fd(folder, base)))
        return false;
    int n = snprintf(path, PATH_MAX, "%s%s%s", base, name[0] == '/' ? "" : "/",
                     name);
    if (n <= 0 || n >= PATH_MAX)
        return false;
    while (n > 1 && path[n - 1] == '/')
        path[--n] = '\0';
    return is_below(path);
}

/* --- one at a time --- */

static int begin(void)
{
    const char *path = log_path != NULL ? log_path : count_path;
    if (path == NULL)
        return -1;
    const int fd =
        REAL(open)(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (fd >= 0)
        (void)flock(fd, LOCK_EX);
    return fd;
}

static void end(int fd)
{
    const int code = errno;
    if (fd >= 0)
        close(fd);
    errno = code;
}

static void note(int fd, const struct record *what, const char *name,
                 const char *other, const void *data, size_t len)
{
    if (fd < 0 || log_path == NULL)
        return;
    const int code = errno;
    struct record record = *what;
    record.name = (uint16_t)strlen(name);
    record.other = (uint16_t)strlen(other);
    record.bytes = (uint32_t)(sizeof record + record.name + record.other + len);
    const struct iovec parts[] = {{&record, sizeof record},
                                  {(void *)(uintptr_t)name, record.name},
                                  {(void *)(uintptr_t)other, record.other},
                                  {(void *)(uintptr_t)data, len}};
    (void)!REAL(writev)(fd, parts, 4);
    errno = code;
}

/* --- the operation that fails --- */

static const char *kind_of(enum op op)
{
    return op == SYNC                      ? "sync"
           : op == WRITE || op == TRUNCATE ? "write"
                                           : "name";
}

static int64_t count(void)
{
    int64_t n = 0;
    const int fd = REAL(open)(count_path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (fd < 0)
        return 0;
    (void)!pread(fd, &n, sizeof n, 0);
    n++;
    (void)!REAL(pwrite)(fd, &n, sizeof n, 0);
    close(fd);
    return n;
}

/* Under the lock. Sets errno: 0 for what seems to succeed. */
static bool fails(enum op op)
{
    char kind[16], what[16];
    long long n;
    if (fault == NULL || count_path == NULL ||
        (program != NULL &&
         strcmp(program, program_invocation_short_name) != 0))
        return false;
    if (sscanf(fault, "%15[^:]:%lld:%15s", kind, &n, what) != 3 ||
        (strcmp(kind, "any") != 0 && strcmp(kind, kind_of(op)) != 0) ||
        count() != n)
        return false;
    if (strcmp(what, "KILL") == 0)
        kill(getpid(), SIGKILL);
    errno = strcmp(what, "ENOSPC") == 0 ? ENOSPC
            : strcmp(what, "LOST") == 0 ? 0
                                        : EIO;
    return errno != 0 || op == WRITE;
}

/* --- content --- */

enum { AT_POSITION = -1 };

/* `offset`: AT_POSITION: at the position of the file. */
static ssize_t put(int fd, const void *data, size_t len, off_t offset)
{
    char path[PATH_MAX];
    struct stat status;
    if (!is_ours(fd, path, &status))
        return offset == AT_POSITION ? REAL(write)(fd, data, len)
                                     : REAL(pwrite)(fd, data, len, offset);
    const int lock = begin();
    ssize_t n;
    if (fails(WRITE)) {
        n = errno == 0 ? (ssize_t)len : -1;
        end(lock);
        return n;
    }
    n = offset == AT_POSITION ? REAL(write)(fd, data, len)
                              : REAL(pwrite)(fd, data, len, offset);
    if (n > 0 && offset == AT_POSITION)
        offset = lseek(fd, 0, SEEK_CUR) - n;
    if (n > 0)
        note(lock,
             &(struct record){.op = WRITE,
                              .mode = status.st_mode & 07777,
                              .inode = status.st_ino,
                              .at = offset},
             path, "", data, (size_t)n);
    end(lock);
    return n;
}

ssize_t write(int fd, const void *data, size_t len)
{
    return put(fd, data, len, AT_POSITION);
}

ssize_t pwrite(int fd, const void *data, size_t len, off_t offset)
{
    return put(fd, data, len, offset);
}

ssize_t pwrite64(int fd, const void *data, size_t len, off64_t offset)
{
    return put(fd, data, len, offset);
}

/* As that many writes: a power cut knows no difference. */
static ssize_t put_all(int fd, const struct iovec *parts, int n, off_t offset)
{
    ssize_t done = 0;
    for (int i = 0; i < n; i++) {
        const ssize_t now =
            put(fd, parts[i].iov_base, parts[i].iov_len,
                offset == AT_POSITION ? AT_POSITION : offset + done);
        if (now < 0)
            return done > 0 ? done : now;
        done += now;
        if ((size_t)now < parts[i].iov_len)
            break;
    }
    return done;
}

ssize_t writev(int fd, const struct iovec *parts, int n)
{
    char path[PATH_MAX];
    struct stat status;
    return is_ours(fd, path, &status) ? put_all(fd, parts, n, AT_POSITION)
                                      : REAL(writev)(fd, parts, n);
}

ssize_t pwritev(int fd, const struct iovec *parts, int n, off_t offset)
{
    return put_all(fd, parts, n, offset);
}

ssize_t pwritev64(int fd, const struct iovec *parts, int n, off64_t offset)
{
    return put_all(fd, parts, n, offset);
}

int ftruncate(int fd, off_t size)
{
    char path[PATH_MAX];
    struct stat status;
    if (!is_ours(fd, path, &status))
        return REAL(ftruncate)(fd, size);
    const int lock = begin();
    const int rc = fails(TRUNCATE) ? -1 : REAL(ftruncate)(fd, size);
    if (rc == 0)
        note(lock,
             &(struct record){.op = TRUNCATE,
                              .mode = status.st_mode & 07777,
                              .inode = status.st_ino,
                              .at = size},
             path, "", NULL, 0);
    end(lock);
    return rc;
}

/* Only for what makes a file longer; its blocks are not recorded. */
int posix_fallocate(int fd, off_t at, off_t bytes)
{
    return ftruncate(fd, at + bytes) == 0 ? 0 : errno;
}

int ftruncate64(int fd, off64_t size)
{
    return ftruncate(fd, size);
}

static int sync_file(int fd, int (*real)(int))
{
    char path[PATH_MAX];
    struct stat status;
    if (!is_ours(fd, path, &status))
        return real(fd);
    const int lock = begin();
    const bool failed = fails(SYNC);
    note(lock,
         &(struct record){.op = SYNC,
                          .failed = failed,
                          .mode = status.st_mode & 07777,
                          .inode = status.st_ino},
         path, "", NULL, 0);
    end(lock);
    return failed ? -1 : 0;
}

int fsync(int fd)
{
    return sync_file(fd, REAL(fsync));
}

int fdatasync(int fd)
{
    return sync_file(fd, REAL(fdatasync));
}

/* Of all that is below the root. */
int syncfs(int fd)
{
    char path[PATH_MAX];
    struct stat status;
    if (!is_ours(fd, path, &status))
        return REAL(syncfs)(fd);
    const int lock = begin();
    const bool failed = fails(SYNC);
    note(lock, &(struct record){.op = SYNC_ALL, .failed = failed}, root, "",
         NULL, 0);
    end(lock);
    return failed ? -1 : 0;
}

/* --- names --- */

static int open_ours(int folder, const char *name, const char *path, int flags,
                     mode_t mode)
{
    struct stat status;
    const int lock = begin();
    const bool is_new =
        fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) != 0;
    const bool empties = (flags & O_TRUNC) != 0 && !is_new;
    const int fd = (is_new || empties) && fails(CREATE)
                       ? -1
                       : REAL(openat)(folder, name, flags, mode);
    if (fd >= 0 && (is_new || empties) && fstat(fd, &status) == 0 &&
        S_ISREG(status.st_mode))
        note(lock,
             &(struct record){.op = is_new ? CREATE : TRUNCATE,
                              .mode = status.st_mode & 07777,
                              .inode = status.st_ino},
             path, "", NULL, 0);
    end(lock);
    return fd;
}

static int open_at(int folder, const char *name, int flags, mode_t mode)
{
    char path[PATH_MAX];
    if ((flags & (O_CREAT | O_TRUNC)) != 0 && absolute(folder, name, path))
        return open_ours(folder, name, path, flags, mode);
    if (boot != NULL && strcmp(name, "/proc/sys/kernel/random/boot_id") == 0)
        name = boot;
    return REAL(openat)(folder, name, flags, mode);
}

#define MODE_ARGUMENT(flags, mode)                                             \
    mode_t mode = 0;                                                           \
    if (((flags) & (O_CREAT | O_TMPFILE)) != 0) {                              \
        va_list more;                                                          \
        va_start(more, flags);                                                 \
        mode = va_arg(more, mode_t);                                           \
        va_end(more);                                                          \
    }

int open(const char *name, int flags, ...)
{
    MODE_ARGUMENT(flags, mode)
    return open_at(AT_FDCWD, name, flags, mode);
}

int open64(const char *name, int flags, ...)
{
    MODE_ARGUMENT(flags, mode)
    return open_at(AT_FDCWD, name, flags, mode);
}

int openat(int folder, const char *name, int flags, ...)
{
    MODE_ARGUMENT(flags, mode)
    return open_at(folder, name, flags, mode);
}

int openat64(int folder, const char *name, int flags, ...)
{
    MODE_ARGUMENT(flags, mode)
    return open_at(folder, name, flags, mode);
}

/* openat2() has no function of the C library: programs take another way. */
long syscall(long number, ...)
{
    long words[6];
    va_list arguments;
    va_start(arguments, number);
    for (int i = 0; i < 6; i++)
        words[i] = va_arg(arguments, long);
    va_end(arguments);
    if (number == SYS_openat2 && root != NULL) {
        errno = ENOSYS;
        return -1;
    }
    return REAL(syscall)(number, words[0], words[1], words[2], words[3],
                         words[4], words[5]);
}

int mkdirat(int folder, const char *name, mode_t mode)
{
    char path[PATH_MAX];
    if (!absolute(folder, name, path))
        return REAL(mkdirat)(folder, name, mode);
    const int lock = begin();
    const int rc = fails(FOLDER) ? -1 : REAL(mkdirat)(folder, name, mode);
    if (rc == 0)
        note(lock, &(struct record){.op = FOLDER, .mode = mode & 07777}, path,
             "", NULL, 0);
    end(lock);
    return rc;
}

int mkdir(const char *name, mode_t mode)
{
    return mkdirat(AT_FDCWD, name, mode);
}

int chmod(const char *name, mode_t mode)
{
    char path[PATH_MAX];
    struct stat status;
    if (!absolute(AT_FDCWD, name, path) || stat(name, &status) != 0 ||
        !S_ISDIR(status.st_mode))
        return REAL(chmod)(name, mode);
    const int lock = begin();
    const int rc = fails(MODE) ? -1 : REAL(chmod)(name, mode);
    if (rc == 0)
        note(lock, &(struct record){.op = MODE, .mode = mode & 07777}, path, "",
             NULL, 0);
    end(lock);
    return rc;
}

struct pair {
    int from_folder, to_folder;
    const char *from, *to;
    int flags;
};

static int two_names(enum op op, const struct pair *pair)
{
    char from[PATH_MAX], to[PATH_MAX];
    const bool ours = absolute(pair->from_folder, pair->from, from) &&
                      absolute(pair->to_folder, pair->to, to);
    const int lock = ours ? begin() : -1;
    int rc = -1;
    if (!ours || !fails(op))
        rc = op == LINK ? REAL(linkat)(pair->from_folder, pair->from,
                                       pair->to_folder, pair->to, pair->flags)
                        : REAL(renameat2)(pair->from_folder, pair->from,
                                          pair->to_folder, pair->to,
                                          (unsigned)pair->flags);
    if (rc == 0 && ours)
        note(lock, &(struct record){.op = (uint8_t)op}, from, to, NULL, 0);
    end(lock);
    return rc;
}

int renameat2(int from_folder, const char *from, int to_folder, const char *to,
              unsigned flags)
{
    return two_names(
        RENAME, &(struct pair){from_folder, to_folder, from, to, (int)flags});
}

int renameat(int from_folder, const char *from, int to_folder, const char *to)
{
    return renameat2(from_folder, from, to_folder, to, 0);
}

int rename(const char *from, const char *to)
{
    return renameat(AT_FDCWD, from, AT_FDCWD, to);
}

int linkat(int from_folder, const char *from, int to_folder, const char *to,
           int flags)
{
    return two_names(LINK,
                     &(struct pair){from_folder, to_folder, from, to, flags});
}

int link(const char *from, const char *to)
{
    return linkat(AT_FDCWD, from, AT_FDCWD, to, 0);
}

int unlinkat(int folder, const char *name, int flags)
{
    char path[PATH_MAX];
    if (!absolute(folder, name, path))
        return REAL(unlinkat)(folder, name, flags);
    const int lock = begin();
    const int rc = fails(UNLINK) ? -1 : REAL(unlinkat)(folder, name, flags);
    if (rc == 0)
        note(lock, &(struct record){.op = UNLINK}, path, "", NULL, 0);
    end(lock);
    return rc;
}

int unlink(const char *name)
{
    return unlinkat(AT_FDCWD, name, 0);
}

int rmdir(const char *name)
{
    return unlinkat(AT_FDCWD, name, AT_REMOVEDIR);
}

/* --- the programs that are started --- */

enum { MOST_VARIABLES = 1000 };

static bool is_own(const char *variable)
{
    return strncmp(variable, "HT_DISK_", 8) == 0 ||
           strncmp(variable, "LD_PRELOAD=", 11) == 0;
}

/* The environment with what this library needs; `with` has room for it. */
static char **add_own(char *const env[], char *with[MOST_VARIABLES + 1])
{
    size_t n = 0;
    for (char *const *entry = env; *entry != NULL && n < MOST_VARIABLES;
         entry++)
        if (!is_own(*entry))
            with[n++] = *entry;
    for (char **entry = environ; *entry != NULL && n < MOST_VARIABLES; entry++)
        if (is_own(*entry))
            with[n++] = *entry;
    with[n] = NULL;
    return with;
}

int execve(const char *path, char *const argv[], char *const env[])
{
    char *with[MOST_VARIABLES + 1];
    return REAL(execve)(path, argv, add_own(env, with));
}

#define SPAWN(name)                                                            \
    int name(pid_t *pid, const char *path,                                     \
             const posix_spawn_file_actions_t *actions,                        \
             const posix_spawnattr_t *attributes, char *const argv[],          \
             char *const env[])                                                \
    {                                                                          \
        char *with[MOST_VARIABLES + 1];                                        \
        return REAL(name)(pid, path, actions, attributes, argv,                \
                          add_own(env, with));                                 \
    }
SPAWN(posix_spawn)
SPAWN(posix_spawnp)
