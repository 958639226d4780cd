#include "proto/form/hydra_sweep.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

#include "proto/base/number.h"
#include "proto/base/text.h"
#include "proto/base/words.h"
#include "proto/form/optuna.h"

enum { MOST_ARGUMENTS = 1000, DEEPEST = 16 };

/* A call such as interval(0, 1), or a list a,b without a name. */
struct call {
    const char *name;
    struct words arguments; /* without blanks around them */
};

struct sweep {
    const struct field_reader *reader;
    struct place at;
    const char *name;
    struct grown *space;
    bool grid, log, shuffled;
    bool to_int, to_float, to_text; /* casts around it */
};

/* ---- the grammar ---- */

static const char *trim(struct arena *arena, const char *begin, const char *end)
{
    while (begin < end && isspace((unsigned char)*begin))
        begin++;
    while (end > begin && isspace((unsigned char)end[-1]))
        end--;
    return arena_strndup(arena, begin, (size_t)(end - begin));
}

/* Splits at the commas outside of brackets and quotes; false: they are not
 * closed, or there are too many parts. */
static bool split(struct arena *arena, const char *text, struct call *call)
{
    const char *begin = text, *c = text;
    int depth = 0;
    char quote = '\0';
    call->arguments = (struct words){0};
    for (;; c++) {
        if (*c == '\0' || (*c == ',' && depth == 0 && quote == '\0')) {
            if (call->arguments.n == MOST_ARGUMENTS)
                return false;
            words_add(arena, &call->arguments, trim(arena, begin, c));
            begin = c + 1;
        }
        if (*c == '\0')
            return depth == 0 && quote == '\0';
        if (*c == '\\' && c[1] != '\0')
            c++;
        else if (quote != '\0' && *c == quote)
            quote = '\0';
        else if (quote != '\0')
            continue;
        else if (*c == '"' || *c == '\'')
            quote = *c;
        else if (strchr("([{", *c) != NULL)
            depth++;
        else if (strchr(")]}", *c) != NULL)
            depth--;
    }
}

/* Whether the text is NAME(...); then the call has the parts within. */
static bool read_call(struct arena *arena, const char *text, struct call *call)
{
    const size_t name = strspn(text, "abcdefghijklmnopqrstuvwxyz_");
    const size_t len = strlen(text);
    if (name == 0 || text[name] != '(' || text[len - 1] != ')')
        return false;
    call->name = arena_strndup(arena, text, name);
    return split(arena, trim(arena, text + name + 1, text + len - 1), call);
}

/* The argument of that place or that name; NULL: it was not given. */
static const char *argument(const struct call *call, size_t index,
                            const char *name)
{
    const size_t len = strlen(name);
    size_t unnamed = 0;
    for (size_t i = 0; i < call->arguments.n; i++) {
        const char *text = call->arguments.items[i];
        const size_t word = strspn(text, "abcdefghijklmnopqrstuvwxyz_");
        const char *after = text + word + strspn(text + word, " ");
        if (word > 0 && *after == '=') {
            if (word == len && strncmp(text, name, len) == 0)
                return after + 1 + strspn(after + 1, " ");
        } else if (unnamed++ == index) {
            return text;
        }
    }
    return NULL;
}

/* ---- ranges ---- */

static bool is_whole(const char *text)
{
    return text == NULL || text[strspn(text, "+-0123456789_")] == '\0';
}

static struct place number_at(const struct sweep *sweep, const char *text)
{
    struct node *node = arena_alloc(sweep->reader->arena, 1, sizeof *node);
    *node = *sweep->at.node;
    node->kind =
        text != NULL && number_is_json(text) ? NODE_NUMBER : NODE_STRING;
    node->text = text;
    return (struct place){text != NULL ? node : NULL, sweep->at.path};
}

static struct place double_at(const struct sweep *sweep, double value)
{
    char text[TEXT_DOUBLE_BYTES];
    return number_at(
        sweep, arena_strdup(sweep->reader->arena, text_of_double(text, value)));
}

static void put_interval(const struct sweep *sweep, const struct call *call)
{
    const char *start = argument(call, 0, "start"),
               *end = argument(call, 1, "end");
    const struct optuna_range range = {
        .low = number_at(sweep, start),
        .high = number_at(sweep, end),
        .whole = sweep->to_int ||
                 (is_whole(start) && is_whole(end) && !sweep->to_float),
        .log = sweep->log};
    optuna_put_range(sweep->reader, sweep->space, sweep->name, sweep->at,
                     &range);
}

static bool read_range(const struct sweep *sweep, const struct call *call,
                       double bounds[3])
{
    static const char *const names[] = {"start", "stop", "step"};
    bounds[0] = 0;
    bounds[2] = 1;
    const bool one = argument(call, 1, "stop") == NULL;
    for (size_t i = 0; i < 3; i++) {
        const char *text = one && i < 2
                               ? (i == 0 ? NULL : argument(call, 0, "stop"))
                               : argument(call, i, names[i]);
        const struct place at = number_at(sweep, text);
        if (text != NULL && !foreign_number(sweep->reader, at, &bounds[i]))
            return false;
        if (text == NULL && i == 1) {
            field_error(sweep->reader, sweep->at, "range() needs a stop");
            return false;
        }
    }
    if (bounds[2] > 0 && bounds[0] <= bounds[1])
        return true;
    field_error(sweep->reader, sweep->at,
                "range() needs a stop that is not below its start, and a step "
                "over 0");
    return false;
}

/* Optuna's samplers take the end of a range, its grid does not. */
static void put_range(const struct sweep *sweep, const struct call *call)
{
    double bounds[3];
    bool whole = sweep->to_int;
    if (!read_range(sweep, call, bounds))
        return;
    whole |= !sweep->to_float;
    for (size_t i = 0; i < call->arguments.n && !sweep->to_int; i++) {
        const char *equals = strchr(call->arguments.items[i], '=');
        const char *text = equals ? equals + 1 : call->arguments.items[i];
        whole &= is_whole(text + strspn(text, " "));
    }
    const double n = floor((bounds[1] - bounds[0]) / bounds[2] + 1e-9);
    if (sweep->grid || sweep->shuffled)
        bounds[1] = bounds[0] + fmax(n - 1, 0) * bounds[2];
    const struct optuna_range range = {.low = double_at(sweep, bounds[0]),
                                       .high = double_at(sweep, bounds[1]),
                                       .step = double_at(sweep, bounds[2]),
                                       .whole = whole};
    optuna_put_range(sweep->reader, sweep->space, sweep->name, sweep->at,
                     &range);
}

static void put_choices(const struct sweep *sweep, const struct call *call)
{
    struct arena *arena = sweep->reader->arena;
    struct grown list = foreign_begin(arena, NODE_LIST, sweep->at.node);
    if (sweep->to_int || sweep->to_float || sweep->to_text) {
        field_error(sweep->reader, sweep->at,
                    "choices within int(), float() or str() are not read");
        diag_hint(sweep->reader->diag, "write the values as they are to be");
        return;
    }
    for (size_t i = 0; i < call->arguments.n; i++)
        foreign_put_text(arena, &list, NULL, call->arguments.items[i],
                         sweep->at.node);
    optuna_put_choices(sweep->reader, sweep->space, sweep->name,
                       (struct place){list.node, sweep->at.path});
}

/* ---- a sweep ---- */

static enum hydra_value put_call(struct sweep *sweep, const char *text,
                                 int depth);

/* int(...), tag(log, ...) and others say how to read what is within. */
static enum hydra_value put_inner(struct sweep *sweep, const struct call *call,
                                  int depth)
{
    for (size_t i = 0; i + 1 < call->arguments.n; i++)
        sweep->log |= strcmp(call->arguments.items[i], "log") == 0 &&
                      strcmp(call->name, "tag") == 0;
    sweep->to_int |= strcmp(call->name, "int") == 0;
    sweep->to_float |= strcmp(call->name, "float") == 0;
    sweep->to_text |= strcmp(call->name, "str") == 0;
    sweep->shuffled |= strcmp(call->name, "shuffle") == 0;
    const bool tagged = strcmp(call->name, "tag") == 0;
    return put_call(sweep,
                    call->arguments.items[tagged ? call->arguments.n - 1 : 0],
                    depth + 1);
}

static enum hydra_value put_call(struct sweep *sweep, const char *text,
                                 int depth)
{
    static const char *const wrappers[] = {"int", "float", "str",
                                           "tag", "sort",  "shuffle"};
    struct call call = {0};
    const size_t before = sweep->reader->diag->errors;
    if (depth > DEEPEST || !read_call(sweep->reader->arena, text, &call)) {
        if (!split(sweep->reader->arena, text, &call) || call.arguments.n < 2)
            return HYDRA_FIXED;
        put_choices(sweep, &call);
    } else if (strcmp(call.name, "interval") == 0) {
        put_interval(sweep, &call);
    } else if (strcmp(call.name, "range") == 0) {
        put_range(sweep, &call);
    } else if (strcmp(call.name, "choice") == 0) {
        put_choices(sweep, &call);
    } else {
        for (size_t i = 0; i < sizeof wrappers / sizeof *wrappers; i++)
            if (strcmp(call.name, wrappers[i]) == 0)
                return put_inner(sweep, &call, depth);
        field_error(sweep->reader, sweep->at, "%s() is not read here",
                    call.name);
        diag_hint(sweep->reader->diag,
                  "there are choice, range, interval and tag(log, ...)");
    }
    return sweep->reader->diag->errors > before ? HYDRA_BAD : HYDRA_SWEPT;
}

enum hydra_value hydra_sweep(const struct field_reader *reader, struct place at,
                             const char *name, bool grid, struct grown *space)
{
    struct sweep sweep = {
        .reader = reader, .at = at, .name = name, .space = space, .grid = grid};
    return put_call(&sweep,
                    trim(reader->arena, at.node->text,
                         at.node->text + strlen(at.node->text)),
                    0);
}
