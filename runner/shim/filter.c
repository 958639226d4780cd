#include "runner/shim/filter.h"

/* The sanitizers start processes of their own. */
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) &&         \
    (defined(__x86_64__) || defined(__aarch64__))

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <syscall.h>

#ifdef __x86_64__
#define OUR_ARCH AUDIT_ARCH_X86_64
enum { OTHER_CALLS = 0x40000000 }; /* x32 */
#else
#define OUR_ARCH AUDIT_ARCH_AARCH64
enum { OTHER_CALLS = 0x7fffffff };
#endif

static const unsigned given_up[] = {
#ifdef __x86_64__
    SYS_fork,
    SYS_vfork,
#endif
    SYS_clone,
    SYS_clone3,
    SYS_execve,
    SYS_execveat,
    SYS_socket,
    SYS_socketpair,
    SYS_connect,
    SYS_bind,
    SYS_listen,
    SYS_accept,
    SYS_accept4,
    SYS_ptrace,
    SYS_mount,
    SYS_umount2,
    SYS_open_tree,
    SYS_move_mount,
    SYS_fsopen,
    SYS_pivot_root,
    SYS_chroot,
    SYS_unshare,
    SYS_setns,
    SYS_setuid,
    SYS_setgid,
    SYS_setresuid,
    SYS_setresgid,
    SYS_setgroups,
    SYS_capset,
    SYS_mknodat,
    SYS_init_module,
    SYS_finit_module,
    SYS_bpf,
    SYS_keyctl,
    SYS_add_key,
    SYS_io_uring_setup,
    SYS_perf_event_open,
    SYS_userfaultfd,
    SYS_process_vm_readv,
    SYS_process_vm_writev,
    SYS_open_by_handle_at,
    SYS_kexec_load,
    SYS_reboot,
    SYS_swapon,
};
enum {
    CALLS = sizeof given_up / sizeof *given_up,
    BEFORE = 4,
    ALLOWED = BEFORE + CALLS, /* places of the two results */
    DENIED
};

#define DENY (SECCOMP_RET_ERRNO | EPERM)
#define FIELD(name)                                                            \
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, name))

void filter_install(void)
{
    struct sock_filter program[DENIED + 1] = {
        FIELD(arch),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, OUR_ARCH, 0, DENIED - 2),
        FIELD(nr),
        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, OTHER_CALLS, DENIED - 4, 0),
    };
    for (unsigned i = 0; i < CALLS; i++)
        program[BEFORE + i] = (struct sock_filter)BPF_JUMP(
            BPF_JMP | BPF_JEQ | BPF_K, given_up[i],
            (unsigned char)(DENIED - (BEFORE + i) - 1), 0);
    program[ALLOWED] =
        (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    program[DENIED] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, DENY);
    const struct sock_fprog filter = {.len = DENIED + 1, .filter = program};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0)
        (void)prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter);
}

#else

void filter_install(void)
{
}

#endif
