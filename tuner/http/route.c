#include "tuner/http/route.h"

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "proto/base/utf8.h"
#include "tuner/http/gate.h"

/* One part of a path between slashes. */
struct part {
    const char *text;
    size_t len;
};

static struct part next_part(const char **at)
{
    const char *start = *at + 1; /* behind the slash */
    size_t len = strcspn(start, "/");
    *at = start + len;
    return (struct part){start, len};
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

char *route_decode(struct arena *arena, const char *text, size_t len)
{
    char *out = arena_alloc(arena, len + 1, 1);
    size_t n = 0;
    for (size_t i = 0; i < len; i++) {
        if (text[i] != '%') {
            out[n++] = text[i];
            continue;
        }
        int high = i + 2 < len ? hex_digit(text[i + 1]) : -1;
        int low = i + 2 < len ? hex_digit(text[i + 2]) : -1;
        if (high < 0 || low < 0 || high + low == 0)
            return NULL;
        out[n++] = (char)(high << 4 | low);
        i += 2;
    }
    out[n] = '\0';
    return utf8_is_valid(out, n) ? out : NULL;
}

/* A pattern's part is literal text, "{name}" or "{name}:verb". A name takes
 * everything up to the first colon, which clients must encode in names. */
static bool part_matches(struct part pattern, struct part part)
{
    if (pattern.text[0] != '{')
        return pattern.len == part.len &&
               memcmp(pattern.text, part.text, part.len) == 0;
    const char *brace = memchr(pattern.text, '}', pattern.len);
    size_t verb_len = pattern.len - (size_t)(brace + 1 - pattern.text);
    const char *colon = memchr(part.text, ':', part.len);
    size_t tail = colon ? part.len - (size_t)(colon - part.text) : 0;
    return tail == verb_len &&
           (tail == 0 || memcmp(colon, brace + 1, tail) == 0);
}

static bool path_matches(const char *pattern, const char *path)
{
    while (*pattern == '/' && *path == '/')
        if (!part_matches(next_part(&pattern), next_part(&path)))
            return false;
    return *pattern == '\0' && *path == '\0';
}

/* The names that a pattern may have in braces. */
static const struct name {
    const char *text;
    size_t offset;      /* of its place in struct request */
    const char *parent; /* a resource or a log begins with it: it has no / */
} names[] = {
    {"project", offsetof(struct request, scope.project), "project"},
    {"location", offsetof(struct request, scope.location), "location"},
    {"study", offsetof(struct request, study), NULL},
    {"trial", offsetof(struct request, trial), NULL},
    {"operation", offsetof(struct request, operation), NULL},
    {"token", offsetof(struct request, token), NULL},
    {"runner", offsetof(struct request, runner), NULL},
    {"file", offsetof(struct request, file), NULL},
    {"chunk", offsetof(struct request, chunk), NULL},
    {"tree", offsetof(struct request, tree), NULL},
};

static const struct name *name_of(struct part pattern)
{
    const size_t n = sizeof names / sizeof *names;
    size_t i = 0;
    while (i < n && (strncmp(pattern.text + 1, names[i].text,
                             strlen(names[i].text)) != 0 ||
                     pattern.text[strlen(names[i].text) + 1] != '}'))
        i++;
    assert(i < n); /* the table has an unknown name */
    return &names[i];
}

static enum ht_status fill_parts(const char *pattern, const char *path,
                                 struct request *req, struct ht_error *err)
{
    while (*pattern == '/') {
        struct part want = next_part(&pattern), got = next_part(&path);
        if (want.text[0] != '{')
            continue;
        const char *colon = memchr(got.text, ':', got.len);
        size_t len = colon ? (size_t)(colon - got.text) : got.len;
        if (len == 0)
            return ht_fail(err, HT_INVALID, "a name in the path is empty");
        const char *value = route_decode(req->arena, got.text, len);
        if (value == NULL)
            return ht_fail(err, HT_INVALID,
                           "\"%.*s\" in the path is not percent-encoded UTF-8",
                           (int)(len < 100 ? len : 100), got.text);
        const struct name *name = name_of(want);
        if (name->parent != NULL && strchr(value, '/') != NULL)
            return ht_fail(err, HT_INVALID,
                           "\"%.100s\" in the path: the name of a %s has no /",
                           value, name->parent);
        memcpy((char *)req + name->offset, &value, sizeof value);
    }
    return HT_OK;
}

/* "GET, POST": the methods of this path. */
static const char *allowed_methods(const char *path, struct arena *arena)
{
    const char *allow = "";
    for (size_t i = 0; i < route_count; i++) {
        const struct route *route = &route_table[i];
        if (!path_matches(route->pattern, path))
            continue;
        const char *head = strcmp(route->method, "GET") == 0 ? ", HEAD" : "";
        allow = arena_printf(arena, "%s%s%s%s", allow,
                             allow[0] != '\0' ? ", " : "", route->method, head);
    }
    return allow;
}

/* Google's Python clients ask for operations below /ui; /ml distinguishes AI
 * Platform's clients for a proxy. */
static const char *without_alias(struct arena *arena, const char *path)
{
    static const struct {
        const char *prefix, *means;
    } aliases[] = {{"/v1beta1/", "/v1/"},
                   {"/ui/projects/", "/v1/projects/"},
                   {"/ml/v1/", "/v1/"}};
    for (size_t i = 0; i < sizeof aliases / sizeof *aliases; i++) {
        const size_t len = strlen(aliases[i].prefix);
        if (strncmp(path, aliases[i].prefix, len) == 0)
            return arena_printf(arena, "%s%s", aliases[i].means, path + len);
    }
    return path;
}

/* "models" of "/v1/projects/P/models/M" and of "/v1/projects/P/locations/L/
 * models:list"; empty where a path has none. */
static struct part collection_of(const char *path)
{
    static const char root[] = "/v1/projects", below[] = "locations";
    const struct part none = {path, 0};
    if (strncmp(path, root, sizeof root - 1) != 0)
        return none;
    const char *at = path + sizeof root - 1;
    struct part part = none;
    for (int depth = 0; *at == '/' && depth < 2; depth++) {
        next_part(&at); /* a project, a location */
        part = *at == '/' ? next_part(&at) : none;
        if (part.len != sizeof below - 1 ||
            memcmp(part.text, below, part.len) != 0)
            break;
    }
    const char *colon = memchr(part.text, ':', part.len);
    return colon ? (struct part){part.text, (size_t)(colon - part.text)} : part;
}

static bool is_served(struct part collection)
{
    for (size_t i = 0; i < route_count; i++) {
        struct part known = collection_of(route_table[i].pattern);
        if (known.len == collection.len &&
            memcmp(known.text, collection.text, known.len) == 0)
            return true;
    }
    return false;
}

/* Google has many more routes; its clients show this message. */
static enum ht_status refuse_path(const char *path, struct ht_error *err)
{
    struct part collection = collection_of(path);
    if (collection.len == 0 || is_served(collection))
        return ht_fail(err, HT_NOT_FOUND, "there is nothing at \"%.160s\"",
                       path);
    return ht_fail(err, HT_NOT_FOUND,
                   "hypertune serves training jobs, tuning jobs and studies, "
                   "not Google's \"%.*s\"",
                   (int)(collection.len < 64 ? collection.len : 64),
                   collection.text);
}

static enum audit_kind audit_kind(const struct route *route)
{
    if (route->core == NULL || (route->needs & GATE_READ) != 0 ||
        strcmp(route->method, "GET") == 0)
        return AUDIT_NOT;
    return route->routine ? AUDIT_ROUTINE : AUDIT_EACH;
}

enum ht_status route_find(const char *method, const char *path,
                          struct request *req, const struct route **route,
                          const char **allow, struct ht_error *err)
{
    if (strncmp(path, "/v1beta1/", strlen("/v1beta1/")) == 0)
        req->version = "v1beta1";
    path = without_alias(req->arena, path);
    if (strcmp(method, "HEAD") == 0)
        method = "GET";
    for (size_t i = 0; i < route_count; i++) {
        const struct route *known = &route_table[i];
        if (strcmp(known->method, method) != 0 ||
            !path_matches(known->pattern, path))
            continue;
        enum ht_status status = fill_parts(known->pattern, path, req, err);
        req->scope.kinds = known->kinds;
        req->method = known->method;
        req->pattern = known->pattern;
        req->audit = audit_kind(known);
        if (status == HT_OK)
            *route = known;
        return status;
    }
    const char *others = allowed_methods(path, req->arena);
    if (others[0] == '\0')
        return refuse_path(path, err);
    *allow = others;
    return ht_fail(err, HT_NO_METHOD, "%.32s is not possible here, but %s",
                   method, others);
}
