#include "runner/base/message.h"

#include <string.h>

#include "proto/doc/diag.h"
#include "proto/doc/json.h"

enum { RETRY_DEFAULT_MS = 1000 };

void message_open(struct text *out, const struct sender *sender,
                  const char *type, int64_t id)
{
    text_puts(out, "{\"v\":1");
    message_string(out, "type", type);
    message_string(out, "token", sender->token);
    message_string(out, "runner", sender->runner);
    message_string(out, "boot", sender->boot);
    message_int(out, "id", id);
}

static void open_member(struct text *out, const char *key)
{
    text_puts(out, ",");
    quote_json(out, key);
    text_puts(out, ":");
}

void message_int(struct text *out, const char *key, int64_t value)
{
    open_member(out, key);
    text_printf(out, "%lld", (long long)value);
}

void message_string(struct text *out, const char *key, const char *value)
{
    open_member(out, key);
    quote_json(out, value);
}

void message_attempt(struct text *out, const struct order_key *key)
{
    message_int(out, "study", key->study);
    message_int(out, "trial", key->trial);
    message_int(out, "attempt", key->attempt);
}

void message_list(struct text *out, const char *key)
{
    open_member(out, key);
    text_puts(out, "[");
}

void message_list_attempt(struct text *out, const struct order_key *key)
{
    text_puts(out, out->data[out->len - 1] == '[' ? "" : ",");
    text_printf(out, "{\"study\":%lld,\"trial\":%lld,\"attempt\":%lld}",
                (long long)key->study, (long long)key->trial,
                (long long)key->attempt);
}

void message_list_end(struct text *out)
{
    text_puts(out, "]");
}

void message_close(struct text *out)
{
    text_puts(out, "}");
}

static enum answer_status read_status(const char *name)
{
    static const char *const names[] = {
        [ANSWER_OK] = "ok",           [ANSWER_RETRY] = "retry",
        [ANSWER_GONE] = "gone",       [ANSWER_DENIED] = "denied",
        [ANSWER_INVALID] = "invalid",
    };
    for (int i = 0; i < ANSWER_INVALID; i++) {
        if (strcmp(names[i], name) == 0)
            return (enum answer_status)i;
    }
    return ANSWER_INVALID;
}

struct answer message_read(struct arena *arena, const struct text *text)
{
    struct answer answer = {.status = ANSWER_INVALID,
                            .error = "the answer is not a JSON object"};
    struct diag diag;
    diag_init(&diag, arena, "answer", text->data, text->len);
    const struct node *map =
        text->len > 0 ? node_read_json(arena, text->data, text->len, &diag)
                      : NULL;
    if (map == NULL || map->kind != NODE_MAP)
        return answer;
    answer.map = map;
    answer.status = read_status(node_get_string(map, "status", ""));
    answer.retry_ms = node_get_int(map, "retryMs", RETRY_DEFAULT_MS);
    answer.error = node_get_string(map, "error", "");
    return answer;
}
