#include "runner/base/tree_use.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "proto/base/memory.h"

enum {
    MOST_PROCESSES = 100000, /* read in one go */
    SECOND_US = 1000000
};

struct seen { /* one process */
    pid_t pid, parent;
    long long ticks, pages;
    bool below; /* the root */
};

struct all_seen {
    size_t n, room;
    struct seen *items;
};

/* The kernel's files have no size. */
static bool read_text(const char *path, char *text, size_t size)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    const ssize_t n = fd >= 0 ? read(fd, text, size - 1) : -1;
    if (fd >= 0)
        close(fd);
    text[n > 0 ? n : 0] = '\0';
    return n > 0;
}

/* Fields 4 (parent), 14 to 17 (times) and 24 (pages) of its stat. */
static bool read_process(const char *proc, const char *name, struct seen *seen)
{
    char path[PATH_MAX];
    char line[1024];
    (void)snprintf(path, sizeof path, "%s/%s/stat", proc, name);
    if (!read_text(path, line, sizeof line))
        return false;
    /* The name in field 2 may hold blanks and parentheses: start behind it. */
    char *at = strrchr(line, ')');
    if (at == NULL || strlen(at) < 4)
        return false;
    *seen = (struct seen){.pid = (pid_t)strtol(name, NULL, 10)};
    at += 3;
    for (int field = 4; field <= 24; field++) {
        const long long value = strtoll(at, &at, 10);
        if (field == 4)
            seen->parent = (pid_t)value;
        else if (field >= 14 && field <= 17)
            seen->ticks += value;
        else if (field == 24)
            seen->pages = value;
    }
    return true;
}

static bool read_all(const char *proc, struct all_seen *all)
{
    DIR *dir = opendir(proc);
    struct dirent *entry;
    *all = (struct all_seen){.n = 0};
    while (dir != NULL && (entry = readdir(dir)) != NULL &&
           all->n < MOST_PROCESSES) {
        if (!isdigit((unsigned char)entry->d_name[0]))
            continue;
        if (all->n == all->room) {
            all->room = all->room * 2 + 64;
            all->items = ht_xrealloc(all->items, all->room, sizeof *all->items);
        }
        all->n += read_process(proc, entry->d_name, &all->items[all->n]);
    }
    if (dir != NULL)
        closedir(dir);
    return dir != NULL;
}

static int compare(const void *a, const void *b)
{
    const pid_t left = ((const struct seen *)a)->pid;
    const pid_t right = ((const struct seen *)b)->pid;
    return (left > right) - (left < right);
}

static bool is_below(const struct all_seen *all, pid_t root,
                     const struct seen *seen)
{
    const struct seen key = {.pid = seen->parent};
    if (seen->parent == root)
        return true;
    const struct seen *parent =
        bsearch(&key, all->items, all->n, sizeof key, compare);
    return parent != NULL && parent->below;
}

/* A child's number may be lower than its parent's, so until nothing changes. */
static void mark_below(struct all_seen *all, pid_t root)
{
    bool found = all->n > 0;
    if (found)
        qsort(all->items, all->n, sizeof *all->items, compare);
    while (found) {
        found = false;
        for (size_t i = 0; i < all->n; i++) {
            struct seen *seen = &all->items[i];
            if (seen->below || !is_below(all, root, seen))
                continue;
            seen->below = true;
            found = true;
        }
    }
}

static int64_t memory_of(const char *proc, const struct seen *seen)
{
    char path[PATH_MAX];
    char text[2048];
    (void)snprintf(path, sizeof path, "%s/%d/smaps_rollup", proc,
                   (int)seen->pid);
    const char *pss =
        read_text(path, text, sizeof text) ? strstr(text, "\nPss:") : NULL;
    if (pss != NULL)
        return strtoll(pss + strlen("\nPss:"), NULL, 10) * 1024;
    return seen->pages * sysconf(_SC_PAGESIZE);
}

bool tree_use_read(const char *proc, pid_t root, struct tree_use *use)
{
    struct all_seen all;
    if (!read_all(proc, &all))
        return false;
    mark_below(&all, root);
    const long ticks = sysconf(_SC_CLK_TCK);
    *use = (struct tree_use){0};
    for (size_t i = 0; i < all.n; i++) {
        if (!all.items[i].below)
            continue;
        use->cpu_us += all.items[i].ticks * (SECOND_US / ticks);
        use->memory += memory_of(proc, &all.items[i]);
    }
    free(all.items);
    return true;
}

/* The number behind the word at the beginning of a line; -1: there is none. */
static int64_t number_of(const char *group, const char *file, const char *word)
{
    char path[PATH_MAX];
    char text[8192] = "\n";
    (void)snprintf(path, sizeof path, "%s/%s", group, file);
    if (!read_text(path, text + 1, sizeof text - 1))
        return -1;
    const char *at = strstr(text, word);
    return at != NULL ? strtoll(at + strlen(word), NULL, 10) : -1;
}

bool tree_use_read_group(const char *group, struct tree_use *use)
{
    const int64_t cpu = number_of(group, "cpu.stat", "\nusage_usec ");
    const int64_t memory = number_of(group, "memory.current", "\n");
    const int64_t cache = number_of(group, "memory.stat", "\ninactive_file ");
    if (cpu < 0 || memory < 0 || cache < 0)
        return false;
    *use = (struct tree_use){.cpu_us = cpu,
                             .memory = memory > cache ? memory - cache : 0};
    return true;
}
