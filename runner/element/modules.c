#include "runner/element/modules.h"

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* ---- what has changed ---- */

static bool is_name(const char *entry, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (!isalnum((unsigned char)entry[i]) && entry[i] != '_')
            return false; /* such as a function of bash */
    return len > 0;
}

static bool is_left_out(const char *entry)
{
    static const char *const starts[] = {
        "HYPERTUNE_", "SLURM", "PWD=", "OLDPWD=", "SHLVL=", "_="};
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        if (strncmp(entry, starts[i], strlen(starts[i])) == 0)
            return true;
    return false;
}

/* Whether the text has the entry as whole lines. */
static bool has_line(const char *text, const char *entry)
{
    const size_t len = strlen(entry);
    for (const char *at = strstr(text, entry); at != NULL;
         at = strstr(at + 1, entry))
        if ((at == text || at[-1] == '\n') &&
            (at[len] == '\n' || at[len] == '\0'))
            return true;
    return false;
}

struct pairs modules_changes(struct arena *arena, const char *before,
                             char *const environment[])
{
    struct pair *items = NULL;
    size_t n = 0;
    for (size_t i = 0; before != NULL && environment[i] != NULL; i++) {
        const char *entry = environment[i];
        const size_t len = strcspn(entry, "=");
        if (entry[len] == '\0' || !is_name(entry, len) || is_left_out(entry) ||
            has_line(before, entry))
            continue;
        items = arena_grow(arena, items, n, sizeof *items);
        items[n++] = (struct pair){.name = arena_strndup(arena, entry, len),
                                   .value = entry + len + 1};
    }
    return (struct pairs){.n = n, .items = items};
}

/* ---- search paths ---- */

static bool is_path(const char *name)
{
    const size_t len = strlen(name);
    return len >= 4 && strcmp(name + len - 4, "PATH") == 0;
}

static bool has_folder(const char *path, const char *folder, size_t len)
{
    for (;;) {
        const size_t n = strcspn(path, ":");
        if (n == len && strncmp(path, folder, len) == 0)
            return true;
        if (path[n] == '\0')
            return false;
        path += n + 1;
    }
}

/* Folders that `own` alone has, then all of `changed`. */
static const char *join(struct arena *arena, const char *own,
                        const char *changed)
{
    struct text out = {0};
    for (const char *at = own; *at != '\0';) {
        const size_t len = strcspn(at, ":");
        if (len > 0 && !has_folder(changed, at, len)) {
            text_append(&out, at, len);
            text_puts(&out, ":");
        }
        at += at[len] == '\0' ? len : len + 1;
    }
    text_puts(&out, changed);
    return text_take(&out, arena);
}

void modules_put(struct arena *arena, const struct pairs *changes,
                 struct launch *launch)
{
    const size_t own = launch->env.n;
    struct pair *items =
        arena_alloc(arena, own + changes->n + 1, sizeof *items);
    size_t n = 0;
    for (; n < own; n++)
        items[n] = launch->env.items[n];
    for (size_t i = 0; i < changes->n; i++) {
        const struct pair *change = &changes->items[i];
        size_t k = 0;
        while (k < own && strcmp(items[k].name, change->name) != 0)
            k++;
        if (k == own)
            items[n++] = *change;
        else if (is_path(change->name))
            items[k].value = join(arena, items[k].value, change->value);
    }
    launch->env = (struct pairs){.n = n, .items = items};
}
