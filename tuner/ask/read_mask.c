#include "tuner/ask/read_mask.h"

#include "proto/base/text.h"

#include <stdbool.h>
#include <string.h>

enum { MOST_PATHS = 64 };

/* --- reading --- */

/* A path on its way through the schema. */
struct walk {
    const char *at, *end; /* the rest of the text */
    char *to;             /* receives it in camelCase */
    const struct message *type;
};

static void write_word(struct walk *walk, const char *word, size_t len)
{
    memcpy(walk->to, word, len);
    walk->to += len;
}

static bool is_star(const struct walk *walk)
{
    return walk->at < walk->end && *walk->at == '*' &&
           (walk->at + 1 == walk->end || walk->at[1] == '.');
}

/* The part behind a map or an open member is not checked. */
static bool take_rest(struct walk *walk)
{
    if (walk->at == walk->end)
        return false;
    write_word(walk, ".", 1);
    write_word(walk, walk->at, (size_t)(walk->end - walk->at));
    walk->at = walk->end;
    return true;
}

/* Behind the dot of a member. A star is all items of a list, or all keys of a
 * map, and so the same as the member itself. */
static bool enter(struct walk *walk, const struct member *member)
{
    const bool is_many =
        member->shape == MEMBER_LIST || member->shape == MEMBER_MAP;
    const bool has_star = is_many && is_star(walk);
    walk->at += has_star;
    if (has_star && walk->at == walk->end)
        return true;
    if (!has_star &&
        (member->shape == MEMBER_MAP || member->shape == MEMBER_OPEN))
        return take_rest(walk);
    walk->at += has_star; /* and its dot */
    walk->type = member->type;
    write_word(walk, ".", 1);
    return walk->type != NULL;
}

static bool take_member(struct walk *walk)
{
    const char *dot = memchr(walk->at, '.', (size_t)(walk->end - walk->at));
    const char *end = dot != NULL ? dot : walk->end;
    struct member member;
    if (!resource_members_find(walk->type, walk->at, (size_t)(end - walk->at),
                               &member))
        return false;
    write_word(walk, member.name, member.name_bytes);
    walk->at = end;
    if (dot == NULL)
        return true;
    walk->at++;
    return enter(walk, &member);
}

/* The path in camelCase and without stars; NULL when the resource has none. */
static const char *read_path(struct arena *arena, const char *path, size_t len,
                             const struct message *type)
{
    char *name = arena_alloc(arena, len + 1, 1);
    struct walk walk = {path, path + len, name, type};
    do {
        if (!take_member(&walk))
            return NULL;
    } while (walk.at < walk.end);
    return walk.to[-1] == '.' ? NULL : name;
}

enum ht_status read_mask_read(struct arena *arena, const char *text,
                              const struct message *type, struct strings *mask,
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
        paths[n] = read_path(arena, at, len, type);
        if (paths[n++] == NULL)
            return ht_fail(err, HT_INVALID,
                           "readMask: there is no field \"%.*s\"",
                           (int)(len < 128 ? len : 128), at);
        at += len;
        if (*at == '\0')
            break;
    }
    *mask = (struct strings){.n = n, .items = paths};
    return HT_OK;
}

/* --- applying --- */

/* The rests of the paths through `member`. *whole: one of them ends there. */
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
