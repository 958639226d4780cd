#include "tuner/read_mask.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

enum { MOST_PATHS = 64 };

/* display_name -> displayName; labels keep their names, as people made them. */
static char *camel_case(struct arena *arena, const char *text, size_t len)
{
    char *name = arena_strndup(arena, text, len);
    if (strncmp(name, "labels.", 7) == 0)
        return name;
    char *to = name;
    for (const char *from = name; *from != '\0'; from++) {
        const bool joins = *from == '_' && isalpha((unsigned char)from[1]);
        if (joins)
            *to++ = (char)toupper((unsigned char)*++from);
        else
            *to++ = *from;
    }
    *to = '\0';
    return name;
}

static bool is_path(const char *text, size_t len)
{
    static const char bytes[] = "abcdefghijklmnopqrstuvwxyz"
                                "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";
    return len > 0 && strspn(text, bytes) >= len && *text != '.' &&
           text[len - 1] != '.';
}

/* Whether the path begins with a member, and goes on only where that can. */
static bool is_known(const char *const members[], const char *path)
{
    const size_t len = strcspn(path, ".");
    for (; *members != NULL; members++)
        if (strncmp(*members, path, len) == 0 &&
            (strcmp(*members + len, ".") == 0 ||
             ((*members)[len] == '\0' && path[len] == '\0')))
            return true;
    return false;
}

enum ht_status read_mask_read(struct arena *arena, const char *text,
                              const char *const members[], struct strings *mask,
                              struct ht_error *err)
{
    *mask = (struct strings){0};
    if (text == NULL || *text == '\0' || strcmp(text, "*") == 0)
        return HT_OK;
    const char **paths = arena_alloc(arena, MOST_PATHS, sizeof *paths);
    size_t n = 0;
    for (const char *at = text;; at++) {
        const size_t len = strcspn(at, ",");
        if (n == MOST_PATHS)
            return ht_fail(err, HT_INVALID, "readMask: more than %d fields",
                           MOST_PATHS);
        if (!is_path(at, len))
            return ht_fail(err, HT_INVALID, "readMask: \"%.64s\" is no field",
                           at);
        paths[n] = camel_case(arena, at, len);
        if (!is_known(members, paths[n++]))
            return ht_fail(err, HT_INVALID, "readMask: there is no field %.64s",
                           paths[n - 1]);
        at += len;
        if (*at == '\0')
            break;
    }
    *mask = (struct strings){.n = n, .items = paths};
    return HT_OK;
}

/* The paths that go on behind `member`. *whole: one of them ends there. */
static struct strings behind(const struct strings *mask, const char *member,
                             const char *rest[MOST_PATHS], bool *whole)
{
    const size_t len = strlen(member);
    size_t n = 0;
    *whole = false;
    for (size_t i = 0; i < mask->n; i++) {
        const char *path = mask->items[i];
        if (strncmp(path, member, len) != 0)
            continue;
        *whole = *whole || path[len] == '\0';
        if (path[len] == '.')
            rest[n++] = path + len + 1;
    }
    return (struct strings){.n = n, .items = rest};
}

static void prune(const struct strings *mask, cJSON *item);

static void prune_members(const struct strings *mask, cJSON *map)
{
    cJSON *next;
    for (cJSON *member = map->child; member != NULL; member = next) {
        const char *rest[MOST_PATHS];
        bool whole;
        next = member->next;
        const struct strings inner = behind(mask, member->string, rest, &whole);
        if (whole)
            continue;
        if (inner.n > 0)
            prune(&inner, member);
        else
            cJSON_Delete(cJSON_DetachItemViaPointer(map, member));
    }
}

static void prune(const struct strings *mask, cJSON *item)
{
    if (cJSON_IsObject(item))
        prune_members(mask, item);
    for (cJSON *child = cJSON_IsArray(item) ? item->child : NULL; child != NULL;
         child = child->next)
        prune(mask, child);
}

void read_mask_apply(const struct strings *mask, cJSON *resource)
{
    if (mask->n > 0)
        prune(mask, resource);
}
