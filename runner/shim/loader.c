/* loader.c - joins hypertune-shim from its parts and becomes it.
 *
 * An object of Kubernetes has at most 1 MiB, so a pod mounts the shim in parts:
 * this program as `shim`, and beside it shim.0, shim.1 and so on. It has no
 * libc: it has to run in any image and to fit beside a part. */

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/memfd.h>
#include <stddef.h>
#include <syscall.h>

#ifndef MFD_EXEC
#define MFD_EXEC 0x0010U /* since Linux 6.3, which may want it */
#endif

enum { MOST_PATH = 4096, MOST_PARTS = 10, CHUNK = 64 * 1024, CANNOT = 126 };

/* ---- the kernel ---- */

#ifdef __x86_64__
__asm__(".globl _start\n"
        "_start:\n"
        "    xor %ebp, %ebp\n"
        "    mov %rsp, %rdi\n"
        "    and $-16, %rsp\n"
        "    call loader_main\n");

static long call(long number, long a, long b, long c, long d, long e)
{
    long result;
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8)
                     : "rcx", "r11", "memory");
    return result;
}
#else
__asm__(".globl _start\n"
        "_start:\n"
        "    mov x29, #0\n"
        "    mov x30, #0\n"
        "    mov x0, sp\n"
        "    and sp, x0, #-16\n"
        "    bl loader_main\n");

static long call(long number, long a, long b, long c, long d, long e)
{
    register long x8 __asm__("x8") = number;
    register long x0 __asm__("x0") = a;
    register long x1 __asm__("x1") = b;
    register long x2 __asm__("x2") = c;
    register long x3 __asm__("x3") = d;
    register long x4 __asm__("x4") = e;
    __asm__ volatile("svc #0"
                     : "+r"(x0)
                     : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4)
                     : "memory");
    return x0;
}
#endif

/* ---- words ---- */

static void say(const char *text)
{
    size_t n = 0;
    while (text[n] != '\0')
        n++;
    (void)call(SYS_write, 2, (long)text, (long)n, 0, 0);
}

static void say_number(long number)
{
    char digits[24];
    size_t at = sizeof digits - 1;
    digits[at] = '\0';
    do {
        digits[--at] = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    say(digits + at);
}

static void say_cause(long code)
{
    static const struct {
        long code;
        const char *words;
    } causes[] = {{ENOENT, "no such file"},
                  {EACCES, "permission denied"},
                  {EPERM, "operation not permitted"},
                  {ENOEXEC, "not a program for this processor"},
                  {ENOMEM, "no memory"},
                  {ENOSPC, "no space"},
                  {ENOSYS, "the kernel does not have this"}};
    size_t i = 0;
    while (i < sizeof causes / sizeof *causes && causes[i].code != code)
        i++;
    if (i < sizeof causes / sizeof *causes) {
        say(causes[i].words);
        return;
    }
    say("error ");
    say_number(code);
}

_Noreturn static void leave(void)
{
    say("\n");
    for (;;)
        (void)call(SYS_exit_group, CANNOT, 0, 0, 0, 0);
}

/* `result`: of a call, a negative errno. */
_Noreturn static void fail(const char *what, const char *path, long result)
{
    say("hypertune: cannot ");
    say(what);
    say(" ");
    say(path);
    say(": ");
    say_cause(-result);
    leave();
}

/* ---- its folder ---- */

static char path[MOST_PATH + sizeof "shim.0"];
static char *part_number; /* in the path */

/* From the auxiliary vector: as what this program was started. */
static const char *started_as(char **env)
{
    while (*env != NULL)
        env++;
    char **aux = env + 1; /* pairs of a number and a value */
    while ((unsigned long)aux[0] != AT_NULL &&
           (unsigned long)aux[0] != AT_EXECFN)
        aux += 2;
    return (unsigned long)aux[0] != AT_NULL ? aux[1] : "";
}

/* A container may have no /proc. */
static void find_folder(char **env)
{
    const char *const name = "shim.0";
    const char *start = started_as(env);
    long len = call(SYS_readlinkat, AT_FDCWD, (long)"/proc/self/exe",
                    (long)path, MOST_PATH, 0);
    if (len <= 0) {
        for (len = 0; len < MOST_PATH && start[len] != '\0'; len++)
            path[len] = start[len];
    }
    while (len > 0 && path[len - 1] != '/')
        len--;
    for (size_t i = 0; i < sizeof "shim.0"; i++)
        path[(size_t)len + i] = name[i];
    part_number = path + len + sizeof "shim." - 1;
}

/* ---- the program ---- */

static long make_file(void)
{
    static const char name[] = "hypertune-shim";
    long fd =
        call(SYS_memfd_create, (long)name, MFD_CLOEXEC | MFD_EXEC, 0, 0, 0);
    if (fd == -EINVAL)
        fd = call(SYS_memfd_create, (long)name, MFD_CLOEXEC, 0, 0, 0);
    if (fd < 0)
        fail("make a file in memory for", path, fd);
    return fd;
}

/* The bytes that it has appended; -ENOENT: there is no such part. */
static long append_part(long file)
{
    static char bytes[CHUNK];
    long total = 0, n;
    const long fd =
        call(SYS_openat, AT_FDCWD, (long)path, O_RDONLY | O_CLOEXEC, 0, 0);
    if (fd == -ENOENT)
        return fd;
    if (fd < 0)
        fail("open", path, fd);
    while ((n = call(SYS_read, fd, (long)bytes, CHUNK, 0, 0)) > 0) {
        for (long at = 0, done; at < n; at += done) {
            done = call(SYS_write, file, (long)(bytes + at), n - at, 0, 0);
            if (done <= 0)
                fail("copy", path, done);
        }
        total += n;
    }
    if (n < 0)
        fail("read", path, n);
    (void)call(SYS_close, fd, 0, 0, 0, 0);
    return total;
}

/* The kernel would start a part of a program, and that would crash. The table
 * of sections is its end. */
static void check_whole(long file, long total)
{
    static Elf64_Ehdr head;
    const long n = call(SYS_pread64, file, (long)&head, sizeof head, 0, 0);
    if (n != sizeof head || head.e_ident[EI_MAG1] != 'E' ||
        head.e_ident[EI_CLASS] != ELFCLASS64)
        fail("start", path, -ENOEXEC);
    const long wanted =
        (long)head.e_shoff + (long)head.e_shnum * (long)head.e_shentsize;
    if (total == wanted)
        return;
    say("hypertune: ");
    *part_number = '*';
    say(path);
    say(": ");
    say_number(total);
    say(" bytes of a program that has ");
    say_number(wanted);
    say(": a part is missing or is not whole");
    leave();
}

void loader_main(long *stack);
void loader_main(long *stack)
{
    char **argv = (char **)(void *)(stack + 1);
    char **env = argv + stack[0] + 1;
    find_folder(env);
    const long file = make_file();
    long total = 0, n = 0;
    for (int i = 0; i < MOST_PARTS && n >= 0; i++) {
        *part_number = (char)('0' + i);
        n = append_part(file);
        if (n > 0)
            total += n;
        if (n < 0 && i == 0)
            fail("open", path, n);
    }
    *part_number = '0';
    check_whole(file, total);
    fail("start", path,
         call(SYS_execveat, file, (long)"", (long)argv, (long)env,
              AT_EMPTY_PATH));
}
