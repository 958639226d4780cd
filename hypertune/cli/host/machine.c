/* machine.c - the checks of `doctor` that need no server: programs, folders,
 * limits, engines, GPUs. */

#include "hypertune/cli/host/findings.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/timex.h>
#include <unistd.h>

#include "hypertune/cli/frame/output.h"
#include "hypertune/cli/frame/spawn.h"
#include "proto/base/clock.h"
#include "proto/base/program.h"

enum { LINE_BYTES = 512, SHORT_MEMORY = 1 << 30, FEW_INODES = 10000 };

static const int64_t full_disk = 64 << 20; /* not even a log fits */
static const int64_t short_disk = 1 << 30;

static bool has_program(const struct findings *findings, const char *name)
{
    const struct cli_program_query query = {
        .name = name,
        .workdir = "/",
        .path = cli_variable(findings->cli, "PATH")};
    const char *program;
    return cli_program_find(findings->cli->arena, &query, &program, NULL) ==
           HT_OK;
}

/* The first line that `NAME FLAG` prints, NULL when it does not run. */
static const char *first_line(const struct findings *findings, const char *name,
                              const char *flag)
{
    const char *const argv[] = {name, flag, NULL};
    const char *output;
    if (!has_program(findings, name) ||
        cli_spawn_ask(findings->cli->arena, argv, CLI_SPAWN_MS, &output) != 0)
        return NULL;
    return arena_strndup(findings->cli->arena, output, strcspn(output, "\n"));
}

/* ---- our programs ---- */

static void check_programs(struct findings *findings)
{
    static const char *const names[] = {"hypertuned", "hypertune-runner",
                                        "hypertune-shim"};
    bool whole = true;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *path = program_find(findings->cli->arena, names[i]);
        if (path[0] == '/' || has_program(findings, names[i]))
            continue;
        whole = false;
        findings_add(findings, FINDING_FAIL, "programs",
                     "install them beside hypertune (make install)",
                     "%s is neither beside hypertune nor in PATH", names[i]);
    }
    if (whole)
        findings_add(findings, FINDING_OK, "programs", NULL,
                     "hypertune " HT_VERSION " and the programs it needs");
}

/* ---- cores and memory ---- */

/* What follows `mark` in the first line of a file that has it; NULL: none has.
 */
static const char *find_line(const char *path, const char *mark,
                             char line[LINE_BYTES])
{
    const char *found = NULL;
    FILE *file = fopen(path, "re");
    while (file != NULL && found == NULL &&
           fgets(line, LINE_BYTES, file) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        found = strstr(line, mark);
    }
    if (file != NULL)
        fclose(file);
    return found != NULL ? found + strlen(mark) : NULL;
}

/* A number in a file of the control groups; -1: no limit is written there. */
static double read_limit(const char *path, double *second)
{
    char line[LINE_BYTES], *end;
    const char *text = find_line(path, "", line);
    const double first = text != NULL ? strtod(text, &end) : -1;
    if (text == NULL || end == text)
        return -1;
    if (second != NULL)
        *second = strtod(end, NULL);
    return first;
}

/* The lowest limit of this process's control group and those around it; 0:
 * none. `mark` is before its name in /proc/self/cgroup: "0::/a/b" in version 2,
 * "4:memory:/a/b" in version 1. `divide`: the file has a quota and its period.
 */
static double lowest_limit(const char *mark, const char *mount,
                           const char *name, bool divide)
{
    char group[PATH_MAX], line[LINE_BYTES];
    char path[PATH_MAX + NAME_MAX];
    double lowest = 0;
    const char *below = find_line("/proc/self/cgroup", mark, line);
    if (below == NULL)
        return 0;
    snprintf(group, sizeof group, "/sys/fs/cgroup%s%s", mount, below);
    for (;;) {
        double period = 1;
        snprintf(path, sizeof path, "%s/%s", group, name);
        double limit = read_limit(path, divide ? &period : NULL);
        if (limit > 0 && period > 0 && (lowest == 0 || limit / period < lowest))
            lowest = limit / period;
        char *slash = strrchr(group, '/');
        if (strcmp(group, "/sys/fs/cgroup") == 0 || slash == NULL)
            return lowest;
        *slash = '\0';
    }
}

static void check_cores(struct findings *findings)
{
    cpu_set_t set;
    int cores = sched_getaffinity(0, sizeof set, &set) == 0
                    ? CPU_COUNT(&set)
                    : (int)sysconf(_SC_NPROCESSORS_ONLN);
    double limit = lowest_limit("0::", "", "cpu.max", true);
    if (limit > 0 && limit < cores)
        findings_add(findings, FINDING_WARN, "cores",
                     "raise the limit, or say --slots to hypertune serve",
                     "%d, but the control group allows the work of %.2g", cores,
                     limit);
    else
        findings_add(findings, FINDING_OK, "cores", NULL, "%d", cores);
}

/* -1: unknown. */
static int64_t available_memory(void)
{
    char line[LINE_BYTES];
    const char *kib = find_line("/proc/meminfo", "MemAvailable:", line);
    return kib != NULL ? strtoll(kib, NULL, 10) * 1024 : -1;
}

static void check_memory(struct findings *findings)
{
    struct arena *arena = findings->cli->arena;
    int64_t all = (int64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGE_SIZE);
    int64_t free_now = available_memory();
    double limit = lowest_limit("0::", "", "memory.max", false);
    if (limit <= 0)
        limit =
            lowest_limit(":memory:", "/memory", "memory.limit_in_bytes", false);
    /* Without a limit version 1 writes a number beyond all memory. */
    bool limited = limit > 0 && limit < (double)all;
    if (limited)
        all = (int64_t)limit;
    const char *size = cli_output_size(arena, all);
    if (all < SHORT_MEMORY || (free_now >= 0 && free_now < SHORT_MEMORY))
        findings_add(findings, FINDING_WARN, "memory",
                     "end other programs, or run fewer trials at a time "
                     "(parallel: 1)",
                     "%s%s, %s available", size,
                     limited ? " (limit of the control group)" : "",
                     cli_output_size(arena, free_now));
    else
        findings_add(findings, FINDING_OK, "memory", NULL, "%s%s", size,
                     limited ? " (limit of the control group)" : "");
}

/* ---- disk ---- */

/* The folder, or the nearest one above it that exists. */
static const char *existing(struct arena *arena, const char *folder)
{
    char *path = arena_strdup(arena, folder);
    struct stat info;
    while (stat(path, &info) != 0) {
        char *slash = strrchr(path, '/');
        if (slash == NULL)
            return ".";
        slash[slash == path] = '\0';
    }
    return path;
}

static void check_disk(struct findings *findings, const char *folder)
{
    struct arena *arena = findings->cli->arena;
    struct statvfs disk;
    if (folder == NULL) {
        findings_add(findings, FINDING_FAIL, "data",
                     "set HOME, or say --data DIR or HYPERTUNE_STATE",
                     "no folder for a server's data");
        return;
    }
    const char *there = existing(arena, folder);
    if (statvfs(there, &disk) != 0 || access(there, W_OK | X_OK) != 0) {
        findings_add(findings, FINDING_FAIL, "data",
                     "say --data DIR or HYPERTUNE_STATE, or let yourself "
                     "write there",
                     "cannot write in %s: %s", there, strerror(errno));
        return;
    }
    int64_t left = (int64_t)(disk.f_bavail * disk.f_frsize);
    const char *size = cli_output_size(arena, left);
    if (left < full_disk)
        findings_add(findings, FINDING_FAIL, "data",
                     "make room, or say --data DIR on another disk",
                     "%s: only %s left on its disk", folder, size);
    else if (left < short_disk ||
             (disk.f_files > 0 && disk.f_favail < FEW_INODES))
        findings_add(findings, FINDING_WARN, "data",
                     "make room, or say --data DIR on another disk",
                     "%s: %s and %llu files left on its disk", folder, size,
                     (unsigned long long)disk.f_favail);
    else
        findings_add(findings, FINDING_OK, "data", NULL, "%s: %s free", folder,
                     size);
}

/* ---- GPUs ---- */

static int count_devices(void)
{
    int n = 0;
    struct dirent *entry;
    DIR *devices = opendir("/dev");
    while (devices != NULL && (entry = readdir(devices)) != NULL) {
        const char *name = entry->d_name;
        n += strncmp(name, "nvidia", 6) == 0 &&
             isdigit((unsigned char)name[6]) != 0;
    }
    if (devices != NULL)
        closedir(devices);
    return n;
}

static void check_gpus(struct findings *findings)
{
    static const char *const argv[] = {"nvidia-smi", "-L", NULL};
    struct arena *arena = findings->cli->arena;
    int n = count_devices();
    const char *output = "";
    if (!has_program(findings, "nvidia-smi")) {
        findings_add(findings, n > 0 ? FINDING_WARN : FINDING_NOTE, "gpus",
                     n > 0 ? "install the driver's tools (nvidia-smi)" : NULL,
                     n > 0 ? "%d, but no driver tools" : "none", n);
        return;
    }
    int code = cli_spawn_ask(arena, argv, CLI_SPAWN_MS, &output);
    if (code != 0) {
        const char *line = arena_strndup(arena, output, strcspn(output, "\n"));
        findings_add(findings, FINDING_WARN, "gpus",
                     "repair the NVIDIA driver until nvidia-smi lists them",
                     "nvidia-smi fails (%d): %s", code, line);
        return;
    }
    char *rest = NULL;
    for (char *line = strtok_r(arena_strdup(arena, output), "\n", &rest);
         line != NULL; line = strtok_r(NULL, "\n", &rest))
        findings_add(findings, FINDING_OK, "gpus", NULL, "%s", line);
}

/* ---- trials ---- */

static void check_sandbox(struct findings *findings)
{
    struct arena *arena = findings->cli->arena;
    const char *const argv[] = {program_find(arena, "hypertune-shim"),
                                "--sandbox", NULL};
    const char *output = "";
    if (cli_spawn_ask(arena, argv, CLI_SPAWN_MS, &output) != 0)
        return; /* check_programs() says so */
    const char *name = arena_strndup(arena, output, strcspn(output, "\n"));
    if (strcmp(name, "none") == 0)
        findings_add(findings, FINDING_WARN, "sandbox",
                     "allow user namespaces (sysctl "
                     "kernel.unprivileged_userns_clone=1), or take a kernel "
                     "with Landlock",
                     "none: trials can read the server's data and signal its "
                     "programs");
    else if (geteuid() == 0)
        findings_add(findings, FINDING_NOTE, "sandbox", NULL,
                     "%s; trials of root can change this machine: give them "
                     "users of their own (HYPERTUNE_RUNNER_RUN_AS=auto)",
                     name);
    else
        findings_add(findings, FINDING_OK, "sandbox", NULL, "%s", name);
}

/* ---- clock and interpreters ---- */

static void check_clock(struct findings *findings)
{
    struct timex state = {.modes = 0};
    struct stat self;
    char stamp[CLOCK_STAMP_BYTES];
    int64_t now = clock_wall_ms();
    clock_stamp(stamp, now);
    if (stat("/proc/self/exe", &self) == 0 && now / 1000 < self.st_mtime)
        findings_add(findings, FINDING_WARN, "clock",
                     "set it: timedatectl set-ntp true",
                     "%s is before hypertune was built", stamp);
    else if (adjtimex(&state) == TIME_ERROR)
        findings_add(findings, FINDING_NOTE, "clock", NULL,
                     "%s, not synchronised: other machines' times may differ",
                     stamp);
    else
        findings_add(findings, FINDING_OK, "clock", NULL, "%s, synchronised",
                     stamp);
}

static void check_languages(struct findings *findings)
{
    const char *python = first_line(findings, "python3", "--version");
    const char *other = first_line(findings, "python", "--version");
    const char *git = first_line(findings, "git", "--version");
    if (python == NULL && other == NULL)
        findings_add(findings, FINDING_NOTE, "python", NULL,
                     "none in PATH; trainers in other languages report with "
                     "\"hypertune report\" or libhypertune");
    else if (python == NULL || other == NULL || strcmp(python, other) == 0)
        findings_add(findings, FINDING_OK, "python", NULL, "%s",
                     python != NULL ? python : other);
    else
        findings_add(findings, FINDING_OK, "python", NULL,
                     "%s (python3), %s (python)", python, other);
    if (git != NULL)
        findings_add(findings, FINDING_OK, "git", NULL, "%s", git);
    else
        findings_add(findings, FINDING_WARN, "git", "install git",
                     "not in PATH: trials do not record the commit they ran");
}

static void check_kubernetes(struct findings *findings)
{
    if (has_program(findings, "kubectl"))
        findings_add(findings, FINDING_NOTE, "kubernetes", NULL,
                     "kubectl is here; a trial may call it");
}

void machine_examine(struct findings *findings, const char *folder)
{
    check_programs(findings);
    check_cores(findings);
    check_memory(findings);
    check_disk(findings, folder);
    check_gpus(findings);
    check_sandbox(findings);
    check_clock(findings);
    check_languages(findings);
    check_kubernetes(findings);
}
