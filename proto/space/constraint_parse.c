/* constraint_parse.c - reads the grammar of constraint.h by recursive descent,
 * a function for each of its lines; NULL once a fault was found. */

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/limits.h"
#include "proto/base/words.h"
#include "proto/space/constraint.h"
#include "proto/space/constraint_tree.h"

enum { MOST_PARTS = 1000 }; /* of one expression: the stack holds its tree */

struct reader {
    struct arena *arena;
    const struct space *space;
    const char *text, *next; /* what is left */
    int depth;               /* of brackets, signs and negations */
    int parts;
    size_t *at;
    struct ht_error *err;
};

static struct constraint *read_truth(struct reader *reader);
static struct constraint *read_sum(struct reader *reader);

/* ---- faults ---- */

__attribute__((format(printf, 3, 4))) static struct constraint *
fault(struct reader *reader, const char *where, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *sentence = arena_vprintf(reader->arena, format, args);
    va_end(args);
    ht_fail(reader->err, HT_INVALID, "%s", sentence);
    if (reader->at != NULL)
        *reader->at = (size_t)(where - reader->text);
    return NULL;
}

/* ---- words ---- */

static bool is_word_byte(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '.' ||
           (unsigned char)c >= 0x80;
}

static size_t word_length(const char *c)
{
    size_t len = 0;
    while (is_word_byte(c[len]))
        len++;
    return len;
}

static const char *skip_blanks(struct reader *reader)
{
    while (isspace((unsigned char)*reader->next))
        reader->next++;
    return reader->next;
}

/* Takes a sign if it is what comes next. */
static bool take(struct reader *reader, const char *sign)
{
    const size_t len = strlen(sign);
    if (strncmp(skip_blanks(reader), sign, len) != 0)
        return false;
    reader->next += len;
    return true;
}

static bool take_word(struct reader *reader, const char *word)
{
    const char *c = skip_blanks(reader);
    const size_t len = strlen(word);
    if (word_length(c) != len || strncmp(c, word, len) != 0)
        return false;
    reader->next += len;
    return true;
}

/* Whether `name` is at c as a whole word. */
static bool stands_at(const char *name, const char *c)
{
    const size_t len = strlen(name);
    return strncmp(name, c, len) == 0 &&
           (!is_word_byte(c[len]) || !is_word_byte(c[len - 1]));
}

/* The longest of n names that is at c; n when none does. */
static size_t longest_at(size_t n, const char *(*name)(const void *, size_t),
                         const void *of, const char *c)
{
    size_t longest = 0, found = n;
    for (size_t i = 0; i < n; i++) {
        const size_t len = strlen(name(of, i));
        if (len > longest && stands_at(name(of, i), c)) {
            longest = len;
            found = i;
        }
    }
    return found;
}

static const char *param_name(const void *space, size_t i)
{
    return ((const struct space *)space)->params[i].name;
}

static const char *label_name(const void *param, size_t i)
{
    return ((const struct param *)param)->labels[i];
}

/* ---- making parts ---- */

static struct constraint *make(struct reader *reader, enum expression_kind kind)
{
    if (++reader->parts > MOST_PARTS)
        return fault(reader, reader->next, "has more than %d parts",
                     MOST_PARTS);
    struct constraint *made = arena_alloc(reader->arena, 1, sizeof *made);
    made->kind = kind;
    return made;
}

static struct constraint *join(struct reader *reader, enum expression_kind kind,
                               struct constraint *left,
                               struct constraint *right)
{
    struct constraint *made = left && right ? make(reader, kind) : NULL;
    if (made != NULL) {
        made->left = left;
        made->right = right;
    }
    return made;
}

static bool is_category(const struct reader *reader,
                        const struct constraint *expression)
{
    return expression->kind == EXPRESSION_PARAMETER &&
           reader->space->params[expression->param].type == PARAM_CATEGORICAL;
}

/* Passes a number on. */
static struct constraint *number(struct reader *reader, const char *where,
                                 struct constraint *expression)
{
    if (expression != NULL && constraint_tree_is_truth(expression))
        return fault(reader, where, "needs a number here, not a comparison");
    if (expression != NULL && is_category(reader, expression))
        return fault(reader, where,
                     "\"%s\" is text: compare it with == or != and one of its "
                     "values",
                     reader->space->params[expression->param].name);
    return expression;
}

static struct constraint *truth(struct reader *reader, const char *where,
                                struct constraint *expression)
{
    if (expression != NULL && !constraint_tree_is_truth(expression))
        return fault(reader, where,
                     "needs a comparison here, such as x + y <= 1");
    return expression;
}

static struct constraint *make_operation(struct reader *reader,
                                         const char *name, size_t len,
                                         struct constraint *left,
                                         struct constraint *right)
{
    struct constraint *made = left ? make(reader, EXPRESSION_CALL) : NULL;
    if (made != NULL) {
        made->operation = constraint_tree_operation(name, len);
        made->left = left;
        made->right = right;
    }
    return made;
}

/* ---- numbers ---- */

static struct constraint *read_number(struct reader *reader)
{
    const char *start = reader->next;
    size_t len = 0;
    while (isalnum((unsigned char)start[len]) || start[len] == '.' ||
           ((start[len] == '-' || start[len] == '+') && len > 0 &&
            (start[len - 1] == 'e' || start[len - 1] == 'E')))
        len++;
    char *end;
    const char *digits = arena_strndup(reader->arena, start, len);
    const double value = strtod(digits, &end);
    if (*end != '\0' || !isfinite(value))
        return fault(reader, start, "\"%s\" is no number", digits);
    struct constraint *made = make(reader, EXPRESSION_NUMBER);
    if (made != NULL)
        made->number = value;
    reader->next = start + len;
    return made;
}

static struct constraint *read_function(struct reader *reader, size_t len)
{
    const char *name = reader->next;
    const struct operation *operation = constraint_tree_operation(name, len);
    reader->next += len;
    if (!take(reader, "("))
        return fault(reader, reader->next, "needs a ( after %s",
                     operation->name);
    const char *where = skip_blanks(reader);
    struct constraint *right = NULL;
    struct constraint *left = number(reader, where, read_sum(reader));
    if (left == NULL)
        return NULL;
    if (operation->arguments == 2) {
        if (!take(reader, ","))
            return fault(reader, reader->next, "%s needs two numbers",
                         operation->name);
        where = skip_blanks(reader);
        right = number(reader, where, read_sum(reader));
        if (right == NULL)
            return NULL;
    }
    if (!take(reader, ")"))
        return fault(reader, reader->next, "needs a ) here");
    return make_operation(reader, name, len, left, right);
}

static bool is_shared(const struct space *space, size_t param)
{
    size_t n = 0;
    for (size_t i = 0; i < space->n; i++)
        n += strcmp(space->params[i].name, space->params[param].name) == 0;
    return n > 1;
}

static struct constraint *read_name(struct reader *reader)
{
    const struct space *space = reader->space;
    const char *c = reader->next;
    const size_t found = longest_at(space->n, param_name, space, c);
    if (found < space->n && is_shared(space, found))
        return fault(reader, c, "several parameters have the name \"%s\"",
                     space->params[found].name);
    if (found < space->n) {
        struct constraint *made = make(reader, EXPRESSION_PARAMETER);
        if (made != NULL)
            made->param = found;
        reader->next += strlen(space->params[found].name);
        return made;
    }
    if (isdigit((unsigned char)*c) || *c == '.')
        return read_number(reader);
    const size_t len = word_length(c);
    if (len > 0 && constraint_tree_operation(c, len) != NULL)
        return read_function(reader, len);
    if (*c == '\0')
        return fault(reader, c, "ends where a number or a name is missing");
    if (len == 0)
        return fault(reader, c, "needs a number or a name, not \"%c\"", *c);
    const char *word = arena_strndup(reader->arena, c, len);
    const char *meant = words_nearest(word, space_names(reader->arena, space));
    return fault(reader, c, "\"%s\" is no parameter%s%s%s", word,
                 meant ? ", is \"" : "", meant ? meant : "",
                 meant ? "\" meant?" : "");
}

/* In brackets there may be a number or a truth. */
static struct constraint *read_brackets(struct reader *reader)
{
    struct constraint *inner = read_truth(reader);
    if (inner != NULL && !take(reader, ")"))
        return fault(reader, reader->next, "needs a ) here");
    return inner;
}

static struct constraint *read_factor(struct reader *reader)
{
    if (reader->depth == HT_MAX_DEPTH)
        return fault(reader, reader->next, "is nested too deeply");
    reader->depth++;
    const char *where = skip_blanks(reader);
    struct constraint *made;
    if (take(reader, "-"))
        made = make_operation(reader, "neg", 3,
                              number(reader, where + 1, read_factor(reader)),
                              NULL);
    else if (take(reader, "("))
        made = read_brackets(reader);
    else
        made = read_name(reader);
    reader->depth--;
    return made;
}

/* One level of precedence: parts with either of two signs between them. */
static struct constraint *
read_chain(struct reader *reader, const char *signs,
           struct constraint *(*part)(struct reader *))
{
    const char *where = skip_blanks(reader);
    struct constraint *left = part(reader);
    while (left != NULL) {
        const char *sign = skip_blanks(reader);
        if (*sign == '\0' || strchr(signs, *sign) == NULL)
            break;
        left = number(reader, where, left);
        reader->next++;
        where = skip_blanks(reader);
        struct constraint *right =
            left ? number(reader, where, part(reader)) : NULL;
        left = right ? make_operation(reader, sign, 1, left, right) : NULL;
    }
    return left;
}

static struct constraint *read_product(struct reader *reader)
{
    return read_chain(reader, "*/", read_factor);
}

static struct constraint *read_sum(struct reader *reader)
{
    return read_chain(reader, "+-", read_product);
}

/* ---- comparisons ---- */

enum relation {
    RELATION_NONE,
    RELATION_BELOW,
    RELATION_UP_TO,
    RELATION_ABOVE,
    RELATION_DOWN_TO,
    RELATION_EQUAL,
    RELATION_UNEQUAL
};

static enum relation take_relation(struct reader *reader)
{
    static const struct {
        const char *sign;
        enum relation relation;
    } signs[] = {{"<=", RELATION_UP_TO}, {">=", RELATION_DOWN_TO},
                 {"==", RELATION_EQUAL}, {"!=", RELATION_UNEQUAL},
                 {"<", RELATION_BELOW},  {">", RELATION_ABOVE}};
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if (take(reader, signs[i].sign))
            return signs[i].relation;
    return RELATION_NONE;
}

static struct constraint *negate_if(struct reader *reader, bool negates,
                                    struct constraint *inner)
{
    if (inner == NULL || !negates)
        return inner;
    struct constraint *made = make(reader, EXPRESSION_NOT);
    if (made != NULL)
        made->left = inner;
    return made;
}

static void no_label(struct reader *reader, const struct param *param,
                     const char *where, size_t len)
{
    const char **names =
        arena_alloc(reader->arena, param->n_values + 1, sizeof *names);
    for (size_t i = 0; i < param->n_values; i++)
        names[i] = param->labels[i];
    const char *word = arena_strndup(reader->arena, where, len);
    const char *meant = words_nearest(word, names);
    fault(reader, where, "\"%s\" is no value of \"%s\"%s%s%s", word,
          param->name, meant ? ", is \"" : "", meant ? meant : "",
          meant ? "\" meant?" : "");
}

/* The number of the value in quotes, up to the next such quote, or of the
 * longest there; n_values after a fault. */
static size_t read_label(struct reader *reader, const struct param *param)
{
    const char *c = skip_blanks(reader);
    const size_t none = param->n_values;
    if (*c != '\'' && *c != '"') {
        const size_t found = longest_at(none, label_name, param, c);
        if (found == none)
            no_label(reader, param, c, word_length(c));
        else
            reader->next += strlen(param->labels[found]);
        return found;
    }
    const char *close = strchr(c + 1, *c);
    if (close == NULL) {
        fault(reader, c, "needs a second quote");
        return none;
    }
    const size_t len = (size_t)(close - ++c);
    reader->next = close + 1;
    for (size_t i = 0; i < none; i++)
        if (strlen(param->labels[i]) == len &&
            memcmp(param->labels[i], c, len) == 0)
            return i;
    no_label(reader, param, c, len);
    return none;
}

static struct constraint *read_is(struct reader *reader, const char *where,
                                  size_t param)
{
    const enum relation relation = take_relation(reader);
    if (relation != RELATION_EQUAL && relation != RELATION_UNEQUAL)
        return fault(reader, where,
                     "\"%s\" is text: compare it with == or != and one of its "
                     "values",
                     reader->space->params[param].name);
    const size_t label = read_label(reader, &reader->space->params[param]);
    if (label == reader->space->params[param].n_values)
        return NULL;
    struct constraint *is = make(reader, EXPRESSION_IS);
    if (is != NULL) {
        is->param = param;
        is->label = label;
    }
    return negate_if(reader, relation == RELATION_UNEQUAL, is);
}

static bool is_continuous(const struct reader *reader,
                          const struct constraint *of)
{
    if (of == NULL)
        return false;
    if (of->kind == EXPRESSION_PARAMETER)
        return space_param_levels(&reader->space->params[of->param]) == 0;
    return is_continuous(reader, of->left) || is_continuous(reader, of->right);
}

static void set_width(const struct space *space, struct constraint *comparison)
{
    const struct interval a = constraint_tree_interval(space, comparison->left);
    const struct interval b =
        constraint_tree_interval(space, comparison->right);
    const double width = fmax(a.high - b.low, b.high - a.low);
    comparison->width = isfinite(width) && width > 0 ? width : 1;
}

static struct constraint *compare(struct reader *reader, const char *where,
                                  enum relation relation,
                                  struct constraint *left,
                                  struct constraint *right)
{
    const bool swaps =
        relation == RELATION_ABOVE || relation == RELATION_DOWN_TO;
    const bool equal =
        relation == RELATION_EQUAL || relation == RELATION_UNEQUAL;
    enum expression_kind kind = EXPRESSION_EQUAL;
    if (equal && (is_continuous(reader, left) || is_continuous(reader, right)))
        return fault(reader, where,
                     "continuous values are never equal: use <= and >=");
    if (relation == RELATION_BELOW || relation == RELATION_ABOVE)
        kind = EXPRESSION_BELOW;
    else if (!equal)
        kind = EXPRESSION_UP_TO;
    struct constraint *made =
        join(reader, kind, swaps ? right : left, swaps ? left : right);
    if (made != NULL)
        set_width(reader->space, made);
    return negate_if(reader, relation == RELATION_UNEQUAL, made);
}

/* Also of a chain such as a < b < c, which is a < b and b < c. */
static struct constraint *read_comparison(struct reader *reader)
{
    const char *where = skip_blanks(reader);
    struct constraint *left = read_sum(reader), *all = NULL;
    if (left == NULL || constraint_tree_is_truth(left))
        return left;
    if (is_category(reader, left))
        return read_is(reader, where, left->param);
    for (;;) {
        const char *at = skip_blanks(reader);
        const enum relation relation = take_relation(reader);
        if (relation == RELATION_NONE)
            return all ? all : left;
        const char *behind = skip_blanks(reader);
        struct constraint *right = number(reader, behind, read_sum(reader));
        if (right == NULL)
            return NULL;
        struct constraint *one = compare(reader, at, relation, left, right);
        all = all ? join(reader, EXPRESSION_AND, all, one) : one;
        if (one == NULL || all == NULL)
            return NULL;
        left = right;
    }
}

/* ---- truths ---- */

static struct constraint *read_fact(struct reader *reader)
{
    if (!take_word(reader, "not"))
        return read_comparison(reader);
    if (reader->depth == HT_MAX_DEPTH)
        return fault(reader, reader->next, "is nested too deeply");
    reader->depth++;
    const char *where = skip_blanks(reader);
    struct constraint *inner = truth(reader, where, read_fact(reader));
    reader->depth--;
    return negate_if(reader, true, inner);
}

static struct constraint *
read_words(struct reader *reader, const char *word, enum expression_kind kind,
           struct constraint *(*part)(struct reader *))
{
    const char *where = skip_blanks(reader);
    struct constraint *left = part(reader);
    while (left != NULL && take_word(reader, word)) {
        left = truth(reader, where, left);
        where = skip_blanks(reader);
        struct constraint *right =
            left ? truth(reader, where, part(reader)) : NULL;
        left = join(reader, kind, left, right);
    }
    return left;
}

static struct constraint *read_both(struct reader *reader)
{
    return read_words(reader, "and", EXPRESSION_AND, read_fact);
}

static struct constraint *read_truth(struct reader *reader)
{
    return read_words(reader, "or", EXPRESSION_OR, read_both);
}

static struct constraint *read_all(struct reader *reader)
{
    struct constraint *all = read_truth(reader);
    const char *rest = skip_blanks(reader);
    if (all == NULL)
        return NULL;
    if (*rest == '=')
        return fault(reader, rest, "compares with ==, not with =");
    if (*rest != '\0')
        return fault(reader, rest, "does not end before \"%.20s\"", rest);
    all = truth(reader, reader->text, all);
    if (all != NULL && !constraint_tree_is_possible(reader->space, all))
        return fault(reader, reader->text,
                     "no values of the parameters satisfy it");
    return all;
}

enum ht_status constraint_parse(struct arena *arena, const struct space *space,
                                const char *text,
                                struct constraint **constraint, size_t *at,
                                struct ht_error *err)
{
    struct reader reader = {.arena = arena,
                            .space = space,
                            .text = text,
                            .next = text,
                            .at = at,
                            .err = err};
    struct constraint *made = read_all(&reader);
    if (made == NULL)
        return HT_INVALID;
    *constraint = made;
    return HT_OK;
}
