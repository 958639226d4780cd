#include "hypertune/lib/report_answer.h"

#include <stdbool.h>
#include <string.h>

struct cursor {
    const char *at, *end;
};

struct span {
    const char *at;
    size_t len;
};

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static char peek(struct cursor *c)
{
    while (c->at < c->end && is_space(*c->at))
        c->at++;
    if (c->at == c->end)
        return '\0';
    return *c->at;
}

static bool take(struct cursor *c, char wanted)
{
    if (peek(c) != wanted)
        return false;
    c->at++;
    return true;
}

/* A string without its quotes, escapes left as they are: no word that we look
 * for needs one. */
static bool take_string(struct cursor *c, struct span *text)
{
    if (!take(c, '"'))
        return false;
    const char *start = c->at;
    for (; c->at < c->end && *c->at != '"'; c->at++)
        if (*c->at == '\\' && c->at + 1 < c->end)
            c->at++;
    if (c->at >= c->end)
        return false;
    *text = (struct span){start, (size_t)(c->at++ - start)};
    return true;
}

static bool take_integer(struct cursor *c, int64_t *value)
{
    int64_t n = 0;
    peek(c);
    const char *start = c->at;
    for (; c->at < c->end && *c->at >= '0' && *c->at <= '9'; c->at++) {
        if (n > (INT64_MAX - 9) / 10)
            return false;
        n = n * 10 + (*c->at - '0');
    }
    if (c->at == start)
        return false;
    *value = n;
    return true;
}

/* The rest of a number, true, false or null. */
static void skip_word(struct cursor *c)
{
    while (c->at < c->end && !is_space(*c->at) && *c->at != ',' &&
           *c->at != '}' && *c->at != ']')
        c->at++;
}

/* Passes over any value; brackets are counted, not matched, as nothing inside
 * is believed. */
static bool skip_value(struct cursor *c)
{
    size_t depth = 0;
    do {
        struct span text;
        char next = peek(c);
        if (next == '"') {
            if (!take_string(c, &text))
                return false;
            continue;
        }
        if (next == '\0')
            return false;
        if (next == '{' || next == '[')
            depth++;
        else if (depth > 0 && (next == '}' || next == ']'))
            depth--;
        c->at++;
        if (depth == 0 && next != '}' && next != ']')
            skip_word(c);
    } while (depth > 0);
    return true;
}

static bool is_text(struct span span, const char *text)
{
    return span.len == strlen(text) && memcmp(span.at, text, span.len) == 0;
}

static enum answer_status status_of(struct span word)
{
    static const struct {
        const char *word;
        enum answer_status status;
    } words[] = {{"ok", ANSWER_OK},
                 {"retry", ANSWER_RETRY},
                 {"gone", ANSWER_GONE},
                 {"denied", ANSWER_DENIED},
                 {"invalid", ANSWER_INVALID}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (is_text(word, words[i].word))
            return words[i].status;
    return ANSWER_GARBLED;
}

static bool read_have(struct cursor *c, const char *writer, int64_t *have)
{
    if (!take(c, '{'))
        return skip_value(c);
    if (take(c, '}'))
        return true;
    do {
        struct span name;
        if (!take_string(c, &name) || !take(c, ':'))
            return false;
        if (is_text(name, writer) ? !take_integer(c, have) : !skip_value(c))
            return false;
    } while (take(c, ','));
    return take(c, '}');
}

static bool read_member(struct cursor *c, const char *writer,
                        struct report_answer *answer)
{
    struct span name;
    struct span word;
    if (!take_string(c, &name) || !take(c, ':'))
        return false;
    if (is_text(name, "status") && peek(c) == '"') {
        if (!take_string(c, &word))
            return false;
        answer->status = status_of(word);
        return true;
    }
    if (is_text(name, "have"))
        return read_have(c, writer, &answer->have);
    if (is_text(name, "thin"))
        return take_integer(c, &answer->thin);
    if (is_text(name, "retryMs"))
        return take_integer(c, &answer->retry_ms);
    return skip_value(c);
}

struct report_answer report_answer_read(const char *text, size_t len,
                                        const char *writer)
{
    const struct report_answer garbled = {
        .status = ANSWER_GARBLED, .thin = 1, .have = -1};
    struct report_answer answer = garbled;
    struct cursor c = {text, text + len};
    if (!take(&c, '{'))
        return garbled;
    if (take(&c, '}'))
        return garbled;
    do {
        if (!read_member(&c, writer, &answer))
            return garbled;
    } while (take(&c, ','));
    if (!take(&c, '}'))
        return garbled;
    if (answer.thin < 1)
        answer.thin = 1;
    return answer;
}
