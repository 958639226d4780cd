/* filter_parse.c - reads Google's filter language (AIP-160) into a tree. */

#include <ctype.h>
#include <string.h>

#include "proto/base/clock.h"
#include "tuner/ask/expression.h"
#include "tuner/ask/field_name.h"
#include "tuner/ask/filter.h"
#include "tuner/ask/filter_tree.h"

enum { MOST_NODES = 64, MOST_DEPTH = 16 };

struct parser {
    struct arena *arena;
    const char *at; /* never at a blank between two words */
    const struct filter_language *language;
    bool is_log; /* the larger language */
    int nodes, depth;
    struct ht_error *err;
};

/* --- words --- */

static const char blanks[] = " \t\r\n";
static const char key_bytes[] = "abcdefghijklmnopqrstuvwxyz"
                                "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";

static void skip(struct parser *parser, size_t n)
{
    parser->at += n;
    parser->at += strspn(parser->at, blanks);
    while (parser->is_log && strncmp(parser->at, "--", 2) == 0) {
        parser->at += strcspn(parser->at, "\n");
        parser->at += strspn(parser->at, blanks);
    }
}

/* A keyword is surrounded by blanks, brackets or the ends. */
static bool is_word(const struct parser *parser, const char *word)
{
    const size_t len = strlen(word);
    return strncmp(parser->at, word, len) == 0 &&
           strchr(" \t\r\n()", parser->at[len]) != NULL;
}

static bool take_word(struct parser *parser, const char *word)
{
    if (!is_word(parser, word))
        return false;
    skip(parser, strlen(word));
    return true;
}

/* The text between the quotes, with \" and \\; NULL when they do not end. */
static const char *take_quoted(struct parser *parser)
{
    const char *from = parser->at + 1;
    char *value = arena_alloc(parser->arena, strlen(from) + 1, 1);
    size_t n = 0;
    for (; *from != '\0' && *from != '"'; from++) {
        if (*from == '\\' && from[1] != '\0')
            from++;
        value[n++] = *from;
    }
    if (*from != '"')
        return NULL;
    parser->at = from + 1;
    return value;
}

/* A quoted value or a bare word; NULL when neither. */
static const char *take_value(struct parser *parser)
{
    const char *value;
    if (*parser->at == '"') {
        value = take_quoted(parser);
    } else {
        /* A bare stamp has colons. */
        const char *ends = isdigit((unsigned char)*parser->at)
                               ? " \t\r\n\"()"
                               : " \t\r\n\"()=<>!:";
        const size_t n = strcspn(parser->at, ends);
        value = n > 0 ? arena_strndup(parser->arena, parser->at, n) : NULL;
        parser->at += n;
    }
    skip(parser, 0);
    return value;
}

static const struct {
    const char *text;
    enum filter_operation operation;
    bool is_log;
} operations[] = {{"!=", FILTER_UNEQUAL, false},  {"!~", FILTER_DIFFERS, true},
                  {"=~", FILTER_MATCHES, true},   {"<=", FILTER_AT_MOST, false},
                  {">=", FILTER_AT_LEAST, false}, {"=", FILTER_EQUAL, false},
                  {":", FILTER_HAS, false},       {"<", FILTER_LESS, false},
                  {">", FILTER_MORE, false}};

static bool take_operation(struct parser *parser,
                           enum filter_operation *operation)
{
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++) {
        const size_t len = strlen(operations[i].text);
        if (strncmp(parser->at, operations[i].text, len) != 0 ||
            (operations[i].is_log && !parser->is_log))
            continue;
        *operation = operations[i].operation;
        skip(parser, len);
        return true;
    }
    return false;
}

/* --- fields --- */

/* The field with the longest name at this place, or NULL. */
static const struct filter_field *find_field(const struct parser *parser,
                                             size_t *len)
{
    const struct filter_field *found = NULL;
    *len = 0;
    for (const struct filter_field *field = parser->language->fields;
         field->name != NULL; field++) {
        const size_t n = field_name_match(parser->at, field->name);
        if (n > *len) {
            *len = n;
            found = field;
        }
    }
    return found;
}

static bool is_map(const struct filter_field *field)
{
    return field->kind == FILTER_MAP || field->kind == FILTER_PHRASES;
}

/* The key behind the dot of a map; false when its quotes do not end. */
static bool take_key(struct parser *parser, struct filter *made)
{
    parser->at++;
    if (parser->is_log && *parser->at == '"') {
        made->key = take_quoted(parser);
        return made->key != NULL;
    }
    const size_t len = strspn(parser->at, key_bytes);
    made->key = arena_strndup(parser->arena, parser->at, len);
    parser->at += len;
    return true;
}

static enum ht_status take_field(struct parser *parser, struct filter *made)
{
    size_t len;
    const struct filter_field *field = find_field(parser, &len);
    if (field == NULL && *parser->at == '\0')
        return ht_fail(parser->err, HT_INVALID,
                       "filter: ends where a field is expected");
    if (field == NULL)
        return ht_fail(parser->err, HT_INVALID,
                       "filter: \"%.64s\" begins with no field known here",
                       parser->at);
    made->field = field;
    parser->at += len;
    if (is_map(field) && *parser->at == '.' && !take_key(parser, made))
        return ht_fail(parser->err, HT_INVALID,
                       "filter: a quoted key of %s does not end", field->name);
    skip(parser, 0);
    return HT_OK;
}

/* --- comparisons --- */

#define BIT(operation) (1U << FILTER_##operation)

/* The operations of a field, as bits and for an error message. */
struct fitting {
    unsigned operations;
    const char *words;
};

static struct fitting fitting_of(const struct filter *made)
{
    static const unsigned texts = BIT(EQUAL) | BIT(UNEQUAL) | BIT(HAS),
                          orders = BIT(EQUAL) | BIT(UNEQUAL) | BIT(LESS) |
                                   BIT(AT_MOST) | BIT(MORE) | BIT(AT_LEAST);
    const enum filter_kind kind = made->field->kind;
    if (is_map(made->field) && made->key == NULL)
        return (struct fitting){BIT(HAS), ".key or :key"};
    if (kind == FILTER_TIME || kind == FILTER_RANK)
        return (struct fitting){orders, "= != < <= > or >="};
    if (kind == FILTER_PHRASE || kind == FILTER_PHRASES)
        return (struct fitting){~0U, "= != : < <= > >= =~ or !~"};
    return (struct fitting){texts, "= != or :"};
}

/* A day is its first moment. */
static bool read_moment(const char *text, int64_t *ns)
{
    enum { DAY_BYTES = sizeof "2026-11-21" - 1 };
    char day[CLOCK_STAMP_BYTES] = "";
    if (strlen(text) != DAY_BYTES)
        return clock_read_stamp_ns(text, ns);
    memcpy(day, text, DAY_BYTES);
    memcpy(day + DAY_BYTES, "T00:00:00Z", sizeof "T00:00:00Z");
    return clock_read_stamp_ns(day, ns);
}

/* Whether the value is one of the field's names, or like one. */
static bool is_named(struct filter *made)
{
    const char *const *names = made->field->names;
    if (made->field->kind == FILTER_RANK)
        return filter_find_rank(names, made->value, &made->rank);
    for (; *names != NULL; names++)
        if (made->operation == FILTER_HAS ? filter_is_like(*names, made->value)
                                          : strcmp(*names, made->value) == 0)
            return true;
    return false;
}

/* Converts the value into the form for comparisons. */
static enum ht_status settle_value(struct parser *parser, struct filter *made)
{
    const char *name = made->field->name;
    struct ht_error why;
    if (made->field->kind == FILTER_TIME &&
        !read_moment(made->value, &made->moment_ns))
        return ht_fail(parser->err, HT_INVALID,
                       "filter: %s is \"%.64s\", no time like "
                       "2026-11-21T03:10:02Z",
                       name, made->value);
    if (made->field->names != NULL && !is_named(made))
        return ht_fail(parser->err, HT_INVALID,
                       "filter: \"%.64s\" is no %s such as %s", made->value,
                       name, made->field->names[0]);
    const bool is_expression =
        made->operation == FILTER_MATCHES || made->operation == FILTER_DIFFERS;
    if (is_expression && expression_read(parser->arena, made->value,
                                         &made->expression, &why) != HT_OK)
        return ht_fail(parser->err, HT_INVALID,
                       "filter: the expression \"%.64s\" %s", made->value,
                       why.text);
    return HT_OK;
}

/* NULL when there are too many. */
static struct filter *new_node(struct parser *parser, enum filter_shape shape)
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

static enum ht_status take_one_value(struct parser *parser, struct filter *made)
{
    made->value = take_value(parser);
    if (made->value == NULL)
        return ht_fail(parser->err, HT_INVALID, "filter: %s needs a \"value\"",
                       made->field->name);
    return settle_value(parser, made);
}

/* field = ("a" OR "b"): the comparison `made` becomes a chain of them. */
static enum ht_status take_values(struct parser *parser, struct filter *made)
{
    const struct filter each = *made;
    skip(parser, 1);
    enum ht_status status = take_one_value(parser, made);
    while (status == HT_OK && take_word(parser, "OR")) {
        struct filter *first = new_node(parser, FILTER_COMPARISON);
        struct filter *next = new_node(parser, FILTER_COMPARISON);
        if (first == NULL || next == NULL)
            return HT_INVALID;
        *first = *made;
        *next = each;
        *made = (struct filter){
            .shape = FILTER_EITHER, .left = first, .right = next};
        status = take_one_value(parser, next);
    }
    if (status != HT_OK)
        return status;
    if (*parser->at != ')')
        return ht_fail(parser->err, HT_INVALID,
                       "filter: the values of %s end before \"%.64s\", not "
                       "with )",
                       each.field->name, parser->at);
    skip(parser, 1);
    return HT_OK;
}

static enum ht_status take_comparison(struct parser *parser,
                                      struct filter *made)
{
    const enum ht_status status = take_field(parser, made);
    if (status != HT_OK)
        return status;
    const struct fitting fitting = fitting_of(made);
    if (!take_operation(parser, &made->operation) ||
        (fitting.operations & 1U << made->operation) == 0)
        return ht_fail(parser->err, HT_INVALID,
                       "filter: %s must be followed by %s", made->field->name,
                       fitting.words);
    const bool is_list =
        parser->is_log && *parser->at == '(' &&
        (made->operation == FILTER_EQUAL || made->operation == FILTER_HAS);
    return is_list ? take_values(parser, made) : take_one_value(parser, made);
}

/* Whether there is only a value here, with no operation behind it. */
static bool is_alone(const struct parser *parser)
{
    if (!parser->is_log || is_word(parser, "AND") || is_word(parser, "OR") ||
        is_word(parser, "NOT"))
        return false;
    if (*parser->at == '"')
        return true;
    struct parser ahead = *parser;
    /* Quotes within the word are those of a key. */
    const size_t len = strcspn(parser->at, " \t\r\n()=<>!:");
    skip(&ahead, len);
    return len > 0 && (*ahead.at == '\0' || strchr("=<>!:", *ahead.at) == NULL);
}

static enum ht_status take_alone(struct parser *parser, struct filter *made)
{
    if (*parser->at != '"' &&
        parser->at[strcspn(parser->at, " \t\r\n()")] == '(')
        return ht_fail(parser->err, HT_INVALID,
                       "filter: \"%.64s\" calls a function; there are none "
                       "here",
                       parser->at);
    made->field = parser->language->message;
    made->operation = FILTER_HAS;
    return take_one_value(parser, made);
}

/* --- expressions --- */

typedef enum ht_status taker(struct parser *parser, struct filter **filter);

static taker take_all;

static enum ht_status take_bracket(struct parser *parser,
                                   struct filter **filter)
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
                                   struct filter **filter)
{
    if (*parser->at == '(')
        return take_bracket(parser, filter);
    struct filter *made = new_node(parser, FILTER_COMPARISON);
    if (made == NULL)
        return HT_INVALID;
    *filter = made;
    return is_alone(parser) ? take_alone(parser, made)
                            : take_comparison(parser, made);
}

static enum ht_status take_one(struct parser *parser, struct filter **filter)
{
    const bool has_dash = *parser->at == '-';
    if (has_dash)
        skip(parser, 1);
    else if (!take_word(parser, "NOT"))
        return take_operand(parser, filter);
    struct filter *made = new_node(parser, FILTER_NEITHER);
    if (made == NULL)
        return HT_INVALID;
    *filter = made;
    return take_operand(parser, &made->left);
}

static bool has_next(struct parser *parser, enum filter_shape shape)
{
    if (shape == FILTER_EITHER)
        return take_word(parser, "OR");
    return take_word(parser, "AND") ||
           (parser->is_log && *parser->at != '\0' && *parser->at != ')');
}

/* part { joined part } */
static enum ht_status take_chain(struct parser *parser, enum filter_shape shape,
                                 taker *take_part, struct filter **filter)
{
    struct filter *chain = NULL;
    enum ht_status status = take_part(parser, &chain);
    while (status == HT_OK && has_next(parser, shape)) {
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

static enum ht_status take_either(struct parser *parser, struct filter **filter)
{
    return take_chain(parser, FILTER_EITHER, take_one, filter);
}

static enum ht_status take_all(struct parser *parser, struct filter **filter)
{
    return take_chain(parser, FILTER_BOTH, take_either, filter);
}

static enum ht_status read_filter(struct parser *parser, const char *text,
                                  const struct filter **filter)
{
    struct filter *read = NULL;
    parser->at = text != NULL ? text : "";
    skip(parser, 0);
    const enum ht_status status =
        *parser->at == '\0' ? HT_OK : take_all(parser, &read);
    if (status != HT_OK)
        return status;
    if (*parser->at != '\0')
        return ht_fail(parser->err, HT_INVALID,
                       "filter: \"%.64s\" is not AND or OR and a comparison",
                       parser->at);
    *filter = read;
    return HT_OK;
}

enum ht_status filter_read(struct arena *arena, const char *text,
                           const struct filter_field fields[],
                           const struct filter **filter, struct ht_error *err)
{
    const struct filter_language language = {.fields = fields};
    struct parser parser = {.arena = arena, .language = &language, .err = err};
    return read_filter(&parser, text, filter);
}

enum ht_status filter_read_log(struct arena *arena, const char *text,
                               const struct filter_language *language,
                               const struct filter **filter,
                               struct ht_error *err)
{
    struct parser parser = {
        .arena = arena, .language = language, .is_log = true, .err = err};
    return read_filter(&parser, text, filter);
}
