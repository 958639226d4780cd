/* refusal.c - an engine's refusal in words for people. */

#include "runner/docker/docker.h"

#include <string.h>

#include "proto/base/text.h"
#include "runner/base/json.h"

/* Messages of Podman 4 with code 500, and of dockerd with 403, where the API
 * has a better code. "not found" alone would not do: a command that an image
 * lacks "was not found", too. The first match counts. */
static const struct {
    const char *words;
    enum ht_status status;
} meanings[] = {
    {"already in use", HT_CONFLICT},
    {"already used", HT_CONFLICT},
    {"already exists", HT_CONFLICT},
    {"is being used", HT_CONFLICT},
    {"has active endpoints", HT_CONFLICT},
    {"container state improper", HT_CONFLICT},
    {"no such container", HT_NOT_FOUND},
    {"no such image", HT_NOT_FOUND},
    {"image not known", HT_NOT_FOUND},
    /* It looks through all interfaces, and fails when one goes meanwhile. */
    {"no such network interface", HT_UNAVAILABLE},
    {"no such network", HT_NOT_FOUND},
    {"network not found", HT_NOT_FOUND},
    {"unable to find network", HT_NOT_FOUND},
};

static enum ht_status status_of_words(const char *words, enum ht_status other)
{
    for (size_t i = 0; i < sizeof meanings / sizeof *meanings; i++) {
        if (strcasestr(words, meanings[i].words) != NULL)
            return meanings[i].status;
    }
    return other;
}

static enum ht_status find_status(long code, const char *words)
{
    if (code == 404)
        return HT_NOT_FOUND;
    if (code == 409)
        return HT_CONFLICT;
    if (code == 403 || code >= 500)
        return status_of_words(words, code == 403 ? HT_INVALID : HT_INTERNAL);
    return HT_INVALID;
}

const char *docker_clean_words(struct arena *arena, const char *words)
{
    struct text out = {0};
    char *line = arena_strdup(arena, words);
    for (char *p = line; *p != '\0'; p++) {
        if (strchr("\t\r\n", *p) != NULL)
            *p = ' ';
    }
    size_t len = strlen(line);
    while (len > 0 && line[len - 1] == ' ')
        line[--len] = '\0';
    text_escape(&out, line);
    return text_take(&out, arena);
}

enum ht_status docker_refusal(struct arena *arena, long code, const char *body,
                              size_t len, struct ht_error *err)
{
    const struct node *map = json_read(arena, body, len);
    const char *words = node_get_string(map, "message", NULL);
    if (words == NULL)
        words = len > 0 ? arena_strndup(arena, body, len) : "";
    words = docker_clean_words(arena, words);
    const enum ht_status status = find_status(code, words);
    if (words[0] == '\0')
        return ht_fail(err, status, "the engine answered with code %ld", code);
    return ht_fail(err, status, "%s", words);
}
