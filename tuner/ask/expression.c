#include "tuner/ask/expression.h"

#include <string.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

enum {
    STEPS_MOST = 200000, /* of one search */
    KIBIBYTES_MOST = 1024,
    DEPTH_MOST = 32 /* of brackets */
};

struct expression {
    pcre2_code *code;
    pcre2_match_context *limits;
    pcre2_match_data *found;
    bool gave_up;
};

static void *allocate(size_t size, void *arena)
{
    return arena_alloc(arena, size, 1);
}

/* The arena ends with the request, and all of it at once. */
static void leave(void *memory, void *arena)
{
    (void)memory;
    (void)arena;
}

static enum ht_status compile(struct expression *made, const char *text,
                              pcre2_general_context *memory,
                              struct ht_error *err)
{
    /* Lines of a log may be cut within a character. */
    const uint32_t options = PCRE2_MATCH_INVALID_UTF | PCRE2_NEVER_BACKSLASH_C |
                             PCRE2_DOLLAR_ENDONLY;
    pcre2_compile_context *rules = pcre2_compile_context_create(memory);
    PCRE2_UCHAR why[128];
    PCRE2_SIZE at = 0;
    int code = 0;
    pcre2_set_parens_nest_limit(rules, DEPTH_MOST);
    made->code = pcre2_compile((PCRE2_SPTR)text, PCRE2_ZERO_TERMINATED, options,
                               &code, &at, rules);
    if (made->code != NULL)
        return HT_OK;
    pcre2_get_error_message(code, why, sizeof why);
    return ht_fail(err, HT_INVALID, "is wrong at byte %zu: %s", at,
                   (const char *)why);
}

enum ht_status expression_read(struct arena *arena, const char *text,
                               struct expression **expression,
                               struct ht_error *err)
{
    if (strlen(text) > EXPRESSION_MOST)
        return ht_fail(err, HT_INVALID, "is longer than %d bytes",
                       EXPRESSION_MOST);
    pcre2_general_context *memory =
        pcre2_general_context_create(allocate, leave, arena);
    struct expression *made = arena_alloc(arena, 1, sizeof *made);
    const enum ht_status status = compile(made, text, memory, err);
    if (status != HT_OK)
        return status;
    made->limits = pcre2_match_context_create(memory);
    pcre2_set_match_limit(made->limits, STEPS_MOST);
    pcre2_set_heap_limit(made->limits, KIBIBYTES_MOST);
    made->found = pcre2_match_data_create(1, memory);
    *expression = made;
    return HT_OK;
}

bool expression_is_found(struct expression *expression, const char *text)
{
    const int n = pcre2_match(expression->code, (PCRE2_SPTR)text, strlen(text),
                              0, 0, expression->found, expression->limits);
    expression->gave_up |= n < 0 && n != PCRE2_ERROR_NOMATCH;
    return n >= 0;
}

bool expression_gave_up(const struct expression *expression)
{
    return expression->gave_up;
}
