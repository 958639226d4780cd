#include "runner/base/gpus.h"

#include <ctype.h>
#include <dirent.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/text.h"

enum { MOST_GPUS = 1024, NAME_BYTES = 64 };

static bool is_number(const char *text)
{
    const size_t len = strlen(text);
    return len > 0 && len <= 4 && strspn(text, "0123456789") == len;
}

static bool is_name(const char *text)
{
    const size_t len = strlen(text);
    for (size_t i = 0; i < len; i++) {
        if (!isalnum((unsigned char)text[i]) &&
            strchr("-/:._", text[i]) == NULL)
            return false;
    }
    return len > 0 && len < NAME_BYTES;
}

bool gpus_has(const struct strings *gpus, const char *name)
{
    for (size_t i = 0; i < gpus->n; i++) {
        if (strcmp(gpus->items[i], name) == 0)
            return true;
    }
    return false;
}

/* Reads names until the first that is none, which is where CUDA stops, too. */
static struct strings read_list(struct arena *arena, const char *text,
                                const char **rest)
{
    const char **items = arena_alloc(arena, MOST_GPUS, sizeof *items);
    struct strings gpus = {.items = items};
    *rest = text;
    while (**rest != '\0' && gpus.n < MOST_GPUS) {
        const size_t len = strcspn(*rest, ",");
        const char *name = arena_strndup(arena, *rest, len);
        if (!is_name(name) || name[0] == '-' || gpus_has(&gpus, name))
            break;
        items[gpus.n++] = name;
        *rest += len + ((*rest)[len] == ',');
    }
    return gpus;
}

static struct strings number_them(struct arena *arena, size_t n)
{
    const char **items = arena_alloc(arena, n + 1, sizeof *items);
    for (size_t i = 0; i < n; i++)
        items[i] = arena_printf(arena, "%zu", i);
    return (struct strings){.n = n, .items = items};
}

static struct strings list_devices(struct arena *arena, const char *folder)
{
    size_t n = 0;
    DIR *dir = opendir(folder);
    struct dirent *entry;
    while (dir != NULL && (entry = readdir(dir)) != NULL)
        n += strncmp(entry->d_name, "nvidia", 6) == 0 &&
             is_number(entry->d_name + 6);
    if (dir != NULL)
        closedir(dir);
    /* CUDA numbers the devices it finds, whatever their files are called. */
    return number_them(arena, n);
}

static enum ht_status take_first(struct arena *arena,
                                 const struct gpus_source *source,
                                 const struct strings *found,
                                 struct strings *gpus, struct ht_error *err)
{
    const size_t n = strtoul(source->option, NULL, 10);
    if (n > MOST_GPUS)
        return ht_fail(err, HT_INVALID, "--gpus: %zu is more than %d", n,
                       MOST_GPUS);
    if (n > found->n && source->visible != NULL)
        return ht_fail(err, HT_INVALID,
                       "--gpus %zu: CUDA_VISIBLE_DEVICES shows %zu", n,
                       found->n);
    *gpus = n <= found->n ? (struct strings){.n = n, .items = found->items}
                          : number_them(arena, n);
    return HT_OK;
}

enum ht_status gpus_find(struct arena *arena, const struct gpus_source *source,
                         struct strings *gpus, struct ht_error *err)
{
    const char *option = source->option;
    const char *rest;
    const struct strings found = source->visible != NULL
                                     ? read_list(arena, source->visible, &rest)
                                     : list_devices(arena, source->devices);
    if (option == NULL || strcmp(option, "all") == 0) {
        *gpus = found;
        return HT_OK;
    }
    if (strcmp(option, "none") == 0) {
        *gpus = (struct strings){0};
        return HT_OK;
    }
    if (is_number(option))
        return take_first(arena, source, &found, gpus, err);
    const struct strings named = read_list(arena, option, &rest);
    if (strchr(option, ',') == NULL || *rest != '\0' || named.n == 0)
        return ht_fail(err, HT_INVALID,
                       "--gpus: \"%s\" is not a number, all, none or a list "
                       "such as 0,1",
                       option);
    *gpus = named;
    return HT_OK;
}

char *gpus_text(struct arena *arena, const struct strings *gpus)
{
    struct text out = {0};
    for (size_t i = 0; i < gpus->n; i++)
        text_printf(&out, "%s%s", i > 0 ? "," : "", gpus->items[i]);
    return text_take(&out, arena);
}
