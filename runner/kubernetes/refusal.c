#include "runner/kubernetes/refusal.h"

#include <string.h>

#include "proto/base/text.h"
#include "runner/docker/docker.h"

/* Of one cause: the server puts the whole value in the middle. */
enum { WORDS_WHOLE = 120, WORDS_FIRST = 40, WORDS_LAST = 70 };

static enum ht_status status_of(int code, const char *reason,
                                const char *message)
{
    switch (code) {
    case 400:
    case 422:
        return HT_INVALID;
    case 401:
        return HT_UNAUTHENTICATED;
    case 403:
        return strstr(message, "exceeded quota") != NULL ? HT_EXHAUSTED
                                                         : HT_DENIED;
    case 404:
        return HT_NOT_FOUND;
    case 405:
    case 415:
        return HT_NO_METHOD;
    case 409:
        return strcmp(reason, "AlreadyExists") == 0 ? HT_EXISTS : HT_CONFLICT;
    case 410:
        return HT_RANGE;
    case 413:
        return HT_TOO_LARGE;
    case 429:
        return HT_LIMIT;
    case 500:
        return strcmp(reason, "ServerTimeout") == 0 ? HT_TIMEOUT : HT_INTERNAL;
    case 502:
    case 503:
        return HT_UNAVAILABLE;
    case 504:
        return HT_TIMEOUT;
    default:
        return code >= 500 ? HT_INTERNAL : HT_PRECONDITION;
    }
}

/* The beginning says what is wrong with it, the end what was expected. */
static const char *shorten(struct arena *arena, const char *words)
{
    const size_t len = strlen(words);
    return len <= WORDS_WHOLE ? words
                              : arena_printf(arena, "%.*s ... %s", WORDS_FIRST,
                                             words, words + len - WORDS_LAST);
}

/* Field by field; NULL: the Status has no causes. */
static const char *list_causes(struct arena *arena, const struct node *status)
{
    struct text out = {0};
    NODE_EACH (cause, node_first(node_find(status, "details"), "causes")) {
        const char *field = node_get_string(cause, "field", "");
        text_printf(&out, "%s%s%s%s", out.len > 0 ? "; " : "", field,
                    field[0] != '\0' ? ": " : "",
                    shorten(arena, node_get_string(cause, "message", "")));
    }
    return out.len > 0 ? text_take(&out, arena) : NULL;
}

enum ht_status kube_refuse(struct arena *arena, int code,
                           const struct node *status, struct ht_error *err)
{
    const char *reason = node_get_string(status, "reason", "");
    const char *message = node_get_string(status, "message", "");
    const enum ht_status result = status_of(code, reason, message);
    const char *causes = code == 422 ? list_causes(arena, status) : NULL;
    const char *words =
        docker_clean_words(arena, causes != NULL ? causes : message);
    return words[0] != '\0'
               ? ht_fail(err, result, "%s", words)
               : ht_fail(err, result, "the API server answered %d%s%s", code,
                         reason[0] != '\0' ? " " : "", reason);
}
