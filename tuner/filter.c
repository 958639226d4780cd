#include "tuner/filter.h"

#include <ctype.h>
#include <string.h>

#include "proto/clock.h"

enum { MOST_NODES = 64, MOST_DEPTH = 16 };

enum operation { EQUAL, UNEQUAL, HAS, LESS, AT_MOST, MORE, AT_LEAST };
enum shape { COMPARISON, BOTH, EITHER, NEITHER };

struct filter {
    enum shape shape;
    const struct filter *left, *right; /* NEITHER: left alone */
    const struct filter_field *field;  /* of a COMPARISON, as what follows */
    const char *key;                   /* of a map, or NULL */
    enum operation operation;
    const char *value;
    int64_t moment_ms; /* the value of a time */
};

struct parser {
    struct arena *arena;
    const char *at; /* never at a blank between two words */
    const struct filter_field *fields;
    int nodes, depth;
    struct ht_error *err;
};

/* --- words --- */

static const char letters[] = "abcdefghijklmnopqrstuvwxyz"
                              "ABCDEFGHIJKLMNOPQRSTUVWXYZ_";
static const char key_bytes[] = "abcdefghijklmnopqrstuvwxyz"
                                "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";

static void skip(struct parser *parser, size_t n)
{
    parser->at += n;
    parser->at += strspn(parser->at, " \t\r\n");
}

/* A keyword stands between blanks, brackets or the ends. */
static bool take_word(struct parser *parser, const char *word)
{
    const size_t len = strlen(word);
    if (strncmp(parser->at, word, len) != 0 ||
        strchr(" \t\r\n()", parser->at[len]) == NULL)
        return false;
    skip(parser, len);
    return true;
}

/* display_name -> displayName, as Google's lists take both. */
static const char *camel_case(struct arena *arena, const char *text, size_t len)
{
    char *name = arena_alloc(arena, len + 1, 1);
    size_t n = 0;
    for (size_t i = 0; i < len; i++) {
        if (text[i] == '_' && i + 1 < len)
            name[n++] = (char)toupper((unsigned char)text[++i]);
        else
            name[n++] = text[i];
    }
    return name;
}

/* A quoted value with \" and \\, or a bare word; NULL when neither. */
static const char *take_value(struct parser *parser)
{
    const char *from = parser->at;
    char *value = arena_alloc(parser->arena, strlen(from) + 1, 1);
    size_t n = 0;
    if (*from != '"') {
        n = strcspn(from, " \t\r\n\"()=<>!:");
        /* A bare stamp has colons. */
        if (isdigit((unsigned char)*from))
            n = strcspn(from, " \t\r\n\"()");
        memcpy(value, from, n);
        skip(parser, n);
        return n > 0 ? value : NULL;
    }
    for (from++; *from != '\0' && *from != '"'; from++) {
        if (*from == '\\' && from[1] != '\0')
            from++;
        value[n++] = *from;
    }
    if (*from != '"')
        return NULL;
    skip(parser, (size_t)(from + 1 - parser->at));
    return value;
}

static bool take_operation(struct parser *parser, enum operation *operation)
{
    static const struct {
        const char *text;
        enum operation operation;
    } all[] = {{"!=", UNEQUAL}, {"<=", AT_MOST}, {">=", AT_LEAST}, {"=", EQUAL},
               {":", HAS},      {"<", LESS},     {">", MORE}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        const size_t len = strlen(all[i].text);
        if (strncmp(parser->at, all[i].text, len) != 0)
            continue;
        *operation = all[i].operation;
        skip(parser, len);
        return true;
    }
    return false;
}

/* --- comparisons --- */

static enum ht_status take_field(struct parser *parser, struct filter *made)
{
    const char *start = parser->at;
    const size_t len = strspn(start, letters);
    const char *name = camel_case(parser->arena, start, len);
    const struct filter_field *field = parser->fields;
    while (field->name != NULL && strcmp(field->name, name) != 0)
        field++;
    if (len == 0 || field->name == NULL)
        return ht_fail(parser->err, HT_INVALID,
                       "filter: \"%.64s\" begins with no field known here",
                       start);
    made->field = field;
    parser->at += len;
    if (field->kind == FILTER_MAP && *parser->at == '.') {
        const size_t key = strspn(++parser->at, key_bytes);
        made->key = arena_strndup(parser->arena, parser->at, key);
        parser->at += key;
    }
    skip(parser, 0);
    return HT_OK;
}

static bool is_fitting(const struct filter *made)
{
    switch (made->field->kind) {
    case FILTER_TEXT:
        return made->operation <= HAS;
    case FILTER_TIME:
        return made->operation != HAS;
    case FILTER_MAP:
        return made->key != NULL ? made->operation <= HAS
                                 : made->operation == HAS;
    }
    return false;
}

static enum ht_status take_comparison(struct parser *parser,
                                      struct filter *made)
{
    const enum ht_status status = take_field(parser, made);
    if (status != HT_OK)
        return status;
    const char *name = made->field->name;
    if (!take_operation(parser, &made->operation) || !is_fitting(made))
        return ht_fail(parser->err, HT_INVALID,
                       "filter: %s must be followed by %s", name,
                       made->field->kind == FILTER_TIME ? "= != < <= > or >="
                       : made->field->kind == FILTER_TEXT || made->key != NULL
                           ? "= != or :"
                           : ".key or :key");
    made->value = take_value(parser);
    if (made->value == NULL)
        return ht_fail(parser->err, HT_INVALID, "filter: %s needs a \"value\"",
                       name);
    if (made->field->kind == FILTER_TIME &&
        !clock_read_stamp(made->value, &made->moment_ms))
        return ht_fail(parser->err, HT_INVALID,
                       "filter: %s is \"%.64s\", no time like "
                       "2026-11-21T03:10:02Z",
                       name, made->value);
    return HT_OK;
}

/* --- expressions --- */

static enum ht_status take_all(struct parser *parser,
                               const struct filter **filter);

/* NULL when there are too many. */
static struct filter *new_node(struct parser *parser, enum shape shape)
{
    if (parser->nodes++ == MOST_NODES) {
        ht_fail(parser->err, HT_INVALID, "filter: more than %d parts",
                MOST_NODES);
        return NULL;
    }
    struct filter *made = arena_alloc(parser->arena, 1, sizeof *made);
    made->shape = shape;
    return made;
}

static enum ht_status take_bracket(struct parser *parser,
                                   const struct filter **filter)
{
    if (++parser->depth > MOST_DEPTH)
        return ht_fail(parser->err, HT_INVALID,
                       "filter: more than %d brackets deep", MOST_DEPTH);
    skip(parser, 1);
    const enum ht_status status = take_all(parser, filter);
    if (status != HT_OK)
        return status;
    if (*parser->at != ')')
        return ht_fail(parser->err, HT_INVALID,
                       "filter: a bracket is not closed before \"%.64s\"",
                       parser->at);
    skip(parser, 1);
    parser->depth--;
    return HT_OK;
}

static enum ht_status take_operand(struct parser *parser,
                                   const struct filter **filter)
{
    if (*parser->at == '(')
        return take_bracket(parser, filter);
    struct filter *made = new_node(parser, COMPARISON);
    if (made == NULL)
        return HT_INVALID;
    *filter = made;
    return take_comparison(parser, made);
}

static enum ht_status take_one(struct parser *parser,
                               const struct filter **filter)
{
    const bool has_dash = *parser->at == '-';
    if (has_dash)
        skip(parser, 1);
    else if (!take_word(parser, "NOT"))
        return take_operand(parser, filter);
    struct filter *made = new_node(parser, NEITHER);
    if (made == NULL)
        return HT_INVALID;
    *filter = made;
    return take_operand(parser, &made->left);
}

typedef enum ht_status taker(struct parser *parser,
                             const struct filter **filter);

/* part { WORD part } */
static enum ht_status take_chain(struct parser *parser, const char *word,
                                 enum shape shape, taker *take_part,
                                 const struct filter **filter)
{
    const struct filter *chain = NULL;
    enum ht_status status = take_part(parser, &chain);
    while (status == HT_OK && take_word(parser, word)) {
        struct filter *made = new_node(parser, shape);
        if (made == NULL)
            return HT_INVALID;
        made->left = chain;
        status = take_part(parser, &made->right);
        chain = made;
    }
    if (status == HT_OK)
        *filter = chain;
    return status;
}

static enum ht_status take_either(struct parser *parser,
                                  const struct filter **filter)
{
    return take_chain(parser, "OR", EITHER, take_one, filter);
}

static enum ht_status take_all(struct parser *parser,
                               const struct filter **filter)
{
    return take_chain(parser, "AND", BOTH, take_either, filter);
}

enum ht_status filter_read(struct arena *arena, const char *text,
                           const struct filter_field fields[],
                           const struct filter **filter, struct ht_error *err)
{
    struct parser parser = {.arena = arena,
                            .at = text != NULL ? text : "",
                            .fields = fields,
                            .err = err};
    const struct filter *read = NULL;
    skip(&parser, 0);
    const enum ht_status status =
        *parser.at == '\0' ? HT_OK : take_all(&parser, &read);
    if (status != HT_OK)
        return status;
    if (*parser.at != '\0')
        return ht_fail(err, HT_INVALID,
                       "filter: \"%.64s\" is not AND or OR and a comparison",
                       parser.at);
    *filter = read;
    return HT_OK;
}

/* --- asking --- */

/* `*` stands for any characters. On a mismatch the newest star takes one more,
 * which is enough: an earlier one never has to. */
static bool is_like(const char *text, const char *pattern)
{
    const char *star = NULL, *mark = text;
    while (*text != '\0') {
        if (*pattern == '*') {
            star = ++pattern;
            mark = text;
        } else if (*pattern == *text) {
            pattern++;
            text++;
        } else if (star != NULL) {
            pattern = star;
            text = ++mark;
        } else {
            return false;
        }
    }
    while (*pattern == '*')
        pattern++;
    return *pattern == '\0';
}

static bool is_at(const struct filter *filter, const char *stamp)
{
    int64_t ms;
    if (!clock_read_stamp(stamp, &ms))
        return false;
    switch (filter->operation) {
    case EQUAL:
    case UNEQUAL:
    case HAS:
        return ms == filter->moment_ms;
    case LESS:
        return ms < filter->moment_ms;
    case AT_MOST:
        return ms <= filter->moment_ms;
    case MORE:
        return ms > filter->moment_ms;
    case AT_LEAST:
        return ms >= filter->moment_ms;
    }
    return false;
}

static bool matches(const struct filter *filter, const char *value)
{
    if (filter->field->kind == FILTER_TIME)
        return is_at(filter, value);
    return filter->operation == HAS ? is_like(value, filter->value)
                                    : strcmp(value, filter->value) == 0;
}

static bool compare(const struct filter *filter, filter_lookup *lookup,
                    void *item)
{
    const char *values[FILTER_VALUES];
    const bool asks_key =
        filter->field->kind == FILTER_MAP && filter->key == NULL;
    const size_t n = lookup(item, filter->field->name,
                            asks_key ? filter->value : filter->key, values);
    if (asks_key)
        return n > 0;
    bool found = false;
    for (size_t i = 0; i < n && !found; i++)
        found = matches(filter, values[i]);
    return filter->operation == UNEQUAL ? !found : found;
}

bool filter_allows(const struct filter *filter, filter_lookup *lookup,
                   void *item)
{
    if (filter == NULL)
        return true;
    switch (filter->shape) {
    case COMPARISON:
        return compare(filter, lookup, item);
    case BOTH:
        return filter_allows(filter->left, lookup, item) &&
               filter_allows(filter->right, lookup, item);
    case EITHER:
        return filter_allows(filter->left, lookup, item) ||
               filter_allows(filter->right, lookup, item);
    case NEITHER:
        break;
    }
    return !filter_allows(filter->left, lookup, item);
}
